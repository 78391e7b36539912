import type { Pod } from '@kruise/api/core/pod';
import type { Volume } from '@kruise/api/core/volume';
import type { ClusterView } from '../cluster/cluster.ts';
import type { NodeInfo } from '../cluster/node-info.ts';
import { type PodInfo, podInfoOf } from '../cluster/pod-info.ts';
import type { ForkableFilter, Plugin, Rejection } from '../plugin.ts';
import type { StorageLookup } from '../volumes/storage.ts';
import { isNamedClaim } from './volume-binding.ts';

const name = 'VolumeRestrictions';
const diskTaken: Rejection = { plugin: name, isPreemptable: true, reasons: ['node(s) had no available disk'] };
const claimTaken: Rejection = {
  plugin: name,
  isPreemptable: true,
  reasons: ['node has pod using PersistentVolumeClaim with the same name and ReadWriteOncePod access mode'],
};

/** VolumeRestrictions plugin: rejects nodes where an exclusive disk or a ReadWriteOncePod PVC is already in use. */
export function volumeRestrictions(storage: StorageLookup): Plugin {
  return {
    name,
    filter(pod, cluster) {
      const missing = pod.claims.find((claim) => !storage.claim(claim));
      if (missing !== undefined) {
        const reason = `persistentvolumeclaim "${missing.slice(missing.indexOf('/') + 1)}" not found`;
        return { rejection: { plugin: name, isPreemptable: false, reasons: [reason] } };
      }
      const exclusive = new Set(pod.claims.filter((claim) => isExclusive(claim, storage)));
      const takenCount = countTaken(exclusive, cluster);
      const disks = (pod.spec.volumes ?? []).filter(isDisk);
      if (disks.length === 0 && takenCount === 0) return undefined;
      return { filter: filterOf(disks, exclusive, takenCount) };
    },
    events: [
      {
        resource: 'Pod',
        actions: ['Delete'],
        helps(pod, { before }) {
          const gone = podInfoOf(before as Pod);
          if (gone.namespace !== pod.namespace) return false;
          const disks = (pod.spec.volumes ?? []).filter(isDisk);
          return disks.some((disk) => isTakenBy(disk, gone)) || pod.claims.some((claim) => gone.claims.includes(claim));
        },
      },
      { resource: 'Node', actions: ['Add'] },
      { resource: 'PersistentVolumeClaim', actions: ['Add'], helps: isNamedClaim },
    ],
  };
}

function isExclusive(claim: string, storage: StorageLookup): boolean {
  return storage.claim(claim)?.spec?.accessModes?.includes('ReadWriteOncePod') ?? false;
}

/** Returns how many of the PVCs are in use by other Pods on any node. */
function countTaken(claims: ReadonlySet<string>, { nodes }: ClusterView): number {
  let taken = 0;
  for (const claim of claims) if (nodes.some(({ usedClaims }) => usedClaims.has(claim))) taken++;
  return taken;
}

function filterOf(disks: readonly Volume[], exclusive: ReadonlySet<string>, takenCount: number): ForkableFilter {
  return {
    check(node: NodeInfo) {
      if (disks.length > 0 && isAnyTaken(disks, node)) return diskTaken;
      return takenCount > 0 ? claimTaken : undefined;
    },
    fork() {
      let taken = takenCount;
      return {
        check: (node) => filterOf(disks, exclusive, taken).check(node),
        fork: () => filterOf(disks, exclusive, taken).fork(),
        change({ claims }, _node, by) {
          taken += by * claims.filter((claim) => exclusive.has(claim)).length;
        },
      };
    },
  };
}

function isAnyTaken(disks: readonly Volume[], { pods }: NodeInfo): boolean {
  for (const pod of pods.values()) if (disks.some((disk) => isTakenBy(disk, pod))) return true;
  return false;
}

function isDisk({ gcePersistentDisk, awsElasticBlockStore, rbd, iscsi }: Volume): boolean {
  return Boolean(gcePersistentDisk ?? awsElasticBlockStore ?? rbd ?? iscsi);
}

/** Reports whether another Pod uses a disk in a conflicting way. */
function isTakenBy(disk: Volume, { spec }: PodInfo): boolean {
  return (spec.volumes ?? []).some(
    (other) => isGceTaken(disk, other) || isAwsTaken(disk, other) || isNetTaken(disk, other),
  );
}

function isGceTaken({ gcePersistentDisk: a }: Volume, { gcePersistentDisk: b }: Volume): boolean {
  return Boolean(a && b && a.pdName === b.pdName && !(a.readOnly && b.readOnly));
}

function isAwsTaken({ awsElasticBlockStore: a }: Volume, { awsElasticBlockStore: b }: Volume): boolean {
  return Boolean(a && b && a.volumeID === b.volumeID);
}

function isNetTaken({ iscsi: a, rbd: c }: Volume, { iscsi: b, rbd: d }: Volume): boolean {
  if (a && b && a.iqn === b.iqn && !(a.readOnly && b.readOnly)) return true;
  if (!c || !d || c.image !== d.image || (c.readOnly && d.readOnly)) return false;
  return (c.pool ?? 'rbd') === (d.pool ?? 'rbd') && c.monitors.some((monitor) => d.monitors.includes(monitor));
}
