import assert from 'node:assert/strict';
import { createSocket } from 'node:dgram';
import { connect } from 'node:net';
import { test } from 'node:test';
import { createClient } from '@kruise/client/client';
import { silentLog } from '@kruise/client/log';
import { createMetrics } from '@kruise/client/metrics';
import type { ApiRequest, Transport, WatchEvent } from '@kruise/client/transport';
import { seededRandom } from '@kruise/values/random';
import { systemClock } from '@kruise/values/system';
import { readResponse } from './decode.ts';
import { dnsManifests } from './manifests.ts';
import { type DnsOptions, type DnsPorts, ForwardingLoopError, runDns } from './run.ts';
import { startTestUpstream } from './testing/upstream-server.ts';

/** An API with one Service, whose watches never have an event. */
function api(): Transport {
  const items: Readonly<Record<string, readonly object[]>> = {
    '/api/v1/namespaces': [{ metadata: { name: 'default', resourceVersion: '1', uid: 'n' } }],
    '/api/v1/services': [
      {
        metadata: { name: 'web', namespace: 'default', resourceVersion: '1', uid: 's' },
        spec: { clusterIP: '10.96.0.7', clusterIPs: ['10.96.0.7'], ports: [{ port: 80, protocol: 'TCP' }] },
      },
    ],
  };
  return {
    async request({ path }: ApiRequest) {
      return { code: 200, object: { metadata: { resourceVersion: '1' }, items: items[path] ?? [] }, warnings: [] };
    },
    async *watch({ query, path, signal }: ApiRequest): AsyncIterable<WatchEvent> {
      if (query?.['sendInitialEvents']) {
        for (const object of items[path] ?? []) yield { type: 'ADDED', object };
        const metadata = { resourceVersion: '1', annotations: { 'k8s.io/initial-events-end': 'true' } };
        yield { type: 'BOOKMARK', object: { metadata } };
      }
      await new Promise<void>((resolve) => signal?.addEventListener('abort', () => resolve(), { once: true }));
    },
  };
}

function options(fields: Partial<DnsOptions>): DnsOptions {
  const random = seededRandom('run');
  return {
    client: createClient(api()),
    clock: systemClock,
    random,
    randomId: () => Math.floor(random.next() * 0x10000),
    log: silentLog,
    registry: createMetrics(),
    addresses: ['127.0.0.1'],
    port: 0,
    clusterDomains: ['cluster.local'],
    ttlSeconds: 30,
    localAddresses: [],
    cacheSeconds: 30,
    staleSeconds: 0,
    readUpstreams: async () => [],
    reloadMs: 10_000,
    lameduckMs: 0,
    ...fields,
  };
}

function query(name: string, id = 1): Buffer {
  const labels = name.split('.').flatMap((label) => [label.length, ...Buffer.from(label)]);
  return Buffer.from([0, id, 1, 0, 0, 1, 0, 0, 0, 0, 0, 0, ...labels, 0, 0, 1, 0, 1]);
}

async function askUdp(port: number, message: Buffer): Promise<Buffer> {
  const socket = createSocket('udp4');
  try {
    const response = new Promise<Buffer>((resolve) => socket.once('message', resolve));
    socket.send(message, port, '127.0.0.1');
    return await response;
  } finally {
    socket.close();
  }
}

/** Starts a server; `stop` ends it and resolves when it has ended. */
async function start(fields: Partial<DnsOptions>) {
  const ending = new AbortController();
  const listening = Promise.withResolvers<DnsPorts>();
  const ended = runDns(options({ ...fields, onListening: listening.resolve }), ending.signal);
  const ports = await Promise.race([listening.promise, ended.then(() => assert.fail('the server ended'))]);
  return {
    ports,
    stop() {
      ending.abort();
      return ended;
    },
  };
}

test('a server answers over UDP and TCP, reports its health and metrics, and stops', async () => {
  const upstream = await startTestUpstream();
  const { ports, stop } = await start({
    healthPort: 0,
    readyPort: 0,
    metricsPort: 0,
    readUpstreams: async () => [{ domain: [], servers: [{ host: '127.0.0.1', port: upstream.port }] }],
  });
  const response = await askUdp(ports.dns, query('web.default.svc.cluster.local'));
  assert.deepEqual(readResponse(response, response.length)!.answers[0]!.data, {
    kind: 'bytes',
    bytes: Buffer.from([10, 96, 0, 7]),
  });
  const forwarded = await askUdp(ports.dns, query('host-1.example.org'));
  assert.equal(readResponse(forwarded, forwarded.length)!.answers.length, 2);

  // Three queries in one segment, cut within a message.
  const stream = Buffer.concat(
    [1, 2, 3].flatMap((id) => {
      const message = query('web.default.svc.cluster.local', id);
      return [Buffer.from([0, message.length]), message];
    }),
  );
  const socket = connect(ports.dns, '127.0.0.1');
  socket.write(stream.subarray(0, 50));
  let received = Buffer.alloc(0);
  await new Promise<void>((resolve) => {
    socket.on('data', (chunk: Buffer) => {
      received = Buffer.concat([received, chunk]);
      if (received.length >= 3 * (2 + response.length)) resolve();
      else socket.write(stream.subarray(50));
    });
  });
  assert.deepEqual(
    [0, 1, 2].map((index) => received[index * (2 + response.length) + 3]),
    [1, 2, 3],
  );
  socket.destroy();

  const get = async (port: number | undefined, path: string) => {
    const { status, ...rest } = await fetch(`http://127.0.0.1:${port}${path}`).then(async (each) => ({
      status: each.status,
      text: await each.text(),
    }));
    return [status, rest.text] as const;
  };
  assert.deepEqual(await get(ports.health, '/health'), [200, 'OK']);
  assert.deepEqual(await get(ports.ready, '/ready'), [200, 'OK']);
  assert.equal((await get(ports.health, '/other'))[0], 404);
  const [, metrics] = await get(ports.metrics, '/metrics');
  assert.match(
    metrics,
    /coredns_dns_requests_total\{server="dns:\/\/:0",zone="\.",view="",proto="udp",family="1",type="A"\} 2\n/,
  );
  assert.match(metrics, /coredns_dns_responses_total\{.*rcode="NOERROR",plugin="kubernetes"\} 4\n/);
  assert.match(metrics, /coredns_cache_entries\{.*type="success".*\} 1\n/);
  await stop();
  await upstream.close();
  await assert.rejects(fetch(`http://127.0.0.1:${ports.health}/health`));
});

test('a server still answers in the lameduck period, and is not ready', async () => {
  const { ports, stop } = await start({ readyPort: 0, lameduckMs: 300 });
  const ended = stop();
  assert.equal((await fetch(`http://127.0.0.1:${ports.ready}/ready`)).status, 503);
  const response = await askUdp(ports.dns, query('web.default.svc.cluster.local'));
  assert.equal(response[3]! & 0xf, 0);
  await ended;
});

test('a server whose upstream server sends its queries back does not run', async () => {
  // The port must be known before the server listens on it.
  const probe = createSocket('udp4');
  await new Promise<void>((resolve) => probe.bind(0, '127.0.0.1', resolve));
  const { port } = probe.address();
  await new Promise<void>((resolve) => probe.close(resolve));
  const looping = options({
    port,
    readUpstreams: async () => [{ domain: [], servers: [{ host: '127.0.0.1', port }] }],
  });
  await assert.rejects(runDns(looping, new AbortController().signal), ForwardingLoopError);
});

test('the manifests select the Pods of the Deployment by the label of kube-dns', () => {
  const objects = dnsManifests({
    image: 'kruise',
    clusterIP: '10.96.0.10',
    clusterDomain: 'cluster.local',
    replicas: 2,
  });
  const kinds = objects.map((each) => (each as { readonly kind: string }).kind);
  assert.deepEqual(kinds, [
    'ServiceAccount',
    'ClusterRole',
    'ClusterRoleBinding',
    'ConfigMap',
    'Deployment',
    'Service',
  ]);
  const [deployment, service] = objects.slice(4) as unknown as readonly [
    { readonly spec: { readonly template: { readonly metadata: { readonly labels: object } } } },
    { readonly metadata: { readonly name: string }; readonly spec: { readonly selector: object } },
  ];
  assert.deepEqual(service.spec.selector, deployment.spec.template.metadata.labels);
  assert.equal(service.metadata.name, 'kube-dns');
});
