import type { Container, EphemeralContainer } from './container.ts';
import type { PodSpec } from './pod-spec.ts';

/** Returns all containers of a Pod with their paths in start order: init, main, ephemeral. */
export function* containersOf(
  { initContainers, containers, ephemeralContainers }: PodSpec,
  path: string,
): Generator<readonly [container: Container | EphemeralContainer, path: string]> {
  for (const [index, container] of (initContainers ?? []).entries()) {
    yield [container, `${path}.initContainers[${index}]`];
  }
  for (const [index, container] of (containers ?? []).entries()) yield [container, `${path}.containers[${index}]`];
  for (const [index, container] of (ephemeralContainers ?? []).entries()) {
    yield [container, `${path}.ephemeralContainers[${index}]`];
  }
}

/** Reports whether an init container is a native sidecar, which keeps running beside the main containers. */
export function isSidecar({ restartPolicy }: Container): boolean {
  return restartPolicy === 'Always';
}
