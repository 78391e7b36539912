/** Objects for the tests of kinds' rules: decoded and defaulted, as validation meets them. */
import assert from 'node:assert/strict';
import { test } from 'node:test';
import { codecOf } from '@kruise/schema/codec';
import type { Draft } from '@kruise/schema/draft';
import type { Cause } from '@kruise/schema/field-error';
import { apiVersionOf, type Kind } from '@kruise/schema/kind';

export type Json = { readonly [key: string]: unknown };

/** Makes objects of a kind: sound ones, but for what is given. */
export function objectsOf<T>(kind: Kind<T>, sound: Json, setDefaults: (draft: Draft<T>) => void = () => {}) {
  const codec = codecOf(kind.root);
  return (given: Json = {}): T => {
    const { metadata, ...rest } = given as { readonly metadata?: Json };
    const draft = codec.fromJson({
      apiVersion: apiVersionOf(kind),
      kind: kind.kind,
      ...sound,
      ...rest,
      metadata: {
        name: 'one',
        ...(kind.scope === 'Namespaced' ? { namespace: 'default' } : {}),
        resourceVersion: '1',
        ...(sound as { readonly metadata?: Json }).metadata,
        ...metadata,
      },
    }) as Draft<T>;
    setDefaults(draft);
    return codec.canonical(draft as T);
  };
}

/** Faults as a reader of the answer sees them, each once. */
export function told(causes: Iterable<Cause>): readonly string[] {
  return [...new Set(Array.from(causes, ({ field, message }) => `${field}: ${message}`))];
}

export type Row = readonly [name: string, given: Json, faults: readonly string[]];

/** Tests that each object has just the faults that are told of it. */
export function faultsAre<T>(
  make: (given: Json) => T,
  validate: (object: T) => Iterable<Cause>,
  rows: readonly Row[],
): void {
  for (const [name, given, faults] of rows) test(name, () => assert.deepEqual(told(validate(make(given))), faults));
}

export type ChangeRow = readonly [name: string, before: Json, after: Json, faults: readonly string[]];

/** The same of changes. */
export function changeFaultsAre<T>(
  make: (given: Json) => T,
  validate: (object: T, old: T) => Iterable<Cause>,
  rows: readonly ChangeRow[],
): void {
  for (const [name, before, after, faults] of rows) {
    test(name, () => assert.deepEqual(told(validate(make(after), make(before))), faults));
  }
}
