import assert from 'node:assert/strict';
import { once } from 'node:events';
import { createServer } from 'node:http';
import { type AddressInfo, connect } from 'node:net';
import { describe, test } from 'node:test';
import { endpoints } from '@kruise/api/core/endpoints';
import { service } from '@kruise/api/core/service';
import { endpointSlice } from '@kruise/api/discovery/endpointslice';
import { seededRandom } from '@kruise/values/random';
import { systemClock } from '@kruise/values/system';
import { virtualClock } from '@kruise/values/virtual-clock';
import { lookupOf } from '../testing/admission.ts';
import { startWebhookServer } from '../testing/webhook-server.ts';
import { createWebhookCaller, type InProcessWebhooks } from './caller.ts';
import { createServiceResolver } from './service-resolver.ts';

const options = { timeoutSeconds: 10, signal: new AbortController().signal };
const review = { apiVersion: 'admission.k8s.io/v1', kind: 'AdmissionReview', request: { uid: 'u' } };
const resolveNothing = () => {
  throw new Error('no services here');
};

test('the caller sends a review and returns the response', async () => {
  await using server = await startWebhookServer(() => ({ allowed: true }));
  const caller = createWebhookCaller({ clock: systemClock, resolve: resolveNothing });
  const answer = await caller.call({ url: `${server.url}/path`, caBundle: server.caBundle }, review, options);
  const { request: _, ...rest } = review;
  assert.deepEqual(answer, { ...rest, response: { uid: 'u', allowed: true } });
  assert.equal(server.requests[0]?.path, '/path?timeout=10s');
  caller.close();
});

test('the caller calls an in-process webhook without a socket', async () => {
  const inProcess: InProcessWebhooks = new Map([
    ['https://kruise.example/x', () => 'by URL'],
    ['kruise-system/kruise-webhook-service/mutate-pod', (asked: unknown) => asked],
  ]);
  const caller = createWebhookCaller({ clock: systemClock, resolve: resolveNothing, inProcess });
  assert.equal(await caller.call({ url: 'https://kruise.example/x' }, review, options), 'by URL');
  const behind = { namespace: 'kruise-system', name: 'kruise-webhook-service', path: '/mutate-pod' };
  assert.equal(await caller.call({ service: behind }, review, options), review);
});

const broken: { readonly name: string; readonly webhook: () => unknown; readonly message: string }[] = [
  {
    name: 'throws',
    webhook: () => {
      throw new Error('out of luck');
    },
    message: 'out of luck',
  },
  { name: 'rejects', webhook: () => Promise.reject(new Error('out of luck')), message: 'out of luck' },
  { name: 'takes too long', webhook: () => new Promise(() => {}), message: 'context deadline exceeded' },
];
for (const { name, webhook, message } of broken) {
  test(`the call fails for an in-process webhook that ${name}`, async () => {
    const clock = virtualClock();
    const caller = createWebhookCaller({
      clock,
      resolve: resolveNothing,
      inProcess: new Map([['https://here/', webhook]]),
    });
    const calling = assert.rejects(caller.call({ url: 'https://here/' }, review, options), {
      name: 'WebhookCallError',
      message,
    });
    await clock.advanceAsync(10_000);
    await calling;
  });
}

describe('a webhook behind a Service in another network', () => {
  const client = { service: { namespace: 'n', name: 's', path: '/x' } };
  const resolve = () => ({ host: '10.244.0.3', port: 8443 });

  test('is reached through the dialer', async () => {
    await using server = await startWebhookServer(() => ({ allowed: true }), ['s.n.svc']);
    const dialled: object[] = [];
    const dial = async (target: object) => {
      dialled.push(target);
      return connect(server.port, '127.0.0.1');
    };
    const caller = createWebhookCaller({ clock: systemClock, resolve, dial });
    await caller.call({ ...client, caBundle: server.caBundle }, review, options);
    assert.deepEqual(dialled, [{ host: '10.244.0.3', port: 8443 }]);
    await assert.rejects(caller.call(client, review, options), /x509: certificate signed by unknown authority$/);
    caller.close();
  });

  test('is reached directly if the dialer does not know its address', async () => {
    await using server = await startWebhookServer(() => ({ allowed: true }), ['s.n.svc']);
    const here = () => ({ host: '127.0.0.1', port: server.port });
    const caller = createWebhookCaller({ clock: systemClock, resolve: here, dial: async () => undefined });
    await caller.call({ ...client, caBundle: server.caBundle }, review, options);
    assert.equal(server.requests.length, 1);
    caller.close();
  });

  test('that refuses connections yields the connection error', async () => {
    const refusal = Object.assign(new Error(), { code: 'ECONNREFUSED', address: '10.244.0.3', port: 8443 });
    const caller = createWebhookCaller({ clock: systemClock, resolve, dial: () => Promise.reject(refusal) });
    await assert.rejects(caller.call(client, review, options), {
      message: 'Post "https://s.n.svc:443/x?timeout=10s": dial tcp 10.244.0.3:8443: connect: connection refused',
    });
  });
});

test("a refused connection yields Go's error", async () => {
  const caller = createWebhookCaller({ clock: systemClock, resolve: resolveNothing });
  await assert.rejects(caller.call({ url: 'https://127.0.0.1:1' }, review, options), {
    message: 'Post "https://127.0.0.1:1/?timeout=10s": dial tcp 127.0.0.1:1: connect: connection refused',
  });
});

test('only the configured CAs are trusted', async () => {
  await using server = await startWebhookServer(() => ({ allowed: true }));
  const caller = createWebhookCaller({ clock: systemClock, resolve: resolveNothing });
  await assert.rejects(
    caller.call({ url: server.url }, review, options),
    /: tls: failed to verify certificate: x509: certificate signed by unknown authority$/,
  );
});

test('the certificate must match the server name', async () => {
  await using server = await startWebhookServer(() => ({ allowed: true }), ['other.example']);
  const caller = createWebhookCaller({ clock: systemClock, resolve: resolveNothing });
  await assert.rejects(
    caller.call({ url: server.url, caBundle: server.caBundle }, review, options),
    /: x509: cannot validate certificate for 127\.0\.0\.1 because it doesn't contain any IP SANs$/,
  );
});

test('a call ends at its timeout', async () => {
  const clock = virtualClock();
  await using server = await startWebhookServer(() => {
    clock.advance(10_000);
    return new Promise(() => {});
  });
  const caller = createWebhookCaller({ clock, resolve: resolveNothing });
  await assert.rejects(
    caller.call({ url: server.url, caBundle: server.caBundle }, review, options),
    /^WebhookCallError: Post "https:\/\/127\.0\.0\.1:\d+\/\?timeout=10s": context deadline exceeded$/,
  );
});

test('a call ends when its request is cancelled', async () => {
  const gone = new AbortController();
  await using server = await startWebhookServer(() => {
    gone.abort();
    return new Promise(() => {});
  });
  const caller = createWebhookCaller({ clock: systemClock, resolve: resolveNothing });
  const calling = { timeoutSeconds: 10, signal: gone.signal };
  await assert.rejects(
    caller.call({ url: server.url, caBundle: server.caBundle }, review, calling),
    /\?timeout=10s": context canceled$/,
  );
});

test("integers beyond JavaScript's precision are sent exactly", async () => {
  let sent = '';
  await using server = await startWebhookServer((request) => {
    sent = String(request['size']);
    return { allowed: true };
  });
  const caller = createWebhookCaller({ clock: systemClock, resolve: resolveNothing });
  const large = { ...review, request: { uid: 'u', size: 2n ** 60n } };
  await caller.call({ url: server.url, caBundle: server.caBundle }, large, options);
  assert.equal(sent, String(2 ** 60));
  caller.close();
});

test('a server without TLS is reported', async () => {
  const server = createServer((_, response) => response.end());
  server.listen(0, '127.0.0.1');
  await once(server, 'listening');
  const { port } = server.address() as AddressInfo;
  const caller = createWebhookCaller({ clock: systemClock, resolve: resolveNothing });
  await assert.rejects(
    caller.call({ url: `https://127.0.0.1:${port}/` }, review, options),
    /: http: server gave HTTP response to HTTPS client$/,
  );
  server.close();
});

const answers = [
  { status: 500, body: 'oh', fault: 'an error on the server ("oh") has prevented the request from succeeding' },
  { status: 404, body: '', fault: 'the server could not find the requested resource' },
  { status: 302, body: '', fault: 'the server responded with the status code 302 but did not return more information' },
  { status: 200, body: '{', fault: "couldn't get version/kind; json parse error: unexpected end of JSON input" },
];
for (const { status, body, fault } of answers) {
  test(`a response ${status} with "${body}" is a failure`, async () => {
    await using server = await startWebhookServer(() => ({ raw: { status, body } }));
    const caller = createWebhookCaller({ clock: systemClock, resolve: resolveNothing });
    await assert.rejects(caller.call({ url: server.url, caBundle: server.caBundle }, review, options), {
      message: fault,
    });
    caller.close();
  });
}

test('a Service is reached through one of its Pods, with the server name of the Service', async () => {
  await using server = await startWebhookServer(() => ({ allowed: true }), ['hook.system.svc']);
  const metadata = { name: 'hook', namespace: 'system' };
  const lookup = lookupOf(
    { kind: service, objects: [{ metadata, spec: { clusterIP: '192.0.2.1', ports: [{ name: 'https', port: 443 }] } }] },
    {
      kind: endpointSlice,
      objects: [
        {
          metadata: { name: 'hook-1', namespace: 'system', labels: { 'kubernetes.io/service-name': 'hook' } },
          endpoints: [
            { addresses: ['192.0.2.2'], conditions: { ready: false } },
            { addresses: ['127.0.0.1'], conditions: { ready: true } },
          ],
          ports: [{ name: 'https', port: server.port }],
        },
      ],
    },
  );
  const caller = createWebhookCaller({ clock: systemClock, resolve: createServiceResolver(lookup, seededRandom(1)) });
  const client = { service: { namespace: 'system', name: 'hook', path: '/x' }, caBundle: server.caBundle };
  await caller.call(client, review, options);
  assert.equal(server.requests[0]?.path, '/x?timeout=10s');
  caller.close();
});

const metadata = { name: 'hook', namespace: 'system' };
const ports = [{ port: 443 }];
const unreachable = [
  { name: 'does not exist', given: [], fault: 'service "hook" not found' },
  {
    name: 'has no such port',
    given: [{ kind: service, objects: [{ metadata, spec: { ports: [] } }] }],
    fault: 'no service port 443 found for service "hook"',
  },
  {
    name: 'has no endpoints',
    given: [
      { kind: service, objects: [{ metadata, spec: { clusterIP: '192.0.2.1', ports } }] },
      { kind: endpoints, objects: [{ metadata, subsets: [] }] },
    ],
    fault: 'no endpoints available for service "hook"',
  },
];
for (const { name, given, fault } of unreachable) {
  test(`the call fails if a Service ${name}`, async () => {
    const resolve = createServiceResolver(lookupOf(...given), seededRandom(1));
    const caller = createWebhookCaller({ clock: systemClock, resolve });
    await assert.rejects(caller.call({ service: { namespace: 'system', name: 'hook', path: '/x' } }, review, options), {
      message: `Post "https://hook.system.svc:443/x?timeout=10s": ${fault}`,
    });
  });
}
