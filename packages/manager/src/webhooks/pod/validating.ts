import { type Pod, pod as podKind } from '@kruise/api/core/pod';
import { podUnavailableBudget } from '@kruise/api/kruise/podunavailablebudget';
import { workloadSpread } from '@kruise/api/kruise/workloadspread';
import type { Eviction } from '@kruise/api/policy/eviction';
import { type AdmissionDecision, type AdmissionRequestFor, allow, type Webhook } from '@kruise/client/webhook';
import { StatusError } from '@kruise/machinery/status';
import type { Kind } from '@kruise/schema/kind';
import { spendBudget } from '../../podunavailablebudget/webhook/pod.ts';
import { releaseOnDeletion } from '../../workloadspread/webhook/pod/release.ts';
import { handler, refuse, type WebhookContext } from '../context.ts';

/** An operation on an existing Pod. */
export type PodOperation = {
  readonly operation: 'UPDATE' | 'DELETE' | 'EVICT';
  /** The current Pod. */
  readonly pod: Pod;
  /** The Pod after an update. */
  readonly updated?: Pod;
  readonly isDryRun: boolean;
  readonly username: string;
};

type Guard = {
  /** A kind that the guard reads. The guard is disabled where the kind is not served. */
  readonly reads: Kind;
  /** Checks an operation on a Pod. Returns a refusal; undefined if the operation is allowed. */
  readonly check: (operation: PodOperation, context: WebhookContext) => Promise<AdmissionDecision<never> | undefined>;
};

/** Guards in order of evaluation. The first refusal ends the evaluation. */
const guards: readonly Guard[] = [
  { check: releaseOnDeletion, reads: workloadSpread },
  { check: spendBudget, reads: podUnavailableBudget },
];

/** Validates updates, deletions and evictions of existing Pods. */
export function podValidating(context: WebhookContext): Webhook {
  const { isServed = () => true } = context;
  const asked = guards.filter(({ reads }) => isServed(reads));
  return handler<Pod | Eviction>(async (request) => {
    try {
      const operation = await interferenceIn(request, context);
      if (!operation) return allow();
      for (const { check } of asked) {
        const refusal = await check(operation, context);
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
  request: AdmissionRequestFor<Pod | Eviction>,
  { client }: WebhookContext,
): Promise<PodOperation | undefined> {
  const { operation, subResource = '', object, oldObject, dryRun = false, userInfo } = request;
  const { username = '' } = userInfo;
  if (operation === 'CREATE' && subResource === 'eviction') {
    const { name = '', namespace = '' } = request;
    // The object of this subresource is an Eviction.
    const { deleteOptions } = object as Eviction;
    const isDryRun = dryRun || (deleteOptions?.dryRun?.length ?? 0) > 0;
    // A live read, because the cache may not show yet that the Pod is available.
    const pod = await client.get(podKind, { namespace, name });
    return { operation: 'EVICT', pod, isDryRun, username };
  }
  const isOfPod = subResource === '' || (operation === 'UPDATE' && subResource === 'resize');
  if (!isOfPod || !oldObject) return undefined;
  // All other requests are about Pods.
  const pod = oldObject as Pod;
  if (operation === 'DELETE') return { operation, pod, isDryRun: dryRun, username };
  if (operation !== 'UPDATE') return undefined;
  return { operation, pod, updated: object as Pod, isDryRun: dryRun, username };
}
