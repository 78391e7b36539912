import { type Invariant, whileAnswered } from './invariant.ts';
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
  whileAnswered(cloneSetsAreNotExceeded),
  cloneSetsKeepToPartitions,
  cloneSetsStayAvailable,
  deletedPodsStayAway,
  deploymentsAreNotExceeded,
  whileAnswered(deploymentsStayLarge),
  heldPodsAreNotDeleted,
  whileAnswered(jobsCountWhatWas),
  nodesAreNotOverfull,
  numbersAreHeeded,
  whileAnswered(oneDaemonOnANode),
  onePodOfAName,
  onlyGarbageIsCollected,
  podsDoNotTurnBack,
  readyPodsHaveRun,
  whileAnswered(replicaSetsAreNotExceeded),
  statefulSetsStartInOrder,
];
