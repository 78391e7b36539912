import { audit } from './audit.ts';
import { authenticate } from './authenticate.ts';
import { authorize } from './authorize.ts';
import { decode } from './decode.ts';
import { dispatch } from './dispatch.ts';
import { encode } from './encode.ts';
import type { HttpPipelineRequest } from './http-pipeline.ts';
import { impersonate } from './impersonate.ts';
import { negotiate } from './negotiate.ts';
import { priorityAndFairness } from './priority-and-fairness.ts';
import type { PipelineRequest, Stage } from './request.ts';
import { resolve } from './resolve.ts';

/** Stages of a request over HTTP, in order. */
export const httpStages: readonly Stage<HttpPipelineRequest>[] = [
  authenticate,
  audit,
  impersonate,
  priorityAndFairness,
  authorize,
  resolve,
  negotiate,
  decode,
  dispatch,
  encode,
];

/** Stages of a request from a component in the same process: all but those that concern the wire. */
export const inProcessStages: readonly Stage[] = httpStages.filter(isForAll);

const seated = httpStages.indexOf(priorityAndFairness) + 1;
/** Stages that a request over HTTP passes before its deadline starts: waiting for seats has its own limit. */
export const stagesUntilSeated = httpStages.slice(0, seated);
/** Stages that a request over HTTP passes before its deadline. */
export const stagesBeforeDeadline = httpStages.slice(seated);

function isForAll(stage: Stage<HttpPipelineRequest> | Stage): stage is Stage {
  return stage.transports === 'all';
}

/** Runs stages in order. An error ends the request; the transport turns it into the response. */
export async function runStages<Request extends PipelineRequest>(
  stages: readonly Stage<Request>[],
  request: Request,
): Promise<void> {
  for (const stage of stages) {
    const pending = stage.run(request);
    if (!pending) continue;
    const outcome = await pending;
    stage.keep?.(request, outcome);
  }
}
