import assert from 'node:assert/strict';
import { test } from 'node:test';
import { envFromMetadataHash, plainHash } from './container-hash.ts';
import { metadataReferences } from './env-from-metadata.ts';

test("the hash of a container is the kubelet's", () => {
  assert.equal(plainHash({ name: 'test_container', image: 'foo/image:v1' }), 0x8e45cbd0);
});

const envFrom = (name: string, fieldPath: string) => ({ name, valueFrom: { fieldRef: { fieldPath } } });

test('the hash of the environment has the current values of labels and annotations', () => {
  const container = { name: 'c', env: [{ name: 'e1', value: 'bar' }, envFrom('e2', "metadata.labels['k']")] };
  assert.equal(envFromMetadataHash(container, { labels: { k: 'foo' } }), 2053173458);
});

test('the hash of an environment without labels and annotations is that of an empty list', () => {
  assert.equal(envFromMetadataHash({ name: 'c', env: [envFrom('ip', 'status.podIP')] }, {}), 86995377);
});

test('the order of variables does not matter', () => {
  const [a, b] = [envFrom('a', "metadata.labels['x']"), envFrom('b', "metadata.annotations['y/z']")];
  const metadata = { labels: { x: '1' }, annotations: { 'y/z': '2=3' } };
  assert.equal(
    envFromMetadataHash({ name: 'c', env: [a, b] }, metadata),
    envFromMetadataHash({ name: 'c', env: [b, a] }, metadata),
  );
});

const references: { path: string; found: string }[] = [
  { path: "metadata.labels['app.kubernetes.io/name']", found: 'labels app.kubernetes.io/name' },
  { path: "metadata.annotations['a']", found: 'annotations a' },
  { path: 'metadata.name', found: '' },
  { path: 'metadata.labels', found: '' },
  { path: 'metadata.labels["a"]', found: '' },
];
for (const { path, found } of references) {
  test(`${path} refers to ${found || 'no key'}`, () => {
    const [reference] = metadataReferences({ name: 'c', env: [envFrom('e', path)] });
    assert.equal(reference ? `${reference.from} ${reference.key}` : '', found);
  });
}

test('variables of SidecarSets are ignored', () => {
  const env = [envFrom('SIDECARSET_VERSION', "metadata.annotations['a']")];
  assert.deepEqual(metadataReferences({ name: 'c', env }), []);
});
