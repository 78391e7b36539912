import type { Pod } from '@kruise/api/core/pod';
import { persistentPodState } from '@kruise/api/kruise/persistentpodstate';
import { podProbeMarker } from '@kruise/api/kruise/podprobemarker';
import { podUnavailableBudget } from '@kruise/api/kruise/podunavailablebudget';
import { workloadSpread } from '@kruise/api/kruise/workloadspread';
import { type AdmissionRequestFor, allow, mutate, type Webhook } from '@kruise/client/webhook';
import { StatusError } from '@kruise/machinery/status';
import { StrategicMergeError } from '@kruise/machinery/strategic-merge-error';
import type { Kind } from '@kruise/schema/kind';
import { ParseError } from '@kruise/values/parse-error';
import { withLaunchBarriers } from '../../container-launch-priority/pod-webhook.ts';
import { withoutLivenessProbes } from '../../enhanced-liveness/pod-webhook.ts';
import { withFormerTopology } from '../../persistentpodstate/webhook/pod.ts';
import { withMarkedProbes } from '../../podprobemarker/webhook/pod.ts';
import { withRelatedBudget } from '../../podunavailablebudget/webhook/related-budget.ts';
import { withSidecars } from '../../sidecarset/webhook/pod.ts';
import { withReadinessGate } from '../../workload/readiness/readiness-gate.ts';
import { withAssignedSubset } from '../../workloadspread/webhook/pod/allocate.ts';
import { handler, refuse, type WebhookContext } from '../context.ts';

/** A step of the mutation of a new Pod. Each step gets the result of the previous one. */
type Step = {
  /** A kind that the step reads. The step is skipped where the kind is not served. */
  readonly reads?: Kind;
  readonly take: (pod: Pod, context: WebhookContext, request: AdmissionRequestFor<Pod>) => Pod | Promise<Pod>;
};

/** Steps in order: injected containers take part in later steps. */
const steps: readonly Step[] = [
  { take: withReadinessGate },
  { take: withAssignedSubset, reads: workloadSpread },
  { take: withSidecars },
  { take: withLaunchBarriers },
  { take: withRelatedBudget, reads: podUnavailableBudget },
  { take: withFormerTopology, reads: persistentPodState },
  { take: withoutLivenessProbes },
  { take: withMarkedProbes, reads: podProbeMarker },
];

/** Errors that are caused by the Pod, or by the mutation requested for it. */
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
    // Metadata that was set only for the steps is not part of the patch.
    return pod === original ? allow() : mutate({ ...pod, metadata: { ...pod.metadata, ...given(object) } });
  });
}

function given({ metadata: { namespace } }: Pod): { readonly namespace?: string } {
  return namespace === undefined ? {} : { namespace };
}
