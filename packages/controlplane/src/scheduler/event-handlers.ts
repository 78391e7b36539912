/**
 * Event handlers of the scheduler: update the cache and the scheduling queue, and move unschedulable Pods on events
 * that may help.
 */
import type { Node } from '@kruise/api/core/node';
import { type PersistentVolume, persistentVolume } from '@kruise/api/core/persistentvolume';
import { type PersistentVolumeClaim, persistentVolumeClaim } from '@kruise/api/core/persistentvolumeclaim';
import type { Pod } from '@kruise/api/core/pod';
import { csiDriver } from '@kruise/api/storage/csidriver';
import { csiNode } from '@kruise/api/storage/csinode';
import { csiStorageCapacity } from '@kruise/api/storage/csistoragecapacity';
import { storageClass } from '@kruise/api/storage/storageclass';
import { volumeAttachment } from '@kruise/api/storage/volumeattachment';
import type { Caches, Change, Informer } from '@kruise/client/informer';
import { keyOf } from '@kruise/client/object-key';
import { isPodFinished } from '@kruise/machinery/pods';
import type { Kind } from '@kruise/schema/kind';
import type { Cluster } from './cluster/cluster.ts';
import type { PodInfo } from './cluster/pod-info.ts';
import { type EventResource, nodeEvents, podEvents } from './events.ts';
import type { Profile } from './profile.ts';
import type { SchedulingQueue } from './queue/scheduling-queue.ts';
import type { Storage } from './volumes/storage.ts';

export type EventHandlerDependencies = {
  readonly pods: Informer<Pod>;
  readonly nodes: Informer<Node>;
  readonly cluster: Cluster;
  readonly queue: SchedulingQueue;
  readonly profiles: ReadonlyMap<string, Profile>;
  readonly caches: Caches;
  readonly storage: Storage;
};

/** Feeds the scheduler cache and the queue with the initial objects, then with every change. */
export function handleClusterEvents(dependencies: EventHandlerDependencies, signal: AbortSignal): void {
  const { pods, nodes, cluster, queue, profiles } = dependencies;
  const isOurs = (pod: Pod | undefined) => pod !== undefined && profiles.has(pod.spec?.schedulerName ?? '');

  const onNode = ({ type, object, previous }: Change<Node>) => {
    if (type === 'deleted') {
      queue.move({ resource: 'Node', action: 'Delete', before: object });
      cluster.removeNode(object.metadata.name ?? '');
      return;
    }
    cluster.setNode(object);
    if (!previous) queue.move({ resource: 'Node', action: 'Add', after: object });
    else for (const event of nodeEvents(previous, object)) queue.move(event);
  };

  /** Releases the nomination of a Pod, which may help Pods of equal or lower priority. */
  const freeNomination = (pod: Pod) => {
    const priority = pod.spec?.priority ?? 0;
    const isNoHigher = (other: PodInfo) => other.priority <= priority;
    queue.move({ resource: 'Pod', action: 'Delete', before: pod }, isNoHigher);
  };

  const onPlaced = (before: Pod | undefined, after: Pod | undefined) => {
    if (after) {
      cluster.setPod(after);
      if (!before) queue.move({ resource: 'Pod', action: 'Add', after });
      else for (const event of podEvents(before, after)) queue.move(event);
    } else if (before) {
      cluster.removePod(before.metadata.uid ?? '');
      queue.move({ resource: 'Pod', action: 'Delete', before });
    }
  };

  const onWaiting = (before: Pod | undefined, after: Pod | undefined) => {
    if (after && !before) return queue.add(after);
    if (after && before) {
      if (cluster.isAssumed(after.metadata.uid ?? '')) return;
      queue.update(before, after);
      const { nominatedNodeName } = before.status ?? {};
      if (nominatedNodeName && nominatedNodeName !== after.status?.nominatedNodeName) freeNomination(before);
    } else if (before) {
      queue.delete(before.metadata.uid ?? '');
      if (before.status?.nominatedNodeName) freeNomination(before);
    }
  };

  const onPod = ({ type, object, previous }: Change<Pod>) => {
    const before = type === 'deleted' ? object : previous;
    const states = [before, type === 'deleted' ? undefined : object] as const;
    // A finished Pod does not use its node any more.
    const [was, is] = states.map((pod) => (pod && !isPodFinished(pod) ? pod : undefined));
    onWaiting(isWaiting(was) ? was : undefined, isWaiting(is) ? is : undefined);
    onPlaced(isPlaced(was) ? was : undefined, isPlaced(is) ? is : undefined);
  };
  const isPlaced = (pod: Pod | undefined) => Boolean(pod?.spec?.nodeName);
  const isWaiting = (pod: Pod | undefined) => !isPlaced(pod) && isOurs(pod);

  // Nodes are handled before Pods, which refer to them.
  nodes.handle(onNode, { signal });
  pods.handle(onPod, { signal });
  handleStorageEvents(dependencies, signal);
}

/** Storage kinds that Pods may wait for, with their event resources. */
const storageResources: readonly (readonly [Kind, EventResource])[] = [
  [persistentVolumeClaim, 'PersistentVolumeClaim'],
  [persistentVolume, 'PersistentVolume'],
  [storageClass, 'StorageClass'],
  [csiNode, 'CSINode'],
  [csiDriver, 'CSIDriver'],
  [csiStorageCapacity, 'CSIStorageCapacity'],
  [volumeAttachment, 'VolumeAttachment'],
];

function handleStorageEvents({ caches, queue, storage }: EventHandlerDependencies, signal: AbortSignal): void {
  const notifyVolumeChange = ({ spec }: PersistentVolume) => {
    const { name, namespace } = spec?.claimRef ?? {};
    if (name) storage.claimChanged(`${namespace}/${name}`);
  };
  for (const [kind, resource] of storageResources) {
    const onChange = ({ type, object, previous }: Change<unknown>) => {
      if (resource === 'PersistentVolumeClaim') storage.claimChanged(keyOf(object as PersistentVolumeClaim));
      if (resource === 'PersistentVolume') notifyVolumeChange(object as PersistentVolume);
      if (type === 'deleted') queue.move({ resource, action: 'Delete', before: object });
      else if (previous === undefined) queue.move({ resource, action: 'Add', after: object });
      else queue.move({ resource, action: 'Update', before: previous, after: object });
    };
    caches.informer(kind).handle(onChange, { signal });
  }
}
