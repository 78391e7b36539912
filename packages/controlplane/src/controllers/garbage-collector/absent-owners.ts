import type { OwnerReference } from '@kruise/machinery/owner-references';
import { groupOf } from '@kruise/schema/kind';

/** Owners that were found not to exist. A uid is given once, so what is absent stays so. */
export type AbsentOwners = {
  /** Notes that there is no such owner in a namespace, or without one. */
  add(reference: OwnerReference, namespace: string | undefined): void;
  has(reference: OwnerReference, namespace: string | undefined): boolean;
};

/** Owners are asked for again if so many others have been found absent since. */
const capacity = 500;

/** Spares a question for each dependent of an owner that is gone. */
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

/** A reference by another name may be right where this one is wrong. */
function idOf({ apiVersion, kind, name, uid }: OwnerReference, namespace = ''): string {
  return `${groupOf(apiVersion)}/${kind} ${namespace}/${name} ${uid}`;
}
