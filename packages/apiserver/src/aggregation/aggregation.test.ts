import assert from 'node:assert/strict';
import type { IncomingMessage } from 'node:http';
import { createServer } from 'node:https';
import { type AddressInfo, connect } from 'node:net';
import { test } from 'node:test';
import { type APIService, apiService } from '@kruise/api/apiregistration/apiservice';
import { service } from '@kruise/api/core/service';
import { createClient } from '@kruise/client/client';
import { createCertificateAuthority } from '@kruise/machinery/x509/certificate';
import { systemClock } from '@kruise/values/system';
import { type Dial, networkConnector } from '../connect/node-connector.ts';
import { inProcessTransport } from '../pipeline/in-process.ts';
import { rawRequests } from '../testing/raw-requests.ts';
import { startTestServer } from '../testing/test-server.ts';

const resources = {
  kind: 'APIResourceList',
  apiVersion: 'v1',
  groupVersion: 'wardle.example.com/v1',
  resources: [
    { name: 'fischers', singularName: 'fischer', namespaced: false, kind: 'Fischer', verbs: ['get', 'list'] },
    { name: 'fischers/status', singularName: '', namespaced: false, kind: 'Fischer', verbs: ['get'] },
  ],
};

/** Starts an aggregated server that records its requests. */
async function startBackend() {
  const authority = createCertificateAuthority('backend', systemClock.now());
  const pair = authority.issue({
    subject: { commonName: 'wardle' },
    usages: ['server auth'],
    hosts: ['wardle.default.svc'],
    nowMs: systemClock.now(),
  });
  const asked: IncomingMessage[] = [];
  const server = createServer({ cert: pair.certificate, key: pair.key, requestCert: true, rejectUnauthorized: false });
  server.on('request', (request, response) => {
    asked.push(request);
    const found = request.url === '/apis/wardle.example.com/v1' ? resources : { kind: 'FischerList', items: [] };
    response.writeHead(request.url?.startsWith('/openapi') ? 404 : 200, { 'content-type': 'application/json' });
    response.end(JSON.stringify(found));
  });
  await new Promise<void>((resolve) => server.listen(0, 'localhost', resolve));
  return {
    asked,
    authority,
    port: (server.address() as AddressInfo).port,
    async [Symbol.asyncDispose]() {
      server.closeAllConnections();
      await new Promise((resolve) => server.close(resolve));
    },
  };
}

/** Starts a server. `host` is the address of the Service's backend. */
async function start({ host = 'localhost', dial }: { readonly host?: string; readonly dial?: Dial } = {}) {
  const backend = await startBackend();
  const proxies = createCertificateAuthority('front-proxy', systemClock.now());
  const frontProxyClient = proxies.issue({
    subject: { commonName: 'front-proxy-client' },
    usages: ['client auth'],
    nowMs: systemClock.now(),
  });
  const nodes = { ...networkConnector(systemClock), ...(dial && { dial }) };
  const server = await startTestServer({ https: true, frontProxyClient, nodes });
  const { client } = server;
  await client.create(service, {
    metadata: { name: 'wardle', namespace: 'default' },
    spec: { type: 'ExternalName', externalName: host },
  });
  const registered = client.watch(apiService, { signal: AbortSignal.timeout(10_000) });
  await client.create(apiService, {
    metadata: { name: 'v1.wardle.example.com' },
    spec: {
      group: 'wardle.example.com',
      version: 'v1',
      service: { namespace: 'default', name: 'wardle', port: backend.port },
      caBundle: Buffer.from(backend.authority.certificate).toString('base64'),
      groupPriorityMinimum: 2000,
      versionPriority: 10,
    },
  });
  return { backend, server, registered, ask: rawRequests(server) };
}

const isAvailable = ({ metadata, status }: APIService) =>
  metadata.name === 'v1.wardle.example.com' &&
  status?.conditions?.some(({ type, status: known }) => type === 'Available' && known === 'True');

test('an aggregated group is in discovery, and its requests carry the identity of the user', async () => {
  const { backend, server, registered, ask } = await start();
  await using _ = backend;
  await using __ = server;
  try {
    for await (const { object } of registered) {
      const condition = object.status?.conditions?.find(({ type }) => type === 'Available');
      if (object.metadata.name === 'v1.wardle.example.com' && condition?.status === 'True') {
        assert.equal(condition.reason, 'Passed');
        break;
      }
    }
    const groups = JSON.parse((await ask('/apis')).text).groups.map(({ name }: { name: string }) => name);
    assert.equal(groups.at(-1), 'wardle.example.com');

    const aggregated = 'application/json;g=apidiscovery.k8s.io;v=v2;as=APIGroupDiscoveryList';
    const { items } = JSON.parse((await ask('/apis', { headers: { accept: aggregated } })).text);
    const [version] = items.at(-1).versions;
    assert.equal(version.freshness, 'Current');
    assert.deepEqual(
      version.resources.map((each: { resource: string; subresources: { subresource: string }[] }) => [
        each.resource,
        each.subresources.map(({ subresource }) => subresource),
      ]),
      [['fischers', ['status']]],
    );

    const { code, text } = await ask('/apis/wardle.example.com/v1/fischers?limit=2', {
      headers: { 'x-remote-user': 'somebody-else' },
    });
    assert.equal(code, 200);
    assert.equal(JSON.parse(text).kind, 'FischerList');
    const last = backend.asked.at(-1)!;
    assert.equal(last.url, '/apis/wardle.example.com/v1/fischers?limit=2');
    assert.equal(last.headers['x-remote-user'], 'test-admin');
    assert.match(String(last.headers['x-remote-group']), /system:masters/);

    // A client's Connection header concerns its own connection, and removes no header that this server adds.
    await ask('/apis/wardle.example.com/v1/fischers', {
      headers: { connection: 'close, X-Remote-User, X-Remote-Group, X-Forwarded-For, X-Own', 'x-own': 'yes' },
    });
    const stripped = backend.asked.at(-1)!.headers;
    assert.equal(stripped['x-remote-user'], 'test-admin');
    assert.match(String(stripped['x-remote-group']), /system:masters/);
    assert.deepEqual([stripped['x-forwarded-for'], stripped['x-own']], ['127.0.0.1', undefined]);

    // The backend receives the path that was authorized, decoded once and escaped again.
    await ask('/apis/wardle.example.com%2Fv1/namespaces/a%2Fb/%2e%2e/fischers%3Fx');
    assert.equal(backend.asked.at(-1)?.url, '/apis/wardle.example.com/v1/namespaces/a/b/../fischers%3Fx');

    // In-process clients reach aggregated servers as well.
    const within = createClient(inProcessTransport(server.core, { username: 'neighbour', groups: ['system:masters'] }));
    const { object } = await within.transport.request({ method: 'GET', path: '/apis/wardle.example.com/v1/fischers' });
    assert.equal((object as { readonly kind: string }).kind, 'FischerList');
    assert.equal(backend.asked.at(-1)?.headers['x-remote-user'], 'neighbour');
  } finally {
    ask.close();
  }
});

test('a server in another network is reached through the dialer', async () => {
  const dialled: string[] = [];
  const { backend, server, registered, ask } = await start({
    host: 'wardle.cluster',
    dial: async ({ host, port }) => {
      dialled.push(host);
      return connect(port, 'localhost');
    },
  });
  await using _ = backend;
  await using __ = server;
  try {
    for await (const { object } of registered) if (isAvailable(object)) break;
    assert.equal((await ask('/apis/wardle.example.com/v1/fischers')).code, 200);
    assert.deepEqual([...new Set(dialled)], ['wardle.cluster']);
  } finally {
    ask.close();
  }
});

test('other status conditions of an APIService are kept', async () => {
  const { backend, server, registered, ask } = await start();
  await using _ = server;
  const { client } = server;
  try {
    for await (const { object } of registered) if (isAvailable(object)) break;
    await client.patch(
      apiService,
      { name: 'v1.wardle.example.com' },
      [{ op: 'add', path: '/status/conditions/-', value: { type: 'Tested', status: 'True' } }],
      { type: 'json', subresource: 'status' },
    );
    await backend[Symbol.asyncDispose]();
    await client.delete(service, { name: 'wardle', namespace: 'default' });
    for await (const { object } of client.watch(apiService, { signal: AbortSignal.timeout(10_000) })) {
      const conditions = (object.status?.conditions ?? []).map(({ type, status }) => `${type} ${status}`);
      if (conditions.includes('Available False') && object.metadata.name === 'v1.wardle.example.com') {
        assert.deepEqual(conditions, ['Available False', 'Tested True']);
        break;
      }
    }
  } finally {
    ask.close();
  }
});

test('a group with an unreachable server is unavailable, and not in the group list', async () => {
  const { backend, server, registered, ask } = await start();
  await backend[Symbol.asyncDispose]();
  await using _ = server;
  try {
    await server.client.delete(service, { name: 'wardle', namespace: 'default' });
    for await (const { object } of registered) {
      const condition = object.status?.conditions?.find(({ type }) => type === 'Available');
      if (condition?.reason === 'ServiceNotFound') {
        assert.equal(condition.message, 'service/wardle in "default" is not present');
        break;
      }
    }
    const groups = JSON.parse((await ask('/apis')).text).groups.map(({ name }: { name: string }) => name);
    assert.ok(!groups.includes('wardle.example.com'));
    const { code, text } = await ask('/apis/wardle.example.com/v1/fischers');
    assert.equal(code, 503);
    assert.equal(text, 'service unavailable\n');
  } finally {
    ask.close();
  }
});
