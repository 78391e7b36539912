/** What a rollout would do, found out by having `decide` do it in a world of its own. */
import type { Pod } from '@kruise/api/core/pod';
import { specifiedDeleteLabel } from '@kruise/api/kruise/well-known';
import { type Action, isBeingDeleted } from '@kruise/client/actions';
import { isSame } from '@kruise/machinery/json-value';
import type { Instant } from '@kruise/values/time';
import { lifecycleStateOf } from '../../lifecycle/lifecycle.ts';
import { revisionLabelOf } from '../../revision/pod-revision.ts';
import type { ManagerSettings } from '../../settings.ts';
import { blockersOf } from './blockers.ts';
import { type Observed, survey } from './decide.ts';
import { act, observedIn, tend, type World, worldOf } from './rehearsal.ts';
import { nameOf } from './situation.ts';
import { taskOf } from './update-pod.ts';

export type PlannedStep = {
  readonly pod: string;
  readonly does: 'create' | 'delete' | 'update in place' | 'replace' | 'ask the hook';
  /** Why it is replaced rather than updated in place. */
  readonly why?: string;
};

export type RolloutPlan = {
  /** The revision Pods go to. */
  readonly revision: string;
  /** What is done together; each wave once all Pods of the one before are available. */
  readonly waves: readonly (readonly PlannedStep[])[];
  /** Whether these are all waves, and not just the first. */
  readonly isWhole: boolean;
  /** What holds it up at present, in sentences. */
  readonly blockers: readonly string[];
};

/** Who wants to know more than this has a rollout of thousands of Pods one at a time, of which one wave says it all. */
const maxWaves = 100;
/** Passes without a step: updates that are brought on, states that change. */
const maxIdlePasses = 20;

export function planRollout(observed: Observed, settings: ManagerSettings, now: Instant): RolloutPlan {
  const { situation, plan } = survey(observed, settings, now);
  const world = worldOf(observed, now);
  const waves: PlannedStep[][] = [[]];
  let idlePasses = 0;
  while (idlePasses < maxIdlePasses && waves.length <= maxWaves) {
    const before = observedIn(world);
    const actions = act(world, settings);
    const steps = actions.flatMap((action) => stepOf(action, before, world, settings));
    waves.at(-1)!.push(...steps);
    idlePasses = steps.length > 0 ? 0 : idlePasses + 1;
    if (actions.length > 0) continue;
    const isSettled = !comeUp(world);
    if (waves.at(-1)!.length > 0) waves.push([]);
    if (isSettled) break;
  }
  return {
    revision: nameOf(plan.update),
    waves: waves.filter((wave) => wave.length > 0).slice(0, maxWaves),
    isWhole: waves.length <= maxWaves,
    blockers: blockersOf(situation),
  };
}

/** All Pods come up, and are so for as long as it takes; returns whether that changed any. */
function comeUp(world: World): boolean {
  const before = new Map(world.pods);
  for (const name of world.pods.keys()) tend(world, name);
  const { minReadySeconds = 0, updateStrategy } = world.cloneSet.spec;
  const { gracePeriodSeconds = 0 } = updateStrategy?.rollingUpdate?.inPlaceUpdateStrategy ?? {};
  world.time += (minReadySeconds + gracePeriodSeconds + 1) * 1000;
  return [...world.pods].some(([name, pod]) => !isSame(pod, before.get(name)));
}

/** An action in the words of a plan; bringing something on that has begun is no step of its own. */
function stepOf(action: Action, before: Observed, world: World, settings: ManagerSettings): readonly PlannedStep[] {
  if (action.type === 'record' || action.type === 'effect' || action.object.kind !== 'Pod') return [];
  const pod = action.object.metadata.name ?? '';
  if (action.type === 'create') return [{ pod, does: 'create' }];
  if (action.type === 'remove') return [{ pod, does: 'delete' }];
  const was = before.pods.find(({ metadata }) => metadata.name === pod);
  const is = world.pods.get(pod);
  // Of two writes about one Pod the one of the Pod itself is the step.
  if (!was || !is || isBeingDeleted(was) || (action.type === 'patch' && action.subresource)) return [];
  if (revisionLabelOf(was) !== revisionLabelOf(is)) return [{ pod, does: 'update in place' }];
  if (isMarked(is) && !isMarked(was)) {
    const { situation } = survey(before, settings, world.time);
    const task = taskOf(situation, world.cloneSet.spec.updateStrategy?.rollingUpdate ?? {}, situation.update);
    const why = task.obstacleFor(was);
    return [{ pod, does: 'replace', ...(why === undefined ? {} : { why }) }];
  }
  const isAsked = ['PreparingUpdate', 'PreparingDelete'].includes(lifecycleStateOf(is) ?? '');
  return isAsked && lifecycleStateOf(was) !== lifecycleStateOf(is) ? [{ pod, does: 'ask the hook' }] : [];
}

function isMarked({ metadata }: Pod): boolean {
  return metadata.labels?.[specifiedDeleteLabel] !== undefined;
}
