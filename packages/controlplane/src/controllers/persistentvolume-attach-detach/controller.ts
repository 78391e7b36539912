import { type Node, node } from '@kruise/api/core/node';
import { type PersistentVolume, persistentVolume } from '@kruise/api/core/persistentvolume';
import { type PersistentVolumeClaim, persistentVolumeClaim } from '@kruise/api/core/persistentvolumeclaim';
import { type Pod, pod } from '@kruise/api/core/pod';
import { csiDriver } from '@kruise/api/storage/csidriver';
import { type VolumeAttachment, volumeAttachment } from '@kruise/api/storage/volumeattachment';
import { type Controller, defineController, watch } from '@kruise/client/controller';
import type { Caches, Change } from '@kruise/client/informer';
import { type Key, keyFor, keyOf } from '@kruise/client/object-key';
import { isSame } from '@kruise/machinery/json-value';
import { podVolumeClaims } from '@kruise/machinery/pod-volume-claims';
import { isPodFinished } from '@kruise/machinery/pods';
import type { Instant } from '@kruise/values/time';
import { byClaim, byNode } from '@kruise/workload-kit/pod-indexes';
import { decide, idleOf, type Observed, type WantedVolume } from './decide.ts';

const attachmentsByNode = ({ spec }: VolumeAttachment) => [spec.nodeName];
const attachmentsByVolume = ({ spec: { source } }: VolumeAttachment) =>
  source.persistentVolumeName ? [source.persistentVolumeName] : [];

type Seen = Omit<Observed, 'idleSince'>;

/**
 * Attach/detach controller: creates and deletes VolumeAttachments, so that CSI drivers attach and detach volumes.
 * Volumes of drivers without attach support are skipped.
 */
export function attachDetachController(): Controller {
  // Idle times are only in memory. After a restart, the detach timeout starts again.
  const idleSince = new Map<string, Instant>();
  return defineController<typeof node, Seen>({
    name: 'persistentvolume-attach-detach',
    component: 'attachdetach-controller',
    for: node,
    predicate: ({ object, previous }) => !previous || isRelevantUpdate(object, previous),
    uses: [csiDriver],
    watches: [
      watch(pod, (change) => (podVolumeClaims(change.object).length > 0 ? byNode(change.object) : [])),
      watch(persistentVolumeClaim, ({ object }, caches) => nodesOfClaim(keyOf(object), caches)),
      watch(volumeAttachment, nodesOfAttachment),
    ],
    observe,
    decide(seen, now) {
      const idle = new Set(idleOf(seen).map(({ metadata }) => metadata.name ?? ''));
      for (const name of idle) if (!idleSince.has(name)) idleSince.set(name, now);
      for (const { metadata } of seen.attachments)
        if (!idle.has(metadata.name ?? '')) idleSince.delete(metadata.name ?? '');
      return decide({ ...seen, idleSince }, now);
    },
  });
}

/** Reports whether a node update matters; heartbeats do not. */
function isRelevantUpdate(object: Node, previous: Node): boolean {
  const relevantFields = ({ metadata, spec, status }: Node) => [
    metadata.annotations,
    spec?.taints,
    status?.volumesInUse,
    status?.volumesAttached,
    status?.conditions?.find(({ type }) => type === 'Ready')?.status,
  ];
  return !isSame(relevantFields(object), relevantFields(previous));
}

function observe(caches: Caches, nodeName: Key): Seen | undefined {
  const found = caches.of(node).get(nodeName);
  const attachments = caches.of(volumeAttachment).byIndex(attachmentsByNode, nodeName);
  if (!found && attachments.length === 0) return undefined;
  const wanted = new Map<string, { volume: PersistentVolume; pods: Pod[] }>();
  for (const each of caches.of(pod).byIndex(byNode, nodeName)) {
    if (isPodFinished(each)) continue;
    for (const volume of attachableVolumes(caches, each)) {
      const name = volume.metadata.name ?? '';
      const known = wanted.get(name);
      if (known) known.pods.push(each);
      else wanted.set(name, { volume, pods: [each] });
    }
  }
  return {
    nodeName,
    node: found,
    wanted: Array.from(wanted.values(), (each) => ({ ...each, ...othersOf(caches, each.volume, nodeName) })),
    attachments,
    volumeOf: ({ spec }) => caches.of(persistentVolume).get(spec.source.persistentVolumeName ?? ''),
  };
}

/** Returns the volumes of a Pod that a CSI driver attaches. */
function attachableVolumes(caches: Caches, user: Pod): readonly PersistentVolume[] {
  const { namespace = '' } = user.metadata;
  return podVolumeClaims(user).flatMap(({ name }) => {
    const claim = caches.of(persistentVolumeClaim).get({ name, namespace });
    const volume = claim && boundVolume(caches, claim);
    const driver = volume?.spec?.csi?.driver;
    if (!volume || driver === undefined) return [];
    return caches.of(csiDriver).get(driver)?.spec.attachRequired === false ? [] : [volume];
  });
}

function boundVolume(caches: Caches, { metadata, spec, status }: PersistentVolumeClaim): PersistentVolume | undefined {
  const volume = status?.phase === 'Bound' ? caches.of(persistentVolume).get(spec?.volumeName ?? '') : undefined;
  return volume?.spec?.claimRef?.uid === metadata.uid ? volume : undefined;
}

/** Returns the other nodes that a volume is attached to, and the Pods that use it there. */
function othersOf(
  caches: Caches,
  volume: PersistentVolume,
  nodeName: string,
): Pick<WantedVolume, 'elsewhere' | 'podsElsewhere'> {
  const elsewhere = caches
    .of(volumeAttachment)
    .byIndex(attachmentsByVolume, volume.metadata.name ?? '')
    .map(({ spec }) => spec.nodeName)
    .filter((name) => name !== nodeName);
  if (elsewhere.length === 0) return { elsewhere, podsElsewhere: [] };
  const users = caches.of(pod).byIndex(byClaim, claimKeyOf(volume));
  const podsElsewhere = users.filter((each) => !isPodFinished(each) && elsewhere.includes(each.spec?.nodeName ?? ''));
  return { elsewhere, podsElsewhere };
}

function claimKeyOf({ spec }: PersistentVolume): Key {
  const { name = '', namespace = '' } = spec?.claimRef ?? {};
  return keyFor({ name, namespace });
}

function nodesOfClaim(claim: Key, caches: Caches): readonly Key[] {
  return [...new Set(caches.of(pod).byIndex(byClaim, claim).flatMap(byNode))];
}

/** Enqueues the node of an attachment, and the nodes that wait for its volume. */
function nodesOfAttachment({ object }: Change<VolumeAttachment>, caches: Caches): readonly Key[] {
  const volume = caches.of(persistentVolume).get(object.spec.source.persistentVolumeName ?? '');
  return [...new Set([object.spec.nodeName, ...(volume ? nodesOfClaim(claimKeyOf(volume), caches) : [])])];
}
