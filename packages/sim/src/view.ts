import type { Core } from '@kruise/apiserver/core';
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

/** Looks at a server's objects without asking it. It is one moment: what is written later is not seen. */
export function viewOf(core: Core, now: Instant): View {
  const lists = new Map<Kind, readonly unknown[]>();
  const view: View = {
    now,
    list<K extends Kind>(kind: K) {
      const known = lists.get(kind);
      if (known) return known as readonly ObjectOf<K>[];
      const resource = core.resources.find(kind.group, kind.version, kind.plural);
      // Stored under this kind, they are of it.
      const { cache, prefix } = resource?.storage ?? {};
      const found = cache?.list({ keyPrefix: prefix! }).map(({ object }) => object) ?? [];
      lists.set(kind, found);
      return found as unknown as readonly ObjectOf<K>[];
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
