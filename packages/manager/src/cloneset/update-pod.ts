/** Update of one Pod of a CloneSet to another revision. */
import type { ControllerRevision } from '@kruise/api/apps/controllerrevision';
import type { Pod } from '@kruise/api/core/pod';
import type { CloneSetRollingUpdate } from '@kruise/api/kruise/cloneset';
import { type Action, withOutcomeEvents } from '@kruise/client/actions';
import { nameOfRevision, podTemplateOf } from '@kruise/machinery/controller-revision';
import { type AttemptResult, attemptUpdate } from '../workload/inplace/attempt.ts';
import type { UpdateType } from '../workload/inplace/permission.ts';
import type { UpdateSpec } from '../workload/inplace/state.ts';
import { inPlaceObstacle, updateSpecOf } from '../workload/inplace/update-spec.ts';
import { isSpecifiedDelete, specifyDelete } from '../workload/specified-delete.ts';
import { newInstanceIds, newPod } from './instances.ts';
import type { State } from './state.ts';

/** Target revision of an update, and how Pods reach it. */
export type Task = {
  readonly policy: NonNullable<CloneSetRollingUpdate['podUpdatePolicy']>;
  readonly target: ControllerRevision;
  /** Returns the changes that update a Pod to the target in place; undefined where an in-place update is impossible. */
  readonly specFor: (pod: Pod) => UpdateSpec | undefined;
  /**
   * Returns the reason why a Pod can be neither updated nor recreated for a while: the API server refused it before.
   */
  readonly faultFor: (pod: Pod) => string | undefined;
  /** Reports whether the API server refused to update this Pod. */
  readonly wasRefused: (pod: Pod) => boolean;
  /** Returns the reason why a Pod must be recreated; undefined where an in-place update is possible. */
  readonly obstacleFor: (pod: Pod) => string | undefined;
};

/** Computes the changes once for each revision: thousands of Pods may be at the same revision. */
export function taskOf(state: State, rolling: CloneSetRollingUpdate, target: ControllerRevision): Task {
  const { settings, revisions, revisionLabels, permissions } = state;
  const { podUpdatePolicy: policy = 'ReCreate', inPlaceUpdateStrategy } = rolling;
  const options = {
    gates: settings.gates,
    graceSeconds: inPlaceUpdateStrategy?.gracePeriodSeconds ?? 0,
    ignoresVolumeClaims: policy === 'InPlaceOnly',
  };
  const known = new Map<ControllerRevision | undefined, UpdateSpec | undefined>();
  const revisionOf = (pod: Pod) => revisions.find((each) => revisionLabels.isAt(pod, nameOfRevision(each)));
  const changesFor = (pod: Pod) => {
    const from = revisionOf(pod);
    if (!known.has(from)) known.set(from, updateSpecOf(from, target, options));
    return known.get(from);
  };
  const wayFor = (pod: Pod): UpdateType => {
    const changes = policy === 'ReCreate' ? undefined : changesFor(pod);
    const way = changes ? permissions.updateTypeFor(pod, changes, policy) : 'ReCreate';
    if (way !== 'ReCreate' || policy === 'InPlaceOnly') return way;
    const fault = permissions.recreationFault(nameOfRevision(target));
    return fault === undefined ? way : { fault };
  };
  const obstacleFor = (pod: Pod) => {
    if (policy === 'ReCreate') return 'podUpdatePolicy is ReCreate';
    const obstacle = inPlaceObstacle(revisionOf(pod), target, options);
    return obstacle ?? (wayFor(pod) === 'InPlace' ? undefined : 'the API server refuses the update');
  };
  return {
    policy,
    target,
    specFor: (pod) => (!permissions.hasRefusals() || wayFor(pod) === 'InPlace' ? changesFor(pod) : undefined),
    faultFor(pod) {
      const way = wayFor(pod);
      return typeof way === 'string' ? undefined : way.fault;
    },
    wasRefused(pod) {
      const changes = policy === 'ReCreate' ? undefined : changesFor(pod);
      return changes !== undefined && permissions.wasRefused(pod, changes);
    },
    obstacleFor,
  };
}

export function updatePod(state: State, pod: Pod, task: Task): AttemptResult {
  const spec = task.policy === 'ReCreate' ? undefined : task.specFor(pod);
  if (spec) {
    const { cloneSet, now } = state;
    const hook = cloneSet.spec.lifecycle?.inPlaceUpdate;
    const attempt = { workload: cloneSet, to: task.target, spec, hook, marksEveryPod: true };
    return attemptUpdate(pod, attempt, state, now);
  }
  if (task.policy !== 'InPlaceOnly') return { actions: replace(state, pod, task.target) };
  const { name } = pod.metadata;
  return { actions: [], fault: `find Pod ${name} update strategy is InPlaceOnly but can not update in-place` };
}

/**
 * Marks a Pod for deletion, within the budget and after its hook. A dry run of the creation comes first: a policy that
 * refuses Pods of the revision would otherwise leave no replacement.
 */
function replace(state: State, pod: Pod, target: ControllerRevision): readonly Action[] {
  const { cloneSet, permissions } = state;
  if (isSpecifiedDelete(pod)) return [];
  const why = `for update(revision ${nameOfRevision(target)})`;
  const done = `successfully patch pod {name} specified-delete ${why}`;
  const failed = `failed to patch pod specified-delete {name} ${why}: {error}`;
  const marking = withOutcomeEvents(specifyDelete(pod), {
    about: cloneSet,
    done: { reason: 'SuccessfulUpdatePodReCreate', message: done },
    failed: { reason: 'FailedUpdatePodReCreate', message: failed },
  });
  const recreation = { workload: cloneSet, revision: nameOfRevision(target), pod: () => podOf(state, target) };
  return permissions.beforeRecreation([marking], recreation);
}

/**
 * Returns a Pod as it would be created at a revision, with volumes for its PVCs: without the volumes, containers that
 * mount them would make the Pod invalid. The PVCs themselves need not exist.
 */
function podOf({ cloneSet, revisionLabels, pods, now }: State, revision: ControllerRevision): Pod {
  const template = podTemplateOf(revision) ?? cloneSet.spec.template;
  const [id = ''] = newInstanceIds(cloneSet, 1, { pods, claims: [] }, now);
  return newPod(cloneSet, id, { template, revisionLabels: revisionLabels.labelsOf(nameOfRevision(revision)) }, now);
}
