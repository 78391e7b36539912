/** Containers of a Pod by role, and the references that events and the runtime use for them. */
import type { Container, EphemeralContainer } from '@kruise/api/core/container';
import type { Pod } from '@kruise/api/core/pod';
import { isSidecar } from '@kruise/api/core/pod-containers';
import { deepHashOfBytes } from '@kruise/machinery/hash';
import { stringify } from '@kruise/values/go-json';
import { memoize } from '@kruise/values/memoize';

/** Role of a container in its Pod. */
export type ContainerRole = 'init' | 'sidecar' | 'regular' | 'ephemeral';

/** A container of a Pod with its role. */
export type PodContainer = { readonly container: Container; readonly role: ContainerRole };

/**
 * Returns all containers of a Pod: init and sidecar containers in start order, then regular, then ephemeral containers.
 */
export function containersOf({ spec }: Pod): readonly PodContainer[] {
  const all: PodContainer[] = [];
  for (const container of spec?.initContainers ?? []) all.push({ container, role: roleOfInit(container) });
  for (const container of spec?.containers ?? []) all.push({ container, role: 'regular' });
  for (const each of spec?.ephemeralContainers ?? []) all.push({ container: asContainer(each), role: 'ephemeral' });
  return all;
}

/** Returns the container with the given name. */
export function findContainer(pod: Pod, name: string): PodContainer | undefined {
  return containersOf(pod).find(({ container }) => container.name === name);
}

/**
 * Converts an ephemeral container to a container. The API server rejects the fields that an ephemeral container lacks.
 */
export function asContainer({ targetContainerName: _, ...container }: EphemeralContainer): Container {
  return container as Container;
}

function roleOfInit(container: Container): ContainerRole {
  return isSidecar(container) ? 'sidecar' : 'init';
}

const fieldOfRole: { readonly [R in ContainerRole]: string } = {
  init: 'initContainers',
  sidecar: 'initContainers',
  regular: 'containers',
  ephemeral: 'ephemeralContainers',
};

/** Returns the field path of a container for events: `spec.containers{web}`. */
export function fieldPathOf({ container, role }: PodContainer): string {
  return memoizePath(`spec.${fieldOfRole[role]}{${container.name}}`);
}

// Memoized, because every event has a field path and Pods of one workload share the same ones.
const memoizePath = memoize((path) => path, { maxLength: 256 });

const utf8 = new TextEncoder();

/** Returns the hash that shows whether a running container still matches its spec. Only name and image are hashed. */
export function containerHash({ name, image = '' }: Container): string {
  return hashOf(`${name} ${image}`);
}

const hashOf = memoize(
  (key) => {
    // Container names contain no space.
    const end = key.indexOf(' ');
    const json = stringify({ image: key.slice(end + 1), name: key.slice(0, end) });
    return deepHashOfBytes(utf8.encode(json)).toString(16);
  },
  { maxLength: 256 },
);
