import assert from 'node:assert/strict';
import { test } from 'node:test';
import type { Definition } from './definition.ts';
import { acceptNames } from './names.ts';

type Names = { readonly plural: string; readonly kind: string; readonly [name: string]: unknown };
const wants = (names: Names, accepted?: Partial<Names>) =>
  ({ spec: { names }, status: { acceptedNames: accepted } }) as unknown as Definition;
const has = (accepted: Names) => wants(accepted, accepted);
const toys = { plural: 'toys', singular: 'toy', kind: 'Toy', listKind: 'ToyList' };

const cases: readonly {
  readonly name: string;
  readonly definition: Definition;
  readonly others?: readonly Definition[];
  readonly accepted: object;
  readonly condition: string;
}[] = [
  {
    name: 'free names are accepted',
    definition: wants({ ...toys, shortNames: ['t'], categories: ['all'] }),
    accepted: { ...toys, shortNames: ['t'], categories: ['all'] },
    condition: 'True NoConflicts: no conflicts found',
  },
  {
    name: 'a conflicting kind is rejected, and the other names are accepted',
    definition: wants(toys),
    others: [has({ plural: 'games', kind: 'Toy' })],
    accepted: { plural: 'toys', singular: 'toy', listKind: 'ToyList' },
    condition: 'False KindConflict: "Toy" is already in use',
  },
  {
    name: 'plurals, singulars and short names share one namespace',
    definition: wants(toys),
    others: [has({ plural: 'games', kind: 'Game', shortNames: ['toys'] })],
    accepted: { singular: 'toy', kind: 'Toy', listKind: 'ToyList' },
    condition: 'False PluralConflict: "toys" is already in use',
  },
  {
    name: 'all conflicting short names are reported',
    definition: wants({ ...toys, shortNames: ['a', 'b', 'c'] }),
    others: [has({ plural: 'a', singular: 'b', kind: 'Game' })],
    accepted: toys,
    condition: 'False ShortNamesConflict: ["a" is already in use, "b" is already in use]',
  },
  {
    name: 'a plural may equal the kind of another definition',
    definition: wants(toys),
    others: [has({ plural: 'games', kind: 'toys' })],
    accepted: toys,
    condition: 'True NoConflicts: no conflicts found',
  },
  {
    name: 'an accepted name stays accepted on a conflict',
    definition: wants(toys, { kind: 'Toy' }),
    others: [has({ plural: 'games', kind: 'Toy' })],
    accepted: toys,
    condition: 'True NoConflicts: no conflicts found',
  },
  {
    name: 'a rejected change keeps the previous name',
    definition: wants({ ...toys, listKind: 'Toys' }, toys),
    others: [has({ plural: 'games', kind: 'Toys' })],
    accepted: toys,
    condition: 'False ListKindConflict: "Toys" is already in use',
  },
];
for (const { name, definition, others = [], accepted, condition } of cases) {
  test(name, () => {
    const naming = acceptNames(definition, others);
    assert.deepEqual(naming.acceptedNames, accepted);
    const { status, reason, message } = naming.condition;
    assert.equal(`${status} ${reason}: ${message}`, condition);
  });
}
