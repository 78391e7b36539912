/** Completion of in-place updates: checks that the running containers match the spec. */
import type { Container } from '@kruise/api/core/container';
import { nameAndTagOf } from '@kruise/api/core/image-reference';
import type { Pod } from '@kruise/api/core/pod';
import { compareQuantities, parseQuantity } from '@kruise/values/quantity';
import type { FeatureGates } from '../../configuration/feature-gates.ts';
import { envFromMetadataHash, plainHash, plainHashBefore131 } from './container-hash.ts';
import { type RuntimeContainerMeta, readRuntimeMeta } from './runtime-meta.ts';
import { hasChanges, type InPlaceUpdateState, isInGrace, readState } from './state.ts';

const moreBatches = 'existing containers to in-place update in next batches';
const judged = new WeakMap<FeatureGates, WeakMap<Pod, string | undefined>>();

/**
 * Returns the reason why an update is not complete; undefined if it is, or if there was none. Memoized for each version
 * of a Pod.
 */
export function updateObstacle(pod: Pod, gates: FeatureGates): string | undefined {
  let known = judged.get(gates);
  if (!known) judged.set(gates, (known = new WeakMap()));
  if (!known.has(pod)) known.set(pod, findObstacle(pod, gates));
  return known.get(pod);
}

function findObstacle(pod: Pod, gates: FeatureGates): string | undefined {
  if (isInGrace(pod)) return 'still in grace period of in-place update';
  let state: InPlaceUpdateState | undefined;
  try {
    state = readState(pod);
  } catch (error) {
    return `the state of the in-place update cannot be read: ${(error as Error).message}`;
  }
  if (!state) return undefined;
  if (hasChanges(state.next)) return moreBatches;
  return containersObstacle(pod, state, gates);
}

/** Reports whether the current batch is complete, so that the next one can start. */
export function isBatchDone(pod: Pod, gates: FeatureGates): boolean {
  const obstacle = updateObstacle(pod, gates);
  if (obstacle !== moreBatches) return obstacle === undefined;
  // Only a Pod with a state has further batches.
  return containersObstacle(pod, readState(pod)!, gates) === undefined;
}

/** Returns the reason why the containers of the current batch do not match the spec; undefined if they do. */
export function containersObstacle(pod: Pod, state: InPlaceUpdateState, gates: FeatureGates): string | undefined {
  const reported = readRuntimeMeta(pod);
  if (reported === 'invalid') return 'invalid runtime-container-meta';
  if (state.updatesEnv) {
    if (!reported) return 'waiting for all containers hash consistent, but runtime-container-meta not found';
    if (!areConsistent(pod, reported, isEnvConsistent)) return 'waiting for all containers hash consistent';
  }
  if (gates.InPlaceWorkloadVerticalScaling && state.updatesResources && !haveResources(pod)) {
    return 'container resources not changed';
  }
  if (reported && areConsistent(pod, reported, isPlainConsistent)) return undefined;
  // The daemon's report may be stale, or there may be no daemon. The image IDs in the status are checked too.
  for (const [name, { imageID: last = '' }] of Object.entries(state.lastContainerStatuses ?? {})) {
    const status = pod.status?.containerStatuses?.find((each) => each.name === name);
    if (!status) return `not found container ${name} in pod status`;
    // Another name of the same image is in effect once the runtime reports that name.
    if (status.imageID === last && !isSameImage(pod, name, status.image))
      return `container ${name} imageID not changed`;
  }
  return undefined;
}

/**
 * Reports whether the status of a container has the image of the spec. Runtimes normalize image names, users do not.
 */
function isSameImage({ spec }: Pod, container: string, running: string): boolean {
  const { image = '' } = spec?.containers.find(({ name }) => name === container) ?? {};
  const [asked, reported] = [nameAndTagOf(image), nameAndTagOf(running)];
  return asked !== undefined && asked.name === reported?.name && asked.tag === reported.tag;
}

type Consistency = (container: Container, reported: RuntimeContainerMeta, pod: Pod) => boolean;

function areConsistent(pod: Pod, reported: readonly RuntimeContainerMeta[], isConsistent: Consistency): boolean {
  return (pod.spec?.containers ?? []).every((container) => {
    const status = pod.status?.containerStatuses?.find(({ name }) => name === container.name);
    const meta = reported.find(({ name }) => name === container.name);
    return (
      status !== undefined && meta?.containerID === (status.containerID ?? '') && isConsistent(container, meta!, pod)
    );
  });
}

function isPlainConsistent(container: Container, { hashes }: RuntimeContainerMeta): boolean {
  const { plainHash: running } = hashes;
  return running === plainHash(container) || running === plainHashBefore131(container);
}

function isEnvConsistent(container: Container, { hashes }: RuntimeContainerMeta, { metadata }: Pod): boolean {
  return (hashes.extractedEnvFromMetadataHash ?? 0) === envFromMetadataHash(container, metadata);
}

/** Reports whether every container has been allocated the resources of its spec. */
function haveResources({ spec, status }: Pod): boolean {
  const statuses = status?.containerStatuses ?? [];
  const containers = spec?.containers ?? [];
  return (
    statuses.length === containers.length &&
    statuses.every(({ name, resources }) => {
      const wanted = containers.find((each) => each.name === name)?.resources;
      return (
        resources !== undefined &&
        areSameAmounts(wanted?.limits, resources.limits) &&
        areSameAmounts(wanted?.requests, resources.requests)
      );
    })
  );
}

type Amounts = { readonly [name: string]: string };

function areSameAmounts(wanted: Amounts | undefined, given: Amounts | undefined): boolean {
  if (!wanted || !given) return wanted === given;
  const names = Object.keys(wanted);
  return (
    names.length === Object.keys(given).length &&
    names.every((name) => given[name] !== undefined && isSameAmount(wanted[name]!, given[name]))
  );
}

function isSameAmount(a: string, b: string): boolean {
  return a === b || compareQuantities(parseQuantity(a), parseQuantity(b)) === 0;
}
