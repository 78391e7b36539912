/**
 * StatefulSet reconciler: keeps Pods with ordinals. Desired ordinals come first, then Pods with other ordinals are
 * deleted, and then Pods are updated. With ordered Pod management each phase waits for the previous phase.
 */
import type { ControllerRevision } from '@kruise/api/apps/controllerrevision';
import type { Pod } from '@kruise/api/core/pod';
import type { StatefulSet, StatefulSetStatus } from '@kruise/api/kruise/statefulset';
import { type Action, isBeingDeleted, parallelByKind } from '@kruise/client/actions';
import type { Decision } from '@kruise/client/controller';
import type { Outcome } from '@kruise/client/execute';
import { noRefusals, type RefusedWrites } from '@kruise/client/refusals';
import { compareRevisions, nameOfRevision } from '@kruise/machinery/controller-revision';
import { secondsUntilAvailable } from '@kruise/machinery/pods';
import { errorText } from '@kruise/values/error-text';
import type { Instant } from '@kruise/values/time';
import type { DerivedState } from '@kruise/workload-kit/derived-state';
import { earliestRequeue } from '@kruise/workload-kit/earliest-requeue';
import { reconcileIntervalFor, shortLivedPodIntervalFor } from '@kruise/workload-kit/reconcile-interval';
import { claimMembers, pruneRevisionHistory } from '@kruise/workload-kit/statefulset/history';
import { ordinalOf } from '@kruise/workload-kit/statefulset/identity';
import type { ManagerSettings } from '../configuration/settings.ts';
import { permissionsBy } from '../workload/inplace/permission.ts';
import { literalLabels } from '../workload/revision/pod-revision.ts';
import { wantedOrdinals } from './ordinals.ts';
import { preDownloadImages } from './pre-download.ts';
import { type Refresher, refresherOf } from './refresh.ts';
import { fillSlots } from './revisions.ts';
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
  const { state, upkeep, collisionCount = 0 } = deriveState(observed, settings, now, refused);
  const work = isBeingDeleted(set) ? noWork : planActions(state);
  const statusAfter = (outgoing: ReadonlySet<Pod>) => statusOf(state, { collisionCount, outgoing });
  return {
    actions: [
      ...upkeep,
      ...preDownloadImages(state),
      // In order of the ordinals; the writes of one type to several Pods or PVCs run concurrently.
      ...parallelByKind(work.actions),
      ...pruneRevisionHistory(set, state),
    ],
    status(outcome) {
      // If a write failed, Pods that should leave their revision have not done so: the next reconcile counts them
      // again.
      const hasFailed = outcome.failures.some(({ action }) => work.actions.includes(action));
      return withFailures(statusAfter(hasFailed ? new Set() : work.outgoing), work, outcome, set, now);
    },
    ...earliestRequeue(secondsUntilAvailable(state.pods, minReadySecondsOf(set), now), ...work.seconds),
    // Applies even where there are actions: updated Pods become ready one after the other, and each change enqueues the
    // set.
    minIntervalMs: Math.max(reconcileIntervalFor(state.pods.length), shortLivedPodIntervalFor(state.pods, now)),
  };
}

function deriveState(
  observed: Observed,
  settings: ManagerSettings,
  now: Instant,
  refused: RefusedWrites,
): DerivedState<State> {
  const { set, imagePullJobs, findClaim, findPod, findStorageClass } = observed;
  const { state: claimed, ...rest } = claimMembers(set, observed);
  const { pods, revisions, current, update } = claimed;
  const known = revisions.filter((each) => nameOfRevision(each) !== nameOfRevision(update));
  const wanted = wantedOrdinals(set, settings.gates);
  const isWanted = new Set(wanted);
  // Only Pods with an ordinal are claimed.
  const numbered = pods.map((pod) => ({ ordinal: ordinalOf(set, pod)!, pod }));
  const present = new Map(
    numbered.filter(({ ordinal }) => isWanted.has(ordinal)).map((each) => [each.ordinal, each.pod]),
  );
  const state: State = {
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
    permissions: permissionsBy(refused),
    imagePullJobs,
    findClaim,
    findPod,
    findStorageClass,
  };
  return { ...rest, state };
}

type Work = {
  readonly actions: readonly Action[];
  /** Requeue delays. */
  readonly seconds: readonly (number | undefined)[];
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
    seconds: [...refresher.seconds(), rollout.requeueAfterSeconds],
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
