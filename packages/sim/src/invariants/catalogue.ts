import type { Invariant } from './invariant.ts';
import { nodesAreNotOverfull, readyPodsHaveRun } from './nodes.ts';
import {
  cloneSetsAreNotExceeded,
  deploymentsAreNotExceeded,
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
  cloneSetsStayAvailable,
  deploymentsStayLarge,
  jobsCountWhatWas,
  statefulSetsStartInOrder,
} from './workloads.ts';

/** All that must hold at every step. What must hold at rest is in `at-rest.ts`. */
export const invariants: readonly Invariant[] = [
  acknowledgedWritesStay,
  budgetsAreKept,
  cloneSetsAreNotExceeded,
  cloneSetsStayAvailable,
  deletedPodsStayAway,
  deploymentsAreNotExceeded,
  deploymentsStayLarge,
  heldPodsAreNotDeleted,
  jobsCountWhatWas,
  nodesAreNotOverfull,
  oneDaemonOnANode,
  onePodOfAName,
  onlyGarbageIsCollected,
  podsDoNotTurnBack,
  readyPodsHaveRun,
  replicaSetsAreNotExceeded,
  statefulSetsStartInOrder,
];
