import type { Pod } from '@kruise/api/core/pod';
import { persistentPodState } from '@kruise/api/kruise/persistentpodstate';
import { podProbeMarker } from '@kruise/api/kruise/podprobemarker';
import { podUnavailableBudget } from '@kruise/api/kruise/podunavailablebudget';
import { workloadSpread } from '@kruise/api/kruise/workloadspread';
import { allow, change, type RequestFor, type Webhook } from '@kruise/client/webhook';
import { StatusError } from '@kruise/machinery/status';
import { StrategicMergeError } from '@kruise/machinery/strategic-merge-error';
import type { Kind } from '@kruise/schema/kind';
import { ParseError } from '@kruise/values/parse-error';
import { handler, refuse, type WebhookContext } from '../context.ts';
import { withoutLivenessProbes } from './enhanced-liveness.ts';
import { withLaunchBarriers } from './launch-priority.ts';
import { withMarkedProbes } from './marked-probes.ts';
import { withFormerTopology } from './persistent-state.ts';
import { withReadinessGate } from './readiness-gate.ts';
import { withRelatedBudget } from './related-budget.ts';
import { withSidecars } from './sidecars.ts';
import { withPlace } from './workload-spread/arrive.ts';

/** A step in what is made of a new Pod; each is handed what the one before has made. */
type Step = {
  /** A kind it goes by: where there is none of it, the step is left out. */
  readonly reads?: Kind;
  readonly take: (pod: Pod, context: WebhookContext, request: RequestFor<Pod>) => Pod | Promise<Pod>;
};

/** Their order counts: containers that are injected take part in what comes after. */
const steps: readonly Step[] = [
  { take: withReadinessGate },
  { take: withPlace, reads: workloadSpread },
  { take: withSidecars },
  { take: withLaunchBarriers },
  { take: withRelatedBudget, reads: podUnavailableBudget },
  { take: withFormerTopology, reads: persistentPodState },
  { take: withoutLivenessProbes },
  { take: withMarkedProbes, reads: podProbeMarker },
];

/** What is wrong with a Pod, or with what is to be made of it. */
const faults = [ParseError, StatusError, StrategicMergeError];

export function podMutating(context: WebhookContext): Webhook {
  const { isServed = () => true } = context;
  const taken = steps.filter(({ reads }) => reads === undefined || isServed(reads));
  return handler<Pod>(async (request) => {
    const { object, operation, namespace } = request;
    if (!object || operation !== 'CREATE') return allow();
    let pod: Pod =
      object.metadata.namespace || !namespace ? object : { ...object, metadata: { ...object.metadata, namespace } };
    const original = pod;
    try {
      for (const { take } of taken) pod = await take(pod, context, request);
    } catch (error) {
      if (faults.some((fault) => error instanceof fault)) return refuse(500, (error as Error).message);
      throw error;
    }
    // What was only filled in to work with is no change of the Pod.
    return pod === original ? allow() : change({ ...pod, metadata: { ...pod.metadata, ...given(object) } });
  });
}

function given({ metadata: { namespace } }: Pod): { readonly namespace?: string } {
  return namespace === undefined ? {} : { namespace };
}
