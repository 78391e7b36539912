import type { Node } from '@kruise/api/core/node';
import type { PersistentVolume } from '@kruise/api/core/persistentvolume';
import type { Pod } from '@kruise/api/core/pod';
import type { VolumeAttachment } from '@kruise/api/storage/volumeattachment';
import {
  type Action,
  create,
  isBeingDeleted,
  type NewEvent,
  parallelByKind,
  patch,
  remove,
} from '@kruise/client/actions';
import type { Decision } from '@kruise/client/controller';
import { isConditionTrue } from '@kruise/machinery/conditions';
import { isSame } from '@kruise/machinery/json-value';
import type { Instant } from '@kruise/values/time';
import { attachmentName, uniqueVolumeName } from './names.ts';

/** A volume that Pods of a node need and that must be attached first. */
export type WantedVolume = {
  readonly volume: PersistentVolume;
  readonly pods: readonly Pod[];
  /** Other nodes that the volume is attached to. */
  readonly elsewhere: readonly string[];
  /** Pods that use the volume on other nodes. */
  readonly podsElsewhere: readonly Pod[];
};

export type Observed = {
  readonly nodeName: string;
  readonly node: Node | undefined;
  readonly wanted: readonly WantedVolume[];
  /** Attachments of the node, attached or not. */
  readonly attachments: readonly VolumeAttachment[];
  /** Returns the volume of an attachment, if it still exists. */
  readonly volumeOf: (attachment: VolumeAttachment) => PersistentVolume | undefined;
  /** Time since when each attachment is not needed, by name. */
  readonly idleSince: ReadonlyMap<string, Instant>;
};

const managedAnnotation = 'volumes.kubernetes.io/controller-managed-attach-detach';
const outOfServiceTaint = 'node.kubernetes.io/out-of-service';
/** Time after which a volume is detached from an unhealthy node that still reports it in use. */
const detachTimeoutMs = 6 * 60_000;

/** Attaches volumes before Pods of the node need them, and detaches them when the node has unmounted them. */
export function decide(observed: Observed, now: Instant): Decision<never> {
  const { nodeName, node, wanted, attachments } = observed;
  const byName = new Map(attachments.map((each) => [each.metadata.name ?? '', each]));
  const actions: Action[] = [];
  const events: NewEvent[] = [];
  const attached: VolumeAttachment[] = [];

  const isManaged = node?.metadata.annotations?.[managedAnnotation] === 'true';
  for (const each of isManaged ? wanted : []) {
    const attachment = byName.get(attachmentName(each.volume, nodeName));
    if (!attachment && isAttachedElsewhere(each)) events.push(...multiAttachErrors(each));
    else if (!attachment) actions.push(create(attachmentFor(each.volume, nodeName)));
    else if (attachment.status?.attached) {
      attached.push(attachment);
      if (node && !isReported(node, each.volume)) events.push(...podEvents(each, 'AttachVolume.Attach succeeded', ''));
    } else if (attachment.status?.attachError) {
      const { message = '' } = attachment.status.attachError;
      events.push(...podEvents(each, 'AttachVolume.Attach failed', `: ${message}`));
    }
  }

  const idle = idleOf(observed);
  const detachable = idle.filter((each) => !isBeingDeleted(each) && mayDetach(observed, each, now));
  const keptAttached = idle.filter(
    (each) => !detachable.includes(each) && !isBeingDeleted(each) && each.status?.attached,
  );
  if (node) {
    const volumesAttached = [...attached, ...keptAttached].flatMap((each) => {
      const volume = observed.volumeOf(each);
      return volume ? [{ name: uniqueVolumeName(volume), devicePath: '' }] : [];
    });
    // A volume is removed from `volumesAttached` before it is detached, so that the kubelet does not mount it any more.
    if (!isSame(volumesAttached, node.status?.volumesAttached ?? [])) {
      actions.push({ ...patch(node, { status: { volumesAttached } }), subresource: 'status' });
    }
  }
  actions.push(...detachable.map(remove));
  // A healthy node reports when it has unmounted a volume.
  const waiting = isHealthy(node) ? [] : idle.filter((each) => !detachable.includes(each) && !isBeingDeleted(each));
  return {
    actions: parallelByKind(actions),
    events,
    ...(waiting.length > 0 ? { requeueAfterSeconds: remainingSeconds(observed, waiting, now) } : {}),
  };
}

/** Returns the attachments that no Pod of the node needs. */
export function idleOf({ nodeName, wanted, attachments }: Omit<Observed, 'idleSince'>): readonly VolumeAttachment[] {
  const needed = new Set(wanted.map(({ volume }) => attachmentName(volume, nodeName)));
  // Other controllers may create attachments under their own names.
  return attachments.filter(({ metadata: { name = '' } }) => name.startsWith('csi-') && !needed.has(name));
}

/** Reports whether a volume may be detached: the node has unmounted it, or the timeout has passed. */
function mayDetach(observed: Observed, attachment: VolumeAttachment, now: Instant): boolean {
  const { node } = observed;
  const volume = observed.volumeOf(attachment);
  const isInUse = volume !== undefined && node?.status?.volumesInUse?.includes(uniqueVolumeName(volume));
  if (node?.spec?.taints?.some(({ key }) => key === outOfServiceTaint)) return true;
  const isLongIdle = now - idleSince(observed, attachment, now) > detachTimeoutMs;
  return node ? !isInUse || (!isHealthy(node) && isLongIdle) : isLongIdle;
}

function isHealthy(node: Node | undefined): boolean {
  return isConditionTrue(node?.status?.conditions, 'Ready');
}

function idleSince({ idleSince: since }: Observed, { metadata }: VolumeAttachment, now: Instant): Instant {
  return since.get(metadata.name ?? '') ?? now;
}

function remainingSeconds(observed: Observed, waiting: readonly VolumeAttachment[], now: Instant): number {
  const ends = waiting.map((each) => idleSince(observed, each, now) + detachTimeoutMs);
  return Math.max(1, Math.ceil((Math.min(...ends) - now) / 1000) + 1);
}

function attachmentFor(volume: PersistentVolume, nodeName: string): VolumeAttachment {
  return {
    apiVersion: 'storage.k8s.io/v1',
    kind: 'VolumeAttachment',
    metadata: { name: attachmentName(volume, nodeName) },
    spec: {
      attacher: volume.spec?.csi?.driver ?? '',
      nodeName,
      source: { persistentVolumeName: volume.metadata.name ?? '' },
    },
  };
}

function isReported({ status }: Node, volume: PersistentVolume): boolean {
  return status?.volumesAttached?.some(({ name }) => name === uniqueVolumeName(volume)) ?? false;
}

/** Reports whether a volume without multi-attach support is attached to another node. */
function isAttachedElsewhere({ volume, elsewhere }: WantedVolume): boolean {
  const modes = volume.spec?.accessModes ?? [];
  const isShared = modes.length === 0 || modes.some((mode) => mode === 'ReadWriteMany' || mode === 'ReadOnlyMany');
  return !isShared && elsewhere.length > 0;
}

function podEvents({ volume, pods }: WantedVolume, what: string, why: string): readonly NewEvent[] {
  const isGood = why === '';
  return pods.map((about) => ({
    about,
    type: isGood ? 'Normal' : 'Warning',
    reason: isGood ? 'SuccessfulAttachVolume' : 'FailedAttachVolume',
    message: `${what} for volume "${volume.metadata.name}" ${why}`,
  }));
}

/** The event names the Pods of the same namespace that use the volume; Pods of other namespaces are only counted. */
function multiAttachErrors(wanted: WantedVolume): readonly NewEvent[] {
  return wanted.pods.flatMap((pod) =>
    podEvents({ ...wanted, pods: [pod] }, 'Multi-Attach error', usersOf(wanted, pod)),
  );
}

function usersOf({ podsElsewhere }: WantedVolume, { metadata: { namespace } }: Pod): string {
  if (podsElsewhere.length === 0) {
    return "Volume is already exclusively attached to one node and can't be attached to another";
  }
  const near = podsElsewhere.filter((pod) => pod.metadata.namespace === namespace).map(({ metadata }) => metadata.name);
  const far = podsElsewhere.length - near.length;
  if (near.length === 0) return `Volume is already used by ${far} pod(s) in different namespaces`;
  const names = `Volume is already used by pod(s) ${near.join(', ')}`;
  return far === 0 ? names : `${names} and ${far} pod(s) in different namespaces`;
}
