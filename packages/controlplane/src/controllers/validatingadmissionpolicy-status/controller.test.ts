import assert from 'node:assert/strict';
import { test } from 'node:test';
import { validatingAdmissionPolicy } from '@kruise/api/admissionregistration/validatingadmissionpolicy';
import { defineBox } from '../../testing/box.ts';
import { type Cluster, startCluster } from '../../testing/cluster.ts';

async function startChecking(): Promise<Cluster> {
  const cluster = await startCluster();
  await cluster.run(['validatingadmissionpolicy-status-controller']);
  return cluster;
}

async function check(cluster: Cluster, expression: string, [apiGroup, resource] = ['apps', 'deployments']) {
  const { client } = cluster;
  const rule = { apiGroups: [apiGroup!], apiVersions: ['v1'], operations: ['CREATE'], resources: [resource!] } as const;
  const spec = { matchConstraints: { resourceRules: [rule] }, validations: [{ expression }] };
  await client.apply(
    validatingAdmissionPolicy,
    { metadata: { name: 'p' }, spec },
    { fieldManager: 'test', force: true },
  );
  await cluster.advance(1);
  const { metadata, status } = await client.get(validatingAdmissionPolicy, { name: 'p' });
  assert.equal(status?.observedGeneration, metadata.generation);
  return status?.typeChecking?.expressionWarnings?.map(({ fieldRef }) => fieldRef);
}

test('a policy reports type-checking warnings, and removes them once they are fixed', async () => {
  await using cluster = await startChecking();
  assert.deepEqual(await check(cluster, 'object.spec.replica > 1'), ['spec.validations[0].expression']);
  assert.equal(await check(cluster, 'object.spec.replicas > 1'), undefined);
  const versionOf = async () =>
    (await cluster.client.get(validatingAdmissionPolicy, { name: 'p' })).metadata.resourceVersion;
  const version = await versionOf();
  await cluster.advance(3600);
  assert.equal(await versionOf(), version, 'the status is written once');
  assert.deepEqual(cluster.warnings, []);
});

test('custom resources are type-checked by their CRDs', async () => {
  await using cluster = await startChecking();
  await defineBox(cluster.client);
  await cluster.advance(1);
  assert.deepEqual(await check(cluster, 'object.spec.sice > 1', ['example.com', 'boxes']), [
    'spec.validations[0].expression',
  ]);
  assert.equal(await check(cluster, 'object.spec.size > 1', ['example.com', 'boxes']), undefined);
});
