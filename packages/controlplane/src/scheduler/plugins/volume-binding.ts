import type { PersistentVolumeClaim } from '@kruise/api/core/persistentvolumeclaim';
import type { CSIDriver } from '@kruise/api/storage/csidriver';
import type { CSINode } from '@kruise/api/storage/csinode';
import type { CSIStorageCapacity } from '@kruise/api/storage/csistoragecapacity';
import type { StorageClass } from '@kruise/api/storage/storageclass';
import { keyOf } from '@kruise/client/object-key';
import { isSame } from '@kruise/machinery/json-value';
import { podVolumeClaims } from '@kruise/machinery/pod-volume-claims';
import { compareQuantities, parseQuantity } from '@kruise/values/quantity';
import type { PodInfo } from '../cluster/pod-info.ts';
import type { ClusterEvent } from '../events.ts';
import type { Plugin } from '../plugin.ts';
import { type BindingDependencies, reserveVolumes } from '../volumes/bind-volumes.ts';
import { findClaims, planVolumes } from '../volumes/claims.ts';

const name = 'VolumeBinding';
const rejectionFor = (reasons: readonly string[]) => ({ plugin: name, isPreemptable: false, reasons });
const unbound = rejectionFor(['pod has unbound immediate PersistentVolumeClaims']);

export type VolumeBindingArgs = {
  /** Timeout for binding PVCs once a node is selected. */
  readonly bindTimeoutSeconds?: number;
};

/**
 * VolumeBinding plugin: requires nodes that can access the Pod's volumes, and binds PVCs that wait for their first
 * consumer.
 */
export function volumeBinding(
  dependencies: Omit<BindingDependencies, 'timeoutSeconds'>,
  { bindTimeoutSeconds = 600 }: VolumeBindingArgs = {},
): Plugin {
  const { storage } = dependencies;
  return {
    name,
    filter(pod) {
      if (podVolumeClaims(pod.pod).length === 0) return undefined;
      const claims = findClaims(pod, storage);
      if ('fault' in claims) return { rejection: rejectionFor([claims.fault]) };
      if (claims.immediate.length > 0) return { rejection: unbound };
      return {
        filter: {
          check({ node }) {
            const plan = node && planVolumes(claims, node, storage);
            return plan && 'reasons' in plan ? rejectionFor(plan.reasons) : undefined;
          },
        },
      };
    },
    reserve(pod, { node }) {
      if (!node || podVolumeClaims(pod.pod).length === 0) return undefined;
      const claims = findClaims(pod, storage);
      // The filter ran for this node in the same cycle.
      if ('fault' in claims || claims.delayed.length === 0) return undefined;
      const plan = planVolumes(claims, node, storage);
      if ('reasons' in plan) return undefined;
      return reserveVolumes(pod, node, plan, { ...dependencies, timeoutSeconds: bindTimeoutSeconds });
    },
    events: [
      {
        resource: 'StorageClass',
        actions: ['Add', 'Update'],
        helps(_pod, { before, after }) {
          const [was, is] = [before, after] as [StorageClass | undefined, StorageClass];
          return !was || !isSame(was.allowedTopologies, is.allowedTopologies);
        },
      },
      { resource: 'PersistentVolumeClaim', actions: ['Add', 'Update'], helps: isOwnClaim },
      { resource: 'PersistentVolume', actions: ['Add', 'Update'] },
      { resource: 'Node', actions: ['Add', 'UpdateNodeLabel'] },
      {
        resource: 'CSINode',
        actions: ['Add', 'Update'],
        helps(_pod, { before, after }) {
          const migratedBy = (node: unknown) => (node as CSINode).metadata.annotations?.[migratedPlugins];
          return before === undefined || migratedBy(before) !== migratedBy(after);
        },
      },
      {
        resource: 'CSIDriver',
        actions: ['Update'],
        helps({ spec }, { before, after }) {
          const [was, is] = [before, after] as [CSIDriver, CSIDriver];
          const isUsed = spec.volumes?.some(({ csi }) => csi?.driver === is.metadata.name) ?? false;
          return isUsed && was.spec.storageCapacity === true && is.spec.storageCapacity !== true;
        },
      },
      {
        resource: 'CSIStorageCapacity',
        actions: ['Add', 'Update'],
        helps(_pod, { before, after }) {
          if (before === undefined) return true;
          const was = limitOf(before as CSIStorageCapacity);
          const is = limitOf(after as CSIStorageCapacity);
          return is !== undefined && (was === undefined || compareQuantities(is, was) > 0);
        },
      },
    ],
  };
}

const migratedPlugins = 'storage.alpha.kubernetes.io/migrated-plugins';

function limitOf({ capacity, maximumVolumeSize }: CSIStorageCapacity) {
  const limit = maximumVolumeSize ?? capacity;
  return limit == null ? undefined : parseQuantity(limit);
}

/** Reports whether an event is about a PVC that the Pod refers to by name, excluding ephemeral volumes. */
export function isNamedClaim(pod: PodInfo, { after }: ClusterEvent): boolean {
  return pod.claims.includes(keyOf(after as PersistentVolumeClaim));
}

/** Reports whether an event is about a PVC of the Pod. */
export function isOwnClaim(pod: PodInfo, { after }: ClusterEvent): boolean {
  const { metadata } = after as PersistentVolumeClaim;
  return metadata.namespace === pod.namespace && podVolumeClaims(pod.pod).some((claim) => claim.name === metadata.name);
}
