/** Describes responses so that they can be compared: without times to live, serial numbers and the order of records. */
import { readResponse, readUint16 } from '../decode.ts';
import { formatName, headerFlag, type ResourceRecord, recordType } from '../message.ts';

export type DescribedResponse = { readonly text: string; readonly code: string; readonly isTruncated: boolean };

const codes = ['NOERROR', 'FORMERR', 'SERVFAIL', 'NXDOMAIN', 'NOTIMP', 'REFUSED'];
const typeNames = new Map<number, string>(Object.entries(recordType).map(([name, number]) => [number, name]));

/** Describes a response, or its absence. The records of a truncated response are left out: which fit is chance. */
export function describeResponse(bytes: Uint8Array | undefined): DescribedResponse {
  if (bytes === undefined) return { text: 'no response', code: 'none', isTruncated: false };
  const flags = readUint16(bytes, 2);
  const header = `id ${readUint16(bytes, 0)} flags ${flags.toString(16)}`;
  const code = codes[flags & 0xf] ?? String(flags & 0xf);
  const isTruncated = (flags & headerFlag.truncated) !== 0;
  const message = readResponse(bytes, bytes.length);
  if (!message) return { text: `${header} ${Buffer.from(bytes.subarray(4)).toString('hex')}`, code, isTruncated };
  const { question, answers, authority, additional } = message;
  const records = (name: string, section: readonly ResourceRecord[]) =>
    isTruncated ? [] : section.map((record) => `${name} ${describeRecord(record)}`).sort();
  const lines = [
    header,
    `question ${formatName(question.name)} ${typeOf(question.type)} ${question.class}`,
    ...records('answer', answers),
    ...records('authority', authority),
    ...records('additional', additional),
    `edns ${describeEdns(bytes)}`,
  ];
  return { text: lines.join('\n'), code, isTruncated };
}

/** Formats a record in the order of zone files, without its time to live. */
export function describeRecord({ name, type, class: recordClass, data }: ResourceRecord): string {
  const owner = `${formatName(name)} ${recordClass} ${typeOf(type)}`;
  switch (data.kind) {
    case 'bytes':
      return `${owner} ${Buffer.from(data.bytes).toString('hex')}`;
    case 'name':
      return `${owner} ${formatName(data.name)}`;
    case 'mx':
      return `${owner} ${data.preference} ${formatName(data.name)}`;
    case 'srv':
      return `${owner} ${data.priority} ${data.weight} ${data.port} ${formatName(data.target)}`;
    case 'soa': {
      const times = [data.refresh, data.retry, data.expire, data.minimum].join(' ');
      return `${owner} ${formatName(data.primary)} ${formatName(data.mailbox)} ${times}`;
    }
  }
}

/** Returns the OPT record, which is the last one, as text. */
function describeEdns(bytes: Uint8Array): string {
  if (readUint16(bytes, 10) === 0) return 'none';
  for (let start = bytes.length - 11; start >= 12; start--) {
    const isRecord = bytes[start] === 0 && readUint16(bytes, start + 1) === recordType.OPT;
    if (isRecord && start + 11 + readUint16(bytes, start + 9) === bytes.length) {
      return Buffer.from(bytes.subarray(start)).toString('hex');
    }
  }
  return 'none';
}

function typeOf(type: number): string {
  return typeNames.get(type) ?? `TYPE${type}`;
}
