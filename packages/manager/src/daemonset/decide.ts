/**
 * DaemonSet reconciler: keeps one Pod at the current template on every eligible node. Nodes with missing or excess Pods
 * come first. The update continues when the cache shows the result.
 */
import type { ControllerRevision } from '@kruise/api/apps/controllerrevision';
import type { Node } from '@kruise/api/core/node';
import type { Pod } from '@kruise/api/core/pod';
import type { DaemonSet, DaemonSetStatus } from '@kruise/api/kruise/daemonset';
import { inPlaceUpdateReadyCondition } from '@kruise/api/kruise/well-known';
import { type Action, parallel, parallelByKind, type Step } from '@kruise/client/actions';
import type { Decision } from '@kruise/client/controller';
import { noRefusals, type RefusedWrites } from '@kruise/client/refusals';
import { revisionLabelOf } from '@kruise/machinery/controller-revision';
import { placementOf, targetNodeOf } from '@kruise/machinery/daemon-pods';
import { isSame } from '@kruise/machinery/json-value';
import { secondsUntilAvailable } from '@kruise/machinery/pods';
import { compareStrings } from '@kruise/values/go-syntax';
import type { Instant } from '@kruise/values/time';
import { backOffKey, reportEndedPods } from '@kruise/workload-kit/daemonset/ended-pods';
import { claimPods, pruneRevisionHistory } from '@kruise/workload-kit/daemonset/history';
import { placePods } from '@kruise/workload-kit/daemonset/placement';
import { isUpdatedBy, type PodPlacer, podsByNode, podsFor } from '@kruise/workload-kit/daemonset/pods';
import { updateBudget } from '@kruise/workload-kit/daemonset/state';
import { countNodes } from '@kruise/workload-kit/daemonset/status';
import type { DerivedState } from '@kruise/workload-kit/derived-state';
import { earliestRequeue } from '@kruise/workload-kit/earliest-requeue';
import { createPod, deletePod, recordSelectingAll } from '@kruise/workload-kit/pod-control';
import { reconcileIntervalFor } from '@kruise/workload-kit/reconcile-interval';
import type { ManagerSettings } from '../configuration/settings.ts';
import { permissionsBy } from '../workload/inplace/permission.ts';
import { refreshUpdate } from '../workload/inplace/update.ts';
import { changeState, isHooked, removeStaleHolds } from '../workload/lifecycle/lifecycle.ts';
import { literalLabels } from '../workload/revision/pod-revision.ts';
import { updateInPlace } from './in-place.ts';
import { burstOf, progressiveLimit } from './numbers.ts';
import { preDownloadImages } from './pre-download.ts';
import { isAvailable, isPreDeleting, type State } from './state.ts';
import { updateStep } from './update.ts';

export type Observed = Pick<State, 'set' | 'nodes' | 'imagePullJobs'> & {
  /** Pods that the DaemonSet controls or may adopt. */
  readonly candidates: readonly Pod[];
  /** Revisions that the DaemonSet controls or may adopt. */
  readonly revisions: readonly ControllerRevision[];
  /** Finds a revision by name in the DaemonSet's namespace, whatever its owner. */
  readonly findRevision: (name: string) => ControllerRevision | undefined;
  /** Returns the remaining backoff of failures under a key. */
  readonly remainingBackOffMs: (key: string, now: Instant) => number;
};

type Decided = Decision<DaemonSetStatus | undefined>;

export function decide(
  observed: Observed,
  settings: ManagerSettings,
  now: Instant,
  refused: RefusedWrites = noRefusals,
): Decided {
  const { set } = observed;
  const { spec, metadata } = set;
  if (metadata.deletionTimestamp != null) return { actions: [] };
  if (isSame(spec.selector, {})) return { actions: [recordSelectingAll(set, 'DaemonSet')] };

  const { state, upkeep, collisionCount } = deriveState(observed, settings, now, refused);
  const work = planActions(state);
  const status = statusOf(state, collisionCount);
  return {
    actions: [...upkeep, ...preDownloadImages(state), ...work.actions, ...pruneRevisionHistory(set, state)],
    // Without the revision it is unknown which Pods are updated.
    status: ({ failures }) =>
      failures.some(({ action }) => 'object' in action && action.object.kind === 'ControllerRevision')
        ? set.status
        : status,
    ...earliestRequeue(secondsUntilAvailable(state.pods, state.minReadySeconds, now), ...work.seconds),
    // Applies even where there are actions: updated Pods become ready one after the other, and each change enqueues the
    // set.
    minIntervalMs: reconcileIntervalFor(observed.nodes.length),
  };
}

function deriveState(
  observed: Observed,
  settings: ManagerSettings,
  now: Instant,
  refused: RefusedWrites,
): DerivedState<State> {
  const { set, nodes, imagePullJobs } = observed;
  const { state: claimed, ...rest } = claimPods(set, observed);
  const { pods, hash, current, old } = claimed;
  const state: State = {
    set,
    settings,
    nodes,
    pods,
    hash,
    current,
    old,
    imagePullJobs,
    revisionLabels: literalLabels,
    permissions: permissionsBy(refused),
    byNode: podsByNode(pods),
    placement: placementOf(set.spec.template.spec),
    hasHash: (pod) => revisionLabelOf(pod) === hash,
    isUpdated: isUpdatedBy(set, hash),
    mustDelete: isPreDeleting,
    allowsSurge: updateBudget(set, 1).maxSurge > 0,
    minReadySeconds: set.spec.minReadySeconds ?? 0,
    remainingBackOffMs: (node) => observed.remainingBackOffMs(backOffKey(set, node), now),
    now,
  };
  return { ...rest, state };
}

type Work = { readonly actions: readonly Step[]; readonly seconds: readonly number[] };

function planActions(state: State): Work {
  const { set, now } = state;
  const tending = placePods(state);
  const starts = limitStarts(state, tending.nodesNeedingPods);
  const chores = [
    ...reportEndedPods(set, tending, now),
    ...parallelByKind(stopPods(state, tending.podsToDelete)),
    ...startPods(state, starts),
  ];
  const stopping = new Set(tending.podsToDelete);
  const refreshing = state.pods.filter((pod) => !stopping.has(pod)).map((pod) => refreshUpdate(pod, state, now));
  const seconds = refreshing.flatMap(({ requeueAfterSeconds }) => requeueAfterSeconds ?? []);
  if (tending.waitMs !== undefined) seconds.push(tending.waitMs / 1000);
  const freeing = state.pods.filter((pod) => !stopping.has(pod) && !isPreDeleting(pod));
  const upkeep = [
    ...chores,
    ...parallelByKind([
      ...refreshing.flatMap(({ actions }) => actions),
      ...freeing.flatMap((pod) => removeStaleHolds(pod, now)),
    ]),
  ];
  return { actions: upkeep.length > 0 ? upkeep : update(state), seconds };
}

/** Returns the nodes that get a Pod now, in alphabetical order. */
function limitStarts(state: State, nodes: readonly string[]): readonly string[] {
  const { set, placement, byNode, isUpdated } = state;
  const wanted = state.nodes.filter((node) => placement(node).shouldRun);
  const hasUpdated = ({ metadata }: Node) => byNode.get(metadata.name ?? '')?.some(isUpdated) ?? false;
  const limit = progressiveLimit(set, { desired: wanted.length, updated: wanted.filter(hasUpdated).length });
  return nodes.toSorted(compareStrings).slice(0, limit);
}

function update(state: State): readonly Step[] {
  const { type, rollingUpdate } = state.set.spec.updateStrategy ?? {};
  if (type !== 'RollingUpdate' || rollingUpdate?.paused) return [];
  const { replaced, starts, stops } = updateStep(state);
  const inPlace = updateInPlace(state, replaced);
  const [first] = inPlace.rest;
  const stopping = stopPods(state, [...inPlace.rest, ...stops]);
  const replacing = first ? beforeRecreation(state, first, stopping) : stopping;
  return [...parallelByKind([...inPlace.actions, ...replacing]), ...startPods(state, starts)];
}

/** Deletes Pods. A Pod with a preDelete hook moves to PreparingDelete instead. */
function stopPods({ set, now }: State, pods: readonly Pod[]): readonly Action[] {
  const hook = set.spec.lifecycle?.preDelete;
  const isHeld = (pod: Pod) => isHooked(hook, pod);
  return [
    ...pods
      .filter(isHeld)
      .flatMap((pod) => changeState(pod, { to: 'PreparingDelete', markNotReady: hook?.markPodNotReady }, now)),
    ...pods
      .filter((pod) => !isHeld(pod))
      .slice(0, burstOf(set))
      .map((pod) => deletePod(set, pod)),
  ];
}

function beforeRecreation(state: State, replaced: Pod, actions: readonly Action[]): readonly Action[] {
  const { set, hash, permissions } = state;
  const pod = () => podMaker(state)(targetNodeOf(replaced) ?? '');
  return permissions.beforeRecreation(actions, { workload: set, revision: hash, pod });
}

function podMaker({ set, hash, settings }: State): (node: string) => Pod {
  return podsFor(withReadinessGate(set), hash, settings.daemonSetsUseScheduler ? undefined : bindToNode);
}

function startPods(state: State, nodes: readonly string[]): readonly Step[] {
  const { set } = state;
  const podFor = podMaker(state);
  return parallel(nodes.slice(0, burstOf(set)).map((node) => createPod(set, podFor(node))));
}

/** Sets the scheduler name to the DaemonSet controller, so that no scheduler handles the Pod. */
const bindToNode: PodPlacer = (spec, nodeName) => ({
  ...spec,
  nodeName,
  schedulerName: 'kubernetes.io/daemonset-controller',
});

/** Adds the in-place readiness gate, which stops traffic during an in-place update. */
function withReadinessGate(set: DaemonSet): DaemonSet {
  const { template, updateStrategy } = set.spec;
  if (updateStrategy?.rollingUpdate?.rollingUpdateType !== 'InPlaceIfPossible') return set;
  const { spec = { containers: [] } } = template;
  const readinessGates = [...(spec.readinessGates ?? []), { conditionType: inPlaceUpdateReadyCondition }];
  return { ...set, spec: { ...set.spec, template: { ...template, spec: { ...spec, readinessGates } } } };
}

function statusOf(state: State, collisionCount: number | undefined): DaemonSetStatus {
  const { set, hash } = state;
  const { generation } = set.metadata;
  const { numberAvailable, numberUnavailable, ...counts } = countNodes(state, (pod) => isAvailable(pod, state));
  const { numberAvailable: _, numberUnavailable: _former, ...former } = set.status ?? {};
  return {
    ...former,
    ...counts,
    ...(numberAvailable === 0 ? {} : { numberAvailable }),
    ...(numberUnavailable === 0 ? {} : { numberUnavailable }),
    ...(generation === undefined ? {} : { observedGeneration: generation }),
    ...(collisionCount === undefined ? {} : { collisionCount }),
    updateRevision: hash,
  };
}
