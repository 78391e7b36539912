import type { OwnerReference } from '@kruise/machinery/owner-references';
import { groupOf } from '@kruise/schema/kind';

/** Cache of owners that do not exist. UIDs are never reused, so an absent owner stays absent. */
export type AbsentOwners = {
  /** Records that the owner does not exist in a namespace, or at cluster scope. */
  add(reference: OwnerReference, namespace: string | undefined): void;
  has(reference: OwnerReference, namespace: string | undefined): boolean;
};

/** Maximum number of entries; evicted owners are read again. */
const capacity = 500;

/** Creates a cache that avoids one live read per dependent of a deleted owner. */
export function createAbsentOwners(): AbsentOwners {
  const absent = new Set<string>();
  return {
    add(reference, namespace) {
      const id = idOf(reference, namespace);
      absent.delete(id);
      absent.add(id);
      if (absent.size <= capacity) return;
      for (const oldest of absent) {
        absent.delete(oldest);
        return;
      }
    },
    has: (reference, namespace) => absent.has(idOf(reference, namespace)),
  };
}

/** The key includes the whole reference: a reference with another name may be right where this one is wrong. */
function idOf({ apiVersion, kind, name, uid }: OwnerReference, namespace = ''): string {
  return `${groupOf(apiVersion)}/${kind} ${namespace}/${name} ${uid}`;
}
