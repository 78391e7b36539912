/** The containers of a Pod by what they are for, and how events and runtimes refer to them. */
import type { Container, EphemeralContainer } from '@kruise/api/core/container';
import type { Pod } from '@kruise/api/core/pod';
import { isSidecar } from '@kruise/api/core/pod-containers';
import { deepHashOfBytes } from '@kruise/machinery/hash';
import { stringify } from '@kruise/values/go-json';
import { remembered } from '@kruise/values/remembered';

/** What a container is to its Pod. */
export type ContainerRole = 'init' | 'sidecar' | 'regular' | 'ephemeral';

/** A container of a Pod, with what it is for. */
export type PodContainer = { readonly container: Container; readonly role: ContainerRole };

/** All containers of a Pod: init containers and sidecars as they start, then regular, then ephemeral ones. */
export function containersOf({ spec }: Pod): readonly PodContainer[] {
  const all: PodContainer[] = [];
  for (const container of spec?.initContainers ?? []) all.push({ container, role: roleOfInit(container) });
  for (const container of spec?.containers ?? []) all.push({ container, role: 'regular' });
  for (const each of spec?.ephemeralContainers ?? []) all.push({ container: asContainer(each), role: 'ephemeral' });
  return all;
}

/** The container of a name. */
export function findContainer(pod: Pod, name: string): PodContainer | undefined {
  return containersOf(pod).find(({ container }) => container.name === name);
}

/** An ephemeral container is a container with a target; what it lacks the API server refuses in it. */
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

/** Where in its Pod an event finds a container: `spec.containers{web}`. */
export function fieldPathOf({ container, role }: PodContainer): string {
  return samePath(`spec.${fieldOfRole[role]}{${container.name}}`);
}

// Each event has one, and they are the same for all Pods that are alike.
const samePath = remembered((path) => path, { maxLength: 256 });

const utf8 = new TextEncoder();

/** Tells whether a running container is still what the Pod asks for. Name and image alone decide (cri.md §6). */
export function containerHash({ name, image = '' }: Container): string {
  return hashOf(`${name} ${image}`);
}

const hashOf = remembered(
  (key) => {
    // There is no space in a name.
    const end = key.indexOf(' ');
    const json = stringify({ image: key.slice(end + 1), name: key.slice(0, end) });
    return deepHashOfBytes(utf8.encode(json)).toString(16);
  },
  { maxLength: 256 },
);
