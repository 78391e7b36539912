import type { ObjectCache } from '@kruise/apiserver/cache/object-cache';
import type { Core } from '@kruise/apiserver/core';
import type { Resource } from '@kruise/apiserver/resource';
import type { Kind, ObjectOf } from '@kruise/schema/kind';
import type { Instant } from '@kruise/values/time';

/** The stored state of a cluster at an instant, independent of any cache. */
export type View = {
  readonly now: Instant;
  list<K extends Kind>(kind: K): readonly ObjectOf<K>[];
  /** Returns the object that a request path names, if it exists. */
  at<K extends Kind>(kind: K, path: string): ObjectOf<K> | undefined;
};

type List = { readonly objects: readonly unknown[]; readonly changedAt: number };

/** Memo of the listed objects of each cache: there are many instants, and little changes between two of them. */
const lastSeen = new WeakMap<ObjectCache, List>();

function objectsIn({ cache, prefix }: Resource['storage']): readonly unknown[] {
  let list = lastSeen.get(cache);
  if (list?.changedAt !== cache.changedAt) {
    const objects = cache.list({ keyPrefix: prefix }).map(({ object }) => object);
    list = { objects, changedAt: cache.changedAt };
    lastSeen.set(cache, list);
  }
  return list.objects;
}

/** Reads the objects of a server without a request. The view is one instant: later writes are not visible. */
export function viewOf(core: Core, now: Instant): View {
  const lists = new Map<Kind, readonly unknown[]>();
  const view: View = {
    now,
    list<K extends Kind>(kind: K) {
      let found = lists.get(kind);
      if (!found) {
        const resource = core.resources.find(kind.group, kind.version, kind.plural);
        found = resource ? objectsIn(resource.storage) : [];
        lists.set(kind, found);
      }
      // Objects that are stored under a kind are of that kind.
      return found as readonly ObjectOf<K>[];
    },
    at(kind, path) {
      const [, namespace, plural, name] = /\/namespaces\/([^/]+)\/([^/]+)\/([^/]+)/.exec(path) ?? [];
      if (plural !== kind.plural) return undefined;
      return view.list(kind).find(({ metadata }) => metadata.name === name && metadata.namespace === namespace);
    },
  };
  return view;
}
