import type { Admitted } from '../flow-control/flow-control.ts';
import { isLongRunning } from '../metrics/server-metrics.ts';
import type { PipelineRequest, Stage } from './request.ts';

/** Assigns seats to a request, at once if they are free. The deadline of a request over HTTP starts with its seats. */
export const priorityAndFairness: Stage = {
  name: 'Priority and fairness',
  transports: 'all',
  failsWith: [400, 429],
  run(request) {
    request.readTimeout();
    const { background } = request.core.controls;
    if (request.isBackground) {
      return background.beginBackground().then((endBackground) => {
        request.unregister = endBackground;
        return Promise.resolve(admit(request)).then((admitted) => keep(request, admitted));
      });
    }
    if (!isLongRunning(request.context.info)) request.unregister = background.beginForeground();
    const pending = admit(request);
    if (pending instanceof Promise) return pending.then((admitted) => keep(request, admitted));
    keep(request, pending);
    return undefined;
  },
};

function admit({ core, context }: PipelineRequest): Admitted | Promise<Admitted> {
  return core.controls.flow.admit(context);
}

function keep(request: PipelineRequest, admitted: Admitted): void {
  request.admitted = admitted;
}
