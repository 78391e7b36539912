/** PVCs of a Pod, and the volume plan for a node. */
import type { Node } from '@kruise/api/core/node';
import type { PersistentVolume } from '@kruise/api/core/persistentvolume';
import type { PersistentVolumeClaim } from '@kruise/api/core/persistentvolumeclaim';
import type { StorageClass } from '@kruise/api/storage/storageclass';
import { selectorOf } from '@kruise/machinery/label-selector';
import { podVolumeClaims, validateEphemeralVolumeClaim } from '@kruise/machinery/pod-volume-claims';
import {
  classOfClaim,
  delaysBinding,
  findMatchingVolume,
  isFullyBound,
  isVolumeReachable,
  noProvisioner,
  requestOf,
  selectedNodeAnnotation,
} from '@kruise/machinery/volume-binding';
import { compareQuantities, parseQuantity, quantityValue } from '@kruise/values/quantity';
import type { PodInfo } from '../cluster/pod-info.ts';
import type { StorageLookup } from './storage.ts';

/** PVCs of a Pod by binding state. */
export type PodClaims = {
  readonly bound: readonly PersistentVolumeClaim[];
  /** PVCs that wait for their first consumer. */
  readonly delayed: readonly PersistentVolumeClaim[];
  /** Unbound PVCs with immediate binding, for which the Pod must wait. */
  readonly immediate: readonly PersistentVolumeClaim[];
};

/** Returns the PVCs of a Pod, or why the Pod is unschedulable on any node. */
export function findClaims(pod: PodInfo, storage: StorageLookup): PodClaims | { readonly fault: string } {
  const bound: PersistentVolumeClaim[] = [];
  const delayed: PersistentVolumeClaim[] = [];
  const immediate: PersistentVolumeClaim[] = [];
  for (const { name, isEphemeral } of podVolumeClaims(pod.pod)) {
    const claim = storage.claim(`${pod.namespace}/${name}`);
    const fault = faultOf(pod, name, claim, isEphemeral);
    if (fault !== undefined || !claim) return { fault: fault ?? '' };
    if (isFullyBound(claim)) bound.push(claim);
    else if (!claim.spec?.volumeName && isDelayed(claim, storage)) delayed.push(claim);
    else immediate.push(claim);
  }
  return { bound, delayed, immediate };
}

function faultOf(
  pod: PodInfo,
  name: string,
  claim: PersistentVolumeClaim | undefined,
  isEphemeral: boolean,
): string | undefined {
  if (!claim) {
    return isEphemeral
      ? `waiting for ephemeral volume controller to create the persistentvolumeclaim "${name}"`
      : `persistentvolumeclaim "${name}" not found`;
  }
  if (claim.status?.phase === 'Lost') {
    return `persistentvolumeclaim "${name}" bound to non-existent persistentvolume "${claim.spec?.volumeName ?? ''}"`;
  }
  if (claim.metadata.deletionTimestamp != null) return `persistentvolumeclaim "${name}" is being deleted`;
  return isEphemeral ? validateEphemeralVolumeClaim(pod.pod, claim) : undefined;
}

function isDelayed(claim: PersistentVolumeClaim, storage: StorageLookup): boolean {
  const found = storage.storageClass(classOfClaim(claim));
  return found !== undefined && delaysBinding(found);
}

/** Volume plan of a Pod on a node. */
export type VolumePlan = {
  /** Existing volumes to bind. */
  readonly bindings: readonly { readonly claim: PersistentVolumeClaim; readonly volume: PersistentVolume }[];
  /** PVCs to provision. */
  readonly provisions: readonly PersistentVolumeClaim[];
};

const unreachable = "node(s) didn't match PersistentVolume's node affinity";
const noVolume = "node(s) didn't find available persistent volumes to bind";
const noSpace = 'node(s) did not have enough free storage';
const lostVolume = 'node(s) unavailable due to one or more pvc(s) bound to non-existent pv(s)';

/** Returns the volume plan for a node, or why the Pod does not fit there. */
export function planVolumes(
  { bound, delayed }: PodClaims,
  node: Node,
  storage: StorageLookup,
): VolumePlan | { readonly reasons: readonly string[] } {
  const reasons = [...reasonsAgainstBound(bound, node, storage)];
  const plan = planDelayed(delayed, node, storage);
  if (typeof plan === 'string') return { reasons: [...reasons, plan].sort(byOrderOfReport) };
  return reasons.length > 0 ? { reasons } : plan;
}

const orderOfReport = [unreachable, noVolume, noSpace, lostVolume];
function byOrderOfReport(a: string, b: string): number {
  return orderOfReport.indexOf(a) - orderOfReport.indexOf(b);
}

/** Yields the reasons why a node cannot access the bound volumes of a Pod. */
function* reasonsAgainstBound(
  claims: readonly PersistentVolumeClaim[],
  node: Node,
  storage: StorageLookup,
): Generator<string> {
  for (const { spec } of claims) {
    const volume = storage.volume(spec?.volumeName ?? '');
    if (!volume) return yield lostVolume;
    if (!isVolumeReachable(volume, node)) return yield unreachable;
  }
}

function planDelayed(
  claims: readonly PersistentVolumeClaim[],
  node: Node,
  storage: StorageLookup,
): VolumePlan | string {
  const toProvision: PersistentVolumeClaim[] = [];
  const toMatch: PersistentVolumeClaim[] = [];
  for (const claim of claims) {
    const selected = claim.metadata.annotations?.[selectedNodeAnnotation];
    if (selected === undefined) toMatch.push(claim);
    // A volume is being provisioned for another node.
    else if (selected !== node.metadata.name) return noVolume;
    else toProvision.push(claim);
  }
  const bindings: { claim: PersistentVolumeClaim; volume: PersistentVolume }[] = [];
  const excluded = new Set<string>();
  // Smaller PVCs come first, so that they do not take the only volume that satisfies a larger one.
  for (const claim of toMatch.toSorted((a, b) => compareQuantities(requestOf(a), requestOf(b)))) {
    const volume = findMatchingVolume(claim, storage.volumesOfClass(classOfClaim(claim)), { node, excluded });
    if (volume) {
      excluded.add(volume.metadata.name ?? '');
      bindings.push({ claim, volume });
    } else {
      toProvision.push(claim);
    }
  }
  for (const claim of toProvision) {
    const reason = reasonAgainstProvisioning(claim, node, storage);
    if (reason) return reason;
  }
  return { bindings, provisions: toProvision };
}

function reasonAgainstProvisioning(
  claim: PersistentVolumeClaim,
  node: Node,
  storage: StorageLookup,
): string | undefined {
  const { name, namespace } = claim.metadata;
  const className = classOfClaim(claim);
  if (className === '') throw new Error(`no class for claim "${namespace}/${name}"`);
  const found = storage.storageClass(className);
  if (!found) throw new Error(`failed to find storage class "${className}"`);
  if (!found.provisioner || found.provisioner === noProvisioner) return noVolume;
  if (!isTopologyAllowed(found, node)) return noVolume;
  return hasCapacity(claim, found, node, storage) ? undefined : noSpace;
}

/** Reports whether the storage class allows provisioning for a node. */
function isTopologyAllowed({ allowedTopologies }: StorageClass, { metadata }: Node): boolean {
  if (!allowedTopologies?.length) return true;
  return allowedTopologies.some(({ matchLabelExpressions: expressions }) => {
    if (!expressions?.length) return false;
    return expressions.every(({ key, values }) => values.includes(metadata.labels?.[key] ?? ''));
  });
}

/** Reports whether the driver reports enough capacity in the node's topology. */
function hasCapacity(
  claim: PersistentVolumeClaim,
  { metadata, provisioner }: StorageClass,
  node: Node,
  storage: StorageLookup,
): boolean {
  const wanted = claim.spec?.resources?.requests?.storage;
  if (wanted === undefined || !storage.driver(provisioner)?.spec.storageCapacity) return true;
  const wantedBytes = quantityValue(parseQuantity(wanted));
  return storage.capacitiesOf(metadata.name ?? '').some(({ capacity, maximumVolumeSize, nodeTopology }) => {
    const limit = maximumVolumeSize ?? capacity;
    if (limit == null || !nodeTopology || quantityValue(parseQuantity(limit)) < wantedBytes) return false;
    return selectorOf(nodeTopology).matches(node.metadata.labels);
  });
}
