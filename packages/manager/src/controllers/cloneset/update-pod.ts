/** Bringing one Pod to another revision (cloneset.md §9.3). */
import type { ControllerRevision } from '@kruise/api/apps/controllerrevision';
import type { Pod } from '@kruise/api/core/pod';
import type { CloneSetRollingUpdate } from '@kruise/api/kruise/cloneset';
import { type Action, announced } from '@kruise/client/actions';
import { type Attempted, attemptUpdate } from '../../inplace/attempt.ts';
import type { UpdateSpec } from '../../inplace/state.ts';
import { inPlaceObstacle, updateSpecOf } from '../../inplace/update-spec.ts';
import { isSpecifiedDelete, specifyDelete } from '../../specified-delete.ts';
import { nameOf, type Situation } from './situation.ts';

/** What Pods are brought to, and how. */
export type Task = {
  readonly policy: NonNullable<CloneSetRollingUpdate['podUpdatePolicy']>;
  readonly target: ControllerRevision;
  /** What it takes to bring a Pod to the target in place, if that can be done. */
  readonly specFor: (pod: Pod) => UpdateSpec | undefined;
  /** Why a Pod has to be replaced; nothing where it can be updated in place. */
  readonly obstacleFor: (pod: Pod) => string | undefined;
};

/** What it takes is the same for all Pods of one revision, of which there may be thousands. */
export function taskOf(situation: Situation, rolling: CloneSetRollingUpdate, target: ControllerRevision): Task {
  const { settings, revisions, revisionLabels } = situation;
  const { podUpdatePolicy: policy = 'ReCreate', inPlaceUpdateStrategy } = rolling;
  const options = {
    gates: settings.gates,
    graceSeconds: inPlaceUpdateStrategy?.gracePeriodSeconds ?? 0,
    ignoresVolumeClaims: policy === 'InPlaceOnly',
  };
  const known = new Map<ControllerRevision | undefined, UpdateSpec | undefined>();
  const revisionOf = (pod: Pod) => revisions.find((each) => revisionLabels.isAt(pod, nameOf(each)));
  const specFor = (pod: Pod) => {
    const from = revisionOf(pod);
    if (!known.has(from)) known.set(from, updateSpecOf(from, target, options));
    return known.get(from);
  };
  const obstacleFor = (pod: Pod) =>
    policy === 'ReCreate' ? 'podUpdatePolicy is ReCreate' : inPlaceObstacle(revisionOf(pod), target, options);
  return { policy, target, specFor, obstacleFor };
}

export function updatePod(situation: Situation, pod: Pod, task: Task): Attempted {
  const spec = task.policy === 'ReCreate' ? undefined : task.specFor(pod);
  if (spec) {
    const { cloneSet, now } = situation;
    const hook = cloneSet.spec.lifecycle?.inPlaceUpdate;
    const attempt = { workload: cloneSet, to: task.target, spec, hook, marksEveryPod: true };
    return attemptUpdate(pod, attempt, situation, now);
  }
  if (task.policy !== 'InPlaceOnly') return { actions: replace(situation, pod, task.target) };
  const { name } = pod.metadata;
  return { actions: [], fault: `find Pod ${name} update strategy is InPlaceOnly but can not update in-place` };
}

/** Has a Pod deleted, as any that is marked is: within the budget, and after its hook. */
function replace({ cloneSet }: Situation, pod: Pod, target: ControllerRevision): readonly Action[] {
  if (isSpecifiedDelete(pod)) return [];
  const why = `for update(revision ${nameOf(target)})`;
  const done = `successfully patch pod {name} specified-delete ${why}`;
  const failed = `failed to patch pod specified-delete {name} ${why}: {error}`;
  return [
    announced(specifyDelete(pod), {
      about: cloneSet,
      done: { reason: 'SuccessfulUpdatePodReCreate', message: done },
      failed: { reason: 'FailedUpdatePodReCreate', message: failed },
    }),
  ];
}
