/** Sidecars of a Pod, and whether its main containers have finished. */
import type { Container } from '@kruise/api/core/container';
import type { Pod } from '@kruise/api/core/pod';
import {
  terminateSidecarEnv,
  terminateSidecarIgnoreExitCodeEnv,
  terminateSidecarWithImageEnv,
} from '@kruise/api/kruise/well-known';
import { isBeingDeleted } from '@kruise/client/actions';

/** Returns the image that terminates a sidecar; empty if the sidecar has no such image. */
export function terminationImageOf(container: Container): string {
  return variableOf(container, terminateSidecarWithImageEnv);
}

/** Reports whether a container must be stopped when the main containers have finished. */
export function mustStop(container: Container): boolean {
  return isTrue(container, terminateSidecarEnv);
}

/** Reports whether the exit code of a stopped sidecar is ignored. */
export function isIgnored(container: Container): boolean {
  return mustStop(container) && isTrue(container, terminateSidecarIgnoreExitCodeEnv);
}

function isSidecar(container: Container): boolean {
  return mustStop(container) || terminationImageOf(container) !== '';
}

/** Returns the exit code of a container; undefined while it has not terminated. */
export function exitCodeOf({ status }: Pod, name: string): number | undefined {
  return status?.containerStatuses?.find((each) => each.name === name)?.state?.terminated?.exitCode;
}

/** Reports whether sidecars keep a Pod from finishing. */
export function isBlockedBySidecars(pod: Pod): boolean {
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

/** Reports whether all of the containers have succeeded. */
export function hasSucceeded(pod: Pod, containers: readonly Container[]): boolean {
  return containers.every(({ name }) => exitCodeOf(pod, name) === 0);
}

/** Returns the main containers of a Pod. */
export function ownContainers({ spec }: Pod): readonly Container[] {
  return (spec?.containers ?? []).filter((container) => !isSidecar(container));
}

function isTrue(container: Container, variable: string): boolean {
  return variableOf(container, variable).toLowerCase() === 'true';
}

function variableOf({ env }: Container, variable: string): string {
  return env?.find(({ name }) => name === variable)?.value ?? '';
}
