/** Sidecar terminator: terminates the sidecars of Pods whose main containers have finished. */
import type { Container } from '@kruise/api/core/container';
import type { Pod } from '@kruise/api/core/pod';
import type { ContainerRecreateRequest } from '@kruise/api/kruise/containerrecreaterequest';
import { type Action, create, type PatchAction, record } from '@kruise/client/actions';
import type { Decision } from '@kruise/client/controller';
import { controllerReference } from '@kruise/machinery/owner-references';
import { isPodFinished } from '@kruise/machinery/pods';
import { formatTime, type Instant } from '@kruise/values/time';
import {
  exitCodeOf,
  hasSucceeded,
  isBlockedBySidecars,
  isIgnored,
  mustStop,
  ownContainers,
  terminationImageOf,
} from './sidecars.ts';

export type Observed = {
  readonly pod: Pod;
  /** Set where the Pod is on a virtual node, whose provider runs it. */
  readonly isVirtual: boolean;
  /** Set where the termination of the sidecars was requested before. */
  readonly isRequested: boolean;
};

export function decide({ pod, isVirtual, isRequested }: Observed, now: Instant): Decision<undefined> {
  if (!isBlockedBySidecars(pod)) return { actions: [] };
  const running = (pod.spec?.containers ?? []).filter(({ name }) => exitCodeOf(pod, name) === undefined);
  if (isVirtual) return { actions: swapImages(pod, running.filter(terminationImageOf)) };
  const stopped = running.filter((container) => mustStop(container) && !isIgnored(container));
  const ignored = running.filter(isIgnored);
  if (stopped.length > 0) return { actions: isRequested ? [] : requestStop(pod, stopped) };
  if (ignored.length === 0) return { actions: [] };
  return {
    actions: [...(isPodFinished(pod) ? [] : [setPhase(pod, now)]), ...(isRequested ? [] : requestStop(pod, ignored))],
  };
}

/** Replaces the sidecar images with an image that exits at once. */
function swapImages(pod: Pod, sidecars: readonly Container[]): readonly Action[] {
  const changed = sidecars.filter((container) => container.image !== terminationImageOf(container));
  if (changed.length === 0) return [];
  const containers = changed.map((container) => ({ name: container.name, image: terminationImageOf(container) }));
  const patch: PatchAction = { type: 'patch', object: pod, patch: { spec: { containers } }, patchType: 'strategic' };
  return [patch, terminationEvent(pod, sidecars, 'in-place update')];
}

/** Creates a ContainerRecreateRequest, by which the daemon of the node stops the sidecars. */
function requestStop(pod: Pod, sidecars: readonly Container[]): readonly Action[] {
  const { namespace = '' } = pod.metadata;
  const request: ContainerRecreateRequest = {
    apiVersion: 'apps.kruise.io/v1beta1',
    kind: 'ContainerRecreateRequest',
    metadata: { name: requestName(pod), namespace, ownerReferences: [controllerReference(pod)] },
    spec: {
      podName: pod.metadata.name ?? '',
      containers: sidecars.map(({ name }) => ({ name })),
      strategy: { forceRecreate: true, failurePolicy: 'Ignore' },
    },
  };
  return [create(request), terminationEvent(pod, sidecars, 'crr')];
}

export function requestName({ metadata }: Pod): string {
  return `sidecar-termination-${metadata.uid}`;
}

/** Sets the phase of the Pod, whatever the exit codes of its last sidecars are. */
function setPhase(pod: Pod, now: Instant): PatchAction {
  const condition = {
    type: 'SidecarTerminated',
    status: 'True',
    message: 'Terminated by Sidecar Terminator',
    lastTransitionTime: formatTime(now),
  };
  const phase = hasSucceeded(pod, ownContainers(pod)) ? 'Succeeded' : 'Failed';
  return {
    type: 'patch',
    object: pod,
    patch: { status: { phase, conditions: [condition] } },
    patchType: 'strategic',
    subresource: 'status',
  };
}

function terminationEvent(pod: Pod, sidecars: readonly Container[], how: string): Action {
  const names = sidecars.map(({ name }) => name).join(' ');
  const message = `Kruise SidecarTerminator is trying to terminate sidecar [${names}] using ${how}`;
  return record({ about: pod, type: 'Normal', reason: 'SidecarTerminator', message });
}
