/** What is written on ReplicaSets about the Deployment's history (kcm.md §2.1). */
import type { Deployment } from '@kruise/api/apps/deployment';
import type { ReplicaSet } from '@kruise/api/apps/replicaset';
import { controllerReference } from '@kruise/machinery/owner-references';
import { templateHash, templateHashLabel } from '@kruise/machinery/template-hash';
import { tryParseInteger } from '@kruise/values/go-integer';
import { budgetOf, compareAges, replicasOf } from './replica-sets.ts';

const revisionAnnotation = 'deployment.kubernetes.io/revision';
const historyAnnotation = 'deployment.kubernetes.io/revision-history';
const desiredAnnotation = 'deployment.kubernetes.io/desired-replicas';
const maximumAnnotation = 'deployment.kubernetes.io/max-replicas';
const rollbackAnnotation = 'deprecated.deployment.rollback.to';

/** Annotations that are a Deployment's, or a ReplicaSet's, own. */
const keptApart: ReadonlySet<string> = new Set([
  'kubectl.kubernetes.io/last-applied-configuration',
  revisionAnnotation,
  historyAnnotation,
  desiredAnnotation,
  maximumAnnotation,
  rollbackAnnotation,
]);

/** As many characters of old revisions as are kept. */
const maxHistoryLength = 2000;

type Annotations = { readonly [key: string]: string };

/** The revision of a ReplicaSet: 0 where it has none, undefined where it has one that is no number. */
export function revisionOf({ metadata }: ReplicaSet): bigint | undefined {
  const text = metadata.annotations?.[revisionAnnotation];
  return text === undefined ? 0n : tryParseInteger(text);
}

/** The revision that comes after those of ReplicaSets. */
export function nextRevision(sets: readonly ReplicaSet[]): bigint {
  return greatest(sets.map((set) => revisionOf(set) ?? 0n)) + 1n;
}

/** The revision before the last one; 0 if there is none. */
export function previousRevision(sets: readonly ReplicaSet[]): bigint {
  const revisions = sets.map((set) => revisionOf(set) ?? 0n).sort((a, b) => Number(a - b));
  return revisions.at(-2) ?? 0n;
}

function greatest(revisions: readonly bigint[]): bigint {
  return revisions.reduce((most, each) => (each > most ? each : most), 0n);
}

/** The oldest revisions first. */
export function compareRevisions(a: ReplicaSet, b: ReplicaSet): number {
  const [revisionA, revisionB] = [revisionOf(a), revisionOf(b)];
  if (revisionA === undefined || revisionB === undefined || revisionA === revisionB) return compareAges(a, b);
  return revisionA < revisionB ? -1 : 1;
}

/** The ReplicaSet of the present template, for a name that may be taken by another: then it is tried with the next. */
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
        ...sharedOf(metadata.annotations),
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
 * The ReplicaSet of the present template as it is to be, its size apart: the latest revision, with the Deployment's
 * annotations. The very same object if it is so already.
 */
export function brought(deployment: Deployment, set: ReplicaSet, revision: bigint): ReplicaSet {
  const present = set.metadata.annotations ?? {};
  const own = revisionOf(set);
  // Who wrote what is no number had a reason, and has the last word.
  const annotations =
    own === undefined
      ? present
      : {
          ...present,
          ...sharedOf(deployment.metadata.annotations),
          ...(own < revision ? renewed(present, revision) : {}),
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

/** A new revision, and the one that a ReplicaSet had before, which is not to be forgotten. */
function renewed(present: Annotations, revision: bigint): Annotations {
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

function sharedOf(annotations: Annotations | undefined): Annotations {
  return Object.fromEntries(Object.entries(annotations ?? {}).filter(([key]) => !keptApart.has(key)));
}

/** Whether all that is wanted is there. */
function includesAll(present: Annotations, wanted: Annotations): boolean {
  return Object.entries(wanted).every(([key, value]) => present[key] === value);
}

/** What a ReplicaSet is told of the size of the whole, from which its share is reckoned when that changes. */
function sizeAnnotations(deployment: Deployment): Annotations {
  const replicas = replicasOf(deployment);
  return {
    [desiredAnnotation]: String(replicas),
    [maximumAnnotation]: String(replicas + budgetOf(deployment).maxSurge),
  };
}

/** A ReplicaSet of a size, which knows that of the whole. The very same object if it is so already. */
export function resized(deployment: Deployment, set: ReplicaSet, replicas: number): ReplicaSet {
  const sizes = sizeAnnotations(deployment);
  const annotations = set.metadata.annotations ?? {};
  if (replicasOf(set) === replicas && includesAll(annotations, sizes)) return set;
  const metadata = { ...set.metadata, annotations: { ...annotations, ...sizes } };
  return { ...set, metadata, ...(set.spec ? { spec: { ...set.spec, replicas } } : {}) };
}

/** The size of the whole that a ReplicaSet was last told. */
export function desiredReplicasOf(set: ReplicaSet): number | undefined {
  return sizeIn(set, desiredAnnotation);
}

/** The greatest size of the whole that a ReplicaSet was last told. */
export function maxReplicasOf(set: ReplicaSet): number | undefined {
  return sizeIn(set, maximumAnnotation);
}

function sizeIn({ metadata }: ReplicaSet, annotation: string): number | undefined {
  const text = metadata.annotations?.[annotation];
  if (text === undefined || !/^\d+$/.test(text)) return undefined;
  const size = Number(text);
  return size < 2 ** 31 ? size : undefined;
}

/** A Deployment that says which revision it is at. The very same object if it does so already. */
export function atRevision(deployment: Deployment, set: ReplicaSet): Deployment {
  const { annotations } = deployment.metadata;
  const revision = set.metadata.annotations?.[revisionAnnotation] ?? '';
  if (annotations?.[revisionAnnotation] === revision) return deployment;
  return {
    ...deployment,
    metadata: { ...deployment.metadata, annotations: { ...annotations, [revisionAnnotation]: revision } },
  };
}

/** The revision a Deployment is to go back to; 0 stands for the last one. */
export function rollbackOf({ metadata }: Deployment): bigint | undefined {
  return tryParseInteger(metadata.annotations?.[rollbackAnnotation] ?? '');
}

/** A Deployment that does not ask to go back any more. */
export function withoutRollback(deployment: Deployment): Deployment {
  const { [rollbackAnnotation]: _, ...annotations } = deployment.metadata.annotations ?? {};
  return { ...deployment, metadata: { ...deployment.metadata, annotations } };
}

/** A Deployment's annotations with those that it had when a ReplicaSet was its new one. */
export function annotationsAsOf(deployment: Deployment, set: ReplicaSet): Annotations {
  const own = Object.entries(deployment.metadata.annotations ?? {}).filter(([key]) => keptApart.has(key));
  return { ...Object.fromEntries(own), ...sharedOf(set.metadata.annotations) };
}
