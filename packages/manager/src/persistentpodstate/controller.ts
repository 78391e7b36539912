import { node } from '@kruise/api/core/node';
import { pod } from '@kruise/api/core/pod';
import { type PersistentPodStateStatus, persistentPodState } from '@kruise/api/kruise/persistentpodstate';
import { type Controller, type Decision, defineController, watch } from '@kruise/client/controller';
import type { Caches } from '@kruise/client/informer';
import { type Key, referenceOf } from '@kruise/client/object-key';
import { type ManagerSettings, workSettings } from '../configuration/settings.ts';
import { decide, type Observed } from './decide.ts';
import { decideGeneration, type Generation } from './generate.ts';
import { keysOfWorkload, statesOfPod, targetOf } from './mappers.ts';
import { builtinKinds, findKind, type OrdinalKind } from './workloads.ts';

/** PersistentPodState controller for Kubernetes' StatefulSets and Advanced StatefulSets. */
export function persistentPodStateController(settings: ManagerSettings): Controller {
  return controllerOver(builtinKinds(settings.gates), workSettings(settings, 'persistentpodstate'));
}

/**
 * Returns a controller for workloads of some kinds: it records the state of their Pods, and generates
 * PersistentPodStates from annotations.
 */
export function controllerOver(kinds: readonly OrdinalKind[], settings: ReturnType<typeof workSettings>): Controller {
  return defineController({
    ...settings,
    for: persistentPodState,
    watches: [watch(pod, statesOfPod(kinds)), ...kinds.map(({ kind }) => watch(kind, keysOfWorkload(kind)))],
    uses: [node],
    observe: (caches, key): Observed | Generation | undefined =>
      observeWorkload(kinds, caches, key) ?? observeState(kinds, caches, key),
    decide: (observed): Decision<PersistentPodStateStatus | undefined> =>
      'findNode' in observed ? decide(observed) : decideGeneration(observed),
  });
}

function observeState(kinds: readonly OrdinalKind[], caches: Caches, key: Key): Observed | undefined {
  const state = caches.of(persistentPodState).get(key);
  const ordinalKind = state && findKind(kinds, state.spec.targetRef);
  // The state of a workload whose kind is not watched is unknown, so its records stay.
  if (!ordinalKind) return undefined;
  const { namespace = '' } = state.metadata;
  const workload = ordinalKind.find(caches, { namespace, name: state.spec.targetRef.name });
  return {
    state,
    workload,
    pods: workload ? caches.of(pod).controlledBy(workload.object) : [],
    findNode: (name) => caches.of(node).get(name),
  };
}

function observeWorkload(kinds: readonly OrdinalKind[], caches: Caches, key: Key): Generation | undefined {
  const target = targetOf(key);
  if (!target) return undefined;
  const { namespace = '' } = referenceOf(key);
  const reference = { namespace, name: target.name };
  const workload = findKind(kinds, target)?.find(caches, reference);
  return workload && { workload: workload.object, state: caches.of(persistentPodState).get(reference) };
}
