import assert from 'node:assert/strict';
import { test } from 'node:test';
import { deployment } from '@kruise/api/apps/deployment';
import { pod } from '@kruise/api/core/pod';
import { podDisruptionBudget } from '@kruise/api/policy/poddisruptionbudget';
import { mergeTypeOf } from '@kruise/schema/merge-type';
import fc from 'fast-check';
import type { JsonObject } from './json-value.ts';
import { MergeConflictError, requireKeyUnchanged, requireMetadataKeyUnchanged } from './merge-precondition.ts';
import { createThreeWayMergePatch, createTwoWayMergePatch } from './strategic-merge-diff.ts';
import { applyStrategicMergePatch } from './strategic-merge-patch.ts';
import { createThreeWayJsonMergePatch } from './three-way-merge.ts';

const podType = mergeTypeOf(pod.root);
const containers = (...list: readonly JsonObject[]) => ({ spec: { containers: list } });
const finalizers = (...list: readonly string[]) => ({ metadata: { finalizers: list } });
const volumes = (...list: readonly JsonObject[]) => ({ spec: { volumes: list } });

const rows: readonly { name: string; original: JsonObject; modified: JsonObject; patch: JsonObject }[] = [
  {
    name: 'fields that changed, came and went',
    original: { spec: { nodeName: 'a', hostname: 'h' } },
    modified: { spec: { nodeName: 'b', subdomain: 's' } },
    patch: { spec: { nodeName: 'b', subdomain: 's', hostname: null } },
  },
  {
    name: 'a changed item with its key, and the order of all',
    original: containers({ name: 'a', image: '1' }, { name: 'b' }),
    modified: containers({ name: 'a', image: '2' }, { name: 'b' }),
    patch: {
      spec: {
        containers: [{ image: '2', name: 'a' }],
        '$setElementOrder/containers': [{ name: 'a' }, { name: 'b' }],
      },
    },
  },
  {
    name: 'an item that went',
    original: containers({ name: 'a' }, { name: 'b' }),
    modified: containers({ name: 'b' }),
    patch: {
      spec: { containers: [{ $patch: 'delete', name: 'a' }], '$setElementOrder/containers': [{ name: 'b' }] },
    },
  },
  {
    name: 'a new order alone',
    original: containers({ name: 'a' }, { name: 'b' }),
    modified: containers({ name: 'b' }, { name: 'a' }),
    patch: { spec: { '$setElementOrder/containers': [{ name: 'b' }, { name: 'a' }] } },
  },
  {
    name: 'values that came to and left a set',
    original: finalizers('a', 'b'),
    modified: finalizers('b', 'c'),
    patch: {
      metadata: {
        finalizers: ['c'],
        '$deleteFromPrimitiveList/finalizers': ['a'],
        '$setElementOrder/finalizers': ['b', 'c'],
      },
    },
  },
  {
    name: 'the order of a set that is not sorted, even where nothing changed',
    original: finalizers('b', 'a'),
    modified: finalizers('b', 'a'),
    patch: { metadata: { '$setElementOrder/finalizers': ['b', 'a'] } },
  },
  {
    name: 'the keys that stay, where the schema retains keys',
    original: volumes({ name: 'v', emptyDir: {} }),
    modified: volumes({ name: 'v', hostPath: { path: '/' } }),
    patch: {
      spec: {
        volumes: [{ hostPath: { path: '/' }, emptyDir: null, $retainKeys: ['hostPath', 'name'], name: 'v' }],
        '$setElementOrder/volumes': [{ name: 'v' }],
      },
    },
  },
  {
    name: 'nothing for equal objects',
    original: containers({ name: 'a' }),
    modified: containers({ name: 'a' }),
    patch: {},
  },
];
for (const { name, original, modified, patch } of rows) {
  test(`writes ${name}`, () => {
    assert.deepEqual(createTwoWayMergePatch({ original, modified }, podType), patch);
  });
}

test('writes a map that does not merge even where nothing changed', () => {
  const budget = { spec: { selector: { matchLabels: { a: 'b' } } } };
  const patch = createTwoWayMergePatch({ original: budget, modified: budget }, mergeTypeOf(podDisruptionBudget.root));
  assert.deepEqual(patch, budget);
});

test('keeps what others added, and deletes what was applied before and is no more', () => {
  const original = containers({ name: 'a', image: '1', tty: true });
  const current = containers({ name: 'a', image: '1', tty: true, stdin: true }, { name: 'sidecar' });
  const modified = containers({ name: 'a', image: '2' });
  const patch = createThreeWayMergePatch({ original, modified, current }, podType, { overwrite: true });
  assert.deepEqual(
    applyStrategicMergePatch(current, patch, podType),
    containers({ name: 'a', image: '2', stdin: true }, { name: 'sidecar' }),
  );
});

test('a field that both sides changed is a conflict unless overwrite is set', () => {
  const states = { original: { spec: { a: 1 } }, modified: { spec: { a: 2 } }, current: { spec: { a: 3 } } };
  const type = mergeTypeOf(deployment.root);
  assert.throws(() => createThreeWayMergePatch(states, type, { overwrite: false }), MergeConflictError);
  assert.deepEqual(createThreeWayMergePatch(states, type, { overwrite: true }), { spec: { a: 2 } });
});

test('holds a patch to its preconditions', () => {
  const original = { kind: 'A', metadata: { name: 'x' } };
  const preconditions = [requireKeyUnchanged('kind'), requireMetadataKeyUnchanged('name')];
  const two = (modified: JsonObject) => createTwoWayMergePatch({ original, modified }, podType, { preconditions });
  assert.deepEqual(two({ ...original, spec: {} }), { spec: {} });
  assert.throws(() => two({ ...original, kind: 'B' }), { message: 'precondition failed for: map[kind:B]' });
  assert.throws(() => two({ ...original, metadata: { name: 'y' } }), {
    message: 'precondition failed for: map[metadata:map[name:y]]',
  });
});

test('a three-way JSON merge replaces lists, and merges the rest', () => {
  const patch = createThreeWayJsonMergePatch({
    original: { a: 1, b: { c: 1, d: 2 }, list: [1] },
    modified: { b: { c: 3, e: null }, list: [2], empty: {} },
    current: { a: 1, b: { c: 1, d: 2, theirs: 1 }, list: [1, 9] },
  });
  assert.deepEqual(patch, { a: null, b: { c: 3, d: null, e: null }, list: [2], empty: {} });
});

// Objects of a few fields of every sort: scalars, structures, merging and other lists.
const text = fc.constantFrom('a', 'b', 'c');
const fieldsOf = <T extends Record<string, fc.Arbitrary<unknown>>>(model: T) => fc.record(model, { requiredKeys: [] });
const named = (model: Record<string, fc.Arbitrary<unknown>>, key: string) =>
  fc.uniqueArray(
    fieldsOf(model).chain((item) => text.map((name) => ({ ...item, [key]: name }))),
    { selector: (item) => item[key], maxLength: 3 },
  );
const env = named({ value: text }, 'name');
const container = { image: text, tty: fc.boolean(), args: fc.array(text, { maxLength: 3 }), env };
const anyPod = fieldsOf({
  metadata: fieldsOf({ labels: fc.dictionary(text, text), finalizers: fc.uniqueArray(text) }),
  spec: fieldsOf({
    nodeName: text,
    containers: named(container, 'name'),
    volumes: named({ hostPath: fieldsOf({ path: text }), emptyDir: fc.constant({}) }, 'name'),
    nodeSelector: fc.dictionary(text, text),
    tolerations: fc.array(fieldsOf({ key: text }), { maxLength: 2 }),
  }),
}) as fc.Arbitrary<JsonObject>;

test('a patch made of two states makes the one of the other', () => {
  fc.assert(
    fc.property(anyPod, anyPod, (original, modified) => {
      const patch = createTwoWayMergePatch({ original, modified }, podType);
      assert.deepEqual(normal(applyStrategicMergePatch(original, patch, podType)), normal(modified));
    }),
    { numRuns: 500 },
  );
});

/** A list whose items all went may be empty or gone. */
function normal(value: unknown): unknown {
  if (Array.isArray(value)) return value.map(normal);
  if (typeof value !== 'object' || value === null) return value;
  const members = Object.entries(value).filter(([, member]) => !Array.isArray(member) || member.length > 0);
  return Object.fromEntries(members.map(([name, member]) => [name, normal(member)]));
}

test('a three-way patch undoes nothing that others did', () => {
  const ours = fieldsOf({ image: text, tty: fc.boolean() });
  const theirs = fieldsOf({ stdin: fc.boolean(), workingDir: text });
  fc.assert(
    fc.property(ours, ours, theirs, (before, after, foreign) => {
      const original = containers({ name: 'a', ...before });
      const modified = containers({ name: 'a', ...after });
      const current = containers({ name: 'a', ...before, ...foreign }, { name: 'sidecar', ...foreign });
      const patch = createThreeWayMergePatch({ original, modified, current }, podType, { overwrite: false });
      assert.deepEqual(
        applyStrategicMergePatch(current, patch, podType),
        containers({ name: 'a', ...after, ...foreign }, { name: 'sidecar', ...foreign }),
      );
    }),
  );
});

test('a three-way JSON patch undoes nothing that others did', () => {
  const ours = fieldsOf({ a: text, b: text });
  const theirs = fieldsOf({ c: text, d: text });
  fc.assert(
    fc.property(ours, ours, theirs, (before, after, foreign) => {
      const states = { original: { x: before }, modified: { x: after }, current: { x: { ...before, ...foreign } } };
      const patch = (createThreeWayJsonMergePatch(states)['x'] ?? {}) as JsonObject;
      const merged = Object.entries({ ...before, ...foreign, ...patch }).filter(([, value]) => value !== null);
      assert.deepEqual(Object.fromEntries(merged), { ...after, ...foreign });
    }),
  );
});
