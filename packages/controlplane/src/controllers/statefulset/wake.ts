/** What else than its own Pods makes a set of numbered Pods look: names that become free, and claims that come and go. */
import type { PersistentVolumeClaim } from '@kruise/api/core/persistentvolumeclaim';
import type { Pod } from '@kruise/api/core/pod';
import type { Caches, Change } from '@kruise/client/informer';
import { type Key, type KubernetesObject, keyOf } from '@kruise/client/object-key';
import type { Kind } from '@kruise/schema/kind';
import type { NumberedSet } from './identity.ts';

type Wake<T> = (change: Change<T>, caches: Caches) => readonly Key[];

/** A Pod that is gone may have had the name that one of a set is to have. */
export function setsOfName(kind: Kind): Wake<Pod> {
  return ({ type, object: { metadata } }, caches) => {
    const stem = stemOf(metadata.name);
    if (type !== 'deleted' || stem === undefined) return [];
    const set = caches.of(kind).get({ namespace: metadata.namespace ?? '', name: stem });
    return set ? [keyOf(set as KubernetesObject)] : [];
  };
}

/** A Pod may wait for a claim to be there, or to be gone. Claims have no owner as a rule, so it goes by their names. */
export function setsThatClaim(kind: Kind): Wake<PersistentVolumeClaim> {
  return ({ object: { metadata } }, caches) => {
    const stem = stemOf(metadata.name);
    if (stem === undefined) return [];
    const found = caches.of(kind).byIndex(byClaimStem, `${metadata.namespace}/${stem}`);
    return found.map((set) => keyOf(set as KubernetesObject));
  };
}

/** What the claims of a set are called, without the number of the Pod. */
function byClaimStem(object: unknown): readonly string[] {
  // Those who ask are sets of numbered Pods.
  const { metadata, spec } = object as NumberedSet;
  const templates = spec?.volumeClaimTemplates ?? [];
  return templates.map((template) => `${metadata.namespace}/${template.metadata.name}-${metadata.name}`);
}

/** What comes before the number at the end of a name. */
function stemOf(name = ''): string | undefined {
  return /^(.*)-\d+$/.exec(name)?.[1];
}
