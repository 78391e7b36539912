/** Revisions of a UnitedDeployment's template: update revision, current revision, and revisions to prune. */
import type { ControllerRevision } from '@kruise/api/apps/controllerrevision';
import type { SubsetTemplate, UnitedDeployment } from '@kruise/api/kruise/uniteddeployment';
import { parallel, remove, type Step } from '@kruise/client/actions';
import { claimActions } from '@kruise/client/adoption';
import { claimsOf } from '@kruise/machinery/claims';
import {
  compareRevisions,
  nameOfRevision,
  planRevision,
  type RevisionContent,
  type RevisionPlan,
  toGoOrder,
} from '@kruise/machinery/controller-revision';
import { isObject, isSame, type JsonObject } from '@kruise/machinery/json-value';
import { selectorOf } from '@kruise/machinery/label-selector';
import { isControlledBy } from '@kruise/machinery/owner-references';
import { DecodeError } from '@kruise/schema/codec';
import { memoizeByObject } from '@kruise/values/memoize';
import { revisionActions } from '@kruise/workload-kit/statefulset/history';
import { wholeTemplate } from './template.ts';
import { templateOf, type WorkloadType } from './workload-types.ts';

export type RevisionsObserved = {
  /** Revisions that the UnitedDeployment controls, and orphaned revisions. */
  readonly revisions: readonly ControllerRevision[];
  /** Finds a revision by name in the UnitedDeployment's namespace, whatever its owner. */
  readonly findRevision: (name: string) => ControllerRevision | undefined;
};

export type PlannedRevisions = {
  /** Names of the current revision and of the update revision. */
  readonly current: string;
  readonly update: string;
  readonly actions: readonly Step[];
};

/**
 * Plans revisions. A revision is owned by its owner reference, whatever its labels are. OpenKruise finds revisions by
 * labels, which it does not set for CloneSet templates: all revisions of these templates have the number 1, and none is
 * ever deleted. Labels and numbers are the same here, since other programs read them. Revisions beyond the limit are
 * deleted anyway.
 */
export function planRevisions(
  owner: UnitedDeployment,
  workloadType: WorkloadType,
  observed: RevisionsObserved,
): PlannedRevisions {
  const selector = selectorOf(owner.spec.selector);
  const claims = claimsOf(
    owner,
    observed.revisions,
    (revision) => isControlledBy(revision, owner) || selector.matches(revision.metadata.labels),
  );
  const content = contentOf(owner, workloadType, claims.claimed);
  const plan = planRevision(owner, {
    // Without the rest of its history a revision is neither numbered after the others nor renumbered when it is reused.
    history: workloadType.labelsRevisions
      ? claims.claimed
      : claims.claimed.filter(({ data }) => isSame(data, content.data)),
    content,
    collisionCount: owner.status?.collisionCount,
    findRevision: observed.findRevision,
  });
  const update = nameOfRevision(plan.update);
  const { currentRevision = '' } = owner.status ?? {};
  const isKnown = claims.claimed.some((revision) => nameOfRevision(revision) === currentRevision);
  return {
    current: isKnown ? currentRevision : update,
    update,
    actions: [...claimActions(owner, claims), ...revisionActions(plan), ...pruneRevisions(owner, claims.claimed, plan)],
  };
}

const dataOf = memoizeByObject((template: object) =>
  toGoOrder({ spec: { template: { ...template, $patch: 'replace' } } }),
);

/**
 * Returns the revision content of the current template. An existing revision with an equal template provides its data.
 */
function contentOf(
  { spec }: UnitedDeployment,
  workloadType: WorkloadType,
  history: readonly ControllerRevision[],
): RevisionContent {
  const template = wholeTemplate(spec.template ?? {});
  const labels = workloadType.labelsRevisions ? templateOf(template, workloadType).metadata?.labels : undefined;
  const equal = history.toSorted(compareRevisions).findLast(({ data }) => isSame(templateIn(data), template));
  // The data has a template, so it is an object.
  return { data: (equal?.data as JsonObject | undefined) ?? dataOf(template), labels };
}

/**
 * Returns the template of a revision in the current encoding: other releases of OpenKruise omit or write empty fields.
 * An unrecognized revision would restart every Pod.
 */
function templateIn(data: ControllerRevision['data']): SubsetTemplate | undefined {
  return isObject(data) ? restored(data) : undefined;
}

const restored = memoizeByObject((data: JsonObject): SubsetTemplate | undefined => {
  const template = isObject(data.spec) ? data.spec.template : undefined;
  if (!isObject(template)) return undefined;
  const { $patch: _, ...fields } = template;
  try {
    return wholeTemplate(fields);
  } catch (error) {
    if (!(error instanceof DecodeError)) throw error;
    return undefined;
  }
});

/** Prunes the oldest revisions beyond the limit, except for the current and the update revision. */
function pruneRevisions(
  { spec, status }: UnitedDeployment,
  history: readonly ControllerRevision[],
  plan: RevisionPlan,
): readonly Step[] {
  const excess = history.length - (spec.revisionHistoryLimit ?? 10);
  if (excess <= 0) return [];
  const inUse = new Set([status?.currentRevision, status?.updatedRevision, nameOfRevision(plan.update)]);
  const oldest = history.toSorted(compareRevisions).slice(0, excess);
  return parallel(oldest.filter((revision) => !inUse.has(nameOfRevision(revision))).map(remove));
}
