import type { RoleRef, Subject } from '@kruise/api/rbac/subject';
import type { KubeObject } from '../object.ts';
import { serviceAccountUsername } from '../service-account-user.ts';
import type { User } from '../user.ts';

export type Binding = KubeObject & { readonly subjects?: readonly Subject[] | null; readonly roleRef: RoleRef };

/** Binding that applies to a user, and the first of its subjects that matches. */
export type Bound = { readonly binding: Binding; readonly subject: Subject };

type Entry = Bound & { readonly position: number };

/** Index from users to their bindings. */
export type BindingIndex = { of(user: User): readonly Bound[] };

/**
 * Indexes bindings by subject. `namespace` is the namespace of the bindings, and of ServiceAccount subjects without a
 * namespace.
 */
export function indexBindings(bindings: readonly Binding[], namespace: string): BindingIndex {
  const byName = new Map<string, Entry[]>();
  bindings.forEach((binding, position) => {
    for (const subject of binding.subjects ?? []) {
      const name = nameOf(subject, namespace);
      if (name === undefined) continue;
      const known = byName.get(name);
      // A binding that names the same subject twice counts once.
      if (known?.at(-1)?.position === position) continue;
      const entry = { binding, subject, position };
      if (known) known.push(entry);
      else byName.set(name, [entry]);
    }
  });

  return {
    of({ username, groups }) {
      let found = byName.get(`user ${username}`) ?? [];
      let several = false;
      for (const group of groups) {
        const more = byName.get(`group ${group}`);
        if (!more) continue;
        several ||= found.length > 0;
        found = found.length === 0 ? more : [...found, ...more];
      }
      return several ? sortByPosition(found) : found;
    },
  };
}

/** Returns the username of a subject. ServiceAccounts have a derived username. */
function nameOf(subject: Subject, namespace: string): string | undefined {
  switch (subject.kind) {
    case 'User':
      return `user ${subject.name}`;
    case 'Group':
      return `group ${subject.name}`;
    case 'ServiceAccount': {
      const where = subject.namespace || namespace;
      return where === '' ? undefined : `user ${serviceAccountUsername(where, subject.name)}`;
    }
    default:
      return undefined;
  }
}

/** Returns each binding once, in the original order. */
function sortByPosition(entries: readonly Entry[]): readonly Bound[] {
  const sorted = entries.toSorted((a, b) => a.position - b.position || rank(a) - rank(b));
  return sorted.filter(({ position }, index) => position !== sorted[index - 1]?.position);
}

function rank({ binding, subject }: Entry): number {
  return binding.subjects?.indexOf(subject) ?? 0;
}
