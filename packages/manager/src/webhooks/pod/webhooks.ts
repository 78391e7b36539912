import type { Pod } from '@kruise/api/core/pod';
import { persistentPodState } from '@kruise/api/kruise/persistentpodstate';
import { allow, change, type Webhook } from '@kruise/client/webhook';
import { StatusError } from '@kruise/machinery/status';
import type { Kind } from '@kruise/schema/kind';
import { ParseError } from '@kruise/values/parse-error';
import { handler, refuse, type WebhookContext } from '../context.ts';
import { withoutLivenessProbes } from './enhanced-liveness.ts';
import { withLaunchBarriers } from './launch-priority.ts';
import { withFormerTopology } from './persistent-state.ts';
import { withReadinessGate } from './readiness-gate.ts';
import { withSidecars } from './sidecars.ts';

/** A step in what is made of a new Pod; each is handed what the one before has made. */
type Step = {
  /** A kind it goes by: where there is none of it, the step is left out. */
  readonly reads?: Kind;
  readonly take: (pod: Pod, context: WebhookContext) => Pod | Promise<Pod>;
};

/** Their order counts: containers that are injected take part in what comes after. */
const steps: readonly Step[] = [
  { take: withReadinessGate },
  { take: withSidecars },
  { take: withLaunchBarriers },
  { take: withFormerTopology, reads: persistentPodState },
  { take: withoutLivenessProbes },
];

export function podMutating(context: WebhookContext): Webhook {
  const { isServed = () => true } = context;
  const taken = steps.filter(({ reads }) => reads === undefined || isServed(reads));
  return handler<Pod>(async ({ object, operation, namespace }) => {
    if (!object || operation !== 'CREATE') return allow();
    let pod: Pod =
      object.metadata.namespace || !namespace ? object : { ...object, metadata: { ...object.metadata, namespace } };
    const original = pod;
    try {
      for (const { take } of taken) pod = await take(pod, context);
    } catch (error) {
      if (error instanceof ParseError || error instanceof StatusError) return refuse(500, error.message);
      throw error;
    }
    // What was only filled in to work with is no change of the Pod.
    return pod === original ? allow() : change({ ...pod, metadata: { ...pod.metadata, ...given(object) } });
  });
}

function given({ metadata: { namespace } }: Pod): { readonly namespace?: string } {
  return namespace === undefined ? {} : { namespace };
}
