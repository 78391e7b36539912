/** Plugin dependencies from lists, for tests and benchmarks. */
import type { Namespace } from '@kruise/api/core/namespace';
import type { PersistentVolume } from '@kruise/api/core/persistentvolume';
import type { PersistentVolumeClaim } from '@kruise/api/core/persistentvolumeclaim';
import type { Service } from '@kruise/api/core/service';
import type { PodDisruptionBudget } from '@kruise/api/policy/poddisruptionbudget';
import type { CSIDriver } from '@kruise/api/storage/csidriver';
import type { CSINode } from '@kruise/api/storage/csinode';
import type { CSIStorageCapacity } from '@kruise/api/storage/csistoragecapacity';
import type { StorageClass } from '@kruise/api/storage/storageclass';
import type { VolumeAttachment } from '@kruise/api/storage/volumeattachment';
import { type Client, createClient } from '@kruise/client/client';
import { keyOf } from '@kruise/client/object-key';
import type { LabelSelector } from '@kruise/machinery/label-selector';
import { classOfVolume } from '@kruise/machinery/volume-binding';
import { virtualClock } from '@kruise/values/virtual-clock';
import type { PluginParts } from '../plugins/registry.ts';
import { createStorage } from '../volumes/storage.ts';

export type World = {
  readonly namespaces?: readonly Namespace[];
  readonly services?: readonly Service[];
  readonly budgets?: readonly PodDisruptionBudget[];
  /** Selectors of workloads, by `Kind namespace/name`. */
  readonly workloads?: { readonly [key: string]: LabelSelector };
  readonly claims?: readonly PersistentVolumeClaim[];
  readonly volumes?: readonly PersistentVolume[];
  readonly classes?: readonly StorageClass[];
  readonly drivers?: readonly CSIDriver[];
  readonly csiNodes?: readonly CSINode[];
  readonly capacities?: readonly CSIStorageCapacity[];
  readonly attachments?: readonly VolumeAttachment[];
};

/** Returns the plugin dependencies of a static world. */
export function partsOf(world: World): PluginParts {
  const {
    namespaces = [],
    services = [],
    budgets = [],
    workloads = {},
    claims = [],
    volumes = [],
    classes = [],
  } = world;
  const { drivers = [], csiNodes = [], capacities = [], attachments = [] } = world;
  const named = <T extends { readonly metadata: { readonly name?: string } }>(objects: readonly T[], name: string) =>
    objects.find(({ metadata }) => metadata.name === name);
  const storage = createStorage({
    claim: (key) => claims.find((claim) => keyOf(claim) === key),
    volume: (name) => named(volumes, name),
    volumesOfClass: (name) => volumes.filter((volume) => classOfVolume(volume) === name),
    storageClass: (name) => named(classes, name),
    driver: (name) => named(drivers, name),
    driversOn: (node) => named(csiNodes, node),
    capacitiesOf: (name) => capacities.filter(({ storageClassName }) => storageClassName === name),
    attachmentsTo: (node) => attachments.filter(({ spec }) => spec.nodeName === node),
  });
  return {
    lookup: {
      namespaces: () => namespaces,
      namespaceLabels: (name) => named(namespaces, name)?.metadata.labels,
      services: (namespace) => services.filter(({ metadata }) => metadata.namespace === namespace),
      budgets: () => budgets,
      workloadSelector: (kind, key) => workloads[`${kind} ${key}`],
    },
    preempting: new Set(),
    volumes: { client: unreachable, clock: virtualClock(), storage, exists: () => true },
  };
}

/** Returns plugin dependencies without any objects. */
export function emptyParts(): PluginParts {
  return partsOf({});
}

/** Decisions must not send requests. */
const unreachable: Client = createClient({
  request: () => Promise.reject(new Error('no API server')),
  watch: () => {
    throw new Error('no API server');
  },
  close() {},
} as unknown as Client['transport']);
