/**
 * One batch of an in-place update. Containers with launch priorities are updated in the same order: those of the
 * highest priority first, together with all containers without a priority.
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
import { launchPriorityOf } from '../../container-launch-priority/launch-priority.ts';
import { patchPod, podType } from '../patch-pod.ts';
import {
  type ContainerChanges,
  formatState,
  hasChanges,
  type InPlaceUpdateState,
  type Resources,
  type UpdateSpec,
} from './state.ts';

/** The writes that bring a Pod to the next batch. */
export type Batch = {
  readonly pod: Pod;
  readonly state: InPlaceUpdateState;
  /** Resources that are changed through `pods/resize`, before all other writes. */
  readonly resize?: PatchAction;
};

export type BatchOptions = { readonly resizesBySubresource: boolean };

type Changes = ContainerChanges & Pick<UpdateSpec, 'metadataPatch'>;

/** Applies the changes of the first containers, and records the remaining changes on the Pod. */
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

/** Returns the Pod with the state annotation, and without the annotation of a grace period. */
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
  const affected = containers.filter(({ name }) => name in images || name in refMetadata || name in resources);
  const priorities = new Map(affected.map((each) => [each.name, launchPriorityOf(each)]));
  const highest = Math.max(...[...priorities.values()].filter((each) => each !== undefined));
  const batch = new Set<string>();
  for (const [name, priority] of priorities) if (priority === undefined || priority === highest) batch.add(name);
  // A label is changed for all containers that read it, or for none. The batch grows until it is closed, because one
  // container may pull in another.
  for (let size = -1; size !== batch.size; ) {
    size = batch.size;
    const keys = new Set([...batch].flatMap((name) => keysOf(refMetadata[name])));
    for (const { name } of affected) if (keysOf(refMetadata[name]).some((key) => keys.has(key))) batch.add(name);
  }
  return batch;
}

function keysOf({ labels = {}, annotations = {} }: ContainerChanges['refMetadata'][string] = {}): readonly string[] {
  return [
    ...Object.keys(labels).map((key) => `labels ${key}`),
    ...Object.keys(annotations).map((key) => `annotations ${key}`),
  ];
}

/** Splits the changes into those of this batch and those of later batches. */
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

/** Records the running images of containers whose image changes for the first time in this update. */
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

/** Returns the difference from the current resources of a Pod, as a patch of `pods/resize`. */
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

/** Returns the writes of a batch. Resources come first, because a Pod whose resize fails must not look updated. */
export function writeBatch(original: Pod, { pod, resize }: Batch): readonly PatchAction[] {
  return [...(resize ? [resize] : []), patchPod(original, pod)];
}
