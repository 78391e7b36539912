import type { Container as PodContainer } from '@kruise/api/core/container';
import type { Pod } from '@kruise/api/core/pod';
import { inPlaceUpdateReadyCondition, runtimeContainersMetaAnnotation } from '@kruise/api/kruise/well-known';
import { type Action, effect } from '@kruise/client/actions';
import type { Decision } from '@kruise/client/controller';
import { findCondition } from '@kruise/machinery/conditions';
import { isSame } from '@kruise/machinery/json-value';
import type { FeatureGates } from '@kruise/manager/configuration/feature-gates';
import { envFromMetadataHash, runningEnvHash } from '@kruise/manager/workload/inplace/container-hash';
import {
  formatRuntimeMeta,
  type RuntimeContainerMeta,
  readRuntimeMeta,
} from '@kruise/manager/workload/inplace/runtime-meta';
import type { Container } from '@kruise/node/cri/runtime';
import { readContainerAnnotations } from '@kruise/node/kubelet/containers/container-config';
import { containerOf } from './predicate.ts';

/** Environment variables by name; undefined if they could not be read. */
export type Environment = ReadonlyMap<string, string> | undefined;

export type Observed = {
  readonly pod: Pod;
  /** The prefix of the container IDs. */
  readonly runtimeName: string;
  /** The containers of the Pod in the runtime. */
  readonly containers: readonly Container[];
  /** Environments by container ID, for the containers that were read. */
  readonly environments: ReadonlyMap<string, Environment>;
};

/** A container to stop, so that the kubelet starts it with the current labels and annotations. */
export type Restart = { readonly pod: Pod; readonly runtimeName: string; readonly containerId: string };

const retrySeconds = 3;

/**
 * Reports the metadata of running containers on the Pod, and restarts containers whose environment has outdated labels
 * or annotations.
 */
export function decide(observed: Observed, gates: FeatureGates): Decision<Pod['status']> {
  const { pod } = observed;
  const running = containersOf(observed);
  const metas = running.map((each) => metaOf(each, observed, gates));
  const reported = reportedMetadata(pod);
  const restarts = isUpdating(pod) ? running.filter((each, index) => isOutdated(each.spec, metas[index]!, pod)) : [];
  const hasUnknownEnvironment =
    gates.InPlaceUpdateEnvFromMetadata && running.some(({ container }) => isUnknown(container, observed));
  return {
    actions: [
      ...(isSame(reported, metas) ? [] : [reportMetadata(pod, metas)]),
      ...restarts.map((each) => restart(each, observed)),
    ],
    ...(hasUnknownEnvironment ? { requeueAfterSeconds: retrySeconds } : {}),
  };
}

/** A container of the Pod, and its state in the runtime. */
type Running = { readonly spec: PodContainer; readonly container: Container; readonly id: string };

/**
 * Returns the containers in the status of the Pod. A newer container of the runtime is reported once the status has it:
 * by then its hooks are done, and a reader that compares both finds both.
 */
export function containersOf({ pod, runtimeName, containers }: Omit<Observed, 'environments'>): readonly Running[] {
  return (pod.status?.containerStatuses ?? []).flatMap(({ name, containerID: id = '' }) => {
    const spec = containerOf(pod, name);
    const container = containers.find((each) => `${runtimeName}://${each.id}` === id);
    return spec && container ? [{ spec, container, id }] : [];
  });
}

/** Returns the metadata that was reported before. */
export function reportedMetadata(pod: Pod): readonly RuntimeContainerMeta[] {
  const reported = readRuntimeMeta(pod);
  return reported === undefined || reported === 'invalid' ? [] : reported;
}

function metaOf({ spec, container, id }: Running, { pod, environments }: Observed, gates: FeatureGates) {
  const { hash, restartCount } = readContainerAnnotations(container.annotations);
  const before = reportedMetadata(pod).find(({ containerID }) => containerID === id);
  const meta: RuntimeContainerMeta = before ?? {
    name: spec.name,
    containerID: id,
    restartCount,
    hashes: { plainHash: Number.parseInt(hash, 16) || 0 },
  };
  const environment = environments.get(container.id);
  const needsEnvHash = gates.InPlaceUpdateEnvFromMetadata && !meta.hashes.extractedEnvFromMetadataHash && environment;
  if (!needsEnvHash) return meta;
  const extractedEnvFromMetadataHash = runningEnvHash(spec, (name) => environment.get(name));
  return { ...meta, hashes: { ...meta.hashes, extractedEnvFromMetadataHash } };
}

function isUnknown({ id }: Container, { environments }: Observed): boolean {
  return environments.has(id) && environments.get(id) === undefined;
}

function isUpdating({ status }: Pod): boolean {
  return findCondition(status?.conditions, inPlaceUpdateReadyCondition)?.status === 'False';
}

function isOutdated(container: PodContainer, { hashes }: RuntimeContainerMeta, { metadata }: Pod): boolean {
  const { extractedEnvFromMetadataHash: running } = hashes;
  return Boolean(running) && running !== envFromMetadataHash(container, metadata);
}

/**
 * Returns the write of the metadata. It goes through the status subresource, because a daemon may write nothing else of
 * a Pod.
 */
function reportMetadata(pod: Pod, metas: readonly RuntimeContainerMeta[]): Action {
  return {
    type: 'patch',
    object: pod,
    patch: { metadata: { annotations: { [runtimeContainersMetaAnnotation]: formatRuntimeMeta(metas) } } },
    patchType: 'strategic',
    subresource: 'status',
  };
}

function restart({ container }: Running, { pod, runtimeName }: Observed): Action {
  const order: Restart = { pod, runtimeName, containerId: container.id };
  return effect('restart', order);
}
