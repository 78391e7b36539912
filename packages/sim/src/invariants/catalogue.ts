import { claimsGoAsTold, claimsGoWithPods, claimsInUseStay } from './claims.ts';
import { broadcastJobsDoNotCrowd, cronJobsDoNotOverlap } from './companions.ts';
import { heldPodsAreNotDeleted, heldPodsAreNotUpdated, trafficIsStoppedFirst } from './hooks.ts';
import type { Invariant } from './invariant.ts';
import { onlyLeadersWrite } from './leaders.ts';
import { nodesAreNotOverfull, readyPodsHaveRun } from './nodes.ts';
import {
  advancedDaemonSetsKeepToPartitions,
  advancedStatefulSetsKeepToPartitions,
  cloneSetsKeepToPartitions,
} from './partitions.ts';
import {
  cloneSetsAreNotExceeded,
  daemonsDoNotCrowd,
  deploymentsAreNotExceeded,
  numbersAreHeeded,
  oneDaemonOnANode,
  onePodOfAName,
  podsDoNotTurnBack,
  replicaSetsAreNotExceeded,
} from './pods.ts';
import { acknowledgedWritesStay, budgetsAreKept, deletedPodsStayAway, onlyGarbageIsCollected } from './requests.ts';
import { revisionsInUseStay } from './revisions.ts';
import { podsAreSpared } from './spare.ts';
import { fewPodsAreTaken } from './takings.ts';
import { statusesTellTheTruth } from './truth.ts';
import {
  advancedDaemonSetsStayAvailable,
  advancedStatefulSetsStartInOrder,
  advancedStatefulSetsStayAvailable,
  cloneSetsStayAvailable,
  deploymentsStayLarge,
  jobsCountWhatWas,
  statefulSetsStartInOrder,
} from './workloads.ts';
import { writesAreBounded } from './write-rates.ts';

/** Invariants that must hold at every step. `convergence.ts` has those that hold after convergence. */
export const invariants: readonly Invariant[] = [
  acknowledgedWritesStay,
  advancedDaemonSetsKeepToPartitions,
  advancedDaemonSetsStayAvailable,
  advancedStatefulSetsKeepToPartitions,
  advancedStatefulSetsStartInOrder,
  advancedStatefulSetsStayAvailable,
  broadcastJobsDoNotCrowd,
  budgetsAreKept,
  claimsGoAsTold,
  claimsGoWithPods,
  claimsInUseStay,
  cloneSetsAreNotExceeded,
  cloneSetsKeepToPartitions,
  cloneSetsStayAvailable,
  cronJobsDoNotOverlap,
  daemonsDoNotCrowd,
  deletedPodsStayAway,
  deploymentsAreNotExceeded,
  deploymentsStayLarge,
  fewPodsAreTaken,
  heldPodsAreNotDeleted,
  heldPodsAreNotUpdated,
  jobsCountWhatWas,
  nodesAreNotOverfull,
  numbersAreHeeded,
  oneDaemonOnANode,
  onePodOfAName,
  onlyGarbageIsCollected,
  onlyLeadersWrite,
  podsAreSpared,
  podsDoNotTurnBack,
  readyPodsHaveRun,
  replicaSetsAreNotExceeded,
  revisionsInUseStay,
  statefulSetsStartInOrder,
  statusesTellTheTruth,
  trafficIsStoppedFirst,
  writesAreBounded,
];
