/**
 * Writes DNS responses. A response is written once, as a template, and copied for each client with the few bytes that
 * differ: the ID, two flags, the EDNS record, and the case of the name in the question. All names of a template that
 * end with that name, or with a part of it, are compressed to pointers into the question, so that they take its case.
 */
import { headerSize } from './decode.ts';
import { isSameName, type Name, type Question, type ResourceRecord, recordType, type Sections } from './message.ts';

/** A response without ID, recursion flags and EDNS record. */
export type Template = {
  readonly bytes: Uint8Array;
  readonly isTruncated: boolean;
  /** Offsets of the TTLs of all records. */
  readonly ttlOffsets: readonly number[];
  /** Offset of the serial number of the SOA record in the authority section; -1 without one. */
  readonly serialOffset: number;
  /** Offset of the first data, distance and number of the address records of the answer; the number is 0 for none. */
  readonly addresses: AddressRun;
};

/** Address records of one name and type, one after another, whose data may be exchanged. */
type AddressRun = {
  readonly offset: number;
  readonly stride: number;
  readonly count: number;
  readonly size: number;
  readonly owner: Name;
};

export const maxMessageSize = 65_535;
/** Largest offset that a compression pointer can hold. */
const maxPointerOffset = 0x3fff;

export type Encoder = {
  /** Writes a response. Records that exceed the limit are left out, and the response is marked as truncated. */
  encode(question: Question, flags: number, sections: Sections, limit?: number): Template;
};

/** Creates an encoder. It owns a buffer of the maximum size of a message. */
export function createEncoder(): Encoder {
  const bytes = new Uint8Array(maxMessageSize + 1);
  let offset = 0;
  let limit = maxMessageSize;
  /** Offsets of the names that have been written, by their wire form. */
  let names = new Map<string, number>();

  /** Reserves space; false if the message would exceed the limit. */
  const hasRoom = (count: number) => offset + count <= limit;
  const writeUint16 = (value: number) => {
    bytes[offset++] = value >>> 8;
    bytes[offset++] = value;
  };
  const writeUint32 = (value: number) => {
    writeUint16(value >>> 16);
    writeUint16(value & 0xffff);
  };

  /** Writes a name; false if it does not fit. A name that must not be compressed can still be pointed to. */
  function writeName(name: Name, isCompressible: boolean): boolean {
    let suffix = '';
    const suffixes = new Array<string>(name.length);
    for (let index = name.length - 1; index >= 0; index--) {
      const label = name[index]!;
      suffix = String.fromCharCode(label.length) + label + suffix;
      suffixes[index] = suffix;
    }
    for (let index = 0; index < name.length; index++) {
      const known = names.get(suffixes[index]!);
      if (known !== undefined && isCompressible) {
        if (!hasRoom(2)) return false;
        writeUint16(0xc000 | known);
        return true;
      }
      const label = name[index]!;
      if (!hasRoom(label.length + 1)) return false;
      if (known === undefined && offset <= maxPointerOffset) names.set(suffixes[index]!, offset);
      bytes[offset++] = label.length;
      for (let at = 0; at < label.length; at++) bytes[offset++] = label.charCodeAt(at);
    }
    if (!hasRoom(1)) return false;
    bytes[offset++] = 0;
    return true;
  }

  function writeData({ data }: ResourceRecord): boolean {
    switch (data.kind) {
      case 'bytes':
        if (!hasRoom(data.bytes.length)) return false;
        bytes.set(data.bytes, offset);
        offset += data.bytes.length;
        return true;
      case 'name':
        return writeName(data.name, true);
      case 'mx':
        if (!hasRoom(2)) return false;
        writeUint16(data.preference);
        return writeName(data.name, true);
      case 'srv':
        if (!hasRoom(6)) return false;
        writeUint16(data.priority);
        writeUint16(data.weight);
        writeUint16(data.port);
        // RFC 2782 forbids compression of the target.
        return writeName(data.target, false);
      case 'soa':
        if (!writeName(data.primary, true) || !writeName(data.mailbox, true) || !hasRoom(20)) return false;
        for (const field of [data.serial, data.refresh, data.retry, data.expire, data.minimum]) writeUint32(field);
        return true;
    }
  }

  /** Writes a record; false if it does not fit, with everything as before. */
  function writeRecord(record: ResourceRecord, questionName: Name, ttlOffsets: number[]): boolean {
    const start = offset;
    let isWritten = false;
    if (record.name === questionName && questionName.length > 0) {
      // Most records are about the name of the question, at the offset after the header.
      isWritten = hasRoom(2);
      if (isWritten) writeUint16(0xc000 | headerSize);
    } else {
      isWritten = writeName(record.name, true);
    }
    if (isWritten && hasRoom(10)) {
      writeUint16(record.type);
      writeUint16(record.class);
      ttlOffsets.push(offset);
      writeUint32(record.ttl);
      const lengthOffset = offset;
      writeUint16(0);
      isWritten = writeData(record);
      if (isWritten) {
        const length = offset - lengthOffset - 2;
        bytes[lengthOffset] = length >>> 8;
        bytes[lengthOffset + 1] = length;
        return true;
      }
      ttlOffsets.pop();
    }
    offset = start;
    // Names of a record that was taken back cannot be pointed to.
    for (const [suffix, at] of names) if (at >= start) names.delete(suffix);
    return false;
  }

  return {
    encode(question, flags, sections, sizeLimit = maxMessageSize) {
      limit = sizeLimit;
      offset = 0;
      names = new Map();
      writeUint16(0);
      writeUint16(flags);
      writeUint16(1);
      offset = headerSize;
      writeName(question.name, true);
      writeUint16(question.type);
      writeUint16(question.class);

      const ttlOffsets: number[] = [];
      const counts: number[] = [];
      let serialOffset = -1;
      let addresses = noAddresses;
      let isFull = false;
      for (const records of [sections.answers, sections.authority, sections.additional]) {
        let count = 0;
        for (const record of records) {
          if (isFull || !writeRecord(record, question.name, ttlOffsets)) {
            isFull = true;
            break;
          }
          count++;
          if (records === sections.answers) addresses = withAddress(addresses, record, offset);
          if (records === sections.authority && record.data.kind === 'soa') serialOffset = offset - 20;
        }
        counts.push(count);
      }
      const end = offset;
      offset = 6;
      for (const count of counts) writeUint16(count);
      if (isFull) bytes[2] = bytes[2]! | 0x02;
      return { bytes: bytes.slice(0, end), isTruncated: isFull, ttlOffsets, serialOffset, addresses };
    },
  };
}

const noAddresses: AddressRun = { offset: 0, stride: 0, count: 0, size: 0, owner: [] };

/** Extends the run of address records at the end of the answer by a record that was just written. */
function withAddress(run: AddressRun, { name, type, data }: ResourceRecord, end: number): AddressRun {
  if ((type !== recordType.A && type !== recordType.AAAA) || data.kind !== 'bytes') return noAddresses;
  const size = data.bytes.length;
  const start = end - size;
  if (run.count === 0) return { offset: start, stride: 0, count: 1, size, owner: name };
  const isAlike = run.size === size && (run.owner === name || isSameName(run.owner, name));
  if (!isAlike) return { ...run, count: 1 };
  if (run.count === 1) return { ...run, stride: start - run.offset, count: 2 };
  return start === run.offset + run.stride * run.count ? { ...run, count: run.count + 1 } : run;
}
