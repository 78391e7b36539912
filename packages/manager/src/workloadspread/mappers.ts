/** Event filters: WorkloadSpreads to enqueue when a Pod or a workload changes. */
import type { Deployment } from '@kruise/api/apps/deployment';
import type { ReplicaSet } from '@kruise/api/apps/replicaset';
import type { Job } from '@kruise/api/batch/job';
import type { Pod } from '@kruise/api/core/pod';
import type { CloneSet } from '@kruise/api/kruise/cloneset';
import { workloadSpread } from '@kruise/api/kruise/workloadspread';
import { isBeingDeleted } from '@kruise/client/actions';
import type { Watch } from '@kruise/client/controller';
import type { DynamicKind } from '@kruise/client/dynamic-kind';
import type { Caches, Change } from '@kruise/client/informer';
import { type Key, type KubernetesObject, keyFor, keyOf } from '@kruise/client/object-key';
import { controllerOf } from '@kruise/machinery/owner-references';
import { isPodActive } from '@kruise/machinery/pods';
import { groupOf } from '@kruise/schema/kind';
import { ParseError } from '@kruise/values/parse-error';
import { customWorkloadsIn } from './allowlist.ts';
import { placementOf } from './placement.ts';
import { isUnschedulable, rescheduleSeconds } from './reschedule.ts';
import { type Reference, replicasPaths, spreadsOf, sumAt } from './target.ts';
import { versionOf } from './versions.ts';

/**
 * Returns the WorkloadSpread that placed a Pod. A Pod that no subset had capacity for enqueues nothing: it is handled
 * when the workload changes.
 */
export function spreadOfPod({ type, object, previous }: Change<Pod>, caches: Caches): readonly Key[] {
  const placement = caches.of(workloadSpread).size === 0 ? undefined : placementOf(object);
  if (!placement) return [];
  const { namespace = '' } = object.metadata;
  const reference = { namespace, name: placement.name };
  if (type === 'updated' && previous) {
    const isOver = isPodActive(previous) && !isPodActive(object);
    const isStuck = isUnschedulable(object) && !isUnschedulable(previous) && isReschedulingEnabled(reference, caches);
    if (!isOver && !isStuck && versionOf(previous) === versionOf(object)) return [];
  }
  return [keyFor(reference)];
}

/** Reports whether unschedulable Pods are rescheduled. OpenKruise detects them only by chance. */
function isReschedulingEnabled(
  reference: { readonly namespace: string; readonly name: string },
  caches: Caches,
): boolean {
  const spread = caches.of(workloadSpread).get(reference);
  return spread !== undefined && rescheduleSeconds(spread) !== undefined;
}

export function spreadOfCloneSet(change: Change<CloneSet>, caches: Caches): readonly Key[] {
  return spreadOf(change, caches, (now, before) => {
    const isUpdated = now.status?.updateRevision !== before.status?.currentRevision;
    return isUpdated || now.spec.replicas !== before.spec.replicas;
  });
}

const revisionAnnotation = 'deployment.kubernetes.io/revision';

export function spreadOfDeployment(change: Change<Deployment>, caches: Caches): readonly Key[] {
  return spreadOf(change, caches, (now, before) => {
    const revisionOf = ({ metadata }: Deployment) => metadata.annotations?.[revisionAnnotation];
    return revisionOf(now) !== revisionOf(before) || now.spec?.replicas !== before.spec?.replicas;
  });
}

/** Returns the WorkloadSpreads of a ReplicaSet or of its Deployment. */
export function spreadOfReplicaSet(change: Change<ReplicaSet>, caches: Caches): readonly Key[] {
  return spreadOf(change, caches, (now, before) => now.spec?.replicas !== before.spec?.replicas);
}

export function spreadOfJob(change: Change<Job>, caches: Caches): readonly Key[] {
  return spreadOf(change, caches, (now, before) => now.spec?.parallelism !== before.spec?.parallelism);
}

function spreadOf<T extends KubernetesObject>(
  { object, previous }: Change<T>,
  caches: Caches,
  isRelevantChange: (now: T, before: T) => boolean,
): readonly Key[] {
  if (caches.of(workloadSpread).size === 0 || (previous && !isRelevantChange(object, previous))) return [];
  const { apiVersion, kind, metadata } = object;
  const { namespace = '', name = '' } = metadata;
  const owner = controllerOf(object);
  const isOfDeployment = kind === 'ReplicaSet' && owner?.kind === 'Deployment' && groupOf(owner.apiVersion) === 'apps';
  const workloads: readonly Reference[] = [{ apiVersion, kind, name }, ...(isOfDeployment ? [owner] : [])];
  const found = workloads.flatMap((workload) => spreadsOf(caches, namespace, workload));
  return found.filter((spread) => !isBeingDeleted(spread)).map(keyOf);
}

/** Watch of custom kinds: each kind is watched from the first WorkloadSpread that targets one of its objects. */
export type CustomWatch = Watch & { watchKind(kind: DynamicKind): void };

export function watchCustomKinds(namespace: string): CustomWatch {
  let seen = new Set<DynamicKind>();
  let start: ((kind: DynamicKind) => void) | undefined;
  return {
    kind: workloadSpread,
    selection: undefined,
    start(caches, enqueue, signal) {
      seen = new Set();
      start = (kind) =>
        caches.informer(kind).handle(
          (change) => {
            for (const key of spreadsOfCustom(change as Change<KubernetesObject>, caches, namespace)) {
              enqueue(key, 'change');
            }
          },
          { signal },
        );
    },
    watchKind(kind) {
      if (seen.has(kind)) return;
      seen.add(kind);
      start?.(kind);
    },
  };
}

/** Returns the WorkloadSpreads of a custom workload whose number of replicas changes. */
function spreadsOfCustom({ object, previous }: Change<KubernetesObject>, caches: Caches, namespace: string) {
  if (!previous) return [];
  const { apiVersion, kind, metadata } = object;
  const workload = { apiVersion, kind, name: metadata.name ?? '' };
  return spreadsOf(caches, metadata.namespace ?? '', workload)
    .filter((spread) => !isBeingDeleted(spread))
    .filter(({ spec }) => {
      const paths = replicasPaths(spec, customWorkloadsIn(caches, namespace));
      return trySum(object, paths) !== trySum(previous, paths);
    })
    .map(keyOf);
}

function trySum(object: unknown, paths: readonly string[]): number | undefined {
  try {
    return sumAt(object, paths);
  } catch (error) {
    if (error instanceof ParseError) return undefined;
    throw error;
  }
}
