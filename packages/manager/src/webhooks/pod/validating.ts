import { type Pod, pod as podKind } from '@kruise/api/core/pod';
import { podUnavailableBudget } from '@kruise/api/kruise/podunavailablebudget';
import { workloadSpread } from '@kruise/api/kruise/workloadspread';
import type { Eviction } from '@kruise/api/policy/eviction';
import { allow, type RequestFor, type Verdict, type Webhook } from '@kruise/client/webhook';
import { StatusError } from '@kruise/machinery/status';
import type { Kind } from '@kruise/schema/kind';
import { handler, refuse, type WebhookContext } from '../context.ts';
import { spendBudget } from './unavailable-budget.ts';
import { noteLeaving } from './workload-spread/leave.ts';

/** What is about to be done to a Pod that is there. */
export type Interference = {
  readonly operation: 'UPDATE' | 'DELETE' | 'EVICT';
  /** The Pod as it is. */
  readonly pod: Pod;
  /** The Pod as it is to be, where it is updated. */
  readonly updated?: Pod;
  readonly isDryRun: boolean;
  readonly username: string;
};

type Guard = {
  /** A kind it goes by: where there is none of it, nobody is guarded by it. */
  readonly reads: Kind;
  /** Looks at what is about to be done to a Pod; returns a refusal, or nothing if it may be done. */
  readonly ask: (interference: Interference, context: WebhookContext) => Promise<Verdict<never> | undefined>;
};

/** In the order in which they are asked; none is after one that refuses. */
const guards: readonly Guard[] = [
  { ask: noteLeaving, reads: workloadSpread },
  { ask: spendBudget, reads: podUnavailableBudget },
];

/** What is asked about Pods that are there: updates, deletions, evictions (pod-admission.md §3). */
export function podValidating(context: WebhookContext): Webhook {
  const { isServed = () => true } = context;
  const asked = guards.filter(({ reads }) => isServed(reads));
  return handler<Pod | Eviction>(async (request) => {
    try {
      const interference = await interferenceIn(request, context);
      if (!interference) return allow();
      for (const { ask } of asked) {
        const refusal = await ask(interference, context);
        if (refusal) return refusal;
      }
      return allow();
    } catch (error) {
      if (error instanceof StatusError) return refuse(400, error.message);
      throw error;
    }
  });
}

async function interferenceIn(
  request: RequestFor<Pod | Eviction>,
  { client }: WebhookContext,
): Promise<Interference | undefined> {
  const { operation, subResource = '', object, oldObject, dryRun = false, userInfo } = request;
  const { username = '' } = userInfo;
  if (operation === 'CREATE' && subResource === 'eviction') {
    const { name = '', namespace = '' } = request;
    // What is posted to this subresource is an eviction.
    const { deleteOptions } = object as Eviction;
    const isDryRun = dryRun || (deleteOptions?.dryRun?.length ?? 0) > 0;
    // As it is now: a cache may not have seen yet that others rely on it.
    const pod = await client.get(podKind, { namespace, name });
    return { operation: 'EVICT', pod, isDryRun, username };
  }
  const isOfPod = subResource === '' || (operation === 'UPDATE' && subResource === 'resize');
  if (!isOfPod || !oldObject) return undefined;
  // What is asked about otherwise are Pods.
  const pod = oldObject as Pod;
  if (operation === 'DELETE') return { operation, pod, isDryRun: dryRun, username };
  if (operation !== 'UPDATE') return undefined;
  return { operation, pod, updated: object as Pod, isDryRun: dryRun, username };
}
