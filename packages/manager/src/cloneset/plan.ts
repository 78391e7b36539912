/** CloneSet rollout plan: simulates a rollout by running `decide` on a copy of the cluster's objects. */
import type { Pod } from '@kruise/api/core/pod';
import { specifiedDeleteLabel } from '@kruise/api/kruise/well-known';
import { type Action, isBeingDeleted } from '@kruise/client/actions';
import { nameOfRevision, revisionLabelOf } from '@kruise/machinery/controller-revision';
import { isSame } from '@kruise/machinery/json-value';
import type { Instant } from '@kruise/values/time';
import type { ManagerSettings } from '../configuration/settings.ts';
import { lifecycleStateOf } from '../workload/lifecycle/lifecycle.ts';
import { blockersOf } from './blockers.ts';
import { deriveState, type Observed } from './decide.ts';
import { createSimulation, observeSimulation, reconcileOnce, type Simulation, simulateKubelet } from './simulation.ts';
import { taskOf } from './update-pod.ts';

export type PlannedStep = {
  readonly pod: string;
  readonly does: 'create' | 'delete' | 'update in place' | 'replace' | 'ask the hook';
  /** Reason why the Pod is recreated and not updated in place. */
  readonly why?: string;
};

export type RolloutPlan = {
  /** Update revision of the rollout. */
  readonly revision: string;
  /** Steps that happen together. Each wave starts when all Pods of the previous wave are available. */
  readonly waves: readonly (readonly PlannedStep[])[];
  /** Set where `waves` has all waves, and not just the first ones. */
  readonly isComplete: boolean;
  /** Current blockers of the rollout, one sentence each. */
  readonly blockers: readonly string[];
};

/**
 * Limit of waves in a plan. More waves occur where thousands of Pods are updated one at a time, and then one wave is
 * enough to show the pattern.
 */
const maxWaves = 100;
/** Limit of consecutive reconciles without a step: updates in progress, lifecycle states that change. */
const maxIdleReconciles = 20;

export function planRollout(observed: Observed, settings: ManagerSettings, now: Instant): RolloutPlan {
  const { state } = deriveState(observed, settings, now);
  const simulation = createSimulation(observed, now);
  const waves: PlannedStep[][] = [[]];
  let idleReconciles = 0;
  while (idleReconciles < maxIdleReconciles && waves.length <= maxWaves) {
    const before = observeSimulation(simulation);
    const actions = reconcileOnce(simulation, settings);
    const steps = actions.flatMap((action) => stepOf(action, before, simulation, settings));
    waves.at(-1)!.push(...steps);
    idleReconciles = steps.length > 0 ? 0 : idleReconciles + 1;
    if (actions.length > 0) continue;
    const isSettled = !makePodsReady(simulation);
    if (waves.at(-1)!.length > 0) waves.push([]);
    if (isSettled) break;
  }
  return {
    revision: nameOfRevision(state.update),
    waves: waves.filter((wave) => wave.length > 0).slice(0, maxWaves),
    isComplete: waves.length <= maxWaves,
    blockers: blockersOf(state),
  };
}

/** Makes all Pods ready and advances the clock until they are available; returns whether any Pod changed. */
function makePodsReady(simulation: Simulation): boolean {
  const before = new Map(simulation.pods);
  for (const name of simulation.pods.keys()) simulateKubelet(simulation, name);
  const { minReadySeconds = 0, updateStrategy } = simulation.cloneSet.spec;
  const { gracePeriodSeconds = 0 } = updateStrategy?.rollingUpdate?.inPlaceUpdateStrategy ?? {};
  simulation.time += (minReadySeconds + gracePeriodSeconds + 1) * 1000;
  return [...simulation.pods].some(([name, pod]) => !isSame(pod, before.get(name)));
}

/** Converts an action to a step of the plan. The continuation of a previous step is not a step. */
function stepOf(
  action: Action,
  before: Observed,
  simulation: Simulation,
  settings: ManagerSettings,
): readonly PlannedStep[] {
  if (action.type === 'record' || action.type === 'effect' || action.object.kind !== 'Pod') return [];
  const pod = action.object.metadata.name ?? '';
  if (action.type === 'create') return [{ pod, does: 'create' }];
  if (action.type === 'remove') return [{ pod, does: 'delete' }];
  const podBefore = before.pods.find(({ metadata }) => metadata.name === pod);
  const podAfter = simulation.pods.get(pod);
  // Where two writes affect one Pod, only the write of the Pod itself is a step.
  if (!podBefore || !podAfter || isBeingDeleted(podBefore) || (action.type === 'patch' && action.subresource))
    return [];
  if (revisionLabelOf(podBefore) !== revisionLabelOf(podAfter)) return [{ pod, does: 'update in place' }];
  if (isMarked(podAfter) && !isMarked(podBefore)) {
    const { state } = deriveState(before, settings, simulation.time);
    const task = taskOf(state, simulation.cloneSet.spec.updateStrategy?.rollingUpdate ?? {}, state.update);
    const why = task.obstacleFor(podBefore);
    return [{ pod, does: 'replace', ...(why === undefined ? {} : { why }) }];
  }
  const isHookPending = ['PreparingUpdate', 'PreparingDelete'].includes(lifecycleStateOf(podAfter) ?? '');
  return isHookPending && lifecycleStateOf(podBefore) !== lifecycleStateOf(podAfter)
    ? [{ pod, does: 'ask the hook' }]
    : [];
}

function isMarked({ metadata }: Pod): boolean {
  return metadata.labels?.[specifiedDeleteLabel] !== undefined;
}
