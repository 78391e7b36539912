import type { Invariant } from './invariant.ts';
import { nodesAreNotOverfull, readyPodsHaveRun } from './nodes.ts';
import {
  cloneSetsAreNotExceeded,
  deploymentsAreNotExceeded,
  numbersAreHeeded,
  oneDaemonOnANode,
  onePodOfAName,
  podsDoNotTurnBack,
  replicaSetsAreNotExceeded,
} from './pods.ts';
import {
  acknowledgedWritesStay,
  budgetsAreKept,
  deletedPodsStayAway,
  heldPodsAreNotDeleted,
  onlyGarbageIsCollected,
} from './requests.ts';
import {
  advancedDaemonSetsStayAvailable,
  advancedStatefulSetsStayAvailable,
  cloneSetsKeepToPartitions,
  cloneSetsStayAvailable,
  deploymentsStayLarge,
  jobsCountWhatWas,
  statefulSetsStartInOrder,
} from './workloads.ts';

/** All that must hold at every step. What must hold at rest is in `at-rest.ts`. */
export const invariants: readonly Invariant[] = [
  acknowledgedWritesStay,
  advancedDaemonSetsStayAvailable,
  advancedStatefulSetsStayAvailable,
  budgetsAreKept,
  cloneSetsAreNotExceeded,
  cloneSetsKeepToPartitions,
  cloneSetsStayAvailable,
  deletedPodsStayAway,
  deploymentsAreNotExceeded,
  deploymentsStayLarge,
  heldPodsAreNotDeleted,
  jobsCountWhatWas,
  nodesAreNotOverfull,
  numbersAreHeeded,
  oneDaemonOnANode,
  onePodOfAName,
  onlyGarbageIsCollected,
  podsDoNotTurnBack,
  readyPodsHaveRun,
  replicaSetsAreNotExceeded,
  statefulSetsStartInOrder,
];
