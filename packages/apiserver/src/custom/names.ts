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
export function acceptNames({ spec, status }: Definition, others: Iterable<Definition>): Naming {
  const wanted = spec.names;
  const had = status?.acceptedNames;
  const usedNames = collectUsedNames(others);
  const accepted: Record<string, unknown> = { ...had };
  let conflict: { readonly reason: string; readonly message: string } | undefined;

  const acceptName = (
    field: 'plural' | 'singular' | 'kind' | 'listKind',
    used: ReadonlySet<string>,
    reason: string,
  ) => {
    const name = wanted[field] ?? '';
    if (name !== had?.[field] && used.has(name)) conflict = { reason, message: inUse(name) };
    else accepted[field] = name;
  };
  acceptName('plural', usedNames.resources, 'PluralConflict');
  acceptName('singular', usedNames.resources, 'SingularConflict');
  const clashes = (wanted.shortNames ?? []).filter(
    (name) => !had?.shortNames?.includes(name) && usedNames.resources.has(name),
  );
  if (clashes.length === 0) accepted['shortNames'] = wanted.shortNames;
  else {
    const messages = clashes.map(inUse);
    const message = messages.length === 1 ? messages[0]! : `[${messages.join(', ')}]`;
    conflict = { reason: 'ShortNamesConflict', message };
  }
  acceptName('kind', usedNames.kinds, 'KindConflict');
  acceptName('listKind', usedNames.kinds, 'ListKindConflict');
  accepted['categories'] = wanted.categories;

  const acceptedNames = Object.fromEntries(Object.entries(accepted).filter(([, value]) => value !== undefined));
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
function collectUsedNames(others: Iterable<Definition>): {
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
