/**
 * StatefulSet reconciler: keeps Pods with ordinals. Desired ordinals come first, then Pods with other ordinals are
 * deleted, and then Pods are updated. With ordered Pod management each phase waits for the previous phase.
 */
import type { ControllerRevision } from '@kruise/api/apps/controllerrevision';
import type { Pod } from '@kruise/api/core/pod';
import type { StatefulSet, StatefulSetStatus } from '@kruise/api/kruise/statefulset';
import { type Action, isBeingDeleted, parallelByKind } from '@kruise/client/actions';
import { claimActions } from '@kruise/client/adoption';
import type { Decision } from '@kruise/client/controller';
import type { Outcome } from '@kruise/client/execute';
import { noRefusals, type RefusedWrites } from '@kruise/client/refusals';
import { claimsOf } from '@kruise/machinery/claims';
import { compareRevisions, findRevision, nameOfRevision, planRevision } from '@kruise/machinery/controller-revision';
import { selectorOf } from '@kruise/machinery/label-selector';
import { secondsUntilAvailable } from '@kruise/machinery/pods';
import { errorText } from '@kruise/values/error-text';
import type { Instant } from '@kruise/values/time';
import { reconcileIntervalFor, shortLivedPodIntervalFor } from '@kruise/workload-kit/reconcile-interval';
import { contentOf, revisionActions } from '@kruise/workload-kit/statefulset/history';
import { ordinalOf } from '@kruise/workload-kit/statefulset/identity';
import type { ManagerSettings } from '../configuration/settings.ts';
import { permissionsBy } from '../workload/inplace/permission.ts';
import { literalLabels } from '../workload/revision/pod-revision.ts';
import { wantedOrdinals } from './ordinals.ts';
import { preDownloadImages } from './pre-download.ts';
import { type Refresher, refresherOf } from './refresh.ts';
import { fillSlots, pruneRevisionHistory } from './revisions.ts';
import { deletePod, reconcileSlots, releasedPods, scaleIn } from './slots.ts';
import { minReadySecondsOf, type State } from './state.ts';
import { statusOf, withFailure } from './status.ts';
import { nothingToUpdate, type Rollout, resume, rollOut } from './update.ts';

export type Observed = Pick<State, 'set' | 'imagePullJobs' | 'findClaim' | 'findPod' | 'findStorageClass'> & {
  /** Pods that the set controls, and orphaned Pods. */
  readonly pods: readonly Pod[];
  /** Revisions that the set controls, and orphaned revisions. */
  readonly revisions: readonly ControllerRevision[];
  /** Finds a revision by name in the set's namespace, whatever its owner. */
  readonly findRevision: (name: string) => ControllerRevision | undefined;
};

export function decide(
  observed: Observed,
  settings: ManagerSettings,
  now: Instant,
  refused: RefusedWrites = noRefusals,
): Decision<StatefulSetStatus> {
  const { set } = observed;
  const selector = selectorOf(set.spec.selector);
  const matches = ({ metadata }: Pod | ControllerRevision) => selector.matches(metadata.labels);
  const pods = claimsOf(set, observed.pods, (pod) => ordinalOf(set, pod) !== undefined && matches(pod));
  // A revision whose labels were removed is ignored, not released.
  const history = { ...claimsOf(set, observed.revisions, matches), released: [] };
  const plan = planRevision(set, {
    history: history.claimed,
    content: contentOf(set),
    collisionCount: set.status?.collisionCount,
    findRevision: observed.findRevision,
  });

  const permissions = permissionsBy(refused);
  const parts = { pods: pods.claimed, revisions: history.claimed, update: plan.update, permissions };
  const state = buildState(observed, parts, settings, now);
  const work = isBeingDeleted(set) ? noWork : planActions(state);
  const statusAfter = (outgoing: ReadonlySet<Pod>) =>
    statusOf(state, { collisionCount: plan.collisionCount, outgoing });
  const seconds = [secondsUntilAvailable(pods.claimed, minReadySecondsOf(set), now), ...work.seconds].filter(
    (each) => each !== undefined,
  );
  return {
    actions: [
      ...claimActions(set, history),
      ...claimActions(set, pods),
      ...revisionActions(plan),
      ...preDownloadImages(state),
      // In order of the ordinals; without a common order, Pods are created, patched and deleted concurrently.
      ...parallelByKind(work.actions),
      ...pruneRevisionHistory(state),
    ],
    status(outcome) {
      // If a write failed, Pods that should leave their revision have not done so: the next reconcile counts them
      // again.
      const hasFailed = outcome.failures.some(({ action }) => work.actions.includes(action));
      return withFailures(statusAfter(hasFailed ? new Set() : work.outgoing), work, outcome, set, now);
    },
    ...(seconds.length > 0 ? { requeueAfterSeconds: Math.min(...seconds) } : {}),
    // Applies even where there are actions: updated Pods become ready one after the other, and each change enqueues the
    // set.
    minIntervalMs: Math.max(reconcileIntervalFor(pods.claimed.length), shortLivedPodIntervalFor(pods.claimed, now)),
  };
}

function buildState(
  observed: Observed,
  { pods, revisions, update, permissions }: Pick<State, 'pods' | 'revisions' | 'update' | 'permissions'>,
  settings: ManagerSettings,
  now: Instant,
): State {
  const { set, imagePullJobs, findClaim, findPod, findStorageClass } = observed;
  const known = revisions.filter((each) => nameOfRevision(each) !== nameOfRevision(update));
  const current = findRevision(revisions, set.status?.currentRevision) ?? update;
  const wanted = wantedOrdinals(set, settings.gates);
  const isWanted = new Set(wanted);
  // Only Pods with an ordinal are claimed.
  const numbered = pods.map((pod) => ({ ordinal: ordinalOf(set, pod)!, pod }));
  const present = new Map(
    numbered.filter(({ ordinal }) => isWanted.has(ordinal)).map((each) => [each.ordinal, each.pod]),
  );
  return {
    settings,
    now,
    set,
    pods,
    slots: fillSlots({ set, settings, current, update, now }, wanted, present),
    condemned: numbered.filter(({ ordinal }) => !isWanted.has(ordinal)).sort((a, b) => b.ordinal - a.ordinal),
    revisions: [...known, update].sort(compareRevisions),
    current,
    update,
    revisionLabels: literalLabels,
    permissions,
    imagePullJobs,
    findClaim,
    findPod,
    findStorageClass,
  };
}

type Work = {
  readonly actions: readonly Action[];
  readonly seconds: readonly number[];
  readonly outgoing: ReadonlySet<Pod>;
  /** Reason why a Pod cannot be created. */
  readonly fault?: string | undefined;
  /** Reason why Pods cannot be updated for a while. */
  readonly updateFault?: string | undefined;
};

const noWork: Work = { actions: [], seconds: [], outgoing: new Set() };

function planActions(state: State): Work {
  const refresher = refresherOf(state);
  const present = state.slots.filter(({ isMissing }) => !isMissing).map(({ pod }) => pod);
  const outgoing = new Set(releasedPods(state, present));
  const kept = reconcileSlots(state, refresher.refresh);
  const actions = [...[...outgoing].flatMap((pod) => deletePod(state, pod)), ...kept.actions];
  const finishWith = (rollout: Rollout, fault?: string): Work => ({
    actions: [...actions, ...rollout.actions],
    seconds: [...refresher.seconds(), rollout.requeueAfterSeconds].filter((each) => each !== undefined),
    outgoing: outgoing.union(rollout.outgoing),
    fault,
    updateFault: rollout.fault,
  });
  if (kept.isBlocked) return finishWith(mayUpdate(state, refresher) ? resume(state) : nothingToUpdate, kept.fault);
  const leaving = scaleIn(state);
  actions.push(...leaving.actions);
  return finishWith(leaving.isBlocked ? nothingToUpdate : updateAll(state, refresher));
}

function updateAll(state: State, refresher: Refresher): Rollout {
  if (state.set.spec.updateStrategy?.type === 'OnDelete') return nothingToUpdate;
  const actions = state.pods.flatMap(refresher.refresh);
  return mayUpdate(state, refresher) ? rollOut(state) : { ...nothingToUpdate, actions };
}

function mayUpdate({ set }: State, refresher: Refresher): boolean {
  const { type, rollingUpdate } = set.spec.updateStrategy ?? {};
  // A decision about Pods that are about to change would be stale by the time it is executed.
  return type !== 'OnDelete' && !rollingUpdate?.paused && !refresher.hasChanged();
}

/** Sets conditions for failed writes: creating a Pod or its PVCs, or updating a Pod. */
function withFailures(
  status: StatefulSetStatus,
  work: Work,
  { failures }: Outcome,
  { status: former }: StatefulSet,
  now: Instant,
): StatefulSetStatus {
  const creating = { type: 'FailedCreatePod', verb: 'create' };
  const updating = { type: 'FailedUpdatePod', verb: 'update' };
  const faults = [
    ...(work.fault ? [{ ...creating, error: work.fault }] : []),
    ...(work.updateFault ? [{ ...updating, error: work.updateFault }] : []),
  ];
  const faulty = faults.reduce((reported, fault) => withFailure(reported, fault, former, now), status);
  const isWorkAction = new Set(work.actions);
  return failures.reduce((reported, { action, error }) => {
    if (!isWorkAction.has(action) || action.type === 'record' || action.type === 'effect') return reported;
    const isUpdateAction = action.type === 'update' || action.dryRun !== undefined;
    if (action.type !== 'create' && !isUpdateAction) return reported;
    const message = errorText(error);
    return withFailure(reported, { ...(action.type === 'create' ? creating : updating), error: message }, former, now);
  }, faulty);
}
