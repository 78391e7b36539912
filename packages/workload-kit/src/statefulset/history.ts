/** Revision history of a workload with ordinals, and the claim of its Pods and revisions. */
import type { ControllerRevision } from '@kruise/api/apps/controllerrevision';
import type { Pod } from '@kruise/api/core/pod';
import type { PodTemplateSpec } from '@kruise/api/core/pod-template';
import type { ObjectMeta } from '@kruise/api/meta/object-meta';
import { type Action, create, parallel, patch, remove, type Step } from '@kruise/client/actions';
import { claimActions } from '@kruise/client/adoption';
import { claimsOf } from '@kruise/machinery/claims';
import {
  findRevision,
  findRevisionsToPrune,
  nameOfRevision,
  planRevision,
  podTemplateData,
  type RevisionContent,
  type RevisionPlan,
  revisionLabelOf,
} from '@kruise/machinery/controller-revision';
import { selectorOf } from '@kruise/machinery/label-selector';
import type { DerivedState } from '../derived-state.ts';
import { type NumberedSet, ordinalOf } from './identity.ts';

type Templated = { readonly metadata: ObjectMeta; readonly spec?: { readonly template?: PodTemplateSpec } };

/** A workload with ordinals and a revision history. */
export type RevisionedSet = NumberedSet &
  Templated & {
    readonly spec?: { readonly revisionHistoryLimit?: number };
    readonly status?: { readonly currentRevision?: string; readonly collisionCount?: number };
  };

/** Pods and revisions that a set controls, including those that it adopts. */
export type ClaimedMembers = {
  readonly pods: readonly Pod[];
  readonly revisions: readonly ControllerRevision[];
  /** Revision that Pods are updated from, and revision that Pods are updated to; often the same. */
  readonly current: ControllerRevision;
  readonly update: ControllerRevision;
};

/** Pods and revisions that a set controls or may adopt. */
export type MemberCandidates = {
  readonly pods: readonly Pod[];
  readonly revisions: readonly ControllerRevision[];
  /** Finds a revision by name in the namespace of the set, regardless of its owner. */
  readonly findRevision: (name: string) => ControllerRevision | undefined;
};

/** Claims the Pods and revisions of a set, and plans its update revision. */
export function claimMembers(set: RevisionedSet, candidates: MemberCandidates): DerivedState<ClaimedMembers> {
  const selector = selectorOf(set.spec?.selector);
  const matches = ({ metadata }: Pod | ControllerRevision) => selector.matches(metadata.labels);
  const pods = claimsOf(set, candidates.pods, (pod) => ordinalOf(set, pod) !== undefined && matches(pod));
  // A revision whose labels were removed is ignored, not released.
  const history = { ...claimsOf(set, candidates.revisions, matches), released: [] };
  const plan = planRevision(set, {
    history: history.claimed,
    content: contentOf(set),
    collisionCount: set.status?.collisionCount,
    findRevision: candidates.findRevision,
  });
  const { update, collisionCount } = plan;
  const current = findRevision(history.claimed, set.status?.currentRevision) ?? update;
  return {
    state: { pods: pods.claimed, revisions: history.claimed, current, update },
    upkeep: [...claimActions(set, history), ...claimActions(set, pods), ...revisionActions(plan)],
    collisionCount,
  };
}

/** Returns the revision content of the current template. */
function contentOf({ metadata, spec }: Templated): RevisionContent {
  const template = spec?.template ?? {};
  return { data: podTemplateData(template), labels: template.metadata?.labels, annotations: metadata.annotations };
}

/** Writes the update revision if it is new or was rolled back to. */
export function revisionActions({ change, update }: RevisionPlan): readonly Action[] {
  switch (change) {
    case 'create':
      return [create(update)];
    case 'renumber':
      return [patch(update, { revision: update.revision })];
    case 'none':
      return [];
  }
}

/** Deletes revisions that neither the set nor a Pod uses, above the revision history limit. */
export function pruneRevisionHistory(
  { spec }: RevisionedSet,
  { pods, revisions, current, update }: ClaimedMembers,
): readonly Step[] {
  const inUse = new Set([nameOfRevision(current), nameOfRevision(update), ...pods.map(revisionLabelOf)]);
  return parallel(findRevisionsToPrune(revisions, { inUse, limit: spec?.revisionHistoryLimit ?? 10 }).map(remove));
}
