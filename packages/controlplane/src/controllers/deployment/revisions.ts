/** Revision and size annotations on ReplicaSets. */
import type { Deployment } from '@kruise/api/apps/deployment';
import type { ReplicaSet } from '@kruise/api/apps/replicaset';
import { controllerReference } from '@kruise/machinery/owner-references';
import { templateHash, templateHashLabel } from '@kruise/machinery/template-hash';
import { tryParseInteger } from '@kruise/values/go-integer';
import { budgetOf, compareAges, replicasOf } from '@kruise/workload-kit/replica-sets';

const revisionAnnotation = 'deployment.kubernetes.io/revision';
const historyAnnotation = 'deployment.kubernetes.io/revision-history';
const desiredAnnotation = 'deployment.kubernetes.io/desired-replicas';
const maximumAnnotation = 'deployment.kubernetes.io/max-replicas';
const rollbackAnnotation = 'deprecated.deployment.rollback.to';

/** Annotations that are not copied between a Deployment and its ReplicaSets. */
const uncopiedAnnotations: ReadonlySet<string> = new Set([
  'kubectl.kubernetes.io/last-applied-configuration',
  revisionAnnotation,
  historyAnnotation,
  desiredAnnotation,
  maximumAnnotation,
  rollbackAnnotation,
]);

/** Maximum length of the revision history annotation. */
const maxHistoryLength = 2000;

type Annotations = { readonly [key: string]: string };

/** Returns the revision of a ReplicaSet: 0 without the annotation, undefined if the annotation is not a number. */
export function revisionOf({ metadata }: ReplicaSet): bigint | undefined {
  const text = metadata.annotations?.[revisionAnnotation];
  return text === undefined ? 0n : tryParseInteger(text);
}

/** Returns the revision after the highest revision of the ReplicaSets. */
export function nextRevision(sets: readonly ReplicaSet[]): bigint {
  return highest(sets.map((set) => revisionOf(set) ?? 0n)) + 1n;
}

/** Returns the second highest revision; 0 if there is none. */
export function previousRevision(sets: readonly ReplicaSet[]): bigint {
  const revisions = sets.map((set) => revisionOf(set) ?? 0n).sort((a, b) => Number(a - b));
  return revisions.at(-2) ?? 0n;
}

function highest(revisions: readonly bigint[]): bigint {
  return revisions.reduce((most, each) => (each > most ? each : most), 0n);
}

/** Orders by revision, ascending. */
export function compareRevisions(a: ReplicaSet, b: ReplicaSet): number {
  const [revisionA, revisionB] = [revisionOf(a), revisionOf(b)];
  if (revisionA === undefined || revisionB === undefined || revisionA === revisionB) return compareAges(a, b);
  return revisionA < revisionB ? -1 : 1;
}

/**
 * Returns the ReplicaSet of the current template. Its name depends on the collision count, so that a name that is taken
 * can be retried.
 */
export function replicaSetFor(
  deployment: Deployment,
  { collisionCount, revision, replicas }: { collisionCount: number | undefined; revision: bigint; replicas: number },
): ReplicaSet {
  const { metadata, spec } = deployment;
  const hash = templateHash(spec?.template, collisionCount);
  const labels = { ...spec?.template?.metadata?.labels, [templateHashLabel]: hash };
  const { namespace } = metadata;
  return {
    apiVersion: 'apps/v1',
    kind: 'ReplicaSet',
    metadata: {
      name: `${metadata.name}-${hash}`,
      ...(namespace === undefined ? {} : { namespace }),
      labels,
      annotations: {
        ...copiedAnnotations(metadata.annotations),
        ...sizeAnnotations(deployment),
        [revisionAnnotation]: String(revision),
      },
      ownerReferences: [controllerReference(deployment)],
    },
    spec: {
      replicas,
      ...(spec?.minReadySeconds ? { minReadySeconds: spec.minReadySeconds } : {}),
      selector: { ...spec?.selector, matchLabels: { ...spec?.selector?.matchLabels, [templateHashLabel]: hash } },
      template: { ...spec?.template, metadata: { ...spec?.template?.metadata, labels } },
    },
  };
}

/**
 * Returns the ReplicaSet of the current template in its desired state except for its size: with the latest revision and
 * the Deployment's annotations. Returns the same object if nothing changes.
 */
export function desiredNewSet(deployment: Deployment, set: ReplicaSet, revision: bigint): ReplicaSet {
  const present = set.metadata.annotations ?? {};
  const own = revisionOf(set);
  // A revision annotation that is not a number was set on purpose and is kept.
  const annotations =
    own === undefined
      ? present
      : {
          ...present,
          ...copiedAnnotations(deployment.metadata.annotations),
          ...(own < revision ? withNewRevision(present, revision) : {}),
        };
  const minReadySeconds = deployment.spec?.minReadySeconds ?? 0;
  if (includesAll(present, annotations) && (set.spec?.minReadySeconds ?? 0) === minReadySeconds) return set;
  const { spec } = set;
  return {
    ...set,
    metadata: { ...set.metadata, annotations },
    ...(spec ? { spec: { ...spec, minReadySeconds } } : {}),
  };
}

/** Sets a new revision and appends the previous one to the history annotation. */
function withNewRevision(present: Annotations, revision: bigint): Annotations {
  const former = present[revisionAnnotation];
  const next = { [revisionAnnotation]: String(revision) };
  return former === undefined
    ? next
    : { ...next, [historyAnnotation]: historyWith(present[historyAnnotation], former) };
}

function historyWith(history: string | undefined, former: string): string {
  const revisions = [...(history ? history.split(',') : []), former];
  let length = revisions.join(',').length;
  let dropped = 0;
  while (length > maxHistoryLength && dropped < revisions.length - 1) length -= revisions[dropped++]!.length + 1;
  return revisions.slice(dropped).join(',');
}

function copiedAnnotations(annotations: Annotations | undefined): Annotations {
  return Object.fromEntries(Object.entries(annotations ?? {}).filter(([key]) => !uncopiedAnnotations.has(key)));
}

/** Reports whether all wanted annotations are present. */
function includesAll(present: Annotations, wanted: Annotations): boolean {
  return Object.entries(wanted).every(([key, value]) => present[key] === value);
}

/**
 * Returns the annotations with the size of the whole Deployment, from which proportional scaling computes the share of
 * a ReplicaSet.
 */
function sizeAnnotations(deployment: Deployment): Annotations {
  const replicas = replicasOf(deployment);
  return {
    [desiredAnnotation]: String(replicas),
    [maximumAnnotation]: String(replicas + budgetOf(deployment).maxSurge),
  };
}

/** Returns a ReplicaSet with a new size and up-to-date size annotations. Returns the same object if nothing changes. */
export function resized(deployment: Deployment, set: ReplicaSet, replicas: number): ReplicaSet {
  const sizes = sizeAnnotations(deployment);
  const annotations = set.metadata.annotations ?? {};
  if (replicasOf(set) === replicas && includesAll(annotations, sizes)) return set;
  const metadata = { ...set.metadata, annotations: { ...annotations, ...sizes } };
  return { ...set, metadata, ...(set.spec ? { spec: { ...set.spec, replicas } } : {}) };
}

/** Returns the desired replicas annotation of a ReplicaSet. */
export function desiredReplicasOf(set: ReplicaSet): number | undefined {
  return sizeIn(set, desiredAnnotation);
}

/** Returns the max replicas annotation of a ReplicaSet. */
export function maxReplicasOf(set: ReplicaSet): number | undefined {
  return sizeIn(set, maximumAnnotation);
}

function sizeIn({ metadata }: ReplicaSet, annotation: string): number | undefined {
  const text = metadata.annotations?.[annotation];
  if (text === undefined || !/^\d+$/.test(text)) return undefined;
  const size = Number(text);
  return size < 2 ** 31 ? size : undefined;
}

/** Returns the Deployment with the revision annotation of a ReplicaSet. Returns the same object if nothing changes. */
export function atRevision(deployment: Deployment, set: ReplicaSet): Deployment {
  const { annotations } = deployment.metadata;
  const revision = set.metadata.annotations?.[revisionAnnotation] ?? '';
  if (annotations?.[revisionAnnotation] === revision) return deployment;
  return {
    ...deployment,
    metadata: { ...deployment.metadata, annotations: { ...annotations, [revisionAnnotation]: revision } },
  };
}

/** Returns the revision that a Deployment requests to roll back to; 0 means the previous revision. */
export function rollbackOf({ metadata }: Deployment): bigint | undefined {
  return tryParseInteger(metadata.annotations?.[rollbackAnnotation] ?? '');
}

/** Returns the Deployment without the rollback request. */
export function withoutRollback(deployment: Deployment): Deployment {
  const { [rollbackAnnotation]: _, ...annotations } = deployment.metadata.annotations ?? {};
  return { ...deployment, metadata: { ...deployment.metadata, annotations } };
}

/** Returns the Deployment's annotations, with the ones it had when a ReplicaSet was the new one. */
export function annotationsAsOf(deployment: Deployment, set: ReplicaSet): Annotations {
  const own = Object.entries(deployment.metadata.annotations ?? {}).filter(([key]) => uncopiedAnnotations.has(key));
  return { ...Object.fromEntries(own), ...copiedAnnotations(set.metadata.annotations) };
}
