import type {
  CustomResourceDefinitionCondition,
  CustomResourceDefinitionNames as Names,
} from '@kruise/api/apiextensions/customresourcedefinition';
import type { Definition } from './definition.ts';

/** Accepted names of a definition, and the NamesAccepted condition. */
export type Naming = {
  readonly acceptedNames: Names;
  readonly condition: Pick<CustomResourceDefinitionCondition, 'type' | 'status' | 'reason' | 'message'>;
};

/**
 * Accepts the names of a definition that do not conflict with the accepted names of other definitions in the group.
 * Conflicting names are skipped and the others accepted, so that as much as possible is served.
 */
export function settleNames({ spec, status }: Definition, others: Iterable<Definition>): Naming {
  const wanted = spec.names;
  const had = status?.acceptedNames;
  const taken = takenNames(others);
  const given: Record<string, unknown> = { ...had };
  let conflict: { readonly reason: string; readonly message: string } | undefined;

  const settle = (field: 'plural' | 'singular' | 'kind' | 'listKind', used: ReadonlySet<string>, reason: string) => {
    const name = wanted[field] ?? '';
    if (name !== had?.[field] && used.has(name)) conflict = { reason, message: inUse(name) };
    else given[field] = name;
  };
  settle('plural', taken.resources, 'PluralConflict');
  settle('singular', taken.resources, 'SingularConflict');
  const clashes = (wanted.shortNames ?? []).filter(
    (name) => !had?.shortNames?.includes(name) && taken.resources.has(name),
  );
  if (clashes.length === 0) given['shortNames'] = wanted.shortNames;
  else {
    const messages = clashes.map(inUse);
    const message = messages.length === 1 ? messages[0]! : `[${messages.join(', ')}]`;
    conflict = { reason: 'ShortNamesConflict', message };
  }
  settle('kind', taken.kinds, 'KindConflict');
  settle('listKind', taken.kinds, 'ListKindConflict');
  given['categories'] = wanted.categories;

  const acceptedNames = Object.fromEntries(Object.entries(given).filter(([, value]) => value !== undefined));
  return {
    // Every name is either requested or was accepted before.
    acceptedNames: acceptedNames as unknown as Names,
    condition: conflict
      ? { type: 'NamesAccepted', status: 'False', ...conflict }
      : { type: 'NamesAccepted', status: 'True', reason: 'NoConflicts', message: 'no conflicts found' },
  };
}

function inUse(name: string): string {
  return `${JSON.stringify(name)} is already in use`;
}

/** Resource names and kinds are separate: the plural of one definition may equal the kind of another. */
function takenNames(others: Iterable<Definition>): {
  readonly resources: ReadonlySet<string>;
  readonly kinds: ReadonlySet<string>;
} {
  const resources = new Set<string>();
  const kinds = new Set<string>();
  for (const { status } of others) {
    const names = status?.acceptedNames;
    if (!names) continue;
    for (const name of [names.plural, names.singular, ...(names.shortNames ?? [])]) if (name) resources.add(name);
    for (const name of [names.kind, names.listKind]) if (name) kinds.add(name);
  }
  return { resources, kinds };
}
