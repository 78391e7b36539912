import assert from 'node:assert/strict';
import { test } from 'node:test';
import { podFromTemplate } from './pod-template.ts';

const owner = { apiVersion: 'apps/v1', kind: 'ReplicaSet', metadata: { name: 'web', namespace: 'default', uid: 'u' } };
const spec = { containers: [{ name: 'main', image: 'nginx' }] };

test('a Pod has what its template says, and its owner for a controller', () => {
  const metadata = { labels: { app: 'web' }, annotations: { a: 'b' }, finalizers: ['x/y'], creationTimestamp: null };
  assert.deepEqual(podFromTemplate(owner, { metadata, spec }), {
    apiVersion: 'v1',
    kind: 'Pod',
    metadata: {
      generateName: 'web-',
      namespace: 'default',
      labels: { app: 'web' },
      annotations: { a: 'b' },
      finalizers: ['x/y'],
      ownerReferences: [
        {
          apiVersion: 'apps/v1',
          kind: 'ReplicaSet',
          name: 'web',
          uid: 'u',
          controller: true,
          blockOwnerDeletion: true,
        },
      ],
    },
    spec,
  });
});

test('what a template does not say, a Pod does not have', () => {
  const { metadata } = podFromTemplate(owner, { spec });
  assert.deepEqual(Object.keys(metadata), ['generateName', 'namespace', 'ownerReferences']);
});

test('the longest of names is not made longer', () => {
  const name = 'a'.repeat(253);
  const { metadata } = podFromTemplate({ ...owner, metadata: { ...owner.metadata, name } }, { spec });
  assert.equal(metadata.generateName, name);
});
