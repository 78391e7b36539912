import type { ObjectCache } from '@kruise/apiserver/cache/object-cache';
import type { Core } from '@kruise/apiserver/core';
import type { Resource } from '@kruise/apiserver/resource';
import type { KubernetesObject } from '@kruise/client/object-key';
import type { Kind, ObjectOf } from '@kruise/schema/kind';
import type { Instant } from '@kruise/values/time';

/** The cluster as it is stored at a moment: what is true, whatever anyone believes. */
export type View = {
  readonly now: Instant;
  list<K extends Kind>(kind: K): readonly ObjectOf<K>[];
  /** The object a request's path names, if there is one. */
  at<K extends Kind>(kind: K, path: string): ObjectOf<K> | undefined;
};

type List = { readonly objects: readonly unknown[]; readonly changedAt: number };

/** What caches were last seen to hold: there are many moments, and little changes from one to the next. */
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

/** Looks at a server's objects without asking it. It is one moment: what is written later is not seen. */
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
      // Stored under this kind, they are of it.
      return found as readonly ObjectOf<K>[];
    },
    at(kind, path) {
      const [, namespace, plural, name] = /\/namespaces\/([^/]+)\/([^/]+)\/([^/]+)/.exec(path) ?? [];
      if (plural !== kind.plural) return undefined;
      return view.list(kind).find((object) => {
        const { metadata } = object as KubernetesObject;
        return metadata.name === name && metadata.namespace === namespace;
      });
    },
  };
  return view;
}
