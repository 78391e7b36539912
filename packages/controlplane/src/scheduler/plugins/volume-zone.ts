import type { PersistentVolume } from '@kruise/api/core/persistentvolume';
import type { StorageClass } from '@kruise/api/storage/storageclass';
import { isSame } from '@kruise/machinery/json-value';
import { classOfClaim, delaysBinding } from '@kruise/machinery/volume-binding';
import type { NodeInfo } from '../cluster/node-info.ts';
import type { PodInfo } from '../cluster/pod-info.ts';
import type { Plugin, Rejection } from '../plugin.ts';
import type { StorageLookup } from '../volumes/storage.ts';
import { isNamedClaim } from './volume-binding.ts';

const name = 'VolumeZone';
const rejectionFor = (reason: string): Rejection => ({ plugin: name, isPreemptable: false, reasons: [reason] });
const elsewhere = rejectionFor('node(s) had no available volume zone');

const today = { zone: 'topology.kubernetes.io/zone', region: 'topology.kubernetes.io/region' };
/** Zone labels of volumes, and their current names. */
const zoneLabels: ReadonlyMap<string, string> = new Map([
  ['failure-domain.beta.kubernetes.io/zone', today.zone],
  ['failure-domain.beta.kubernetes.io/region', today.region],
  [today.zone, today.zone],
  [today.region, today.region],
]);

/** Required values of a node label. */
type Demand = { readonly label: string; readonly values: readonly string[] };

/** VolumeZone plugin: requires nodes in the zones of the Pod's volumes, by the labels of the volumes. */
export function volumeZone(storage: StorageLookup): Plugin {
  return {
    name,
    filter(pod) {
      const demands = demandsOf(pod, storage);
      if (typeof demands === 'string') return { rejection: rejectionFor(demands) };
      if (demands.length === 0) return undefined;
      return { filter: { check: (node) => (isMet(demands, node) ? undefined : elsewhere) } };
    },
    events: [
      { resource: 'StorageClass', actions: ['Add'], helps: (_pod, { after }) => delaysBinding(after as StorageClass) },
      { resource: 'Node', actions: ['Add', 'UpdateNodeLabel'] },
      { resource: 'PersistentVolumeClaim', actions: ['Add', 'Update'], helps: isNamedClaim },
      {
        resource: 'PersistentVolume',
        actions: ['Add', 'Update'],
        helps(_pod, { before, after }) {
          const [was, is] = [before, after] as [PersistentVolume | undefined, PersistentVolume];
          return !was || !isSame(demandsIn(was), demandsIn(is));
        },
      },
    ],
  };
}

/** Returns the node label requirements of the Pod's volumes, or the reason why they are unknown. */
function demandsOf(pod: PodInfo, storage: StorageLookup): readonly Demand[] | string {
  const demands: Demand[] = [];
  for (const key of pod.claims) {
    const claim = storage.claim(key);
    if (!claim) return `persistentvolumeclaim "${key.slice(key.indexOf('/') + 1)}" not found`;
    const volumeName = claim.spec?.volumeName;
    if (volumeName) {
      const volume = storage.volume(volumeName);
      if (!volume) return `persistentvolume "${volumeName}" not found`;
      demands.push(...demandsIn(volume));
      continue;
    }
    const className = classOfClaim(claim);
    if (className === '') return 'PersistentVolumeClaim had no pv name and storageClass name';
    const found = storage.storageClass(className);
    if (!found) return `storageclass.storage.k8s.io "${className}" not found`;
    if (!delaysBinding(found)) return 'PersistentVolume had no name';
  }
  return demands;
}

function demandsIn({ metadata }: PersistentVolume): readonly Demand[] {
  return [...zoneLabels.keys()].flatMap((label) => {
    const value = metadata.labels?.[label];
    // The label of a volume in several zones contains all of them.
    const values = value?.split('__').map((each) => each.trim()) ?? [];
    return value === undefined || values.includes('') ? [] : { label, values };
  });
}

function isMet(demands: readonly Demand[], { labels }: NodeInfo): boolean {
  if (![...zoneLabels.keys()].some((label) => labels[label] !== undefined)) return true;
  return demands.every(({ label, values }) => values.includes(labels[label] ?? labels[zoneLabels.get(label)!] ?? ''));
}
