/** Which containers of a Pod are sidecars, and whether the others have ended (pod-admission.md §5.1). */
import type { Container } from '@kruise/api/core/container';
import type { Pod } from '@kruise/api/core/pod';
import {
  terminateSidecarEnv,
  terminateSidecarIgnoreExitCodeEnv,
  terminateSidecarWithImageEnv,
} from '@kruise/api/kruise/well-known';
import { isBeingDeleted } from '@kruise/client/actions';

/** The image that ends a sidecar; empty if it is not ended so. */
export function endingImageOf(container: Container): string {
  return variableOf(container, terminateSidecarWithImageEnv);
}

/** Whether a container is to be stopped when the others have ended. */
export function isStopped(container: Container): boolean {
  return isTrue(container, terminateSidecarEnv);
}

/** Whether it does not matter how a container ends that is to be stopped. */
export function isIgnored(container: Container): boolean {
  return isStopped(container) && isTrue(container, terminateSidecarIgnoreExitCodeEnv);
}

function isSidecar(container: Container): boolean {
  return isStopped(container) || endingImageOf(container) !== '';
}

/** With what code a container has ended; undefined while it has not. */
export function exitCodeOf({ status }: Pod, name: string): number | undefined {
  return status?.containerStatuses?.find((each) => each.name === name)?.state?.terminated?.exitCode;
}

/** Whether a Pod has sidecars that keep it from ending. */
export function isKeptBySidecars(pod: Pod): boolean {
  const { containers = [], restartPolicy } = pod.spec ?? {};
  const { phase = 'Pending', containerStatuses = [] } = pod.status ?? {};
  if (isBeingDeleted(pod) || phase === 'Pending' || restartPolicy === 'Always' || restartPolicy === undefined)
    return false;
  if (containerStatuses.length !== containers.length) return false;
  const hasEnded = ({ name }: Container) => exitCodeOf(pod, name) !== undefined;
  if (containers.filter(isSidecar).every(hasEnded)) return false;
  const own = containers.filter((container) => !isSidecar(container));
  return restartPolicy === 'OnFailure' ? hasSucceeded(pod, own) : own.every(hasEnded);
}

/** Whether all of some containers have ended well. */
export function hasSucceeded(pod: Pod, containers: readonly Container[]): boolean {
  return containers.every(({ name }) => exitCodeOf(pod, name) === 0);
}

/** The containers that a Pod is for. */
export function ownContainers({ spec }: Pod): readonly Container[] {
  return (spec?.containers ?? []).filter((container) => !isSidecar(container));
}

function isTrue(container: Container, variable: string): boolean {
  return variableOf(container, variable).toLowerCase() === 'true';
}

function variableOf({ env }: Container, variable: string): string {
  return env?.find(({ name }) => name === variable)?.value ?? '';
}
