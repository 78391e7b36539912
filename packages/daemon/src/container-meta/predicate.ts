/** Predicate for Pods: the daemon reports container metadata of Pods that need it, and ignores other updates. */
import type { Container } from '@kruise/api/core/container';
import type { Pod } from '@kruise/api/core/pod';
import { appsGroup, sidecarSetHashAnnotation } from '@kruise/api/kruise/well-known';
import { isBeingDeleted } from '@kruise/client/actions';
import type { Change } from '@kruise/client/informer';
import { controllerOf } from '@kruise/machinery/owner-references';
import type { FeatureGates } from '@kruise/manager/configuration/feature-gates';
import { envFromMetadataHash } from '@kruise/manager/workload/inplace/container-hash';
import { readRuntimeMeta } from '@kruise/manager/workload/inplace/runtime-meta';
import { groupOf } from '@kruise/schema/kind';

export function isRelevantPodChange({ type, object: pod, previous }: Change<Pod>, gates: FeatureGates): boolean {
  if (type === 'deleted' || isBeingDeleted(pod) || !isOfKruise(pod)) return false;
  const statuses = pod.status?.containerStatuses ?? [];
  if (statuses.length === 0) return false;
  const reported = readRuntimeMeta(pod);
  // When a daemon starts, Pods without reported metadata are skipped, because there may be many of them.
  if (!previous && reported === undefined) return false;
  if (previous && previous.spec?.containers.length !== pod.spec?.containers.length) return true;
  return statuses.some(({ name, containerID }) => {
    if (!containerID) return false;
    if (reported === undefined || reported === 'invalid' || reported.length !== statuses.length) return true;
    const meta = reported.find((each) => each.name === name);
    if (meta?.containerID !== containerID) return true;
    const container = containerOf(pod, name);
    if (!gates.InPlaceUpdateEnvFromMetadata || !container) return false;
    const wanted = envFromMetadataHash(container, pod.metadata);
    if (wanted !== (meta.hashes.extractedEnvFromMetadataHash ?? 0)) return true;
    const before = previous && containerOf(previous, name);
    return before !== undefined && wanted !== envFromMetadataHash(before, previous!.metadata);
  });
}

export function containerOf({ spec }: Pod, name: string): Container | undefined {
  return spec?.containers.find((each) => each.name === name);
}

function isOfKruise(pod: Pod): boolean {
  const owner = controllerOf(pod);
  if (owner && groupOf(owner.apiVersion) === appsGroup) return true;
  return pod.metadata.annotations?.[sidecarSetHashAnnotation] !== undefined;
}
