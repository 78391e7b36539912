/**
 * Reads DNS messages from bytes. Every function returns undefined, or a reply code, for bytes that are no message: the
 * bytes come from anybody, and an exception for each would be too slow.
 */
import {
  type Edns,
  headerFlag,
  type Name,
  notifyOpcode,
  opcodeOf,
  type Question,
  queryOpcode,
  type RecordData,
  type ResourceRecord,
  recordType,
  responseCode,
  type Sections,
} from './message.ts';

export const headerSize = 12;

/** Maximum number of compression pointers in one name: as many as a name has labels. */
const maxPointers = 126;
/** Maximum size of a name in bytes, with the lengths of its labels. */
const maxNameSize = 255;

/** A query that can be answered. The question is missing if the message ends after its header. */
export type Query = {
  readonly id: number;
  readonly flags: number;
  readonly question: Question | undefined;
  readonly edns: Edns | undefined;
};

/** Result of reading a query: a query, a reply with an error code, or nothing to reply to. */
export type ReadQuery =
  | { readonly outcome: 'query'; readonly query: Query }
  | { readonly outcome: 'reject'; readonly id: number; readonly flags: number; readonly question?: Question }
  | { readonly outcome: 'ignore' };

const ignored: ReadQuery = { outcome: 'ignore' };

/** Reads a query with the rules of CoreDNS: one question, at most one answer, one authority and two additional records. */
export function readQuery(bytes: Uint8Array, length: number): ReadQuery {
  if (length < headerSize) return ignored;
  const id = readUint16(bytes, 0);
  const flags = readUint16(bytes, 2);
  if (flags & headerFlag.response) return ignored;
  const opcode = opcodeOf(flags);
  const rejected = (code: number): number =>
    (flags & ~(headerFlag.authoritative | headerFlag.reserved | 0x780f)) | headerFlag.response | code;
  if (opcode !== queryOpcode && opcode !== notifyOpcode) {
    return { outcome: 'reject', id, flags: rejected(responseCode.notImplemented) | (opcode << 11) };
  }
  const [answers, authority, additional] = [readUint16(bytes, 6), readUint16(bytes, 8), readUint16(bytes, 10)];
  const formatError: ReadQuery = { outcome: 'reject', id, flags: rejected(responseCode.formatError) };
  if (readUint16(bytes, 4) !== 1 || answers > 1 || authority > 1 || additional > 2) return formatError;
  if (length === headerSize) return { outcome: 'query', query: { id, flags, question: undefined, edns: undefined } };

  const read = readQuestion(bytes, headerSize, length);
  if (!read) return formatError;
  const { question } = read;
  let offset = read.end;
  let edns: Edns | undefined;
  // The counts may exceed the records that follow; the records end with the message then.
  for (let left = answers + authority + additional; left > 0 && offset < length; left--) {
    const record = readRecordHeader(bytes, offset, length);
    if (!record) return { ...formatError, question };
    if (record.type === recordType.OPT && left <= additional) {
      if (!areOptions(bytes, record.dataOffset, record.end)) return { ...formatError, question };
      edns = {
        size: record.class,
        version: (record.ttl >>> 16) & 0xff,
        flags: record.ttl & 0xffff,
        options: bytes.slice(record.dataOffset, record.end),
      };
    }
    offset = record.end;
  }
  return { outcome: 'query', query: { id, flags, question, edns } };
}

/** A message with all its records, for responses of upstream servers. */
export type Message = Sections & { readonly id: number; readonly flags: number; readonly question: Question };

/** Reads a response. The OPT record is left out: it belongs to the connection, not to the answer. */
export function readResponse(bytes: Uint8Array, length: number): Message | undefined {
  if (length < headerSize || !(readUint16(bytes, 2) & headerFlag.response) || readUint16(bytes, 4) !== 1) {
    return undefined;
  }
  const read = readQuestion(bytes, headerSize, length);
  if (!read) return undefined;
  let offset = read.end;
  const sections: ResourceRecord[][] = [];
  for (const countOffset of [6, 8, 10]) {
    const records: ResourceRecord[] = [];
    for (let left = readUint16(bytes, countOffset); left > 0; left--) {
      const header = readRecordHeader(bytes, offset, length);
      const data = header && readData(bytes, header, length);
      if (!header || !data) return undefined;
      const { name, type, class: recordClass, ttl, end } = header;
      if (type !== recordType.OPT) records.push({ name, type, class: recordClass, ttl, data });
      offset = end;
    }
    sections.push(records);
  }
  const [answers = [], authority = [], additional = []] = sections;
  return {
    id: readUint16(bytes, 0),
    flags: readUint16(bytes, 2),
    question: read.question,
    answers,
    authority,
    additional,
  };
}

function readQuestion(
  bytes: Uint8Array,
  offset: number,
  length: number,
): { readonly question: Question; readonly end: number } | undefined {
  const read = readName(bytes, offset, length);
  if (!read) return undefined;
  const { name, end } = read;
  // As in CoreDNS, a message may end before the type or the class, which count as 0 then.
  if (end === length) return { question: { name, type: 0, class: 0 }, end };
  if (end + 2 > length) return undefined;
  const type = readUint16(bytes, end);
  if (end + 4 > length) return { question: { name, type, class: 0 }, end: length };
  return { question: { name, type, class: readUint16(bytes, end + 2) }, end: end + 4 };
}

type RecordHeader = Omit<ResourceRecord, 'data'> & { readonly dataOffset: number; readonly end: number };

function readRecordHeader(bytes: Uint8Array, offset: number, length: number): RecordHeader | undefined {
  const read = readName(bytes, offset, length);
  if (!read || read.end + 10 > length) return undefined;
  const at = read.end;
  const dataOffset = at + 10;
  const end = dataOffset + readUint16(bytes, at + 8);
  if (end > length) return undefined;
  return {
    name: read.name,
    type: readUint16(bytes, at),
    class: readUint16(bytes, at + 2),
    ttl: ((readUint16(bytes, at + 4) << 16) | readUint16(bytes, at + 6)) >>> 0,
    dataOffset,
    end,
  };
}

/** Reads the data of a record, and expands the names in it, which may point to other parts of the message. */
function readData(bytes: Uint8Array, { type, dataOffset, end }: RecordHeader, length: number): RecordData | undefined {
  const nameAt = (offset: number) => readName(bytes, offset, length);
  switch (type) {
    case recordType.NS:
    case recordType.CNAME:
    case recordType.PTR:
    case recordType.DNAME: {
      const read = nameAt(dataOffset);
      return read?.end === end ? { kind: 'name', name: read.name } : undefined;
    }
    case recordType.MX: {
      const read = dataOffset + 2 <= end ? nameAt(dataOffset + 2) : undefined;
      return read?.end === end ? { kind: 'mx', preference: readUint16(bytes, dataOffset), name: read.name } : undefined;
    }
    case recordType.SRV: {
      const read = dataOffset + 6 <= end ? nameAt(dataOffset + 6) : undefined;
      if (read?.end !== end) return undefined;
      const [priority, weight, port] = [0, 2, 4].map((field) => readUint16(bytes, dataOffset + field));
      return { kind: 'srv', priority: priority!, weight: weight!, port: port!, target: read.name };
    }
    case recordType.SOA: {
      const primary = nameAt(dataOffset);
      const mailbox = primary && nameAt(primary.end);
      if (mailbox?.end !== end - 20) return undefined;
      const [serial, refresh, retry, expire, minimum] = [0, 4, 8, 12, 16].map((field) =>
        readUint32(bytes, mailbox.end + field),
      );
      return {
        kind: 'soa',
        primary: primary!.name,
        mailbox: mailbox.name,
        serial: serial!,
        refresh: refresh!,
        retry: retry!,
        expire: expire!,
        minimum: minimum!,
      };
    }
    case recordType.A:
      return end - dataOffset === 4 ? { kind: 'bytes', bytes: bytes.slice(dataOffset, end) } : undefined;
    case recordType.AAAA:
      return end - dataOffset === 16 ? { kind: 'bytes', bytes: bytes.slice(dataOffset, end) } : undefined;
    default:
      return { kind: 'bytes', bytes: bytes.slice(dataOffset, end) };
  }
}

/** Reads a name, following its compression pointers. `end` is the offset after the name in place. */
function readName(
  bytes: Uint8Array,
  start: number,
  length: number,
): { readonly name: Name; readonly end: number } | undefined {
  const name: string[] = [];
  let offset = start;
  let end = -1;
  let pointers = 0;
  let size = maxNameSize;
  for (;;) {
    if (offset >= length) return undefined;
    const count = bytes[offset]!;
    if (count === 0) return { name, end: end < 0 ? offset + 1 : end };
    if (count < 0x40) {
      size -= count + 1;
      if (offset + 1 + count > length || size <= 0) return undefined;
      name.push(readLabel(bytes, offset + 1, count));
      offset += count + 1;
    } else {
      // Lengths from 64 to 191 are reserved.
      if (count < 0xc0 || offset + 1 >= length || ++pointers > maxPointers) return undefined;
      if (end < 0) end = offset + 2;
      offset = ((count & 0x3f) << 8) | bytes[offset + 1]!;
    }
  }
}

function readLabel(bytes: Uint8Array, offset: number, count: number): string {
  let label = '';
  for (let index = 0; index < count; index++) label += String.fromCharCode(bytes[offset + index]!);
  return label;
}

/** Reports whether the data of an OPT record is a list of options. */
function areOptions(bytes: Uint8Array, start: number, end: number): boolean {
  let offset = start;
  while (offset + 4 <= end) offset += 4 + readUint16(bytes, offset + 2);
  return offset === end;
}

export function readUint16(bytes: Uint8Array, offset: number): number {
  return (bytes[offset]! << 8) | bytes[offset + 1]!;
}

function readUint32(bytes: Uint8Array, offset: number): number {
  return ((readUint16(bytes, offset) << 16) | readUint16(bytes, offset + 2)) >>> 0;
}
