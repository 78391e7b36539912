/**
 * Revision history of a workload in ControllerRevisions: the update revision, its name, and the revisions to prune.
 * StatefulSets and the Kruise workloads share this module. Revisions are identical bit by bit to those of other
 * implementations, because a revision that is not recognized would restart every Pod.
 */
import type { ControllerRevision } from '@kruise/api/apps/controllerrevision';
import { type PodTemplateSpec, podTemplateSpec } from '@kruise/api/core/pod-template';
import { codecOf } from '@kruise/schema/codec';
import { stringifySorted } from '@kruise/values/go-json';
import { compareStrings } from '@kruise/values/go-syntax';
import { memoizeByObject } from '@kruise/values/memoize';
import { parseTime } from '@kruise/values/time';
import { revisionHash, revisionName } from './hash.ts';
import { isObject, type JsonObject } from './json-value.ts';
import { controllerReference, type Owner } from './owner-references.ts';

/** Label of a ControllerRevision with the hash of its data. */
export const revisionHashLabel = 'controller.kubernetes.io/hash';

/** Label of a Pod with its revision: for most workloads the name of the revision, for some the hash. */
export const podRevisionLabel = 'controller-revision-hash';

/** Content of a revision. */
export type RevisionContent = {
  /** Patch that restores this state of the workload, from `podTemplateData`. */
  readonly data: JsonObject;
  /** Labels by which the workload finds its revisions. */
  readonly labels?: { readonly [key: string]: string } | undefined;
  readonly annotations?: { readonly [key: string]: string } | undefined;
};

const templates = codecOf(podTemplateSpec);

/**
 * Returns the data of a revision: a strategic merge patch of the workload that replaces the Pod template. Except for
 * defaults, templates that are equal in Go have the same data.
 */
export const podTemplateData = memoizeByObject((template: PodTemplateSpec): JsonObject => {
  const replacement = { ...templates.canonical(template), $patch: 'replace' };
  return toGoOrder({ spec: { template: replacement } });
});

/** Returns a value as Go's untyped JSON encodes it: with sorted keys and all numbers as floats. */
export function toGoOrder(value: JsonObject): JsonObject {
  // The JSON text of an object parses to an object.
  return JSON.parse(stringifySorted(value)) as JsonObject;
}

/** Returns the Pod template of a revision, if its data contains one; the same object each time. */
export function podTemplateOf({ data }: Pick<ControllerRevision, 'data'>): PodTemplateSpec | undefined {
  return isObject(data) ? templateOfData(data) : undefined;
}

const templateOfData = memoizeByObject((data: JsonObject): PodTemplateSpec | undefined => {
  const template = isObject(data.spec) ? data.spec.template : undefined;
  if (!isObject(template)) return undefined;
  const { $patch: _, ...fields } = template;
  return templates.fromJson(fields);
});

/** Returns the text by which the data of revisions is hashed and compared. */
function dataText(data: ControllerRevision['data']): string {
  return isObject(data) ? sortedText(data) : '';
}

const sortedText = memoizeByObject((data: JsonObject) => stringifySorted(data));

/** Returns the hash of the data of a revision. */
export function hashOfData(data: JsonObject, collisionCount = 0): string {
  return revisionHash(dataText(data), collisionCount);
}

/**
 * Returns a revision that does not exist in the cluster yet.
 *
 * ```ts
 * const content = { data: podTemplateData(template), labels: { app: 'web' } };
 * const revision = newRevision(set, content, { revision: 1 });
 * ```
 */
export function newRevision(
  owner: Owner & { readonly metadata: { readonly namespace?: string } },
  { data, labels, annotations }: RevisionContent,
  { revision, collisionCount = 0 }: { readonly revision: number; readonly collisionCount?: number },
): ControllerRevision {
  const hash = hashOfData(data, collisionCount);
  const reference = controllerReference(owner);
  const { namespace } = owner.metadata;
  return {
    apiVersion: 'apps/v1',
    kind: 'ControllerRevision',
    metadata: {
      name: revisionName(reference.name, hash),
      ...(namespace === undefined ? {} : { namespace }),
      labels: { ...labels, [revisionHashLabel]: hash },
      ...(annotations ? { annotations } : {}),
      ownerReferences: [reference],
    },
    data,
    revision,
  };
}

/** Reports whether two revisions have the same data. */
export function isSameRevision(a: ControllerRevision, b: ControllerRevision): boolean {
  return dataText(a.data) === dataText(b.data);
}

/** Compares revisions from the oldest to the newest: by number, creation time and name. */
export function compareRevisions(a: ControllerRevision, b: ControllerRevision): number {
  const byNumber = Number(a.revision) - Number(b.revision);
  return byNumber || madeAt(a) - madeAt(b) || compareStrings(a.metadata.name ?? '', b.metadata.name ?? '');
}

function madeAt({ metadata: { creationTimestamp } }: ControllerRevision): number {
  return creationTimestamp ? parseTime(creationTimestamp) : 0;
}

/** Returns the number of the next revision. */
export function nextRevisionNumber(history: readonly ControllerRevision[]): number {
  return history.reduce((greatest, { revision }) => Math.max(greatest, Number(revision)), 0) + 1;
}

/** Update revision of a workload. */
export type RevisionPlan = {
  /** The update revision. */
  readonly update: ControllerRevision;
  /**
   * Write that is necessary: `update` has to be created, or an old revision is reused and gets a new number, which
   * `update` already has.
   */
  readonly change: 'none' | 'create' | 'renumber';
  /** Number of hash collisions, to be stored in the status of the workload. */
  readonly collisionCount: number;
};

/** Input of `planRevision`. */
export type RevisionInput = {
  /** Revisions of the workload in any order. */
  readonly history: readonly ControllerRevision[];
  /** Content of the desired revision. */
  readonly content: RevisionContent;
  /** Collision count of the status. */
  readonly collisionCount: number | undefined;
  /** Finds a revision by name in the namespace of the workload, regardless of its owner. */
  readonly findRevision: (name: string) => ControllerRevision | undefined;
};

/**
 * Determines the update revision of a workload. An equal revision of the history is reused, so that a rollback does not
 * touch Pods that are still at it.
 */
export function planRevision(
  owner: Owner & { readonly metadata: { readonly namespace?: string; readonly deletionTimestamp?: string | null } },
  { history, content, collisionCount = 0, findRevision }: RevisionInput,
): RevisionPlan {
  const revision = nextRevisionNumber(history);
  const wanted = newRevision(owner, content, { revision, collisionCount });
  const sorted = history.toSorted(compareRevisions);
  const equal = sorted.findLast((each) => isSameRevision(each, wanted));
  if (equal && equal === sorted.at(-1)) return { update: equal, change: 'none', collisionCount };
  if (equal) return { update: { ...equal, revision }, change: 'renumber', collisionCount };

  for (let count = collisionCount; ; count++) {
    const update = newRevision(owner, content, { revision, collisionCount: count });
    const occupant = findRevision(update.metadata.name ?? '');
    // A revision of a terminating workload would be deleted by the garbage collector and created again, forever.
    const change = owner.metadata.deletionTimestamp == null ? 'create' : 'none';
    if (!occupant) return { update, change, collisionCount: count };
    if (isSameRevision(occupant, update)) return { update: occupant, change: 'none', collisionCount: count };
  }
}

/** Returns the name of a revision. */
export function nameOfRevision({ metadata }: ControllerRevision): string {
  return metadata.name ?? '';
}

/** Returns the revision label of a Pod; empty if there is none. */
export function revisionLabelOf({ metadata }: Pick<ControllerRevision, 'metadata'>): string {
  return metadata.labels?.[podRevisionLabel] ?? '';
}

/** Finds a revision by name. */
export function findRevision(
  revisions: readonly ControllerRevision[],
  name: string | undefined,
): ControllerRevision | undefined {
  return revisions.find((revision) => nameOfRevision(revision) === name);
}

/** Returns the revisions to prune: the oldest unused ones beyond the history limit. */
export function findRevisionsToPrune(
  history: readonly ControllerRevision[],
  { inUse, limit }: { readonly inUse: ReadonlySet<string>; readonly limit: number },
): readonly ControllerRevision[] {
  const unused = history.filter(({ metadata }) => !inUse.has(metadata.name ?? '')).sort(compareRevisions);
  return unused.slice(0, Math.max(0, unused.length - limit));
}
