/** Objects for validation tests: decoded and defaulted, as validation gets them. */
import assert from 'node:assert/strict';
import { test } from 'node:test';
import { codecOf } from '@kruise/schema/codec';
import type { Draft } from '@kruise/schema/draft';
import type { Cause } from '@kruise/schema/field-error';
import { apiVersionOf, type Kind, type KubernetesObject } from '@kruise/schema/kind';

export type Json = { readonly [key: string]: unknown };

/** Returns a function that makes valid objects of a kind, with the given changes. */
export function objectsOf<T extends KubernetesObject>(
  kind: Kind<T>,
  sound: Json,
  setDefaults: (draft: Draft<T>) => void = () => {},
) {
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

/** Formats errors as clients see them, each once. */
export function formatErrors(causes: Iterable<Cause>): readonly string[] {
  return [...new Set(Array.from(causes, ({ field, message }) => `${field}: ${message}`))];
}

export type Row = readonly [name: string, given: Json, faults: readonly string[]];

/** Tests that each object has exactly the given errors. */
export function testErrors<T>(
  make: (given: Json) => T,
  validate: (object: T) => Iterable<Cause>,
  rows: readonly Row[],
): void {
  for (const [name, given, faults] of rows)
    test(name, () => assert.deepEqual(formatErrors(validate(make(given))), faults));
}

export type ChangeRow = readonly [name: string, before: Json, after: Json, faults: readonly string[]];

/** Tests that each update has exactly the given errors. */
export function testUpdateErrors<T>(
  make: (given: Json) => T,
  validate: (object: T, old: T) => Iterable<Cause>,
  rows: readonly ChangeRow[],
): void {
  for (const [name, before, after, faults] of rows) {
    test(name, () => assert.deepEqual(formatErrors(validate(make(after), make(before))), faults));
  }
}
