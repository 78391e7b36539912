import type { PipelineRequest, Stage } from './request.ts';

/** Begins the metrics and the audit event of a request. Whatever happens from here on is counted and audited. */
export const audit: Stage = {
  name: 'Audit',
  transports: 'all',
  failsWith: [],
  run(request) {
    const { context, core } = request;
    const { metrics, audit: log } = core.controls;
    request.countEnd = metrics.begin(context.info, context.query);
    request.record = log?.begin({ context, origin: () => request.origin() });
    return undefined;
  },
};

/** Ends a request that has passed Audit, with its status code, or with 0 if the client disconnected. */
export function endRequest(request: PipelineRequest, code: number): void {
  request.release();
  request.countEnd?.(code);
  request.record?.complete(code);
}
