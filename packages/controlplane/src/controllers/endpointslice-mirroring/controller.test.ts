import assert from 'node:assert/strict';
import { test } from 'node:test';
import { endpoints } from '@kruise/api/core/endpoints';
import { service } from '@kruise/api/core/service';
import { endpointSlice } from '@kruise/api/discovery/endpointslice';
import { startCluster } from '../../testing/cluster.ts';

test('custom Endpoints are mirrored as long as they and their Service exist', async () => {
  await using cluster = await startCluster();
  const { client } = cluster;
  await cluster.run(['endpointslice-mirroring-controller']);
  const reference = { name: 'db', namespace: 'default' };
  const mirrored = async () => {
    const { items } = await client.list(endpointSlice, {
      namespace: 'default',
      labelSelector: 'kubernetes.io/service-name=db',
    });
    return items.map((slice) => slice.endpoints.flatMap(({ addresses }) => addresses));
  };
  await client.create(endpoints, {
    metadata: reference,
    subsets: [{ addresses: [{ ip: '10.0.0.1' }], ports: [{ port: 5432 }] }],
  });
  await cluster.advance(1);
  assert.deepEqual(await mirrored(), []);

  await client.create(service, { metadata: reference, spec: { ports: [{ port: 5432 }] } });
  await cluster.advance(1);
  assert.deepEqual(await mirrored(), [['10.0.0.1']]);

  await client.patch(
    endpoints,
    reference,
    { subsets: [{ addresses: [{ ip: '10.0.0.2' }], ports: [{ port: 5432 }] }] },
    { type: 'merge' },
  );
  await cluster.advance(1);
  assert.deepEqual(await mirrored(), [['10.0.0.2']]);

  await client.delete(endpoints, reference);
  await cluster.advance(1);
  assert.deepEqual(await mirrored(), []);
  assert.deepEqual(cluster.warnings, []);
});
