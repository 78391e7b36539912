/**
 * CloneSet rollout simulation: applies the actions of `decide` to copies of the Pods, which become ready at once. A
 * rollout can be previewed before it happens, and tested with slow kubelets.
 */
import type { ControllerRevision } from '@kruise/api/apps/controllerrevision';
import type { Pod, PodCondition } from '@kruise/api/core/pod';
import type { CloneSet } from '@kruise/api/kruise/cloneset';
import type { LifecycleHook } from '@kruise/api/kruise/lifecycle';
import { inPlaceUpdateReadyCondition } from '@kruise/api/kruise/well-known';
import { type Action, flattenSteps } from '@kruise/client/actions';
import { findCondition } from '@kruise/machinery/conditions';
import type { JsonObject } from '@kruise/machinery/json-value';
import { applyMergePatch } from '@kruise/machinery/merge-patch';
import { applyStrategicMergePatch } from '@kruise/machinery/strategic-merge-patch';
import { formatTime, type Instant } from '@kruise/values/time';
import type { ManagerSettings } from '../configuration/settings.ts';
import { lifecycleStateOf } from '../workload/lifecycle/lifecycle.ts';
import { podType } from '../workload/patch-pod.ts';
import { decide, type Observed } from './decide.ts';

export type Simulation = {
  cloneSet: CloneSet;
  readonly pods: Map<string, Pod>;
  readonly revisions: Map<string, ControllerRevision>;
  /** Observed objects that the simulation does not change. */
  readonly rest: Omit<Observed, 'cloneSet' | 'pods' | 'revisions'>;
  time: Instant;
};

export function createSimulation(observed: Observed, time: Instant): Simulation {
  const { cloneSet, pods, revisions, ...rest } = observed;
  const byName = <T extends { readonly metadata: { readonly name?: string } }>(objects: readonly T[]) =>
    new Map(objects.map((each) => [each.metadata.name ?? '', each]));
  return { cloneSet, pods: byName(pods), revisions: byName(revisions), rest, time };
}

/** Returns the simulated objects as a controller observes them. */
export function observeSimulation({ cloneSet, pods, revisions, rest }: Simulation): Observed {
  return {
    ...rest,
    cloneSet,
    pods: [...pods.values()],
    revisions: [...revisions.values()],
    findRevision: (name) => revisions.get(name) ?? rest.findRevision(name),
  };
}

/** Advances the clock by a second, decides, and applies the actions; returns the actions without events. */
export function reconcileOnce(simulation: Simulation, settings: ManagerSettings): readonly Action[] {
  simulation.time += 1000;
  const { actions: steps, status } = decide(observeSimulation(simulation), settings, simulation.time);
  const actions = flattenSteps(steps);
  for (const action of actions) applyAction(simulation, action);
  const outcome = { failures: [], isStale: false, written: new Map() };
  const reported = typeof status === 'function' ? status(outcome) : status;
  if (reported) simulation.cloneSet = { ...simulation.cloneSet, status: reported };
  return actions.filter(({ type }) => type !== 'record');
}

function applyAction({ pods, revisions, time }: Simulation, action: Action): void {
  if (action.type === 'record' || action.type === 'effect') return;
  const { kind, metadata } = action.object;
  const name = metadata.name ?? '';
  if (kind !== 'Pod' && kind !== 'ControllerRevision') return;
  // Actions on Pods and revisions only produce Pods and revisions here.
  const known = (kind === 'Pod' ? pods : revisions) as Map<string, Pod | ControllerRevision>;
  if (action.type === 'create') {
    const made = { ...metadata, uid: `uid-${name}`, creationTimestamp: formatTime(time) };
    known.set(name, { ...(action.object as Pod), metadata: made });
  } else if (action.type === 'remove') {
    known.delete(name);
  } else if (action.type === 'patch') {
    const before = known.get(name) as unknown as JsonObject;
    const patch = action.patch as JsonObject;
    const after =
      action.patchType === 'strategic'
        ? applyStrategicMergePatch(before, patch, podType)
        : applyMergePatch(before, patch);
    known.set(name, after as unknown as Pod);
  }
}

/**
 * Simulates the kubelet, which runs the Pod's containers and reports the Pod as ready, and the handlers of lifecycle
 * hooks.
 */
export function simulateKubelet(simulation: Simulation, name: string): void {
  const pod = simulation.pods.get(name);
  if (!pod) return;
  const isOpen = findCondition(pod.status?.conditions, inPlaceUpdateReadyCondition)?.status === 'True';
  const lastTransitionTime = formatTime(simulation.time);
  const condition = (type: string, isTrue: boolean): PodCondition => {
    const status = isTrue ? 'True' : 'False';
    const previous = findCondition(pod.status?.conditions, type);
    return previous?.status === status ? previous : { type, status, lastTransitionTime };
  };
  const gates = (pod.status?.conditions ?? []).filter(({ type }) => !['ContainersReady', 'Ready'].includes(type));
  const known = new Map(pod.status?.containerStatuses?.map((each) => [each.name, each]));
  const hooked = runHooks(pod, simulation.cloneSet.spec.lifecycle ?? {});
  simulation.pods.set(name, {
    ...hooked,
    spec: { ...pod.spec!, nodeName: pod.spec?.nodeName ?? 'node' },
    status: {
      ...pod.status,
      phase: 'Running',
      conditions: [...gates, condition('ContainersReady', true), condition('Ready', isOpen)],
      containerStatuses: (pod.spec?.containers ?? []).map((container) => {
        const { image = '', name, resources } = container;
        const previous = known.get(name);
        const imageID = previous?.image === image ? previous.imageID : `image of ${image}`;
        return { restartCount: 0, ...previous, name, image, imageID, ready: true, ...(resources ? { resources } : {}) };
      }),
    },
  });
}

type Hooks = NonNullable<CloneSet['spec']['lifecycle']>;

function runHooks(pod: Pod, { inPlaceUpdate, preDelete, preNormal }: Hooks): Pod {
  switch (lifecycleStateOf(pod)) {
    case 'PreparingNormal':
      return addHook(pod, preNormal);
    case 'PreparingUpdate':
      return removeHook(pod, inPlaceUpdate);
    case 'Updated':
      return addHook(pod, inPlaceUpdate);
    case 'PreparingDelete':
      return removeHook(pod, preDelete);
    default:
      return pod;
  }
}

function addHook(pod: Pod, { labelsHandler = {}, finalizersHandler = [] }: LifecycleHook = {}): Pod {
  const { labels, finalizers = [], ...metadata } = pod.metadata;
  const held = [...new Set([...finalizers, ...finalizersHandler])];
  return { ...pod, metadata: { ...metadata, labels: { ...labels, ...labelsHandler }, finalizers: held } };
}

function removeHook(pod: Pod, { labelsHandler = {}, finalizersHandler = [] }: LifecycleHook = {}): Pod {
  const { labels = {}, finalizers = [], ...metadata } = pod.metadata;
  const left = Object.fromEntries(Object.entries(labels).filter(([key]) => !(key in labelsHandler)));
  return {
    ...pod,
    metadata: { ...metadata, labels: left, finalizers: finalizers.filter((each) => !finalizersHandler.includes(each)) },
  };
}
