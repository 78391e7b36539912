/** Bringing one Pod to another revision (cloneset.md §9.3). */
import type { ControllerRevision } from '@kruise/api/apps/controllerrevision';
import type { Pod } from '@kruise/api/core/pod';
import type { CloneSetRollingUpdate } from '@kruise/api/kruise/cloneset';
import { type Action, announced, type PatchAction } from '@kruise/client/actions';
import type { UpdateSpec } from '../../inplace/state.ts';
import { startUpdate } from '../../inplace/update.ts';
import { updateSpecOf } from '../../inplace/update-spec.ts';
import { changeState, isHooked, lifecycleStateOf, stateMarks } from '../../lifecycle/lifecycle.ts';
import { isSpecifiedDelete, specifyDelete } from '../../specified-delete.ts';
import { nameOf, type Situation } from './situation.ts';

export type Updating = {
  readonly actions: readonly Action[];
  readonly requeueAfterSeconds?: number;
  /** What keeps Pods from being updated as asked. */
  readonly fault?: string;
};

/** What Pods are brought to, and how. */
export type Task = {
  readonly policy: NonNullable<CloneSetRollingUpdate['podUpdatePolicy']>;
  readonly target: ControllerRevision;
  /** What it takes to bring a Pod to the target in place, if that can be done. */
  readonly specFor: (pod: Pod) => UpdateSpec | undefined;
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
  const specFor = (pod: Pod) => {
    const from = revisions.find((each) => revisionLabels.isAt(pod, nameOf(each)));
    if (!known.has(from)) known.set(from, updateSpecOf(from, target, options));
    return known.get(from);
  };
  return { policy, target, specFor };
}

export function updatePod(situation: Situation, pod: Pod, task: Task): Updating {
  const spec = task.policy === 'ReCreate' ? undefined : task.specFor(pod);
  if (spec) return updateInPlace(situation, pod, spec, task.target);
  if (task.policy !== 'InPlaceOnly') return { actions: replace(situation, pod, task.target) };
  const { name } = pod.metadata;
  return { actions: [], fault: `find Pod ${name} update strategy is InPlaceOnly but can not update in-place` };
}

function updateInPlace(situation: Situation, pod: Pod, spec: UpdateSpec, target: ControllerRevision): Updating {
  const { cloneSet, now } = situation;
  const hook = cloneSet.spec.lifecycle?.inPlaceUpdate;
  const prepare = { to: 'PreparingUpdate', markNotReady: hook?.markPodNotReady } as const;
  const state = lifecycleStateOf(pod);
  switch (state) {
    case undefined:
    case 'PreparingNormal':
    case 'Normal':
      if (isHooked(hook, pod)) return { actions: changeState(pod, prepare, now) };
      break;
    case 'Updated':
      // The hook is put back on, so that whoever it is for is asked again.
      return { actions: hook ? changeState(pod, { ...prepare, restoring: hook }, now) : [] };
    case 'PreparingUpdate':
      if (isHooked(hook, pod)) return { actions: [] };
      break;
    case 'Updating':
      break;
    default:
      return { actions: [], fault: `not allowed to in-place update pod ${pod.metadata.name} in state ${state}` };
  }
  const actions = startUpdate(pod, spec, situation, now, (begun) => markUpdating(begun, now));
  const grace = spec.graceSeconds > 0 ? { requeueAfterSeconds: spec.graceSeconds } : {};
  return { actions: announceUpdate(cloneSet, actions, target), ...grace };
}

function markUpdating(pod: Pod, now: Situation['now']): Pod {
  const { labels, annotations } = stateMarks('Updating', now);
  const { metadata } = pod;
  return {
    ...pod,
    metadata: {
      ...metadata,
      labels: { ...metadata.labels, ...labels },
      annotations: { ...metadata.annotations, ...annotations },
    },
  };
}

/** Success is told once all is done, failure wherever it happens. */
function announceUpdate(
  about: Situation['cloneSet'],
  actions: readonly PatchAction[],
  target: ControllerRevision,
): readonly Action[] {
  const what = `update pod {name} in-place(revision ${nameOf(target)})`;
  const failed = { reason: 'FailedUpdatePodInPlace', message: `failed to ${what}: {error}` };
  const done = { reason: 'SuccessfulUpdatePodInPlace', message: `successfully ${what}` };
  return actions.map((action, index) =>
    announced(action, { about, failed, ...(index === actions.length - 1 ? { done } : {}) }),
  );
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
