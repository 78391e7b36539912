import assert from 'node:assert/strict';
import { test } from 'node:test';
import { deployment } from '@kruise/api/apps/deployment';
import { configMap } from '@kruise/api/core/configmap';
import { pod } from '@kruise/api/core/pod';
import { service } from '@kruise/api/core/service';
import { deepFreeze } from '@kruise/schema/draft';
import { mergeTypeOf } from '@kruise/schema/merge-type';
import type { JsonObject } from './json-value.ts';
import { StrategicMergeError } from './strategic-merge-error.ts';
import { applyStrategicMergePatch } from './strategic-merge-patch.ts';

const podType = mergeTypeOf(pod.root);
const deploymentType = mergeTypeOf(deployment.root);

const live = deepFreeze({
  metadata: { labels: { a: '1', b: '2' }, finalizers: ['x', 'y'] },
  spec: {
    containers: [
      { name: 'a', image: 'a:1', args: ['one', 'two'], env: [{ name: 'X', value: '1' }] },
      { name: 'b', image: 'b:1' },
    ],
    volumes: [{ name: 'v', emptyDir: {} }],
    tolerations: [{ key: 'k' }],
  },
});
const containers = (...list: readonly unknown[]) => ({ spec: { containers: list } });
const [a, b] = live.spec.containers;

type Row = { readonly name: string; readonly patch: JsonObject; readonly result: JsonObject };
const metadata = (patch: JsonObject, result: JsonObject) => ({
  patch: { metadata: patch },
  result: { metadata: { ...live.metadata, ...result } },
});
const spec = (patch: JsonObject, result: JsonObject) => ({
  patch: { spec: patch },
  result: { spec: { ...live.spec, ...result } },
});

const rows: readonly Row[] = [
  { name: 'maps merge', ...metadata({ labels: { b: '3', c: '4' } }, { labels: { a: '1', b: '3', c: '4' } }) },
  { name: 'null deletes a key', ...metadata({ labels: { a: null } }, { labels: { b: '2' } }) },
  { name: 'null of an absent key is nothing', ...metadata({ annotations: { a: null } }, { annotations: {} }) },
  { name: 'a map is replaced', ...metadata({ labels: { $patch: 'replace', z: '9' } }, { labels: { z: '9' } }) },
  { name: 'a map is emptied', ...metadata({ labels: { $patch: 'delete', z: '9' } }, { labels: {} }) },
  {
    name: 'an item merges by its key',
    ...spec({ containers: [{ name: 'b', image: 'b:2' }] }, { containers: [a, { name: 'b', image: 'b:2' }] }),
  },
  {
    name: 'a new item comes before those the patch does not name',
    ...spec({ containers: [{ name: 'c', image: 'c:1' }] }, { containers: [{ name: 'c', image: 'c:1' }, a, b] }),
  },
  {
    name: 'items named by a patch stand in its order',
    ...spec({ containers: [{ name: 'b' }, { name: 'a' }] }, { containers: [b, a] }),
  },
  { name: 'an item is deleted', ...spec({ containers: [{ name: 'a', $patch: 'delete' }] }, { containers: [b] }) },
  {
    name: 'a list is replaced',
    ...spec({ containers: [{ $patch: 'replace' }, { name: 'z' }] }, { containers: [{ name: 'z' }] }),
  },
  {
    name: 'a list without merge strategy is replaced',
    ...spec({ tolerations: [{ key: 'z' }] }, { tolerations: [{ key: 'z' }] }),
  },
  { name: 'a set grows', ...metadata({ finalizers: ['z', 'x'] }, { finalizers: ['z', 'x', 'y'] }) },
  {
    name: 'values leave a set',
    ...metadata({ '$deleteFromPrimitiveList/finalizers': ['x', 'q'] }, { finalizers: ['y'] }),
  },
  {
    name: 'an order is given to a set',
    ...metadata({ '$setElementOrder/finalizers': ['y', 'x'] }, { finalizers: ['y', 'x'] }),
  },
  {
    name: 'an order is given to items, and the others keep their place',
    ...spec(
      { '$setElementOrder/containers': [{ name: 'c' }, { name: 'a' }], containers: [{ name: 'c' }] },
      { containers: [{ name: 'c' }, a, b] },
    ),
  },
  {
    name: 'only keys that are retained stay',
    ...spec(
      { volumes: [{ name: 'v', $retainKeys: ['name', 'hostPath'], hostPath: { path: '/h' } }] },
      { volumes: [{ name: 'v', hostPath: { path: '/h' } }] },
    ),
  },
  {
    name: 'what is new loses its directives and nulls',
    ...spec(
      { securityContext: { runAsUser: 1, runAsGroup: null, seLinuxOptions: { $patch: 'delete' } } },
      { securityContext: { runAsUser: 1 } },
    ),
  },
  {
    name: 'a list of another type is replaced',
    ...metadata({ finalizers: { a: 1 } }, { finalizers: { a: 1 } as never }),
  },
];
for (const { name, patch, result } of rows) {
  test(name, () => {
    const expected = { ...live, ...result };
    assert.deepEqual(applyStrategicMergePatch(live, deepFreeze(patch), podType), expected);
  });
}

const faults = [
  {
    name: 'an unknown directive in a map',
    patch: { metadata: { labels: { $patch: 'explode' } } },
    message: 'unknown patch type: explode in map: map[$patch:explode]',
  },
  {
    name: 'a directive that is no text',
    patch: { metadata: { labels: { $patch: 5 } } },
    message: 'unknown patch type: %!s(int64=5) in map: map[$patch:5]',
  },
  {
    name: 'an item without its key',
    patch: containers({ image: 'x' }),
    message: 'map: map[image:x] does not contain declared merge key: name',
  },
  {
    name: 'a deletion without its key',
    patch: containers({ $patch: 'delete' }),
    message: 'map: map[$patch:delete] does not contain declared merge key: name',
  },
  {
    name: 'an item that says merge',
    patch: containers({ $patch: 'merge', name: 'a' }),
    message: 'merging lists cannot yet be specified in the patch',
  },
  {
    name: 'items of different types',
    patch: { metadata: { finalizers: [{}] } },
    message: 'list element types are not identical: [[x y] [map[]]]',
  },
  {
    name: 'lists of lists',
    patch: { metadata: { finalizers: [[]] } },
    message: 'lists of lists are not supported',
    reason: 'Invalid',
    original: { metadata: { finalizers: [] } },
  },
  {
    name: 'an order that disagrees with the list',
    patch: { spec: { '$setElementOrder/containers': [{ name: 'a' }], containers: [{ name: 'b' }, { name: 'a' }] } },
    message:
      "The order in patch list:\n[map[name:b] map[name:a]]\n doesn't match $setElementOrder list:\n[map[name:a]]\n",
  },
  {
    name: 'an order that is no list',
    patch: { spec: { '$setElementOrder/containers': {} } },
    message: 'expected a []interface {}, but received a map[string]interface {}',
  },
  {
    name: 'an order of no field',
    patch: { spec: { $setElementOrder: [] } },
    message: 'invalid patch format of setElementOrder list',
    reason: 'BadRequest',
  },
  {
    name: 'an order by something else than keys',
    patch: { spec: { '$setElementOrder/containers': ['a'] } },
    message: 'value for key 0 is not a map',
  },
  {
    name: 'deletions from no field',
    patch: { metadata: { $deleteFromPrimitiveList: [] } },
    message: 'invalid patch format of primitive list',
    reason: 'BadRequest',
  },
  {
    name: 'a key that is not retained',
    patch: { spec: { volumes: [{ name: 'v', $retainKeys: ['hostPath'], hostPath: {} }] } },
    message: 'invalid patch format of retainKeys',
    reason: 'BadRequest',
  },
  {
    name: 'retained keys that are no list',
    patch: { spec: { volumes: [{ name: 'v', $retainKeys: 'name' }] } },
    message: 'invalid patch format of retainKeys',
    reason: 'BadRequest',
  },
  {
    name: 'a map where the schema knows none',
    patch: { spec: { unheardOf: { a: {} } } },
    message: 'unable to find api field in struct PodSpec for the json field "unheardOf"',
    original: { spec: { unheardOf: { a: {} } } },
  },
];
for (const { name, patch, message, reason = 'InternalError', original = live } of faults) {
  test(`refuses ${name}`, () => {
    assert.throws(() => applyStrategicMergePatch(original, patch, podType), { message, reason });
  });
}

test('a strategy that retains keys is not asked to by the schema alone', () => {
  const original = { spec: { strategy: { type: 'RollingUpdate', rollingUpdate: { maxSurge: 1 } } } };
  const merged = applyStrategicMergePatch(original, { spec: { strategy: { type: 'Recreate' } } }, deploymentType);
  assert.deepEqual(merged, { spec: { strategy: { type: 'Recreate', rollingUpdate: { maxSurge: 1 } } } });
});

test('ports of a Service merge by number alone', () => {
  const type = mergeTypeOf(service.root);
  const ports = [{ port: 80, protocol: 'TCP' }, { port: 80, protocol: 'UDP' }, { port: 81 }];
  const patched = applyStrategicMergePatch({ spec: { ports } }, { spec: { ports: [{ port: 80, name: 'n' }] } }, type);
  assert.deepEqual(patched, {
    spec: { ports: [{ port: 80, protocol: 'TCP', name: 'n' }, { port: 80, protocol: 'UDP' }, { port: 81 }] },
  });
});

test('shares with the original what the patch leaves alone', () => {
  const patched = applyStrategicMergePatch(live, containers({ name: 'b', image: 'b:2' }), podType) as typeof live;
  assert.equal(patched.metadata, live.metadata);
  assert.equal(patched.spec.containers[0], a);
  assert.equal(patched.spec.volumes, live.spec.volumes);
});

test('returns the original when nothing changes', () => {
  const patch = { metadata: { labels: { a: '1' }, finalizers: ['x', 'y'] }, spec: { tolerations: [{ key: 'k' }] } };
  assert.equal(applyStrategicMergePatch(live, patch, podType), live);
});

test('takes names of prototypes for names like any other', () => {
  const patch = JSON.parse('{"data":{"__proto__":"1","constructor":"2","toString":null}}');
  const patched = applyStrategicMergePatch({ data: { a: '0' } }, patch, mergeTypeOf(configMap.root));
  assert.equal(JSON.stringify(patched), '{"data":{"a":"0","__proto__":"1","constructor":"2"}}');
  assert.equal(Object.getPrototypeOf(patched['data']), Object.prototype);
});

test('merges long lists in time proportional to their length', () => {
  const list = Array.from({ length: 50_000 }, (_, index) => ({ name: `c${index % 40_000}`, image: 'x' }));
  const patched = applyStrategicMergePatch(containers(...list), containers(...list), podType) as typeof live;
  assert.equal(patched.spec.containers.length, 50_000);
});

test('an error is of its own class', () => {
  assert.throws(() => applyStrategicMergePatch({}, { $patch: 'x' }, podType), StrategicMergeError);
});
