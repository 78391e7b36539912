import assert from 'node:assert/strict';
import { Resolver } from 'node:dns/promises';
import { test } from 'node:test';
import { namespace } from '@kruise/api/core/namespace';
import { service as serviceKind } from '@kruise/api/core/service';
import { endpointSlice } from '@kruise/api/discovery/endpointslice';
import { startTestServer, type TestServer } from '@kruise/apiserver/testing/test-server';
import { createIfMissing } from '@kruise/client/create-if-missing';
import { silentLog } from '@kruise/client/log';
import { createMetrics } from '@kruise/client/metrics';
import { machineAddress } from '@kruise/node/kubelet/node/machine';
import { systemClock, systemRandom } from '@kruise/values/system';
import { dnsService } from './dns-service.ts';
import type { NodeServiceOptions } from './node-services.ts';

const key = { namespace: 'kube-system', name: 'kube-dns' };
// An EndpointSlice may not have loopback addresses.
const address = machineAddress() ?? '';

/** Runs cluster DNS with the permissions of its ServiceAccount. */
function runService({ client, clientOf }: TestServer, signal: AbortSignal): Promise<void> {
  const groups = ['system:serviceaccounts', 'system:serviceaccounts:kube-system', 'system:authenticated'];
  const dns = clientOf({ username: 'system:serviceaccount:kube-system:kruise-dns', groups });
  const options = {
    nodeName: 'a',
    address,
    clock: systemClock,
    random: systemRandom,
    log: silentLog,
    metrics: createMetrics(),
    clusterDns: ['10.96.0.10'],
    clusterDomain: 'cluster.local',
  };
  // DNS uses no other option.
  return dnsService({ admin: client, dns }).run(options as unknown as NodeServiceOptions, signal);
}

test('the Service kube-dns leads to the server, which answers with the permissions of its ServiceAccount', async () => {
  await using server = await startTestServer();
  const { client } = server;
  await createIfMissing(client, namespace, { metadata: { name: key.namespace } });
  const stop = new AbortController();
  const running = runService(server, stop.signal);
  let slices = (await client.list(endpointSlice, { namespace: key.namespace })).items;
  while (slices.length === 0) {
    await Promise.race([new Promise((resolve) => setTimeout(resolve, 20)), running]);
    slices = (await client.list(endpointSlice, { namespace: key.namespace })).items;
  }
  const [slice] = slices;
  assert.deepEqual(slice?.endpoints[0]?.addresses, [address]);
  assert.equal(slice?.metadata.labels?.['kubernetes.io/service-name'], key.name);
  assert.equal((await client.get(serviceKind, key)).spec?.clusterIP, '10.96.0.10');

  const resolver = new Resolver({ timeout: 2000, tries: 2 });
  resolver.setServers([`${address}:${slice?.ports?.[0]?.port}`]);
  assert.deepEqual(await resolver.resolve4('kube-dns.kube-system.svc.cluster.local'), ['10.96.0.10']);
  stop.abort();
  await running;
});

test('a Service kube-dns that selects Pods is left alone', async () => {
  await using server = await startTestServer();
  const { client } = server;
  await createIfMissing(client, namespace, { metadata: { name: key.namespace } });
  const selector = { 'k8s-app': 'kube-dns' };
  const created = await client.create(serviceKind, { metadata: key, spec: { selector, ports: [{ port: 53 }] } });
  await runService(server, new AbortController().signal);
  const { metadata } = await client.get(serviceKind, key);
  assert.equal(metadata.resourceVersion, created.metadata.resourceVersion);
  assert.deepEqual((await client.list(endpointSlice, { namespace: key.namespace })).items, []);
});
