/**
 * One batch of an update in place (inplace-update.md §6). Containers that are launched in order are changed in order,
 * too: those of the highest priority first, together with all that have none.
 */
import type { Container } from '@kruise/api/core/container';
import type { Pod } from '@kruise/api/core/pod';
import {
  inPlaceUpdateGraceAnnotation,
  inPlaceUpdateGraceLegacyAnnotation,
  inPlaceUpdateStateAnnotation,
  inPlaceUpdateStateLegacyAnnotation,
} from '@kruise/api/kruise/well-known';
import type { PatchAction } from '@kruise/client/actions';
import type { JsonObject } from '@kruise/machinery/json-value';
import { applyStrategicMergePatch } from '@kruise/machinery/strategic-merge-patch';
import { compareStrings } from '@kruise/values/go-syntax';
import { compareQuantities, parseQuantity } from '@kruise/values/quantity';
import { formatTime, type Instant } from '@kruise/values/time';
import { launchPriorityOf } from '../launch-priority.ts';
import { patchPod, podType } from '../patch-pod.ts';
import {
  type ContainerChanges,
  formatState,
  hasChanges,
  type InPlaceUpdateState,
  type Resources,
  type UpdateSpec,
} from './state.ts';

/** What is done to a Pod, from which on it is at the next batch. */
export type Batch = {
  readonly pod: Pod;
  readonly state: InPlaceUpdateState;
  /** Resources that are changed through `pods/resize`, before the rest. */
  readonly resize?: PatchAction;
};

export type BatchOptions = { readonly resizesBySubresource: boolean };

type Changes = ContainerChanges & Pick<UpdateSpec, 'metadataPatch'>;

/** Changes the containers that come first, and notes what is left. */
export function applyBatch(
  original: Pod,
  changes: Changes,
  state: InPlaceUpdateState,
  { resizesBySubresource }: BatchOptions,
  now: Instant,
): Batch {
  const batch = containersOfBatch(original.spec?.containers ?? [], changes);
  const [present, next] = split(changes, batch);
  const names = [...batch].sort(compareStrings);
  const changed = changePod(original, changes, present, resizesBySubresource);
  const { requiredReady: _, ...kept } = state;
  const noted: InPlaceUpdateState = {
    ...kept,
    ...lastStatuses(original, state, present.images),
    next,
    ...(hasChanges(next) ? { requiredReady: names } : {}),
    batches: [...state.batches, { timestamp: formatTime(now), containers: names }],
  };
  const resize = resizesBySubresource ? resizeAction(original, present.resources) : undefined;
  return { pod: withState(changed, noted), state: noted, ...(resize ? { resize } : {}) };
}

function changePod(
  original: Pod,
  { metadataPatch }: Pick<Changes, 'metadataPatch'>,
  { images, refMetadata, resources }: ContainerChanges,
  resizesBySubresource: boolean,
): Pod {
  // A Pod with patched metadata is still a Pod.
  const pod = metadataPatch
    ? (applyStrategicMergePatch(original as JsonObject, metadataPatch as JsonObject, podType) as Pod)
    : original;
  const { metadata, spec } = pod;
  const resized = resizesBySubresource ? undefined : resources;
  return {
    ...pod,
    metadata: {
      ...metadata,
      labels: { ...metadata.labels, ...merged(refMetadata, 'labels') },
      annotations: { ...metadata.annotations, ...merged(refMetadata, 'annotations') },
    },
    ...(spec
      ? { spec: { ...spec, containers: spec.containers.map((each) => changeContainer(each, images, resized)) } }
      : {}),
  };
}

/** Returns the writes of the first batch of an update, apart from the state that is recorded on the Pod. */
export function previewFirstBatch(
  pod: Pod,
  changes: Changes,
  { resizesBySubresource }: BatchOptions,
): Pick<Batch, 'pod' | 'resize'> {
  const [first] = split(changes, containersOfBatch(pod.spec?.containers ?? [], changes));
  const resize = resizesBySubresource ? resizeAction(pod, first.resources) : undefined;
  return { pod: changePod(pod, changes, first, resizesBySubresource), ...(resize ? { resize } : {}) };
}

/** The Pod with the state written on it, and nothing left of a grace period. */
function withState(pod: Pod, state: InPlaceUpdateState): Pod {
  const {
    [inPlaceUpdateStateLegacyAnnotation]: _state,
    [inPlaceUpdateGraceAnnotation]: _grace,
    [inPlaceUpdateGraceLegacyAnnotation]: _legacyGrace,
    ...annotations
  } = pod.metadata.annotations ?? {};
  return {
    ...pod,
    metadata: { ...pod.metadata, annotations: { ...annotations, [inPlaceUpdateStateAnnotation]: formatState(state) } },
  };
}

function containersOfBatch(containers: readonly Container[], changes: ContainerChanges): ReadonlySet<string> {
  const { images, refMetadata, resources } = changes;
  const concerned = containers.filter(({ name }) => name in images || name in refMetadata || name in resources);
  const priorities = new Map(concerned.map((each) => [each.name, launchPriorityOf(each)]));
  const highest = Math.max(...[...priorities.values()].filter((each) => each !== undefined));
  const batch = new Set<string>();
  for (const [name, priority] of priorities) if (priority === undefined || priority === highest) batch.add(name);
  // A label is changed for all containers that are given it, or for none: again and again, as one drags in another.
  for (let size = -1; size !== batch.size; ) {
    size = batch.size;
    const keys = new Set([...batch].flatMap((name) => keysOf(refMetadata[name])));
    for (const { name } of concerned) if (keysOf(refMetadata[name]).some((key) => keys.has(key))) batch.add(name);
  }
  return batch;
}

function keysOf({ labels = {}, annotations = {} }: ContainerChanges['refMetadata'][string] = {}): readonly string[] {
  return [
    ...Object.keys(labels).map((key) => `labels ${key}`),
    ...Object.keys(annotations).map((key) => `annotations ${key}`),
  ];
}

/** What is changed now, and what later. */
function split(changes: ContainerChanges, batch: ReadonlySet<string>): readonly [ContainerChanges, ContainerChanges] {
  const part = (isNow: boolean): ContainerChanges => {
    const chosen = <T>(map: { readonly [container: string]: T }) =>
      Object.fromEntries(Object.entries(map).filter(([name]) => batch.has(name) === isNow));
    return {
      images: chosen(changes.images),
      refMetadata: chosen(changes.refMetadata),
      resources: chosen(changes.resources),
    };
  };
  return [part(true), part(false)];
}

function merged(metadata: ContainerChanges['refMetadata'], kind: 'labels' | 'annotations') {
  return Object.assign({}, ...Object.values(metadata).map((each) => each[kind] ?? {})) as { [key: string]: string };
}

function changeContainer(
  container: Container,
  images: ContainerChanges['images'],
  resources: ContainerChanges['resources'] | undefined,
): Container {
  const image = images[container.name];
  const wanted = resources?.[container.name];
  if (image === undefined && !wanted) return container;
  const { limits, requests } = container.resources ?? {};
  return {
    ...container,
    ...(image === undefined ? {} : { image }),
    ...(wanted
      ? {
          resources: {
            ...container.resources,
            ...(wanted.limits ? { limits: { ...limits, ...wanted.limits } } : {}),
            ...(wanted.requests ? { requests: { ...requests, ...wanted.requests } } : {}),
          },
        }
      : {}),
  };
}

/** Notes which images ran, where a container's image changes for the first time in this update. */
function lastStatuses(
  { status }: Pod,
  { lastContainerStatuses }: InPlaceUpdateState,
  images: ContainerChanges['images'],
) {
  const found = (status?.containerStatuses ?? [])
    .filter(({ name }) => name in images)
    .map(({ name, imageID }) => [name, imageID ? { imageID } : {}]);
  if (found.length === 0 && !lastContainerStatuses) return {};
  return { lastContainerStatuses: { ...Object.fromEntries(found), ...lastContainerStatuses } };
}

/** What changes of the resources a Pod has now, as a patch of `pods/resize`. */
export function resizeAction(pod: Pod, resources: ContainerChanges['resources']): PatchAction | undefined {
  const containers = (pod.spec?.containers ?? []).flatMap(({ name, resources: present = {} }) => {
    const wanted = resources[name] ?? {};
    const limits = differing(wanted.limits, present.limits);
    const requests = differing(wanted.requests, present.requests);
    if (!limits && !requests) return [];
    return [{ name, resources: { ...(limits ? { limits } : {}), ...(requests ? { requests } : {}) } }];
  });
  if (containers.length === 0) return undefined;
  return { type: 'patch', object: pod, patch: { spec: { containers } }, patchType: 'strategic', subresource: 'resize' };
}

function differing(wanted: Resources['limits'] = {}, present: Resources['limits'] = {}) {
  const entries = Object.entries(wanted).filter(([name, value]) => {
    const known = present[name];
    const isResizable = name === 'cpu' || name === 'memory';
    return isResizable && (known === undefined || compareQuantities(parseQuantity(known), parseQuantity(value)) !== 0);
  });
  return entries.length === 0 ? undefined : Object.fromEntries(entries);
}

/** Writes a batch: resources first, since a Pod whose resize fails must not look updated. */
export function writeBatch(original: Pod, { pod, resize }: Batch): readonly PatchAction[] {
  return [...(resize ? [resize] : []), patchPod(original, pod)];
}
