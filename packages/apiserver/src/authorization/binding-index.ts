import type { RoleRef, Subject } from '@kruise/api/rbac/subject';
import type { KubeObject } from '../object.ts';
import { serviceAccountUsername } from '../service-account-user.ts';
import type { User } from '../user.ts';

export type Binding = KubeObject & { readonly subjects?: readonly Subject[] | null; readonly roleRef: RoleRef };

/** A binding that applies to someone, and the first of its subjects that says so. */
export type Bound = { readonly binding: Binding; readonly subject: Subject };

type Entry = Bound & { readonly position: number };

/** Who is bound to what, found by who. */
export type BindingIndex = { of(user: User): readonly Bound[] };

/** Indexes bindings; `namespace` is where they are, which is where accounts without a namespace are, too. */
export function indexBindings(bindings: readonly Binding[], namespace: string): BindingIndex {
  const byName = new Map<string, Entry[]>();
  bindings.forEach((binding, position) => {
    for (const subject of binding.subjects ?? []) {
      const name = nameOf(subject, namespace);
      if (name === undefined) continue;
      const known = byName.get(name);
      // A binding that names someone twice counts once.
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
      return several ? inOrder(found) : found;
    },
  };
}

/** Accounts are users of a name that tells which account it is. */
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

/** Each binding once, in the order they were given. */
function inOrder(entries: readonly Entry[]): readonly Bound[] {
  const sorted = entries.toSorted((a, b) => a.position - b.position || rank(a) - rank(b));
  return sorted.filter(({ position }, index) => position !== sorted[index - 1]?.position);
}

function rank({ binding, subject }: Entry): number {
  return binding.subjects?.indexOf(subject) ?? 0;
}
