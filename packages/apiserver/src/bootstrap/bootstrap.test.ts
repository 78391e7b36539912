import assert from 'node:assert/strict';
import { test } from 'node:test';
import { apiService } from '@kruise/api/apiregistration/apiservice';
import { lease } from '@kruise/api/coordination/lease';
import { configMap } from '@kruise/api/core/configmap';
import { endpoints } from '@kruise/api/core/endpoints';
import { namespace } from '@kruise/api/core/namespace';
import { service } from '@kruise/api/core/service';
import { endpointSlice } from '@kruise/api/discovery/endpointslice';
import { validateObjectMeta } from '@kruise/api/meta/object-meta.validate';
import { clusterRole } from '@kruise/api/rbac/clusterrole';
import { clusterRoleBinding } from '@kruise/api/rbac/clusterrolebinding';
import { createClient } from '@kruise/client/client';
import { seededRandom } from '@kruise/values/random';
import { virtualClock } from '@kruise/values/virtual-clock';
import { internalRequest } from '../custom/own-request.ts';
import { inProcessTransport } from '../pipeline/in-process.ts';
import { startApiServer } from '../server.ts';
import { createMemoryStore } from '../store/memory.ts';
import type { Store } from '../store/store.ts';
import { serverItself } from '../user.ts';
import { bootstrap } from './bootstrap.ts';
import { serverIdentity } from './identity-lease.ts';
import { maintainRegistration } from './server-registration.ts';

const clock = virtualClock(Date.parse('2026-01-01T00:00:00Z'));
const ranges = { serviceRanges: ['10.96.0.0/16'] };

async function start(store: Store) {
  const failures: unknown[] = [];
  const server = await startApiServer({
    store,
    clock,
    random: seededRandom(1),
    freezeObjects: true,
    onError: (error) => failures.push(error),
  });
  await server.core.feed.waitForCurrent();
  return { core: server.core, client: createClient(inProcessTransport(server.core, serverItself)), failures };
}

test('a new cluster has its namespaces, and an APIService for each group version', async () => {
  const { client } = await start(createMemoryStore({ clock }));
  const names = async (kind: typeof namespace | typeof apiService) =>
    (await client.list(kind)).items.map(({ metadata }) => metadata.name);
  assert.deepEqual(await names(namespace), ['default', 'kube-node-lease', 'kube-public', 'kube-system']);
  const services = await names(apiService);
  assert.ok(services.includes('v1.') && services.includes('v2.autoscaling'));
  assert.ok(!services.includes('v1.apiregistration.k8s.io'));
});

test('all objects of a new cluster are valid', async () => {
  const { core } = await start(createMemoryStore({ clock }));
  const faults = [...core.resources.all()].flatMap((resource) => {
    const { kind, storage, strategy } = resource;
    const context = internalRequest(core, resource, 'create', { apiVersion: '', kind: '', metadata: {} });
    return storage.cache
      .list({ keyPrefix: storage.prefix })
      .flatMap(({ object }) => [
        ...strategy.validate(object, context),
        ...validateObjectMeta(object.metadata, { namespaced: kind.scope === 'Namespaced' }),
      ]);
  });
  assert.deepEqual(faults, []);
});

test('a second start writes nothing', async () => {
  const { core } = await start(createMemoryStore({ clock }));
  // The statuses of FlowSchemas are written asynchronously.
  for (let before = -1; before !== core.feed.revision; ) {
    before = core.feed.revision;
    await new Promise(setImmediate);
    await core.feed.waitForCurrent();
  }
  const before = await core.store.currentRevision();
  await bootstrap(core, ranges);
  assert.equal(await core.store.currentRevision(), before);
});

test('a start restores missing policy rules', async () => {
  const { core, client } = await start(createMemoryStore({ clock }));
  await client.delete(clusterRole, { name: 'system:discovery' });
  await client.patch(clusterRoleBinding, { name: 'system:basic-user' }, { subjects: [] }, { type: 'merge' });
  await bootstrap(core, ranges);
  await core.feed.waitForCurrent();
  assert.equal((await client.get(clusterRole, { name: 'system:discovery' })).rules?.length, 1);
  assert.equal((await client.get(clusterRoleBinding, { name: 'system:basic-user' })).subjects?.length, 1);
});

test('a start updates the CAs for aggregated servers, and keeps keys that others added', async () => {
  const { core, client } = await start(createMemoryStore({ clock }));
  const reference = { name: 'extension-apiserver-authentication', namespace: 'kube-system' };
  await bootstrap(core, { ...ranges, clientAuthority: 'one' });
  await core.feed.waitForCurrent();
  await client.patch(configMap, reference, { data: { more: 'x' } }, { type: 'merge' });
  await bootstrap(core, { ...ranges, clientAuthority: 'two', frontProxyAuthority: 'proxies' });
  await core.feed.waitForCurrent();
  const { data } = await client.get(configMap, reference);
  assert.equal(data?.['client-ca-file'], 'two');
  assert.equal(data?.['requestheader-client-ca-file'], 'proxies');
  assert.equal(data?.['more'], 'x');
});

test('the server writes the kubernetes Service and its identity Lease', async () => {
  const { core, client, failures } = await start(createMemoryStore({ clock }));
  const registration = {
    address: { clusterIp: '10.96.0.1', ip: '192.0.2.1', port: 6443 },
    hostname: 'host',
    onError: (error: unknown) => failures.push(error),
  };
  await maintainRegistration(core, registration);
  const reference = { name: 'kubernetes', namespace: 'default' };
  const { spec } = await client.get(service, reference);
  assert.deepEqual([spec?.clusterIP, spec?.ports?.[0]?.targetPort], ['10.96.0.1', 6443]);
  assert.equal((await client.get(endpoints, reference)).subsets?.[0]?.addresses?.[0]?.ip, '192.0.2.1');
  assert.deepEqual((await client.get(endpointSlice, reference)).endpoints[0]?.addresses, ['192.0.2.1']);
  const held = { name: serverIdentity('host'), namespace: 'kube-system' };
  assert.equal((await client.get(lease, held)).spec?.renewTime, '2026-01-01T00:00:00.000000Z');

  await client.delete(service, reference);
  await core.feed.waitForCurrent();
  await clock.advanceAsync(10_000);
  await core.feed.waitForCurrent();
  assert.equal((await client.get(service, reference)).spec?.clusterIP, '10.96.0.1');
  assert.equal((await client.get(lease, held)).spec?.renewTime, '2026-01-01T00:00:10.000000Z');
  assert.deepEqual(failures, []);
});

test('the server identity is derived from the hostname', () => {
  assert.match(serverIdentity('host'), /^apiserver-[a-z2-7]{26}$/);
  assert.notEqual(serverIdentity('host'), serverIdentity('other'));
});
