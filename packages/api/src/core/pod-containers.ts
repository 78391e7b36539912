import type { Container, EphemeralContainer } from './container.ts';
import type { PodSpec } from './pod-spec.ts';

/** All containers of a Pod with their paths, in the order they start in: init, main, ephemeral. */
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

/** An init container that goes on running beside the main ones. */
export function isSidecar({ restartPolicy }: Container): boolean {
  return restartPolicy === 'Always';
}
