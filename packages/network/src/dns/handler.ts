/**
 * Turns queries into responses: from the memo, from the objects of the cluster, or from upstream servers. It knows
 * messages and no sockets.
 */
import type { Random } from '@kruise/values/random';
import { answerFromCluster, type ClusterAnswer, type ClusterZones, type Dependency } from './answer.ts';
import type { ClusterReader } from './cluster.ts';
import { headerSize, type Query, readQuery } from './decode.ts';
import { createEncoder, maxMessageSize, type Template } from './encode.ts';
import type { Forwarder } from './forwarder.ts';
import { createMemo, type Generation, type MemoEntry, type MemoLimits } from './memo.ts';
import {
  type Edns,
  headerFlag,
  internetClass,
  noRecords,
  opcodeOf,
  type Question,
  queryOpcode,
  type ResourceRecord,
  recordType,
  responseCode,
  type Sections,
} from './message.ts';

/** Where a response comes from, named as the plugins of CoreDNS. */
export type ResponseSource = 'kubernetes' | 'forward' | 'cache' | '';

/** Transport and address family of a query. */
export type Client = { readonly transport: 'udp' | 'tcp'; readonly family: 4 | 6 };

/** Receives every response, for metrics. */
export type QueryObserver = (
  client: Client,
  query: { readonly type: number; readonly sizeBytes: number; readonly isDnssecOk: boolean },
  response: { readonly code: number; readonly sizeBytes: number; readonly source: ResponseSource },
) => void;

export type HandlerOptions = {
  readonly cluster: ClusterReader;
  readonly zones: () => ClusterZones;
  /** Reports whether the caches are complete. Until then, an unknown name is a failure. */
  readonly hasSynced: () => boolean;
  readonly forwarder: Forwarder;
  readonly random: Random;
  readonly observe?: QueryObserver;
  /** Is called for each question that is forwarded; for the detection of loops. */
  readonly onForward?: (question: Question) => void;
  readonly memo?: MemoLimits;
};

export type Response = Uint8Array | undefined;

export type QueryHandler = {
  /** Returns the response to a message: at once, or later if an upstream server is asked; undefined for none. */
  handle(message: Uint8Array, length: number, client: Client): Response | Promise<Response>;
  /** Marks the answers that depend on a Namespace, or on the set of Namespaces, as stale. */
  onObjectChange(namespace: string): void;
  onNamespaceChange(name: string): void;
  /** Marks all answers as stale, after a change of the zones. */
  onZonesChange(): void;
  /** Sets the serial number of the zones: the time of the last change, in seconds. */
  setSerial(serial: number): void;
};

/** Size of the smallest UDP message that every client accepts. */
const minUdpSize = 512;
const ednsHeaderSize = 11;
const dnssecOk = 0x8000;
/** Options that are returned to the client: NSID, EXPIRE, COOKIE, TCP-KEEPALIVE and PADDING. */
const returnedOptions: ReadonlySet<number> = new Set([3, 9, 10, 11, 12]);
/** Maximum number of names outside of a zone that an ExternalName may lead through. */
const maxFollowed = 8;

type Result = Sections & {
  readonly code: number;
  /** Flags beside those that every response has. */
  readonly flags: number;
  readonly source: ResponseSource;
};

/** Creates a handler with an empty memo. */
export function createQueryHandler(options: HandlerOptions): QueryHandler {
  const { cluster, forwarder, random, hasSynced, zones, observe = () => {}, onForward = () => {} } = options;
  const encoder = createEncoder();
  const memo = createMemo(options.memo);
  const fast: FastQuery = { end: 0, hash: 0, type: 0, edns: undefined };
  const fastEdns = { size: 0, version: 0, flags: 0, options: new Uint8Array(0) };
  let serial = 0;

  const zoneState: Generation = { current: 0 };
  const namespaceSet: Generation = { current: 0 };
  const wholeCluster: Generation = { current: 0 };
  const namespaceStates = new Map<string, Generation>();

  function generationOf(dependency: Dependency): Generation {
    switch (dependency.scope) {
      case 'nothing':
        return zoneState;
      case 'namespaces':
        return namespaceSet;
      case 'cluster':
        return wholeCluster;
      case 'namespace': {
        let state = namespaceStates.get(dependency.namespace);
        if (!state) namespaceStates.set(dependency.namespace, (state = { current: 0 }));
        return state;
      }
    }
  }

  function report(
    client: Client,
    length: number,
    type: number,
    edns: Edns | undefined,
    bytes: Uint8Array,
    source: ResponseSource,
  ) {
    observe(
      client,
      { type, sizeBytes: length, isDnssecOk: edns !== undefined && (edns.flags & dnssecOk) !== 0 },
      { code: bytes[3]! & 0xf, sizeBytes: bytes.length, source },
    );
    return bytes;
  }

  /** Answers from the memo. The message is one that `scan` accepted. */
  function fromMemo(message: Uint8Array, length: number, client: Client): Response {
    const { edns } = fast;
    const entry = memo.find(message, fast.end, fast.hash);
    if (!entry) return undefined;
    const { template, type } = entry;
    if (template.bytes.length + (edns ? ednsHeaderSize : 0) > sizeLimit(client, edns)) {
      const read = readQuery(message, length);
      if (read.outcome !== 'query') return undefined;
      const result: Result = {
        ...entry.sections,
        code: entry.code,
        flags: headerFlag.authoritative,
        source: 'kubernetes',
      };
      return report(client, length, type, edns, encodeResult(read.query, result, client), 'kubernetes');
    }
    if (template.addresses.count > 1) exchangeAddresses(template, random);
    const bytes = finish(template, message[0]!, message[1]!, message[2]!, message[3]!, edns, serial);
    return report(client, length, type, edns, bytes, 'kubernetes');
  }

  function handleQuery(
    query: Query,
    message: Uint8Array,
    length: number,
    client: Client,
  ): Response | Promise<Response> {
    const { question, edns } = query;
    const type = question?.type ?? 0;
    const send = (result: Result) =>
      report(client, length, type, edns, encodeResult(query, result, client), result.source);
    if (!question) return send(failure(responseCode.serverFailure));
    // As in CoreDNS: servers that forward answer questions of other classes like those of the internet.
    if (question.class !== internetClass && !forwarder.hasUpstreams) return send(failure(responseCode.refused));
    if (edns && edns.version !== 0) {
      return report(
        client,
        length,
        type,
        edns,
        badVersion(query, encoder.encode(question, headerFlag.response, noRecords)),
        '',
      );
    }
    const isRepeatable = scan(message, length, fast, fastEdns) && opcodeOf(query.flags) === queryOpcode;
    const hash = fast.hash;
    const end = fast.end;
    const outcome = answerFromCluster(question, cluster, zones(), serial);
    if (outcome.outcome === 'refuse') return send(failure(responseCode.refused));
    if (outcome.outcome === 'pass') return forward(query, question, client).then(send);
    if (outcome.follow) return followAlias(outcome, query, client, 0).then(send);
    if (!hasSynced()) {
      const code = outcome.code === responseCode.nameError ? responseCode.serverFailure : outcome.code;
      return send(resultOf({ ...outcome, code }));
    }
    if (isRepeatable) {
      const flags = headerFlag.response | headerFlag.authoritative | outcome.code;
      const objects = generationOf(outcome.dependsOn);
      const entry: MemoEntry = {
        question: message.slice(headerSize, end),
        hash,
        template: encoder.encode(question, flags, outcome),
        code: outcome.code,
        sections: { answers: outcome.answers, authority: outcome.authority, additional: outcome.additional },
        type,
        objects,
        generation: objects.current,
      };
      memo.add(entry);
    }
    return send(resultOf(outcome));
  }

  async function forward(query: Query, question: Question, { transport }: Client): Promise<Result> {
    onForward(question);
    const { flags, edns } = query;
    const result = await forwarder.forward({ question, flags, edns, transport });
    if (result.outcome === 'failure') return failure(result.code);
    return { ...result, code: result.flags & 0xf, flags: result.flags & ~0xf };
  }

  /** Appends the records of the name that an ExternalName leads to. As in CoreDNS, a name without records is no error. */
  async function followAlias(answer: ClusterAnswer, query: Query, client: Client, depth: number): Promise<Result> {
    const result = resultOf(answer);
    if (!answer.follow || depth >= maxFollowed) return result;
    const question: Question = { ...answer.follow, class: internetClass };
    const outcome = answerFromCluster(question, cluster, zones(), serial);
    let next: Result;
    if (outcome.outcome === 'answer') next = await followAlias(outcome, query, client, depth + 1);
    else if (outcome.outcome === 'refuse') next = failure(responseCode.refused);
    else next = await forward(query, question, client);
    return {
      ...result,
      answers: [...result.answers, ...next.answers],
      flags: result.flags | (next.flags & headerFlag.truncated),
    };
  }

  function encodeResult(query: Query, { code, flags, ...sections }: Result, client: Client): Uint8Array {
    const question = query.question;
    const all = headerFlag.response | flags | code | (opcodeOf(query.flags) << 11);
    const options = query.edns ? optionsOf(query.edns) : noOptions;
    const edns = query.edns && { ...query.edns, options };
    const [id, asked] = [query.id, query.flags];
    if (!question) return finish(emptyMessage(all), id >> 8, id & 0xff, asked >> 8, asked & 0xff, edns, serial);
    const room = sizeLimit(client, edns) - (edns ? ednsHeaderSize + options.length : 0);
    const shuffled = { ...sections, answers: shuffleAddresses(sections.answers, random) };
    const template = encoder.encode(question, all, shuffled, room);
    return finish(template, id >> 8, id & 0xff, asked >> 8, asked & 0xff, edns, serial);
  }

  return {
    handle(message, length, client) {
      if (scan(message, length, fast, fastEdns)) {
        const known = fromMemo(message, length, client);
        if (known) return known;
      }
      const read = readQuery(message, length);
      if (read.outcome === 'ignore') return undefined;
      if (read.outcome === 'query') return handleQuery(read.query, message, length, client);
      const bytes = rejection(read.id, read.flags, read.question && encoder.encode(read.question, 0, noRecords));
      return report(client, length, read.question?.type ?? 0, undefined, bytes, '');
    },
    onObjectChange(namespace) {
      wholeCluster.current++;
      const state = namespaceStates.get(namespace);
      if (state) state.current++;
    },
    onNamespaceChange(name) {
      wholeCluster.current++;
      namespaceSet.current++;
      const state = namespaceStates.get(name);
      if (state) state.current++;
      namespaceStates.delete(name);
    },
    onZonesChange() {
      for (const state of [zoneState, namespaceSet, wholeCluster, ...namespaceStates.values()]) state.current++;
    },
    setSerial(value) {
      serial = value >>> 0;
    },
  };
}

/** The parts of a message that the memo needs. */
type FastQuery = { end: number; hash: number; type: number; edns: Edns | undefined };

/**
 * Scans a message without creating values. Accepts the usual queries: one question in lower case, and an OPT record
 * without options or none.
 */
function scan(
  message: Uint8Array,
  length: number,
  result: FastQuery,
  edns: { size: number; version: number; flags: number; options: Uint8Array },
): boolean {
  // Only the flags RD, AD and CD may be set; one question and at most one additional record.
  if (length < headerSize + 5 || (message[2]! & 0xfe) !== 0 || (message[3]! & 0xcf) !== 0) return false;
  if (message[4] !== 0 || message[5] !== 1) return false;
  if ((message[6]! | message[7]! | message[8]! | message[9]! | message[10]!) !== 0 || message[11]! > 1) return false;
  let offset = headerSize;
  let hash = 0x811c9dc5;
  for (;;) {
    const count = message[offset]!;
    hash = Math.imul(hash ^ count, 0x01000193);
    offset++;
    if (count === 0) break;
    const end = offset + count;
    if (count > 63 || end + 5 > length || end - headerSize > 254) return false;
    for (; offset < end; offset++) {
      const byte = message[offset]!;
      if (byte >= 0x41 && byte <= 0x5a) return false;
      hash = Math.imul(hash ^ byte, 0x01000193);
    }
  }
  const end = offset + 4;
  if (end > length) return false;
  for (; offset < end; offset++) hash = Math.imul(hash ^ message[offset]!, 0x01000193);
  result.hash = hash ^ (hash >>> 15);
  result.end = end;
  result.type = (message[end - 4]! << 8) | message[end - 3]!;
  result.edns = undefined;
  if (message[11] === 0) return true;
  if (length < end + ednsHeaderSize || message[end] !== 0 || message[end + 1] !== 0) return false;
  if (message[end + 2] !== recordType.OPT || message[end + 6] !== 0) return false;
  if (message[end + 9] !== 0 || message[end + 10] !== 0) return false;
  edns.size = (message[end + 3]! << 8) | message[end + 4]!;
  edns.flags = (message[end + 7]! << 8) | message[end + 8]!;
  result.edns = edns;
  return true;
}

/** Copies a template, with what belongs to the client: ID, recursion desired, checking disabled and EDNS. */
function finish(
  { bytes, serialOffset }: Pick<Template, 'bytes' | 'serialOffset'>,
  idHigh: number,
  idLow: number,
  flagsHigh: number,
  flagsLow: number,
  edns: Edns | undefined,
  serial: number,
): Uint8Array {
  const size = bytes.length;
  const response = Buffer.allocUnsafe(size + (edns ? ednsHeaderSize + edns.options.length : 0));
  response.set(bytes, 0);
  response[0] = idHigh;
  response[1] = idLow;
  if ((flagsHigh & 0x78) === 0) {
    response[2] = bytes[2]! | (flagsHigh & 0x01);
    response[3] = bytes[3]! | (flagsLow & 0x10);
  }
  if (serialOffset >= 0) response.writeUInt32BE(serial, serialOffset);
  if (!edns) return response;
  response.writeUInt16BE(response.readUInt16BE(10) + 1, 10);
  response[size] = 0;
  response[size + 1] = 0;
  response[size + 2] = recordType.OPT;
  response[size + 3] = edns.size >> 8;
  response[size + 4] = edns.size & 0xff;
  response[size + 5] = 0;
  response[size + 6] = 0;
  response[size + 7] = edns.flags >> 8;
  response[size + 8] = 0;
  response[size + 9] = edns.options.length >> 8;
  response[size + 10] = edns.options.length & 0xff;
  response.set(edns.options, size + ednsHeaderSize);
  return response;
}

/** Returns the response to a message whose handling failed: its header, with the code SERVFAIL. */
export function failureResponse(message: Uint8Array): Uint8Array {
  const response = new Uint8Array(headerSize);
  response.set(message.subarray(0, 4));
  response[2] = 0x80 | (response[2]! & 0x79);
  response[3] = (response[3]! & 0x10) | responseCode.serverFailure;
  return response;
}

function failure(code: number): Result {
  return { ...noRecords, code, flags: 0, source: '' };
}

function resultOf({ code, answers, authority, additional }: ClusterAnswer): Result {
  return { code, answers, authority, additional, flags: headerFlag.authoritative, source: 'kubernetes' };
}

const noOptions = new Uint8Array(0);
const maxOptionsSize = 256;

/** Returns the options of a query that its response contains, too. */
function optionsOf({ options }: Edns): Uint8Array {
  const kept: Uint8Array[] = [];
  for (let offset = 0; offset < options.length; ) {
    const end = offset + 4 + ((options[offset + 2]! << 8) | options[offset + 3]!);
    if (returnedOptions.has((options[offset]! << 8) | options[offset + 1]!)) kept.push(options.subarray(offset, end));
    offset = end;
  }
  const size = kept.reduce((sum, each) => sum + each.length, 0);
  // More would leave no room for the answer.
  return size === 0 || size > maxOptionsSize ? noOptions : Buffer.concat(kept);
}

function sizeLimit({ transport }: Client, edns: Pick<Edns, 'size'> | undefined): number {
  return transport === 'tcp' ? maxMessageSize : Math.max(minUdpSize, edns?.size ?? 0);
}

/** Response to a version of EDNS that does not exist yet. */
function badVersion({ id, flags }: Query, { bytes }: Template): Uint8Array {
  const response = Buffer.alloc(bytes.length + ednsHeaderSize);
  response.set(bytes);
  response.writeUInt16BE(id, 0);
  if (opcodeOf(flags) === queryOpcode) {
    response[2] = response[2]! | ((flags >> 8) & 0x01);
    response[3] = response[3]! | (flags & 0x10);
  } else {
    response[2] = response[2]! | ((flags >> 8) & 0x78);
  }
  response.writeUInt16BE(1, 10);
  response.writeUInt16BE(recordType.OPT, bytes.length + 1);
  // The upper bits of the extended code; the lower ones, in the header, are 0.
  response[bytes.length + 5] = responseCode.badVersion >> 4;
  return response;
}

/** Response to a message that is no query: its header, and its question if that could be read. */
function rejection(id: number, flags: number, question: Template | undefined): Uint8Array {
  const response = Buffer.from(question?.bytes ?? new Uint8Array(headerSize));
  response.writeUInt16BE(id, 0);
  response.writeUInt16BE(flags, 2);
  return response;
}

function emptyMessage(flags: number): Pick<Template, 'bytes' | 'serialOffset'> {
  const bytes = new Uint8Array(headerSize);
  bytes[2] = flags >> 8;
  bytes[3] = flags;
  return { bytes, serialOffset: -1 };
}

/**
 * Exchanges the first address of an answer with a random one, so that clients that take the first are spread. The
 * template is changed in place: over time all orders occur.
 */
function exchangeAddresses({ bytes, addresses }: Template, random: Random): void {
  const { offset, stride, count, size } = addresses;
  const other = offset + stride * Math.floor(random.next() * count);
  for (let index = 0; index < size; index++) {
    const byte = bytes[offset + index]!;
    bytes[offset + index] = bytes[other + index]!;
    bytes[other + index] = byte;
  }
}

/** Returns the records with the addresses in random order, after all others. */
function shuffleAddresses(records: readonly ResourceRecord[], random: Random): readonly ResourceRecord[] {
  if (records.length < 2) return records;
  const isAddress = ({ type }: ResourceRecord) => type === recordType.A || type === recordType.AAAA;
  const addresses = records.filter(isAddress);
  for (let index = addresses.length - 1; index > 0; index--) {
    const other = Math.floor(random.next() * (index + 1));
    [addresses[index], addresses[other]] = [addresses[other]!, addresses[index]!];
  }
  return [...records.filter((each) => !isAddress(each)), ...addresses];
}
