import type { Node } from '@kruise/api/core/node';
import type { PersistentVolume } from '@kruise/api/core/persistentvolume';
import type { Pod } from '@kruise/api/core/pod';
import type { VolumeAttachment } from '@kruise/api/storage/volumeattachment';
import { type Action, create, isBeingDeleted, type NewEvent, patch, remove } from '@kruise/client/actions';
import type { Decision } from '@kruise/client/controller';
import { isConditionTrue } from '@kruise/machinery/conditions';
import { isSame } from '@kruise/machinery/json-value';
import type { Instant } from '@kruise/values/time';
import { attachmentName, uniqueVolumeName } from './names.ts';

/** A volume that Pods of a node need, and that has to be attached first. */
export type WantedVolume = {
  readonly volume: PersistentVolume;
  readonly pods: readonly Pod[];
  /** The other nodes it is attached to. */
  readonly elsewhere: readonly string[];
  /** The Pods that use it there. */
  readonly podsElsewhere: readonly Pod[];
};

export type Observed = {
  readonly nodeName: string;
  readonly node: Node | undefined;
  readonly wanted: readonly WantedVolume[];
  /** What is attached to the node, or on its way there. */
  readonly attachments: readonly VolumeAttachment[];
  /** The volume of an attachment, if it is still there. */
  readonly volumeOf: (attachment: VolumeAttachment) => PersistentVolume | undefined;
  /** Since when an attachment is not needed any more, by its name. */
  readonly idleSince: ReadonlyMap<string, Instant>;
};

const managedAnnotation = 'volumes.kubernetes.io/controller-managed-attach-detach';
const outOfServiceTaint = 'node.kubernetes.io/out-of-service';
/** How long a node that does not answer is given to let go of a volume. */
const patienceMs = 6 * 60_000;

/** Volumes are attached to a node before its Pods need them, and detached when the node is done with them. */
export function decide(observed: Observed, now: Instant): Decision<never> {
  const { nodeName, node, wanted, attachments } = observed;
  const byName = new Map(attachments.map((each) => [each.metadata.name ?? '', each]));
  const actions: Action[] = [];
  const events: NewEvent[] = [];
  const attached: VolumeAttachment[] = [];

  const isManaged = node?.metadata.annotations?.[managedAnnotation] === 'true';
  for (const each of isManaged ? wanted : []) {
    const attachment = byName.get(attachmentName(each.volume, nodeName));
    if (!attachment && isTakenElsewhere(each)) events.push(...multiAttachErrors(each));
    else if (!attachment) actions.push(create(attachmentFor(each.volume, nodeName)));
    else if (attachment.status?.attached) {
      attached.push(attachment);
      if (node && !isReported(node, each.volume)) events.push(...tellPods(each, 'AttachVolume.Attach succeeded', ''));
    } else if (attachment.status?.attachError) {
      const { message = '' } = attachment.status.attachError;
      events.push(...tellPods(each, 'AttachVolume.Attach failed', `: ${message}`));
    }
  }

  const idle = idleOf(observed);
  const leaving = idle.filter((each) => !isBeingDeleted(each) && mayLeave(observed, each, now));
  const staying = idle.filter((each) => !leaving.includes(each) && !isBeingDeleted(each) && each.status?.attached);
  if (node) {
    const volumesAttached = [...attached, ...staying].flatMap((each) => {
      const volume = observed.volumeOf(each);
      return volume ? [{ name: uniqueVolumeName(volume), devicePath: '' }] : [];
    });
    // What is to leave is not to be relied upon from before it leaves.
    if (!isSame(volumesAttached, node.status?.volumesAttached ?? [])) {
      actions.push({ ...patch(node, { status: { volumesAttached } }), subresource: 'status' });
    }
  }
  actions.push(...leaving.map(remove));
  // A node that is well says when it is done.
  const waiting = isHealthy(node) ? [] : idle.filter((each) => !leaving.includes(each) && !isBeingDeleted(each));
  return {
    actions,
    events,
    ...(waiting.length > 0 ? { requeueAfterSeconds: remainingSeconds(observed, waiting, now) } : {}),
  };
}

/** The attachments that no Pod of the node needs. */
export function idleOf({ nodeName, wanted, attachments }: Omit<Observed, 'idleSince'>): readonly VolumeAttachment[] {
  const needed = new Set(wanted.map(({ volume }) => attachmentName(volume, nodeName)));
  // Others may attach what they like, under names of their own.
  return attachments.filter(({ metadata: { name = '' } }) => name.startsWith('csi-') && !needed.has(name));
}

/** Whether a volume may be taken from a node: it has let go of it, or nobody waits for it any longer. */
function mayLeave(observed: Observed, attachment: VolumeAttachment, now: Instant): boolean {
  const { node } = observed;
  const volume = observed.volumeOf(attachment);
  const isInUse = volume !== undefined && node?.status?.volumesInUse?.includes(uniqueVolumeName(volume));
  if (node?.spec?.taints?.some(({ key }) => key === outOfServiceTaint)) return true;
  const isLongIdle = now - idleSince(observed, attachment, now) > patienceMs;
  return node ? !isInUse || (!isHealthy(node) && isLongIdle) : isLongIdle;
}

function isHealthy(node: Node | undefined): boolean {
  return isConditionTrue(node?.status?.conditions, 'Ready');
}

function idleSince({ idleSince: since }: Observed, { metadata }: VolumeAttachment, now: Instant): Instant {
  return since.get(metadata.name ?? '') ?? now;
}

function remainingSeconds(observed: Observed, waiting: readonly VolumeAttachment[], now: Instant): number {
  const ends = waiting.map((each) => idleSince(observed, each, now) + patienceMs);
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

/** Whether a volume that only one node may write to is at another. */
function isTakenElsewhere({ volume, elsewhere }: WantedVolume): boolean {
  const modes = volume.spec?.accessModes ?? [];
  const isShared = modes.length === 0 || modes.some((mode) => mode === 'ReadWriteMany' || mode === 'ReadOnlyMany');
  return !isShared && elsewhere.length > 0;
}

function tellPods({ volume, pods }: WantedVolume, what: string, why: string): readonly NewEvent[] {
  const isGood = why === '';
  return pods.map((about) => ({
    about,
    type: isGood ? 'Normal' : 'Warning',
    reason: isGood ? 'SuccessfulAttachVolume' : 'FailedAttachVolume',
    message: `${what} for volume "${volume.metadata.name}" ${why}`,
  }));
}

/** Who has the volume is told by name to those of the same namespace, and to others by number. */
function multiAttachErrors(wanted: WantedVolume): readonly NewEvent[] {
  return wanted.pods.flatMap((pod) => tellPods({ ...wanted, pods: [pod] }, 'Multi-Attach error', usersOf(wanted, pod)));
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
