import type { PersistentVolume } from '@kruise/api/core/persistentvolume';
import type { Pod } from '@kruise/api/core/pod';
import type { WatchEvent } from '../cache/watchers.ts';
import type { KubeObject } from '../object.ts';
import type { StoredObjects } from '../objects/stored-objects.ts';
import { podReferences } from './pod-references.ts';
import { volumeSecrets } from './volume-secrets.ts';

export type NodeGraphObjects = {
  readonly pods: StoredObjects;
  readonly persistentVolumes: StoredObjects;
  readonly volumeAttachments: StoredObjects;
};

/** Object that a node may read because of its Pods. */
export type Related =
  | 'pods'
  | 'secrets'
  | 'configmaps'
  | 'persistentvolumeclaims'
  | 'persistentvolumes'
  | 'serviceaccounts'
  | 'volumeattachments';

/** Graph from nodes to the objects that their Pods reference. */
export interface NodeGraph {
  isRelated(node: string, resource: Related, namespace: string, name: string): boolean;
}

type Edges = {
  readonly uid: string;
  readonly node: string;
  readonly size: number;
  readonly targets: readonly string[];
};
type Volume = { readonly claim: string; readonly secrets: readonly string[] };

const idOf = (resource: Related, namespace: string, name: string) => `${resource}/${namespace}/${name}`;

/**
 * Maintains the graph. The references of a Pod are computed once, when it is bound to a node; a query then takes two or
 * three lookups, whatever the number of Pods.
 */
export function createNodeGraph(objects: NodeGraphObjects, signal: AbortSignal): NodeGraph {
  /** Reference counts: the number of Pods of a node that need an object. */
  const needs = new Map<string, Map<string, number>>();
  const pods = new Map<string, Edges>();
  const volumes = new Map<string, Volume>();
  const volumesOfSecret = new Map<string, Set<string>>();
  const attachments = new Map<string, string>();

  function count(node: string, id: string, change: 1 | -1): void {
    const nodes = needs.get(id) ?? new Map<string, number>();
    const left = (nodes.get(node) ?? 0) + change;
    if (left > 0) nodes.set(node, left);
    else nodes.delete(node);
    if (nodes.size > 0) needs.set(id, nodes);
    else needs.delete(id);
  }

  function dropPod(key: string): void {
    const edges = pods.get(key);
    if (!edges) return;
    pods.delete(key);
    for (const id of edges.targets) count(edges.node, id, -1);
  }

  function takePod(key: string, object: KubeObject): void {
    const pod = object as unknown as Pod;
    const node = pod.spec?.nodeName ?? '';
    const { namespace = '', name = '', uid = '', annotations } = pod.metadata ?? {};
    const size = pod.spec?.ephemeralContainers?.length ?? 0;
    const known = pods.get(key);
    // The other fields that matter here are immutable, and most updates only change the status.
    if (known?.uid === uid && known.node === node && known.size === size) return;
    dropPod(key);
    if (node === '') return;
    const targets = [idOf('pods', namespace, name)];
    // The kubelet creates mirror Pods itself, so they must not grant access to any object.
    if (annotations?.['kubernetes.io/config.mirror'] === undefined) {
      for (const [resource, needed] of podReferences(pod)) targets.push(idOf(resource, namespace, needed));
    }
    const distinct = [...new Set(targets)];
    pods.set(key, { uid, node, size, targets: distinct });
    for (const id of distinct) count(node, id, 1);
  }

  function dropVolume(key: string): void {
    const volume = volumes.get(key);
    if (!volume) return;
    volumes.delete(key);
    for (const secret of volume.secrets) {
      const users = volumesOfSecret.get(secret);
      users?.delete(key);
      if (users?.size === 0) volumesOfSecret.delete(secret);
    }
  }

  function takeVolume(key: string, object: KubeObject): void {
    dropVolume(key);
    const volume = object as unknown as PersistentVolume;
    const claimRef = volume.spec?.claimRef;
    if (!claimRef) return;
    const secrets = volumeSecrets(volume).map(({ namespace, name }) => idOf('secrets', namespace, name));
    const claim = idOf('persistentvolumeclaims', claimRef.namespace ?? '', claimRef.name ?? '');
    volumes.set(key, { claim, secrets });
    for (const secret of secrets) {
      const users = volumesOfSecret.get(secret) ?? new Set();
      volumesOfSecret.set(secret, users.add(key));
    }
  }

  function takeAttachment(key: string, object: KubeObject): void {
    const { nodeName = '' } = (object.spec ?? {}) as { readonly nodeName?: string };
    attachments.set(key, nodeName);
  }

  follow(objects.pods, signal, takePod, dropPod);
  follow(objects.persistentVolumes, signal, takeVolume, dropVolume);
  follow(objects.volumeAttachments, signal, takeAttachment, (key) => attachments.delete(key));

  const isNeeded = (node: string, id: string) => needs.get(id)?.has(node) ?? false;
  const isMounted = (node: string, volumeKey: string) => {
    const volume = volumes.get(volumeKey);
    return volume !== undefined && isNeeded(node, volume.claim);
  };

  return {
    isRelated(node, resource, namespace, name) {
      switch (resource) {
        case 'persistentvolumes':
          return isMounted(node, `${objects.persistentVolumes.prefix}${name}`);
        case 'volumeattachments':
          return attachments.get(`${objects.volumeAttachments.prefix}${name}`) === node;
        default: {
          const id = idOf(resource, namespace, name);
          if (isNeeded(node, id)) return true;
          for (const key of volumesOfSecret.get(id) ?? []) if (isMounted(node, key)) return true;
          return false;
        }
      }
    },
  };
}

/** Calls back for all existing objects, then for every change. */
function follow(
  { cache, prefix }: StoredObjects,
  signal: AbortSignal,
  take: (key: string, object: KubeObject) => void,
  drop: (key: string) => void,
): void {
  const receive = ({ type, cached }: WatchEvent) => {
    if (type === 'DELETED') drop(cached.key);
    else take(cached.key, cached.object);
  };
  const { items } = cache.listAndWatch({ keyPrefix: prefix }, { signal, receive, end: () => {} });
  for (const { key, object } of items) take(key, object);
}
