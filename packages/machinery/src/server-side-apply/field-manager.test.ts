import assert from 'node:assert/strict';
import { test } from 'node:test';
import { deployment } from '@kruise/api/apps/deployment';
import { configMap } from '@kruise/api/core/configmap';
import { pod } from '@kruise/api/core/pod';
import { service } from '@kruise/api/core/service';
import { objectMeta } from '@kruise/api/meta/object-meta';
import { codecOf } from '@kruise/schema/codec';
import { deepFreeze } from '@kruise/schema/draft';
import { apiVersionOf, type Kind } from '@kruise/schema/kind';
import { mergeTypeOf, mergeTypeOfStructural } from '@kruise/schema/merge-type';
import fc from 'fast-check';
import { fieldPath } from '../field-set/field-path.ts';
import { fieldSetOf } from '../field-set/field-set.ts';
import type { JsonObject } from '../json-value.ts';
import { reportConflicts } from './conflict.ts';
import { type ApplyPatchRequest, applyPatch, trackUpdate } from './field-manager.ts';
import { lastAppliedAnnotation } from './last-applied.ts';
import { entriesOf, keepTimes } from './managed-fields.ts';
import type { TrackedKind } from './updater.ts';

const tracked = (kind: Kind, more: Partial<TrackedKind> = {}): TrackedKind => ({
  apiVersion: apiVersionOf(kind),
  kind: kind.kind,
  type: mergeTypeOf(kind.root),
  empty: codecOf(kind.root).fromJson({ apiVersion: apiVersionOf(kind), kind: kind.kind }) as JsonObject,
  ...more,
});
const configMaps = tracked(configMap);
const deployments = tracked(deployment);

const then = Date.UTC(2020, 0, 1);
const now = Date.UTC(2021, 0, 1);
const nowText = '2021-01-01T00:00:00Z';
const object = (data: JsonObject, metadata: JsonObject = {}): JsonObject =>
  deepFreeze({ apiVersion: 'v1', kind: 'ConfigMap', metadata: { name: 'c', uid: 'u', ...metadata }, data });
const without = (value: JsonObject, metadata: JsonObject = {}): JsonObject => {
  const { uid: _, ...rest } = value['metadata'] as JsonObject;
  return { ...value, metadata: { ...rest, ...metadata } };
};

/** Entries in a form a person would say aloud: `m Update: {…}`. */
function owners(value: JsonObject): readonly string[] {
  return (entriesOf(value) ?? []).map(
    ({ manager, operation, subresource, time, fieldsV1 }) =>
      `${manager}${subresource ? `/${subresource}` : ''} ${operation}${time === nowText ? ' now' : ''}: ${fieldsOf(fieldsV1 ?? {})}`,
  );
}

function fieldsOf(tree: JsonObject): string {
  return Object.entries(tree)
    .map(([name, inner]) => {
      const below = fieldsOf(inner as JsonObject);
      return name.replace(/^f:/, '') + (below === '' ? '' : `(${below})`);
    })
    .join(' ');
}

function create(value: JsonObject, manager: string, kind = configMaps): JsonObject {
  const made = trackUpdate(kind, { updated: without(value), manager, now: then });
  return deepFreeze({ ...made, metadata: { ...(made['metadata'] as JsonObject), uid: 'u' } });
}

function update(live: JsonObject, change: JsonObject, manager: string, kind = configMaps): JsonObject {
  return deepFreeze(trackUpdate(kind, { live, updated: { ...live, ...change }, manager, now }));
}

function apply(
  live: JsonObject | undefined,
  applied: JsonObject,
  manager: string,
  more: Partial<ApplyPatchRequest> = {},
  kind = configMaps,
) {
  const result = applyPatch(kind, { live, applied: without(applied), manager, now, ...more });
  if ('object' in result) return deepFreeze(result.object);
  return 'conflicts' in result ? reportConflicts(result.conflicts).message : result.error.message;
}

function applied(
  live: JsonObject | undefined,
  value: JsonObject,
  manager: string,
  more: Partial<ApplyPatchRequest> = {},
  kind = configMaps,
): JsonObject {
  const result = apply(live, value, manager, more, kind);
  assert(typeof result === 'object', String(result));
  return result as JsonObject;
}

test('a create owns all that is set, defaults included', () => {
  assert.deepEqual(owners(create(object({ a: '1' }, { labels: { l: '1' } }), 'm')), [
    'm Update: data(. a) metadata(labels(. l))',
  ]);
});

test('structures that are never absent are not owned themselves', () => {
  const made = create(
    {
      apiVersion: 'apps/v1',
      kind: 'Deployment',
      metadata: { name: 'd' },
      spec: {
        strategy: { rollingUpdate: { maxSurge: 1 } },
        template: { metadata: { creationTimestamp: null }, spec: { containers: [{ name: 'a', resources: {} }] } },
      },
      status: {},
    },
    'm',
    deployments,
  );
  assert.deepEqual(owners(made), [
    'm Update: spec(strategy(rollingUpdate(. maxSurge)) template(spec(containers(k:{"name":"a"}(. name resources)))))',
  ]);
});

test('an update takes what it changed, and the time', () => {
  const live = create(object({ a: '1', b: '1' }), 'maker');
  assert.deepEqual(owners(update(live, { data: { a: '1', b: '2', c: '3' } }, 'm')), [
    'maker Update: data(. a)',
    'm Update now: data(b c)',
  ]);
});

test('what an update removes leaves all owners', () => {
  const live = update(create(object({ a: '1', b: '1' }), 'maker'), { data: { a: '1', b: '2' } }, 'm');
  assert.deepEqual(owners(update(live, { data: {} }, 'x')), ['maker Update: data']);
});

test('an update that changes nothing keeps the entries as they are', () => {
  const live = create(object({ a: '1' }), 'maker');
  const same = trackUpdate(configMaps, { live, updated: JSON.parse(JSON.stringify(live)), manager: 'm', now });
  assert.equal(entriesOf(same), entriesOf(live));
});

test('an update of untracked fields changes no entry', () => {
  const live = create(object({ a: '1' }), 'maker');
  const changed = { ...(live['metadata'] as JsonObject), generation: 2, resourceVersion: '9' };
  assert.equal(entriesOf(update(live, { metadata: changed }, 'm')), entriesOf(live));
});

test('one manager has an entry for each operation, version and subresource', () => {
  const live = create(object({ a: '1' }), 'm');
  const status = trackUpdate(configMaps, {
    live,
    updated: { ...live, data: { a: '2' } },
    manager: 'm',
    subresource: 'status',
    now,
  });
  assert.deepEqual(owners(status), ['m Update: data', 'm/status Update now: data(a)']);
});

test('a manager without name is unknown', () => {
  assert.deepEqual(owners(create(object({ a: '1' }), '')), ['unknown Update: data(. a)']);
});

test('fields that an endpoint resets are not owned through it', () => {
  const kind = tracked(deployment, { resetFields: { 'apps/v1': fieldSetOf(fieldPath('status')) } });
  const live = {
    apiVersion: 'apps/v1',
    kind: 'Deployment',
    metadata: { name: 'd' },
    spec: { replicas: 1 },
    status: { replicas: 1 },
  };
  assert.deepEqual(owners(create(live, 'm', kind)), ['m Update: spec(replicas)']);
});

test('entries are sorted by operation, then by time, then by name', () => {
  const live = update(create(object({ a: '1' }), 'z'), { data: { a: '1', b: '1' } }, 'y');
  const more = applied(update(live, { data: { a: '1', b: '1', c: '1' } }, 'b'), object({ d: '1' }), 'x');
  assert.deepEqual(
    owners(more).map((owner) => owner.replace(/( now)?:.*/, '')),
    ['x Apply', 'z Update', 'b Update', 'y Update'],
  );
});

test('of more than ten updates the oldest are gathered', () => {
  let live = create(object({ k: '0' }), 'first');
  for (let index = 0; index < 12; index++) {
    const data = { ...(live['data'] as JsonObject), [`k${index}`]: '1' };
    const request = { live, updated: { ...live, data }, manager: `m${String(index).padStart(2, '0')}` };
    live = trackUpdate(configMaps, { ...request, now: then + (index + 1) * 1000 });
  }
  assert.equal(entriesOf(live)?.length, 10);
  assert.equal(owners(live)[0], 'ancient-changes Update: data(. k k0 k1 k2)');
});

test('an object that is not tracked stays so, until it is applied', () => {
  const live = object({ a: '1' });
  assert.deepEqual(owners(update(live, { data: { a: '2' } }, 'm')), []);
  assert.deepEqual(owners(applied(live, object({ b: '1' }), 'm')), [
    'm Apply now: data(b)',
    'before-first-apply Update now: data(. a)',
  ]);
});

const sent = {
  manager: 'h',
  operation: 'Update',
  apiVersion: 'v1',
  fieldsType: 'FieldsV1',
  fieldsV1: { 'f:data': {} },
};
const sentEntries = [
  { name: 'an empty list forgets all owners', managedFields: [], result: [] },
  { name: 'one empty entry forgets all owners', managedFields: [{}], result: [] },
  { name: 'entries that can be read replace the stored ones', managedFields: [sent], result: ['h Update: data'] },
  {
    name: 'an unknown operation is ignored',
    managedFields: [{ ...sent, operation: 'X' }],
    result: ['maker Update: data(. a)'],
  },
  {
    name: 'an unknown form is ignored',
    managedFields: [{ ...sent, fieldsType: 'FieldsV2' }],
    result: ['maker Update: data(. a)'],
  },
  {
    name: 'a missing version is ignored',
    managedFields: [{ ...sent, apiVersion: '' }],
    result: ['maker Update: data(. a)'],
  },
  {
    name: 'malformed fields are ignored',
    managedFields: [{ ...sent, fieldsV1: { x: {} } }],
    result: ['maker Update: data(. a)'],
  },
  { name: 'no list at all changes nothing', managedFields: undefined, result: ['maker Update: data(. a)'] },
];
for (const { name, managedFields, result } of sentEntries) {
  test(`of entries a client sends, ${name}`, () => {
    const live = create(object({ a: '1' }), 'maker');
    const metadata = { ...(live['metadata'] as JsonObject), managedFields };
    assert.deepEqual(owners(update(live, { metadata }, 'm')), result);
  });
}

test('entries sent through a subresource are ignored', () => {
  const live = create(object({ a: '1' }), 'maker');
  const updated = { ...live, metadata: { ...(live['metadata'] as JsonObject), managedFields: [] } };
  assert.deepEqual(owners(trackUpdate(configMaps, { live, updated, manager: 'm', subresource: 'status', now })), [
    'maker Update: data(. a)',
  ]);
});

test('entries of versions that are no more are dropped', () => {
  const live = create(object({ a: '1' }), 'maker');
  const old = { ...sent, manager: 'old', apiVersion: 'v0' };
  const updated = {
    ...live,
    metadata: { ...(live['metadata'] as JsonObject), managedFields: [old, ...entriesOf(live)!] },
  };
  assert.deepEqual(owners(trackUpdate(configMaps, { live, updated, manager: 'm', now })), ['maker Update: data(. a)']);
});

test('an apply creates, and owns what it names', () => {
  const made = applied(undefined, object({ a: '1' }, { labels: { l: '1' } }), 'one');
  assert.deepEqual(owners(made), ['one Apply now: data(a) metadata(labels(l))']);
  assert.deepEqual(made['data'], { a: '1' });
});

test('an apply of the same again changes nothing', () => {
  const live = applied(undefined, object({ a: '1' }), 'one', { now: then });
  assert.deepEqual(applied(live, object({ a: '1' }), 'one'), live);
});

test('a field left out of an apply is removed', () => {
  const live = applied(undefined, object({ a: '1', b: '1' }), 'one');
  assert.deepEqual(applied(live, object({ a: '1' }), 'one')['data'], { a: '1' });
});

test('a field left out of an apply stays while others own it', () => {
  const live = applied(applied(undefined, object({ a: '1' }), 'one'), object({ a: '1' }), 'two');
  const left = applied(live, object({}), 'one');
  assert.deepEqual(left['data'], { a: '1' });
  assert.deepEqual(owners(left), ['two Apply: data(a)', 'one Apply now: data']);
});

test('a value that others own with another value is a conflict', () => {
  const live = applied(undefined, object({ a: '1' }), 'one');
  assert.equal(apply(live, object({ a: '2' }), 'two'), 'Apply failed with 1 conflict: conflict with "one": .data.a');
});

test('a conflict with an update names its version and its subresource', () => {
  const live = trackUpdate(configMaps, {
    live: create(object({ a: '1' }), 'x'),
    updated: object({ a: '2' }),
    manager: 'u',
    subresource: 'status',
    now,
  });
  assert.equal(
    apply(live, object({ a: '3' }), 'two'),
    'Apply failed with 1 conflict: conflict with "u" with subresource "status" using v1: .data.a',
  );
});

test('several conflicts are grouped by manager', () => {
  const one = applied(undefined, object({ a: '1', b: '1' }, { labels: { l: '1' } }), 'one');
  const live = applied(one, object({ b: '0' }), 'zero', { force: true });
  assert.equal(
    apply(live, object({ a: '2', b: '2' }, { labels: { l: '2' } }), 'two'),
    'Apply failed with 3 conflicts: conflicts with "one":\n- .data.a\n- .metadata.labels.l\nconflicts with "zero":\n- .data.b',
  );
});

test('a forced apply takes what others own', () => {
  const live = applied(undefined, object({ a: '1', b: '1' }), 'one');
  const forced = applied(live, object({ a: '2' }), 'two', { force: true });
  assert.deepEqual(forced['data'], { a: '2', b: '1' });
  assert.deepEqual(owners(forced), ['one Apply now: data(b)', 'two Apply now: data(a)']);
});

test('the same value is shared, at no time', () => {
  const live = applied(undefined, object({ a: '1' }), 'one');
  assert.deepEqual(owners(applied(live, object({ a: '1' }), 'two')), ['two Apply: data(a)', 'one Apply now: data(a)']);
});

const refused = [
  { name: 'another kind', value: { ...object({}), kind: 'Secret' }, message: 'invalid object type: /v1, Kind=Secret' },
  {
    name: 'another version',
    value: { ...object({}), apiVersion: 'a/v2' },
    message: 'invalid object type: a/v2, Kind=ConfigMap',
  },
  { name: 'entries', value: object({}, { managedFields: [] }), message: 'metadata.managedFields must be nil' },
  {
    name: 'an unknown field',
    value: { ...object({}), bogus: 1 },
    message: 'failed to create typed patch object (/c; /v1, Kind=ConfigMap): .bogus: field not declared in schema',
  },
  {
    name: 'a number for text',
    value: object({ a: 1 }),
    message:
      'failed to create typed patch object (/c; /v1, Kind=ConfigMap): .data.a: expected string, got &value.valueUnstructured{Value:1}',
  },
  {
    name: 'a list for a map',
    value: { ...object({}), data: ['x'] },
    message: 'failed to create typed patch object (/c; /v1, Kind=ConfigMap): .data: expected map, got &{[x]}',
  },
  {
    name: 'several faults',
    value: { ...object({ a: 1 }), immutable: 'x' },
    message:
      'failed to create typed patch object (/c; /v1, Kind=ConfigMap): errors:\n  .data.a: expected string, got &value.valueUnstructured{Value:1}\n  .immutable: expected boolean, got &{x}',
  },
];
for (const { name, value, message } of refused) {
  test(`refuses to apply ${name}`, () => assert.equal(apply(undefined, value, 'm'), message));
}

const services = tracked(service);
const ports = (...list: readonly JsonObject[]) => ({
  apiVersion: 'v1',
  kind: 'Service',
  metadata: { name: 's' },
  spec: { ports: list },
});

test('items with the same key, defaults considered, are refused', () => {
  assert.equal(
    apply(undefined, ports({ port: 80 }, { port: 80, protocol: 'TCP' }), 'm', {}, services),
    'failed to create typed patch object (/s; /v1, Kind=Service): .spec.ports: duplicate entries for key [port=80,protocol="TCP"]',
  );
});

test('items of a list are owned, merged and removed by their key', () => {
  const live = applied(undefined, ports({ port: 80, name: 'a' }, { port: 81, name: 'b' }), 'one', {}, services);
  const two = applied(live, ports({ port: 82, name: 'c' }), 'two', {}, services);
  const left = applied(two, ports({ port: 81, name: 'b' }), 'one', {}, services);
  assert.deepEqual((left['spec'] as JsonObject)['ports'], [
    { port: 81, name: 'b' },
    { port: 82, name: 'c' },
  ]);
});

test('items stand in the applied order, with foreign ones between', () => {
  const list = (...names: readonly string[]) => ({
    apiVersion: 'v1',
    kind: 'Pod',
    metadata: { name: 'p' },
    spec: { containers: names.map((name) => ({ name })) },
  });
  const merged = applied({ ...list('a', 'x', 'b', 'y'), metadata: {} }, list('b', 'n', 'a'), 'm', {}, tracked(pod));
  const { containers } = merged['spec'] as { readonly containers: readonly JsonObject[] };
  assert.deepEqual(
    containers.map(({ name }) => name),
    ['x', 'b', 'y', 'n', 'a'],
  );
});

test('a live list may have a key twice', () => {
  const live = { ...ports({ port: 80, name: 'a' }, { port: 80, name: 'b' }), metadata: { name: 's', uid: 'u' } };
  const merged = applied(live, ports({ port: 81 }), 'm', {}, services);
  assert.equal(((merged['spec'] as JsonObject)['ports'] as readonly unknown[]).length, 3);
});

test('an atomic map is one field', () => {
  const selecting = (selector: JsonObject) => ({ ...ports(), spec: { selector } });
  const live = applied(undefined, selecting({ a: '1' }), 'one', {}, services);
  assert.equal(
    apply(live, selecting({ b: '1' }), 'two', {}, services),
    'Apply failed with 1 conflict: conflict with "one": .spec.selector',
  );
});

test('values of a set are owned one by one', () => {
  const live = applied(undefined, object({}, { finalizers: ['a'] }), 'one');
  const two = applied(live, object({}, { finalizers: ['b'] }), 'two');
  const left = applied(two, object({}), 'one');
  assert.deepEqual((left['metadata'] as JsonObject)['finalizers'], ['b']);
});

const clientApplied = (data: JsonObject, last: JsonObject) =>
  object(data, {
    annotations: { [lastAppliedAnnotation]: JSON.stringify({ apiVersion: 'v1', kind: 'ConfigMap', data: last }) },
  });

test('kubectl takes over what it applied on the client, and says so', () => {
  const live = create(clientApplied({ a: '1', b: '1' }, { a: '1', b: '1' }), 'kubectl-client-side-apply');
  const taken = applied(live, object({ a: '2' }), 'kubectl');
  assert.deepEqual(taken['data'], { a: '2', b: '1' });
  const { annotations } = taken['metadata'] as { readonly annotations: JsonObject };
  assert.equal(
    annotations[lastAppliedAnnotation],
    '{"apiVersion":"v1","data":{"a":"2"},"kind":"ConfigMap","metadata":{"name":"c"}}\n',
  );
});

test('others take over nothing that was applied on the client', () => {
  const live = create(clientApplied({ a: '1' }, { a: '1' }), 'kubectl-client-side-apply');
  assert.equal(
    apply(live, object({ a: '2' }), 'other'),
    'Apply failed with 1 conflict: conflict with "kubectl-client-side-apply" using v1: .data.a',
  );
});

test('kubectl takes over nothing that changed since it applied on the client', () => {
  const live = create(clientApplied({ a: '9', b: '1' }, { a: '1', b: '1' }), 'x');
  assert.equal(
    apply(live, object({ a: '2', b: '2' }), 'kubectl'),
    'Apply failed with 1 conflict: conflict with "x" using v1: .data.a',
  );
});

test('a list that has become atomic is owned as a whole', () => {
  const items = { type: 'object', properties: { k: { type: 'string' } } } as const;
  const schema = (listType: string) => ({
    type: 'object',
    properties: {
      l: { type: 'array', items, 'x-kubernetes-list-type': listType, 'x-kubernetes-list-map-keys': ['k'] },
    },
  });
  const metadata = mergeTypeOf(objectMeta);
  const kindOf = (listType: string): TrackedKind => ({
    ...{ apiVersion: 'g/v1', kind: 'K', empty: { apiVersion: 'g/v1', kind: 'K' } },
    type: mergeTypeOfStructural(schema(listType), metadata),
  });
  const value = { apiVersion: 'g/v1', kind: 'K', metadata: { name: 'k' }, l: [{ k: 'a' }] };
  const live = create(value, 'm', kindOf('map'));
  assert.deepEqual(owners(live), ['m Update: l(. k:{"k":"a"}(. k))']);
  assert.deepEqual(owners(update(live, {}, 'x', kindOf('atomic'))), ['m Update: l']);
});

test('owners of another version own what their version has', () => {
  const metadata = mergeTypeOf(objectMeta);
  const typeWith = (name: string) =>
    mergeTypeOfStructural(
      { type: 'object', properties: { [name]: { type: 'string' }, other: { type: 'string' } } },
      metadata,
    );
  const names = { 'g/v1': 'one', 'g/v2': 'two' } as const;
  type Version = keyof typeof names;
  const kindOf = (apiVersion: Version): TrackedKind => ({
    ...{ apiVersion, kind: 'K', empty: { apiVersion, kind: 'K' }, type: typeWith(names[apiVersion]) },
    convert: (value, to) => {
      const [from, wanted] = [names[value['apiVersion'] as Version], names[to as Version]];
      if (!wanted) return undefined;
      const { [from]: text, ...rest } = value;
      return {
        object: { ...rest, apiVersion: to, ...(text === undefined ? {} : { [wanted]: text }) },
        type: typeWith(wanted),
      };
    },
  });
  const value = (apiVersion: Version, fields: JsonObject) => ({
    apiVersion,
    kind: 'K',
    metadata: { name: 'k' },
    ...fields,
  });
  const live = applied(undefined, value('g/v1', { one: 'x' }), 'm1', {}, kindOf('g/v1'));
  const { object: inV2 } = kindOf('g/v1').convert!(live, 'g/v2')!;
  assert.equal(
    apply(inV2, value('g/v2', { two: 'y' }), 'm2', {}, kindOf('g/v2')),
    'Apply failed with 1 conflict: conflict with "m1": .one',
  );
  const moved = applied(inV2, value('g/v2', { other: 'z' }), 'm1', {}, kindOf('g/v2'));
  assert.deepEqual({ two: moved['two'], other: moved['other'] }, { two: undefined, other: 'z' });
});

test('times go back where nothing else changed', () => {
  const live = create(object({ a: '1' }), 'm');
  const [entry] = entriesOf(live)!;
  const later = {
    ...live,
    metadata: { ...(live['metadata'] as JsonObject), managedFields: [{ ...entry, time: nowText }] },
  };
  assert.deepEqual(keepTimes({ live, updated: later }), live);
  const changed = { ...later, data: { a: '2' } };
  assert.equal(keepTimes({ live, updated: changed }), changed);
});

const anyData = fc.dictionary(fc.constantFrom('a', 'b', 'c'), fc.constantFrom('1', '2'));

test('an apply done twice is done once', () => {
  fc.assert(
    fc.property(anyData, anyData, (first, second) => {
      const live = applied(undefined, object(first), 'one');
      const once = applied(live, object(second), 'two', { force: true });
      assert.deepEqual(applied(once, object(second), 'two', { force: true, now: now + 5000 }), once);
    }),
  );
});

test('managers of different fields do not mind the order', () => {
  const theirs = fc.dictionary(fc.constantFrom('x', 'y', 'z'), fc.constantFrom('1', '2'));
  fc.assert(
    fc.property(anyData, theirs, (one, two) => {
      const start = applied(undefined, object({ base: '1' }), 'base');
      const ab = applied(applied(start, object(one), 'one'), object(two), 'two');
      const ba = applied(applied(start, object(two), 'two'), object(one), 'one');
      assert.deepEqual({ ...(ab['data'] as object) }, { ...(ba['data'] as object) });
      const fields = (value: JsonObject) =>
        owners(value)
          .map((owner) => owner.replace(' now', ''))
          .sort();
      assert.deepEqual(fields(ab), fields(ba));
    }),
  );
});

test('names of prototypes are names like any other', () => {
  const data = JSON.parse('{"__proto__":"1","constructor":"2"}');
  const made = applied(undefined, object(data), 'm');
  assert.deepEqual(owners(made), ['m Apply now: data(__proto__ constructor)']);
  assert.equal(JSON.stringify(made['data']), '{"__proto__":"1","constructor":"2"}');
  assert.deepEqual(owners(update(made, { data: {} }, 'x')), []);
});

test('long lists, with keys that come twice, take time proportional to their length', () => {
  const list = Array.from({ length: 20_000 }, (_, index) => ({ port: index % 15_000, name: 'n' }));
  const live = { ...ports(...list), metadata: { name: 's', uid: 'u' } };
  const merged = applied(live, ports(...list.slice(0, 15_000)), 'm', { force: true }, services);
  assert.equal(((merged['spec'] as JsonObject)['ports'] as readonly unknown[]).length, 15_000);
});

test('entries by the thousand, which a client may send, are gathered in bounded time', () => {
  const live = create(object({ a: '1' }), 'maker');
  const managedFields = Array.from({ length: 10_000 }, (_, index) => ({
    ...{ ...sent, manager: `m${index}`, fieldsV1: { 'f:data': { [`f:k${index}`]: {} } } },
  }));
  const updated = { ...live, metadata: { ...(live['metadata'] as JsonObject), managedFields } };
  assert.equal(entriesOf(trackUpdate(configMaps, { live, updated, manager: 'm', now }))?.length, 10);
});

test('deep values are followed to their end', () => {
  const metadata = mergeTypeOf(objectMeta);
  const type = mergeTypeOfStructural(undefined, metadata);
  const kind = { apiVersion: 'g/v1', kind: 'K', empty: { apiVersion: 'g/v1', kind: 'K' }, type };
  let deep: JsonObject = { end: 1 };
  for (let depth = 0; depth < 1000; depth++) deep = { a: deep };
  const made = applied(
    undefined,
    { apiVersion: 'g/v1', kind: 'K', metadata: { name: 'k' }, spec: deep },
    'm',
    {},
    kind,
  );
  assert.equal(entriesOf(made)?.length, 1);
});
