import type { Core } from '@kruise/apiserver/core';
import type { Kind, ObjectOf } from '@kruise/schema/kind';
import type { Instant } from '@kruise/values/time';

/** The cluster as it is stored at a moment: what is true, whatever anyone believes. */
export type View = {
  readonly now: Instant;
  list<K extends Kind>(kind: K): readonly ObjectOf<K>[];
};

/** Looks at a server's objects without asking it. */
export function viewOf(core: Core, now: Instant): View {
  return {
    now,
    list<K extends Kind>(kind: K) {
      const resource = core.resources.find(kind.group, kind.version, kind.plural);
      // Stored under this kind, they are of it.
      const { cache, prefix } = resource?.storage ?? {};
      return (cache?.list({ keyPrefix: prefix! }).map(({ object }) => object) ??
        []) as unknown as readonly ObjectOf<K>[];
    },
  };
}
