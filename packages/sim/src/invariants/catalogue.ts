import { broadcastJobsRespectParallelism, forbidPolicyIsRespected } from './companions.ts';
import { podStatusesMatchRuntime } from './container-statuses.ts';
import {
  inPlaceUpdateHooksAreRespected,
  podsAreNotReadyDuringInPlaceUpdate,
  preDeleteHooksAreRespected,
} from './hooks.ts';
import type { Invariant } from './invariant.ts';
import { kruiseWorkloadsRespectMaxUnavailable } from './kruise-availability.ts';
import { onlyLeadersWrite } from './leaders.ts';
import { nodesAreNotOvercommitted, readyPodsHaveRun } from './nodes.ts';
import {
  advancedDaemonSetsRespectPartition,
  advancedStatefulSetsRespectPartition,
  cloneSetsRespectPartition,
} from './partitions.ts';
import {
  cloneSetsRespectMaxSurge,
  daemonSetsRespectMaxSurge,
  deploymentsRespectMaxSurge,
  oneDaemonPodPerNode,
  podNamesAreUnique,
  podPhaseIsMonotonic,
  replicaSetsRespectReplicas,
  reservedOrdinalsAreRespected,
} from './pods.ts';
import {
  acknowledgedWritesAreDurable,
  deletedPodsStayDeleted,
  evictionsRespectBudgets,
  onlyGarbageIsCollected,
} from './requests.ts';
import { revisionsInUseAreKept } from './revisions.ts';
import { rollingUpdateRespectsMaxUnavailable } from './rolling-updates.ts';
import { pvcRetentionPolicyIsRespected, pvcsInUseAreKept, scaledInPodsOwnTheirPvcs } from './volume-claims.ts';
import {
  advancedDaemonSetsStayAvailable,
  advancedStatefulSetsStartInOrder,
  advancedStatefulSetsStayAvailable,
  cloneSetsStayAvailable,
  deploymentsRespectMaxUnavailable,
  jobsCountSucceededPods,
  statefulSetsStartInOrder,
} from './workloads.ts';
import { writesAreBounded } from './write-rates.ts';

/** Invariants that must hold at every step. `convergence.ts` has those that hold after convergence. */
export const invariants: readonly Invariant[] = [
  acknowledgedWritesAreDurable,
  advancedDaemonSetsRespectPartition,
  advancedDaemonSetsStayAvailable,
  advancedStatefulSetsRespectPartition,
  advancedStatefulSetsStartInOrder,
  advancedStatefulSetsStayAvailable,
  broadcastJobsRespectParallelism,
  evictionsRespectBudgets,
  pvcRetentionPolicyIsRespected,
  scaledInPodsOwnTheirPvcs,
  pvcsInUseAreKept,
  cloneSetsRespectMaxSurge,
  cloneSetsRespectPartition,
  cloneSetsStayAvailable,
  forbidPolicyIsRespected,
  daemonSetsRespectMaxSurge,
  deletedPodsStayDeleted,
  deploymentsRespectMaxSurge,
  deploymentsRespectMaxUnavailable,
  rollingUpdateRespectsMaxUnavailable,
  preDeleteHooksAreRespected,
  inPlaceUpdateHooksAreRespected,
  jobsCountSucceededPods,
  nodesAreNotOvercommitted,
  reservedOrdinalsAreRespected,
  oneDaemonPodPerNode,
  podNamesAreUnique,
  onlyGarbageIsCollected,
  onlyLeadersWrite,
  kruiseWorkloadsRespectMaxUnavailable,
  podPhaseIsMonotonic,
  readyPodsHaveRun,
  replicaSetsRespectReplicas,
  revisionsInUseAreKept,
  statefulSetsStartInOrder,
  podStatusesMatchRuntime,
  podsAreNotReadyDuringInPlaceUpdate,
  writesAreBounded,
];
