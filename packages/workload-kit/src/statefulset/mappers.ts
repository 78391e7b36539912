/**
 * Mappers that enqueue a workload with ordinals for other objects than its own Pods: Pod names that become free, and
 * PVCs.
 */
import type { PersistentVolumeClaim } from '@kruise/api/core/persistentvolumeclaim';
import type { Pod } from '@kruise/api/core/pod';
import type { Caches, Change } from '@kruise/client/informer';
import { type Key, keyOf } from '@kruise/client/object-key';
import type { Kind } from '@kruise/schema/kind';
import type { NumberedSet } from './identity.ts';

type Mapper<T> = (change: Change<T>, caches: Caches) => readonly Key[];

/** A deleted Pod may have blocked the name of a member. */
export function mapPodNameToSets(kind: Kind): Mapper<Pod> {
  return ({ type, object: { metadata } }, caches) => {
    const prefix = prefixOf(metadata.name);
    if (type !== 'deleted' || prefix === undefined) return [];
    const set = caches.of(kind).get({ namespace: metadata.namespace ?? '', name: prefix });
    return set ? [keyOf(set)] : [];
  };
}

/** A Pod may wait for a PVC to exist or to be deleted. PVCs usually have no owner, so the mapping is by name. */
export function mapPvcToSets(kind: Kind): Mapper<PersistentVolumeClaim> {
  return ({ object: { metadata } }, caches) => {
    const prefix = prefixOf(metadata.name);
    if (prefix === undefined) return [];
    const found = caches.of(kind).byIndex(byPvcPrefix, `${metadata.namespace}/${prefix}`);
    return found.map(keyOf);
  };
}

/** Indexes sets by the names of their PVCs without the ordinal. */
function byPvcPrefix(object: unknown): readonly string[] {
  // Only workloads with ordinals use this index.
  const { metadata, spec } = object as NumberedSet;
  const templates = spec?.volumeClaimTemplates ?? [];
  return templates.map((template) => `${metadata.namespace}/${template.metadata.name}-${metadata.name}`);
}

/** Returns the part of a name before its ordinal. */
function prefixOf(name = ''): string | undefined {
  return /^(.*)-\d+$/.exec(name)?.[1];
}
