/**
 * The history a workload keeps of itself in ControllerRevisions: which revision it is going to, under which name, and
 * which old ones it can do without. StatefulSets and Kruise's workloads share it, and with it they agree to the bit with
 * revisions that other implementations have left in a cluster: a revision that is not recognized restarts every Pod.
 */
import type { ControllerRevision } from '@kruise/api/apps/controllerrevision';
import { type PodTemplateSpec, podTemplateSpec } from '@kruise/api/core/pod-template';
import { codecOf } from '@kruise/schema/codec';
import { stringifySorted } from '@kruise/values/go-json';
import { compareStrings } from '@kruise/values/go-syntax';
import { parseTime } from '@kruise/values/time';
import { revisionHash, revisionName } from './hash.ts';
import { isObject, type JsonObject } from './json-value.ts';
import { controllerReference, type Owner } from './owner-references.ts';

/** The label of a ControllerRevision with the hash of its data. */
export const revisionHashLabel = 'controller.kubernetes.io/hash';

/** The label of a Pod with the revision it was made from: for most workloads the name of it, for some the hash. */
export const podRevisionLabel = 'controller-revision-hash';

/** What a revision is made of. */
export type RevisionContent = {
  /** What brings this state of the workload back, as `podTemplateData` gives it. */
  readonly data: JsonObject;
  /** The labels the workload finds its revisions by. */
  readonly labels?: { readonly [key: string]: string } | undefined;
  readonly annotations?: { readonly [key: string]: string } | undefined;
};

const templates = codecOf(podTemplateSpec);
const dataOfTemplates = new WeakMap<PodTemplateSpec, JsonObject>();

/**
 * What brings a Pod template back: a strategic merge patch of its workload that replaces the template. Defaults apart,
 * templates that Go would take for the same give the same data.
 */
export function podTemplateData(template: PodTemplateSpec): JsonObject {
  let data = dataOfTemplates.get(template);
  if (!data) {
    const replacement = { ...templates.canonical(template), $patch: 'replace' };
    data = inGoOrder({ spec: { template: replacement } });
    dataOfTemplates.set(template, data);
  }
  return data;
}

/** A value with its keys and numbers as they come out of Go's untyped JSON: in order, and all of them floats. */
export function inGoOrder(value: JsonObject): JsonObject {
  // The text of an object is the text of an object.
  return JSON.parse(stringifySorted(value)) as JsonObject;
}

const templatesOfData = new WeakMap<JsonObject, PodTemplateSpec>();

/** The Pod template a revision brings back, if there is one in its data; the same object each time. */
export function podTemplateOf({ data }: Pick<ControllerRevision, 'data'>): PodTemplateSpec | undefined {
  if (!isObject(data)) return undefined;
  const known = templatesOfData.get(data);
  if (known) return known;
  const template = isObject(data.spec) ? data.spec.template : undefined;
  if (!isObject(template)) return undefined;
  const { $patch: _, ...fields } = template;
  const restored = templates.fromJson(fields);
  templatesOfData.set(data, restored);
  return restored;
}

const texts = new WeakMap<object, string>();

/** The text that a revision's data is hashed and compared by. */
function textOf(data: ControllerRevision['data']): string {
  if (!isObject(data)) return '';
  let text = texts.get(data);
  if (text === undefined) {
    text = stringifySorted(data);
    texts.set(data, text);
  }
  return text;
}

/** The hash of a revision's data. */
export function hashOfData(data: JsonObject, collisionCount = 0): string {
  return revisionHash(textOf(data), collisionCount);
}

/** A revision that is not in the cluster yet. */
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

/** Whether two revisions bring back the same. */
export function isSameRevision(a: ControllerRevision, b: ControllerRevision): boolean {
  return textOf(a.data) === textOf(b.data);
}

/** From the oldest to the newest: by number, by when they were made, by name. */
export function compareRevisions(a: ControllerRevision, b: ControllerRevision): number {
  const byNumber = Number(a.revision) - Number(b.revision);
  return byNumber || madeAt(a) - madeAt(b) || compareStrings(a.metadata.name ?? '', b.metadata.name ?? '');
}

function madeAt({ metadata: { creationTimestamp } }: ControllerRevision): number {
  return creationTimestamp ? parseTime(creationTimestamp) : 0;
}

/** The number of the next revision. */
export function nextRevisionNumber(history: readonly ControllerRevision[]): number {
  return history.reduce((greatest, { revision }) => Math.max(greatest, Number(revision)), 0) + 1;
}

/** Where a workload stands in its history. */
export type RevisionPlan = {
  /** The revision it is going to. */
  readonly update: ControllerRevision;
  /**
   * What has to be done for that: `update` is to be made, or has come back and is to be given its new number, the one
   * it has here already.
   */
  readonly change: 'none' | 'create' | 'renumber';
  /** How often a name was taken by other data; to be kept in the workload's status. */
  readonly collisionCount: number;
};

/** What a plan depends on. */
export type RevisionSituation = {
  /** The revisions of the workload, in any order. */
  readonly history: readonly ControllerRevision[];
  /** What is wanted now. */
  readonly content: RevisionContent;
  /** As the workload's status has it. */
  readonly collisionCount: number | undefined;
  /** The revision that has a name in the workload's namespace, whoever it belongs to. */
  readonly find: (name: string) => ControllerRevision | undefined;
};

/**
 * Finds the revision a workload is going to. One that was there before is taken again, so that going back to it
 * touches no Pod that is still of it.
 */
export function planRevision(
  owner: Owner & { readonly metadata: { readonly namespace?: string; readonly deletionTimestamp?: string | null } },
  { history, content, collisionCount = 0, find }: RevisionSituation,
): RevisionPlan {
  const revision = nextRevisionNumber(history);
  const wanted = newRevision(owner, content, { revision, collisionCount });
  const sorted = history.toSorted(compareRevisions);
  const equal = sorted.findLast((each) => isSameRevision(each, wanted));
  if (equal && equal === sorted.at(-1)) return { update: equal, change: 'none', collisionCount };
  if (equal) return { update: { ...equal, revision }, change: 'renumber', collisionCount };

  for (let count = collisionCount; ; count++) {
    const update = newRevision(owner, content, { revision, collisionCount: count });
    const occupant = find(update.metadata.name ?? '');
    // What a workload on its way out made, the garbage collector would delete again, without end.
    const change = owner.metadata.deletionTimestamp == null ? 'create' : 'none';
    if (!occupant) return { update, change, collisionCount: count };
    if (isSameRevision(occupant, update)) return { update: occupant, change: 'none', collisionCount: count };
  }
}

/** The revisions that can go: the oldest of those not in use, as far as they are more than the limit. */
export function outdatedRevisions(
  history: readonly ControllerRevision[],
  { inUse, limit }: { readonly inUse: ReadonlySet<string>; readonly limit: number },
): readonly ControllerRevision[] {
  const unused = history.filter(({ metadata }) => !inUse.has(metadata.name ?? '')).sort(compareRevisions);
  return unused.slice(0, Math.max(0, unused.length - limit));
}
