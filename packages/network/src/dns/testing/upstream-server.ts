/** An upstream server for tests: answers by the first label of a name, over UDP and TCP. */
import { createSocket } from 'node:dgram';
import { createServer } from 'node:net';
import { readQuery } from '../decode.ts';
import { createEncoder } from '../encode.ts';
import {
  headerFlag,
  internetClass,
  noRecords,
  type Question,
  type ResourceRecord,
  recordType,
  responseCode,
  type Sections,
} from '../message.ts';

export type TestUpstream = {
  readonly port: number;
  /** Names that were asked for, in order. */
  readonly asked: readonly string[];
  /** While set, queries are not answered. */
  isSilent: boolean;
  close(): Promise<void>;
};

/**
 * Starts a server on the loopback interface. `host-…` has addresses, `alias-…` is a CNAME of `host-0.example.org`,
 * `large-…` has more addresses than fit into 512 bytes, `broken-…` fails, and all other names do not exist.
 */
export async function startTestUpstream(): Promise<TestUpstream> {
  const encoder = createEncoder();
  const asked: string[] = [];
  const server = createSocket('udp4');
  const tcp = createServer((socket) => {
    socket.on('error', () => socket.destroy());
    socket.on('data', (chunk: Buffer) => {
      const response = answer(chunk.subarray(2), 65_535);
      if (!response) return;
      const prefix = Buffer.alloc(2);
      prefix.writeUInt16BE(response.length);
      socket.write(Buffer.concat([prefix, response]));
    });
  });
  const answer = (message: Buffer, limit: number): Buffer | undefined => {
    const read = readQuery(message, message.length);
    if (read.outcome !== 'query' || !read.query.question || upstream.isSilent) return undefined;
    const { id, flags, question, edns } = read.query;
    asked.push(question.name.join('.'));
    const { code, ...sections } = answerOf(question);
    const all = headerFlag.response | headerFlag.recursionAvailable | (flags & echoedFlags) | code;
    const { bytes } = encoder.encode(question, all, sections, Math.min(limit, Math.max(512, edns?.size ?? 512)) - 11);
    const response = Buffer.from(bytes);
    response.writeUInt16BE(id, 0);
    return response;
  };
  server.on('message', (message, remote) => {
    const response = answer(message, 4096);
    if (response) server.send(response, remote.port, remote.address);
  });
  await new Promise<void>((resolve) => server.bind(0, '127.0.0.1', resolve));
  const { port } = server.address();
  await new Promise<void>((resolve) => tcp.listen(port, '127.0.0.1', resolve));
  const upstream: TestUpstream = {
    port,
    asked,
    isSilent: false,
    async close() {
      tcp.close();
      await new Promise<void>((resolve) => server.close(resolve));
    },
  };
  return upstream;
}

/** Opcode, recursion desired and checking disabled, which a response repeats. */
const echoedFlags = 0x7800 | headerFlag.recursionDesired | headerFlag.checkingDisabled;

function answerOf({ name, type }: Question): Sections & { readonly code: number } {
  const record = (fields: Pick<ResourceRecord, 'name' | 'type' | 'data'>): ResourceRecord => ({
    ...fields,
    class: internetClass,
    ttl: 60,
  });
  const [kind] = (name[0] ?? '').toLowerCase().split('-');
  const addresses = (owner: readonly string[], count: number) =>
    type === recordType.A
      ? Array.from({ length: count }, (_, index) =>
          record({ name: owner, type, data: { kind: 'bytes', bytes: Uint8Array.from([192, 0, 2, index]) } }),
        )
      : [];
  const denial = [
    record({
      name: name.slice(-2),
      type: recordType.SOA,
      data: {
        kind: 'soa',
        primary: ['ns', ...name.slice(-2)],
        mailbox: ['admin', ...name.slice(-2)],
        serial: 7,
        refresh: 60,
        retry: 60,
        expire: 60,
        minimum: 60,
      },
    }),
  ];
  const success = (answers: readonly ResourceRecord[]) => ({
    ...noRecords,
    code: responseCode.success,
    answers,
    authority: answers.length === 0 ? denial : [],
  });
  if (kind === 'host') return success(addresses(name, 2));
  if (kind === 'large') return success(addresses(name, 60));
  if (kind === 'broken') return { ...noRecords, code: responseCode.serverFailure };
  if (kind !== 'alias') return { ...noRecords, code: responseCode.nameError, authority: denial };
  const target = ['host-0', 'example', 'org'];
  const alias = record({ name, type: recordType.CNAME, data: { kind: 'name', name: target } });
  return success([alias, ...addresses(target, 2)]);
}
