import type { Pod } from '@kruise/api/core/pod';
import type { CSINode } from '@kruise/api/storage/csinode';
import { podVolumeClaims } from '@kruise/machinery/pod-volume-claims';
import { classOfClaim } from '@kruise/machinery/volume-binding';
import type { NodeInfo } from '../cluster/node-info.ts';
import type { PodInfo } from '../cluster/pod-info.ts';
import type { Plugin, Rejection } from '../plugin.ts';
import type { StorageLookup } from '../volumes/storage.ts';
import { isOwnClaim } from './volume-binding.ts';

const name = 'NodeVolumeLimits';
const tooMany: Rejection = { plugin: name, isPreemptable: true, reasons: ['node(s) exceed max volume count'] };

/** NodeVolumeLimits plugin: rejects nodes at the attach limit of a CSI driver. */
export function nodeVolumeLimits(storage: StorageLookup): Plugin {
  return {
    name,
    filter(pod) {
      if (podVolumeClaims(pod.pod).length === 0) return undefined;
      return { filter: { check: (node) => (exceedsLimits(pod, node, storage) ? tooMany : undefined) } };
    },
    events: [
      { resource: 'CSINode', actions: ['Add'] },
      {
        resource: 'CSINode',
        actions: ['Update'],
        helps(_pod, { before, after }) {
          const was = limitsOf(before as CSINode);
          return [...limitsOf(after as CSINode)].some(([driver, limit]) => limit > (was.get(driver) ?? 0));
        },
      },
      {
        resource: 'Pod',
        actions: ['Delete'],
        helps(_pod, { before }) {
          const { spec, status } = before as Pod;
          const wasPlaced = Boolean(spec?.nodeName || status?.nominatedNodeName);
          return wasPlaced && (spec?.volumes?.some(({ persistentVolumeClaim: c, ephemeral: e }) => c ?? e) ?? false);
        },
      },
      { resource: 'PersistentVolumeClaim', actions: ['Add'], helps: isOwnClaim },
      { resource: 'VolumeAttachment', actions: ['Delete'], helps: (pod) => pod.claims.length > 0 },
    ],
  };
}

function exceedsLimits(pod: PodInfo, node: NodeInfo, storage: StorageLookup): boolean {
  const drivers = storage.driversOn(node.name);
  const limits = drivers && limitsOf(drivers);
  if (!limits?.size) return false;
  const wanted = attachable(pod, storage);
  if (wanted.size === 0) return false;

  const attached = new Map<string, string>();
  for (const other of node.pods.values()) {
    for (const [id, driver] of attachable(other, storage)) attached.set(id, driver);
  }
  for (const id of attached.keys()) wanted.delete(id);
  for (const { spec } of storage.attachmentsTo(node.name)) {
    const handle = storage.volume(spec.source.persistentVolumeName ?? '')?.spec?.csi?.volumeHandle;
    if (spec.attacher && handle !== undefined) attached.set(`${spec.attacher}/${handle}`, spec.attacher);
  }
  const counts = new Map<string, number>();
  for (const driver of [...attached.values(), ...wanted.values()]) counts.set(driver, (counts.get(driver) ?? 0) + 1);
  return [...new Set(wanted.values())].some((driver) => counts.get(driver)! > (limits.get(driver) ?? Infinity));
}

function limitsOf({ spec }: CSINode): ReadonlyMap<string, number> {
  return new Map(
    spec.drivers.flatMap(({ name: driver, allocatable }) =>
      allocatable?.count == null ? [] : [[driver, allocatable.count] as const],
    ),
  );
}

/** Returns the drivers of a Pod's attachable volumes, by volume identity. */
function attachable(pod: PodInfo, storage: StorageLookup): Map<string, string> {
  const volumes = new Map<string, string>();
  if (!pod.spec.volumes?.length) return volumes;
  for (const { name: claimName } of podVolumeClaims(pod.pod)) {
    const key = `${pod.namespace}/${claimName}`;
    const claim = storage.claim(key);
    if (!claim) continue;
    const volume = claim.spec?.volumeName ? storage.volume(claim.spec.volumeName) : undefined;
    if (volume) {
      const { csi } = volume.spec ?? {};
      if (csi) volumes.set(`${csi.driver}/${csi.volumeHandle}`, csi.driver);
      continue;
    }
    // The volume is not provisioned yet; each PVC gets its own.
    const provisioner = storage.storageClass(classOfClaim(claim))?.provisioner;
    if (provisioner) volumes.set(`${provisioner}/claim of ${key}`, provisioner);
  }
  return volumes;
}
