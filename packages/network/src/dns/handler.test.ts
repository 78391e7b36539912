import assert from 'node:assert/strict';
import { describe, test } from 'node:test';
import type { Namespace } from '@kruise/api/core/namespace';
import type { Service } from '@kruise/api/core/service';
import type { EndpointSlice } from '@kruise/api/discovery/endpointslice';
import { type Key, keyOf } from '@kruise/client/object-key';
import { createObjectStore } from '@kruise/client/object-store';
import { pick, seededRandom } from '@kruise/values/random';
import { defaultReverseZones } from './answer.ts';
import { clusterReader } from './cluster.ts';
import { readResponse, readUint16 } from './decode.ts';
import type { Forwarded, Forwarder, ForwardRequest } from './forwarder.ts';
import { type Client, createQueryHandler, failureResponse } from './handler.ts';
import { createMemo, defaultMemoLimits } from './memo.ts';
import { headerFlag, noRecords, parseName, recordType } from './message.ts';
import { describeResponse } from './testing/describe-response.ts';
import { encodeQuestion, generateQuestion, generateWorld } from './testing/world.ts';

const udp: Client = { transport: 'udp', family: 4 };
const tcp: Client = { transport: 'tcp', family: 4 };

function forwarder(forward: (request: ForwardRequest) => Forwarded, hasUpstreams = true): Forwarder {
  return {
    forward,
    hasUpstreams,
    pendingCount: 0,
    setUpstreams() {},
    probe: async () => {},
    cacheSize: () => 0,
    cacheEvictions: () => 0,
    close() {},
  };
}

const failing = (hasUpstreams: boolean) => forwarder(() => ({ outcome: 'failure', code: 2 }), hasUpstreams);

function setup(
  given: { readonly memoSlots?: number; readonly forwarder?: Forwarder; readonly hasSynced?: boolean } = {},
) {
  const stores = {
    services: createObjectStore<Service>(),
    slices: createObjectStore<EndpointSlice>(),
    namespaces: createObjectStore<Namespace>(),
  };
  const zones = {
    domains: ['cluster.local', 'second.test'].map(parseName),
    reverseZones: defaultReverseZones,
    ttlSeconds: 30,
    localAddresses: ['192.0.2.53'],
  };
  const handler = createQueryHandler({
    cluster: clusterReader(stores.services, stores.slices, stores.namespaces),
    zones: () => zones,
    hasSynced: () => given.hasSynced ?? true,
    forwarder: given.forwarder ?? failing(true),
    random: seededRandom(1),
    memo: { ...defaultMemoLimits, slots: given.memoSlots ?? defaultMemoLimits.slots },
  });
  const world = generateWorld(seededRandom(3), { count: 200, withAddresses: true });
  for (const each of world.namespaces) stores.namespaces.set(keyOf(each), each);
  for (const each of world.services) stores.services.set(keyOf(each), each);
  for (const each of world.slices) stores.slices.set(keyOf(each), each);
  return { handler, stores, world };
}

/** Writes a plain query; `edns` is the size that the client accepts. */
function query(
  name: string,
  type: number,
  { edns, id = 7 }: { readonly edns?: number; readonly id?: number } = {},
): Buffer {
  const labels = parseName(name).flatMap((label) => [label.length, ...Buffer.from(label, 'latin1')]);
  const record = edns === undefined ? [] : [0, 0, 41, edns >> 8, edns & 255, 0, 0, 0, 0, 0, 0];
  return Buffer.from([
    id >> 8,
    id & 255,
    1,
    0,
    0,
    1,
    0,
    0,
    0,
    0,
    0,
    edns === undefined ? 0 : 1,
    ...labels,
    0,
    type >> 8,
    type & 255,
    0,
    1,
    ...record,
  ]);
}

const service = (name: string, spec: Service['spec']): Service => ({
  apiVersion: 'v1',
  kind: 'Service',
  metadata: { name, namespace: 'default' },
  ...(spec ? { spec } : {}),
});
const withAddress = (name: string, clusterIP: string) =>
  service(name, { clusterIP, clusterIPs: [clusterIP], ports: [{ port: 80, protocol: 'TCP' }] });

async function codeOf(response: Uint8Array | undefined | Promise<Uint8Array | undefined>): Promise<number | undefined> {
  const bytes = await response;
  return bytes && bytes[3]! & 0xf;
}

test('an answer from the memo equals a newly made one', async () => {
  const { handler, world } = setup();
  const fresh = setup({ memoSlots: 1 });
  const random = seededRandom('memo');
  for (let index = 0; index < 4000; index++) {
    const message = encodeQuestion(random, index, generateQuestion(random, world));
    const client = random.next() < 0.1 ? tcp : udp;
    await handler.handle(message, message.length, client);
    const again = describeResponse(await handler.handle(message, message.length, client));
    // Another question overwrites the only slot.
    const other = query('x.default.svc.cluster.local', 1, { id: index });
    await fresh.handler.handle(other, other.length, udp);
    assert.equal(again.text, describeResponse(await fresh.handler.handle(message, message.length, client)).text);
  }
});

describe('a changed object', () => {
  test('changes the answers of its Namespace', () => {
    const { handler, stores } = setup();
    const message = query('late.default.svc.cluster.local', recordType.A);
    const addressOf = () => {
      const response = handler.handle(message, message.length, udp) as Uint8Array;
      return readResponse(response, response.length)!.answers.map(({ data }) =>
        data.kind === 'bytes' ? [...data.bytes].join('.') : '',
      );
    };
    const set = (address: string) => {
      const object = withAddress('late', address);
      stores.services.set(keyOf(object), object);
      handler.onObjectChange('default');
    };
    assert.deepEqual(addressOf(), []);
    set('10.96.9.1');
    assert.deepEqual(addressOf(), ['10.96.9.1']);
    set('10.96.9.2');
    assert.deepEqual(addressOf(), ['10.96.9.2']);
    stores.services.remove(keyOf(withAddress('late', '10.96.9.2')));
    handler.onObjectChange('default');
    assert.deepEqual(addressOf(), []);
  });

  test('a deleted Namespace has no names, and a created one has', () => {
    const { handler, stores } = setup();
    const message = query('fresh.svc.cluster.local', recordType.A);
    const namespace: Namespace = { apiVersion: 'v1', kind: 'Namespace', metadata: { name: 'fresh' } };
    const code = () => (handler.handle(message, message.length, udp) as Uint8Array)[3]! & 0xf;
    assert.equal(code(), 3);
    stores.namespaces.set(keyOf(namespace), namespace);
    handler.onNamespaceChange('fresh');
    assert.equal(code(), 0);
    stores.namespaces.remove(keyOf(namespace) as Key);
    handler.onNamespaceChange('fresh');
    assert.equal(code(), 3);
  });

  test('a target of an alias changes the answer of the alias', () => {
    const { handler, stores } = setup();
    const alias: Service = {
      ...service('to-web', { type: 'ExternalName', externalName: 'target.team-a.svc.cluster.local' }),
    };
    stores.services.set(keyOf(alias), alias);
    const message = query('to-web.default.svc.cluster.local', recordType.A);
    const count = () => readUint16(handler.handle(message, message.length, udp) as Uint8Array, 6);
    assert.equal(count(), 0);
    const target = { ...withAddress('target', '10.96.9.3'), metadata: { name: 'target', namespace: 'team-a' } };
    stores.services.set(keyOf(target), target);
    handler.onObjectChange('team-a');
    assert.equal(count(), 2);
  });
});

test('a negative answer has the newest serial number', () => {
  const { handler } = setup();
  const message = query('none.default.svc.cluster.local', recordType.A);
  const serial = () => {
    const response = handler.handle(message, message.length, udp) as Uint8Array;
    const data = readResponse(response, response.length)!.authority[0]!.data;
    return data.kind === 'soa' ? data.serial : undefined;
  };
  handler.setSerial(100);
  assert.equal(serial(), 100);
  handler.setSerial(200);
  assert.equal(serial(), 200);
});

describe('a large answer', () => {
  const { handler, stores } = setup();
  const big = service('big', { clusterIP: 'None', clusterIPs: ['None'], ports: [{ port: 80, protocol: 'TCP' }] });
  stores.services.set(keyOf(big), big);
  const slice: EndpointSlice = {
    apiVersion: 'discovery.k8s.io/v1',
    kind: 'EndpointSlice',
    metadata: { name: 'big-1', namespace: 'default', labels: { 'kubernetes.io/service-name': 'big' } },
    addressType: 'IPv4',
    endpoints: Array.from({ length: 200 }, (_, index) => ({ addresses: [`10.244.1.${index}`] })),
    ports: [{ port: 80, protocol: 'TCP' }],
  };
  stores.slices.set(keyOf(slice), slice);
  const name = 'big.default.svc.cluster.local';
  const ask = (message: Buffer, client = udp) => handler.handle(message, message.length, client) as Uint8Array;

  for (const [title, edns, limit] of [
    ['without EDNS', undefined, 512],
    ['of a client that accepts less than 512 bytes', 100, 512],
    ['of a client that accepts 1232 bytes', 1232, 1232],
  ] as const) {
    test(`${title} is truncated at ${limit} bytes`, () => {
      for (let repeat = 0; repeat < 3; repeat++) {
        const response = ask(query(name, recordType.A, edns === undefined ? {} : { edns }));
        assert.ok(response.length <= limit && response.length > limit - 16);
        assert.notEqual(readUint16(response, 2) & headerFlag.truncated, 0);
      }
    });
  }

  test('is whole over TCP, and for clients that accept it', () => {
    for (const response of [ask(query(name, recordType.A), tcp), ask(query(name, recordType.A, { edns: 4096 }))]) {
      assert.equal(readUint16(response, 6), 200);
      assert.equal(readUint16(response, 2) & headerFlag.truncated, 0);
    }
  });

  test('has each address once, and each of them first at times', () => {
    const firsts = new Set<number>();
    for (let repeat = 0; repeat < 2000; repeat++) {
      const response = ask(query(name, recordType.A), tcp);
      const last = readResponse(response, response.length)!.answers.map(({ data }) =>
        data.kind === 'bytes' ? data.bytes[3]! : -1,
      );
      firsts.add(last[0]!);
      if (repeat % 500 === 0) assert.equal(new Set(last).size, 200);
    }
    assert.ok(firsts.size > 150);
  });
});

describe('a message that is no query', () => {
  const { handler } = setup();
  const good = query('web.default.svc.cluster.local', 1);
  const changed = (change: (bytes: Buffer) => void) => {
    const bytes = Buffer.from(good);
    change(bytes);
    return bytes;
  };
  const cases: readonly (readonly [string, Buffer, number | undefined])[] = [
    ['is not answered if it is shorter than a header', good.subarray(0, 11), undefined],
    ['is not answered if it is a response', changed((bytes) => bytes.writeUInt8(0x80, 2)), undefined],
    ['is answered with NOTIMP if its opcode is unknown', changed((bytes) => bytes.writeUInt8(0x28, 2)), 4],
    ['is answered with FORMERR if it has two questions', changed((bytes) => bytes.writeUInt16BE(2, 4)), 1],
    [
      'is answered with FORMERR if its name points to itself',
      Buffer.concat([good.subarray(0, 12), Buffer.from([0xc0, 12, 0, 1, 0, 1])]),
      1,
    ],
    ['is answered with FORMERR if a label exceeds the message', good.subarray(0, 20), 1],
    ['is answered with SERVFAIL if it ends after its header', good.subarray(0, 12), 2],
  ];
  for (const [title, message, code] of cases) {
    test(title, async () => {
      assert.equal(await codeOf(handler.handle(message, message.length, udp)), code);
    });
  }

  test('is answered with BADVERS if its version of EDNS is unknown', () => {
    const message = query('web.default.svc.cluster.local', 1, { edns: 1232 });
    message.writeUInt8(1, message.length - 5);
    const response = handler.handle(message, message.length, udp) as Uint8Array;
    assert.deepEqual([...response.subarray(-11)], [0, 0, 41, 0, 0, 1, 0, 0, 0, 0, 0]);
  });
});

test('another class is refused without upstream servers', async () => {
  const message = query('web.default.svc.cluster.local', 1);
  message.writeUInt16BE(3, message.length - 2);
  const closed = setup({ forwarder: failing(false) });
  assert.equal(await codeOf(closed.handler.handle(message, message.length, udp)), 5);
});

test('an unknown name is a failure until the caches are complete', async () => {
  const { handler } = setup({ hasSynced: false });
  const message = query('none.default.svc.cluster.local', 1);
  assert.equal(await codeOf(handler.handle(message, message.length, udp)), 2);
});

test('the records of an external name follow its CNAME record', async () => {
  const addresses = [
    {
      name: parseName('docs.example.org'),
      type: 1,
      class: 1,
      ttl: 5,
      data: { kind: 'bytes', bytes: Uint8Array.from([192, 0, 2, 1]) },
    },
  ] as const;
  const { handler, stores } = setup({
    forwarder: forwarder(({ question }) => ({
      ...noRecords,
      outcome: 'response',
      source: 'forward',
      flags: headerFlag.recursionAvailable,
      answers: question.name.join('.') === 'docs.example.org' ? addresses : [],
    })),
  });
  const docs = service('docs', { type: 'ExternalName', externalName: 'docs.example.org' });
  stores.services.set(keyOf(docs), docs);
  const message = query('docs.default.svc.cluster.local', 1);
  const response = (await handler.handle(message, message.length, udp))!;
  const { answers, flags } = readResponse(response, response.length)!;
  assert.deepEqual(
    answers.map(({ type }) => type),
    [recordType.CNAME, recordType.A],
  );
  assert.equal(flags & headerFlag.recursionAvailable, 0);
});

test('a hundred thousand hostile messages are answered or ignored, in bounded memory', async () => {
  const { handler, world } = setup();
  const random = seededRandom('hostile');
  const memory = () => process.memoryUsage().heapUsed;
  const before = memory();
  const pending: Promise<unknown>[] = [];
  for (let index = 0; index < 100_000; index++) {
    let message: Buffer = encodeQuestion(random, index & 0xffff, generateQuestion(random, world));
    const kind = random.next();
    if (kind < 0.6) {
      for (let change = Math.ceil(random.next() * 6); change > 0; change--) {
        message[Math.floor(random.next() * message.length)] = Math.floor(random.next() * 256);
      }
    } else if (kind < 0.8) {
      message = Buffer.from(
        Array.from({ length: Math.floor(random.next() * 100) }, () => Math.floor(random.next() * 256)),
      );
    } else {
      message = Buffer.concat([
        message.subarray(0, 12 + Math.floor(random.next() * (message.length - 12))),
        Buffer.from([0xc0, pick(random, [0, 12, 13, 255])]),
      ]);
    }
    const response = handler.handle(message, message.length, random.next() < 0.2 ? tcp : udp);
    if (response instanceof Promise) pending.push(response.then((bytes) => assert.ok(bytes)));
    else if (response) {
      assert.ok(response.length >= 12 && (response[2]! & 0x80) !== 0);
      assert.equal(readUint16(response, 0), readUint16(message, 0));
    }
    if (pending.length >= 1000) await Promise.all(pending.splice(0));
  }
  await Promise.all(pending);
  assert.ok(memory() - before < 200 * 1024 * 1024, `${(memory() - before) >> 20} MiB more`);
});

test('the memo keeps within its size, whatever the questions', () => {
  const memo = createMemo({ slots: 1024, maxBytes: 1024 * 1024 });
  const random = seededRandom('memo size');
  const state = { current: 0 };
  for (let index = 0; index < 5000; index++) {
    const bytes = new Uint8Array(Math.floor(random.next() * 60_000));
    memo.add({
      question: new Uint8Array(40),
      hash: Math.floor(random.next() * 2 ** 32),
      template: {
        bytes,
        isTruncated: false,
        ttlOffsets: [],
        serialOffset: -1,
        addresses: { offset: 0, stride: 0, count: 0, size: 0, owner: [] },
      },
      code: 0,
      sections: noRecords,
      type: 1,
      objects: state,
      generation: 0,
    });
    assert.ok(memo.sizeBytes <= 1024 * 1024);
  }
});

test('a failed query is answered with its ID and SERVFAIL', () => {
  const response = failureResponse(query('a.test', 1, { id: 0x1234 }));
  assert.deepEqual([...response.subarray(0, 4)], [0x12, 0x34, 0x81, 2]);
  assert.equal(response.length, 12);
});
