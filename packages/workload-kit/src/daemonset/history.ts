/** Revision history of a DaemonSet's template. Pods carry the hash of their revision as a label. */
import type { ControllerRevision } from '@kruise/api/apps/controllerrevision';
import type { Pod } from '@kruise/api/core/pod';
import { create, parallel, patch, remove, type Step, update } from '@kruise/client/actions';
import { claimActions } from '@kruise/client/adoption';
import { claimsOf } from '@kruise/machinery/claims';
import {
  compareRevisions,
  nextRevisionNumber,
  podRevisionLabel,
  podTemplateData,
  revisionLabelOf,
} from '@kruise/machinery/controller-revision';
import { isSame } from '@kruise/machinery/json-value';
import { type LabelSelector, selectorOf } from '@kruise/machinery/label-selector';
import { controllerReference } from '@kruise/machinery/owner-references';
import { templateHash } from '@kruise/machinery/template-hash';
import type { DerivedState } from '../derived-state.ts';
import type { NodeSet } from './state.ts';

/** Revision history of a DaemonSet. */
type History = {
  /** Template hash label of Pods at the current revision. */
  readonly hash: string;
  /** Revision of the current template. */
  readonly current: ControllerRevision;
  /** Revisions of other templates. */
  readonly old: readonly ControllerRevision[];
  /** Writes that must happen first. */
  readonly actions: readonly Step[];
  readonly collisionCount: number | undefined;
};

/** Pods that a set controls, including those that it adopts, and its history. */
export type ClaimedPods = Pick<History, 'hash' | 'current' | 'old'> & { readonly pods: readonly Pod[] };

/** Pods and revisions that a set controls or may adopt. */
export type PodCandidates = {
  readonly candidates: readonly Pod[];
  readonly revisions: readonly ControllerRevision[];
  /** Finds a revision by name in the namespace of the set, regardless of its owner. */
  readonly findRevision: (name: string) => ControllerRevision | undefined;
};

/** Claims the Pods and revisions of a set, and finds or creates the revision of its template. */
export function claimPods(
  set: NodeSet & { readonly spec?: { readonly selector?: LabelSelector } },
  { candidates, revisions, findRevision }: PodCandidates,
): DerivedState<ClaimedPods> {
  const selector = selectorOf(set.spec?.selector);
  const matches = ({ metadata }: Pod | ControllerRevision) => selector.matches(metadata.labels);
  const revisionClaims = claimsOf(set, revisions, matches);
  const podClaims = claimsOf(set, candidates, matches);
  const pods = podClaims.claimed;
  const { hash, current, old, actions, collisionCount } = historyOf(set, revisionClaims.claimed, pods, findRevision);
  return {
    state: { pods, hash, current, old },
    upkeep: [...claimActions(set, revisionClaims), ...actions, ...claimActions(set, podClaims)],
    collisionCount,
  };
}

/** Finds the revision of the current template, or creates one. */
function historyOf(
  set: NodeSet,
  revisions: readonly ControllerRevision[],
  pods: readonly Pod[],
  findRevision: (name: string) => ControllerRevision | undefined,
): History {
  const data = set.spec?.template && podTemplateData(set.spec.template);
  const named = revisions.map(withHash);
  const labelling = named.filter((revision, index) => revision !== revisions[index]).map(update);
  const present = named.filter((revision) => isSame(revision.data, data)).sort(compareRevisions);
  const old = named.filter((revision) => !isSame(revision.data, data));
  const number = nextRevisionNumber(old);
  const { collisionCount } = set.status ?? {};

  const current = present.at(-1);
  if (!current) {
    const made = newRevision(set, number, findRevision);
    return {
      hash: revisionLabelOf(made.revision),
      current: made.revision,
      old,
      actions: [...labelling, create(made.revision)],
      collisionCount: made.collisionCount,
    };
  }
  const isBehind = Number(current.revision) < number;
  const merging = merge(current, present.slice(0, -1), pods);
  // One write covers both changes; a second write would conflict.
  const writes = isBehind
    ? [...labelling.filter(({ object }) => object !== current), update(renumbered(current, number))]
    : labelling;
  return { hash: revisionLabelOf(current), current, old, actions: [...writes, ...merging], collisionCount };
}

function renumbered(current: ControllerRevision, revision: number): ControllerRevision {
  return { ...current, revision };
}

/** Revisions that predate the hash label use their name as the hash. */
function withHash(revision: ControllerRevision): ControllerRevision {
  const { metadata } = revision;
  if (metadata.labels?.[podRevisionLabel] !== undefined) return revision;
  return {
    ...revision,
    metadata: { ...metadata, labels: { ...metadata.labels, [podRevisionLabel]: metadata.name ?? '' } },
  };
}

function newRevision(set: NodeSet, revision: number, findRevision: (name: string) => ControllerRevision | undefined) {
  const { metadata, spec } = set;
  const { namespace, annotations } = metadata;
  for (let collisionCount = set.status?.collisionCount; ; collisionCount = (collisionCount ?? 0) + 1) {
    const hash = templateHash(spec?.template, collisionCount);
    const name = `${metadata.name}-${hash}`;
    // A revision with this name and the same data would already have been found, so this one is a hash collision.
    if (findRevision(name)) continue;
    const made: ControllerRevision = {
      apiVersion: 'apps/v1',
      kind: 'ControllerRevision',
      metadata: {
        name,
        ...(namespace === undefined ? {} : { namespace }),
        labels: { ...spec?.template?.metadata?.labels, [podRevisionLabel]: hash },
        ...(annotations ? { annotations } : {}),
        ownerReferences: [controllerReference(set)],
      },
      ...(spec?.template ? { data: podTemplateData(spec.template) } : {}),
      revision,
    };
    return { revision: made, collisionCount };
  }
}

/** Merges several revisions of the same template: Pods of the duplicates are relabelled to the one that is kept. */
function merge(kept: ControllerRevision, others: readonly ControllerRevision[], pods: readonly Pod[]): readonly Step[] {
  const hashes = new Set(others.map(revisionLabelOf));
  const duplicatePods = pods.filter(
    (pod) => hashes.has(revisionLabelOf(pod)) && revisionLabelOf(pod) !== revisionLabelOf(kept),
  );
  const labels = { [podRevisionLabel]: revisionLabelOf(kept) };
  const relabelling = duplicatePods.map((pod) => patch(pod, { metadata: { labels } }));
  return [...parallel(relabelling), ...parallel(others.map(remove))];
}

/** Deletes the oldest revisions above the history limit that no Pod uses. */
export function pruneRevisionHistory(set: NodeSet, { old, pods }: Pick<ClaimedPods, 'old' | 'pods'>): readonly Step[] {
  const surplus = old.length - (set.spec?.revisionHistoryLimit ?? 10);
  if (surplus <= 0) return [];
  const live = new Set(pods.map(revisionLabelOf));
  const unused = old.filter((revision) => !live.has(revisionLabelOf(revision))).sort(compareRevisions);
  return parallel(unused.slice(0, surplus).map(remove));
}
