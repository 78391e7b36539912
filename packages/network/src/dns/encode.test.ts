import assert from 'node:assert/strict';
import { test } from 'node:test';
import fc from 'fast-check';
import { type Message, readResponse } from './decode.ts';
import { createEncoder } from './encode.ts';
import { headerFlag, type Name, noRecords, type RecordData, type ResourceRecord, recordType } from './message.ts';

const encoder = createEncoder();

const anyLabel = fc
  .array(fc.integer({ min: 0, max: 255 }), { minLength: 1, maxLength: 12 })
  .map((bytes) => String.fromCharCode(...bytes));
/** Names share labels, so that they are compressed. */
const anyName: fc.Arbitrary<Name> = fc.array(fc.oneof(fc.constantFrom('a', 'b', 'svc', 'local'), anyLabel), {
  maxLength: 6,
});
const plain = { noNullPrototype: true } as const;
const uint16 = fc.nat(0xffff);
const uint32 = fc.nat(0xffff_ffff);
const bytesOf = (length: fc.ArrayConstraints) =>
  fc.array(fc.nat(255), length).map((bytes): RecordData => ({ kind: 'bytes', bytes: Uint8Array.from(bytes) }));
const anyData: fc.Arbitrary<{ readonly type: number; readonly data: RecordData }> = fc.oneof(
  bytesOf({ minLength: 4, maxLength: 4 }).map((data) => ({ type: recordType.A, data })),
  bytesOf({ minLength: 16, maxLength: 16 }).map((data) => ({ type: recordType.AAAA, data })),
  bytesOf({ maxLength: 300 }).map((data) => ({ type: recordType.TXT, data })),
  anyName.map((name) => ({ type: recordType.CNAME, data: { kind: 'name', name } as const })),
  fc
    .record({ kind: fc.constant('mx' as const), preference: uint16, name: anyName }, plain)
    .map((data) => ({ type: recordType.MX, data })),
  fc
    .record(
      { kind: fc.constant('srv' as const), priority: uint16, weight: uint16, port: uint16, target: anyName },
      plain,
    )
    .map((data) => ({ type: recordType.SRV, data })),
  fc
    .record(
      {
        kind: fc.constant('soa' as const),
        primary: anyName,
        mailbox: anyName,
        serial: uint32,
        refresh: uint32,
        retry: uint32,
        expire: uint32,
        minimum: uint32,
      },
      plain,
    )
    .map((data) => ({ type: recordType.SOA, data })),
);
const anyRecord: fc.Arbitrary<ResourceRecord> = fc
  .record({ name: anyName, ttl: uint32, class: uint16, content: anyData }, plain)
  .map(({ content, ...rest }) => ({ ...rest, ...content }));
const anyRecords = fc.array(anyRecord, { maxLength: 8 });
const anyMessage = fc.record(
  {
    question: fc.record({ name: anyName, type: uint16, class: uint16 }, plain),
    answers: anyRecords,
    authority: anyRecords,
    additional: anyRecords,
  },
  plain,
);

const withoutHeader = ({ id: _id, flags: _flags, ...rest }: Message) => rest;

test('a response that is written reads as before', () => {
  fc.assert(
    fc.property(anyMessage, ({ question, ...sections }) => {
      const { bytes, isTruncated } = encoder.encode(question, headerFlag.response, sections);
      assert.equal(isTruncated, false);
      const read = readResponse(bytes, bytes.length);
      assert.deepEqual(read && withoutHeader(read), { question, ...sections });
    }),
    { numRuns: 300 },
  );
});

test('a truncated response keeps to its limit, and has the first records whole', () => {
  fc.assert(
    fc.property(anyMessage, fc.integer({ min: 200, max: 600 }), ({ question, ...sections }, limit) => {
      const { bytes, isTruncated } = encoder.encode(question, headerFlag.response, sections, limit);
      assert.ok(bytes.length <= limit);
      const read = readResponse(bytes, bytes.length)!;
      const kept = [...read.answers, ...read.authority, ...read.additional];
      const all = [...sections.answers, ...sections.authority, ...sections.additional];
      assert.deepEqual(kept, all.slice(0, kept.length));
      assert.equal(isTruncated, kept.length < all.length);
      assert.equal((read.flags & headerFlag.truncated) !== 0, isTruncated);
    }),
    { numRuns: 300 },
  );
});

test('names below that of the question are compressed, except the targets of SRV records', () => {
  const name = ['web', 'default', 'svc', 'cluster', 'local'];
  const question = { name, type: recordType.A, class: 1 };
  const address: ResourceRecord = {
    name,
    type: recordType.A,
    class: 1,
    ttl: 30,
    data: { kind: 'bytes', bytes: Uint8Array.from([10, 96, 0, 7]) },
  };
  const plain = encoder.encode(question, headerFlag.response, noRecords).bytes.length;
  assert.equal(
    encoder.encode(question, headerFlag.response, { ...noRecords, answers: [address] }).bytes.length,
    plain + 16,
  );
  const srv: ResourceRecord = {
    ...address,
    type: recordType.SRV,
    data: { kind: 'srv', priority: 0, weight: 1, port: 1, target: name },
  };
  assert.equal(
    encoder.encode(question, headerFlag.response, { ...noRecords, answers: [srv] }).bytes.length,
    plain + 18 + 'web.default.svc.cluster.local'.length + 2,
  );
});
