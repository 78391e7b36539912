import assert from 'node:assert/strict';
import { createSocket } from 'node:dgram';
import { after, before, describe, test } from 'node:test';
import { seededRandom } from '@kruise/values/random';
import { systemClock } from '@kruise/values/system';
import { createForwarder, type Forwarder, type ForwardObserver, type ForwardRequest } from './forwarder.ts';
import { headerFlag, internetClass, parseName, recordType } from './message.ts';
import { startTestUpstream, type TestUpstream } from './testing/upstream-server.ts';

const random = seededRandom('forwarder');

function observer() {
  const events: string[] = [];
  const made: ForwardObserver = {
    cacheHit: (kind) => void events.push(`hit ${kind}`),
    cacheMiss: () => void events.push('miss'),
    servedStale: () => void events.push('stale'),
    response: (_server, code) => void events.push(`response ${code}`),
    healthCheckFailure: () => void events.push('health check failed'),
    allUnhealthy: () => void events.push('all unhealthy'),
    rejected: () => void events.push('rejected'),
  };
  return { events, observer: made };
}

function request(name: string, fields: Partial<ForwardRequest> = {}): ForwardRequest {
  return {
    question: { name: parseName(name), type: recordType.A, class: internetClass },
    flags: headerFlag.recursionDesired,
    edns: undefined,
    transport: 'udp',
    ...fields,
  };
}

/** Returns a port of the loopback interface without a listener. */
async function closedPort(): Promise<number> {
  const socket = createSocket('udp4');
  await new Promise<void>((resolve) => socket.bind(0, '127.0.0.1', resolve));
  const { port } = socket.address();
  await new Promise<void>((resolve) => socket.close(resolve));
  return port;
}

describe('a forwarder', () => {
  let upstream: TestUpstream;
  let other: TestUpstream;
  const forwarders: Forwarder[] = [];
  before(async () => {
    [upstream, other] = await Promise.all([startTestUpstream(), startTestUpstream()]);
  });
  after(async () => {
    for (const each of forwarders) each.close();
    await Promise.all([upstream.close(), other.close()]);
  });

  function create(
    ports: readonly number[],
    { maxConcurrent, staleSeconds = 0 }: { readonly maxConcurrent?: number; readonly staleSeconds?: number } = {},
  ) {
    const { events, observer: observing } = observer();
    const forwarder = createForwarder({
      clock: systemClock,
      random,
      randomId: () => Math.floor(random.next() * 0x10000),
      cache: { maxSeconds: 30, staleSeconds },
      observer: observing,
      ...(maxConcurrent === undefined ? {} : { maxConcurrent }),
    });
    forwarder.setUpstreams([{ domain: [], servers: ports.map((port) => ({ host: '127.0.0.1', port })) }]);
    forwarders.push(forwarder);
    return { forwarder, events };
  }

  test('asks once, and answers from the cache then, with the time that remains', async () => {
    const { forwarder, events } = create([upstream.port]);
    const first = await forwarder.forward(request('host-1.example.org'));
    assert.equal(first.outcome === 'response' && first.answers.length, 2);
    assert.equal(first.outcome === 'response' && first.answers[0]!.ttl, 30);
    const again = forwarder.forward(request('HOST-1.example.org'));
    assert.ok(!(again instanceof Promise));
    assert.equal(again.outcome === 'response' && again.source, 'cache');
    assert.deepEqual(events, ['miss', 'response 0', 'hit success']);
  });

  test('shares one query between equal questions', async () => {
    const { forwarder } = create([upstream.port]);
    const before = upstream.asked.length;
    const results = await Promise.all(
      Array.from({ length: 50 }, () => forwarder.forward(request('host-2.example.org'))),
    );
    assert.ok(results.every(({ outcome }) => outcome === 'response'));
    assert.equal(upstream.asked.length, before + 1);
  });

  test('asks another server if one is closed', async () => {
    const { forwarder } = create([await closedPort(), upstream.port]);
    for (let index = 0; index < 10; index++) {
      const { outcome } = await forwarder.forward(request(`host-${index}.second.org`));
      assert.equal(outcome, 'response');
    }
  });

  test('fails if all servers are closed', async () => {
    const { forwarder } = create([await closedPort()]);
    assert.deepEqual(await forwarder.forward(request('host-1.example.org')), { outcome: 'failure', code: 2 });
  });

  test('refuses more concurrent questions than its limit', async () => {
    const { forwarder, events } = create([upstream.port], { maxConcurrent: 2 });
    const results = await Promise.all([1, 2, 3].map((index) => forwarder.forward(request(`host-${index}.third.org`))));
    assert.deepEqual(
      results.map((each) => (each.outcome === 'failure' ? each.code : each.outcome)),
      ['response', 'response', 5],
    );
    assert.ok(events.includes('rejected'));
  });

  test('asks over TCP for a client that uses TCP', async () => {
    const { forwarder } = create([upstream.port]);
    const large = await forwarder.forward(request('large-1.example.org'));
    assert.ok(large.outcome === 'response' && (large.flags & headerFlag.truncated) !== 0);
    const whole = await forwarder.forward(
      request('large-1.example.org', {
        transport: 'tcp',
        edns: { size: 4096, flags: 0, version: 0, options: new Uint8Array(0) },
      }),
    );
    assert.equal(whole.outcome === 'response' && whole.answers.length, 60);
  });

  test('asks the servers of the longest stub domain, and replaces servers on reload', async () => {
    const { forwarder } = create([upstream.port]);
    const local = (port: number) => [{ host: '127.0.0.1', port }];
    forwarder.setUpstreams([
      { domain: [], servers: local(upstream.port) },
      { domain: parseName('acme.test'), servers: local(other.port) },
      { domain: parseName('closed.acme.test'), servers: local(await closedPort()) },
    ]);
    await forwarder.forward(request('host-1.ACME.test'));
    assert.ok(other.asked.includes('host-1.ACME.test') && !upstream.asked.includes('host-1.ACME.test'));
    assert.equal((await forwarder.forward(request('host-1.closed.acme.test'))).outcome, 'failure');
    forwarder.setUpstreams([{ domain: [], servers: local(upstream.port) }]);
    await forwarder.forward(request('host-1.ACME.test'));
    assert.ok(upstream.asked.includes('host-1.ACME.test'));
  });

  test('without servers fails at once', () => {
    const { forwarder } = create([]);
    assert.equal(forwarder.hasUpstreams, false);
    assert.deepEqual(forwarder.forward(request('example.org')), { outcome: 'failure', code: 2 });
  });
});
