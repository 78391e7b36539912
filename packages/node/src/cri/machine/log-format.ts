import type { LogEntry } from '../runtime.ts';

const space = 0x20;

/** Parses a line of a log file, in CRI's format or Docker's JSON format. Undefined if it is neither. */
export function parseLogLine(line: Uint8Array): LogEntry | undefined {
  return line[0] === 0x7b ? parseDockerLine(line) : parseCriLine(line);
}

/** Parses `2016-10-06T00:17:09.669794202Z stdout F the text`. */
function parseCriLine(line: Uint8Array): LogEntry | undefined {
  const first = line.indexOf(space);
  const second = line.indexOf(space, first + 1);
  if (first < 0 || second < 0) return undefined;
  // A line without text may lack the space before it.
  const third = line.indexOf(space, second + 1);
  const tagsEnd = third < 0 ? line.length : third;
  const text = (from: number, to: number) => Buffer.from(line.subarray(from, to)).toString('latin1');
  const timestamp = text(0, first);
  const stream = text(first + 1, second);
  if (stream !== 'stdout' && stream !== 'stderr') return undefined;
  if (!/^\d{4}-\d\d-\d\dT/.test(timestamp)) return undefined;
  // Tags after the first are reserved for later versions.
  const [tag] = text(second + 1, tagsEnd).split(':');
  return { timestamp, stream, isPartial: tag === 'P', content: line.subarray(Math.min(tagsEnd + 1, line.length)) };
}

function parseDockerLine(line: Uint8Array): LogEntry | undefined {
  try {
    const { log, stream, time } = JSON.parse(Buffer.from(line).toString()) as { [key: string]: unknown };
    if (typeof log !== 'string' || typeof time !== 'string') return undefined;
    const isPartial = !log.endsWith('\n');
    return {
      timestamp: time,
      stream: stream === 'stderr' ? 'stderr' : 'stdout',
      isPartial,
      content: Buffer.from(isPartial ? log : log.slice(0, -1)),
    };
  } catch {
    return undefined;
  }
}

/** Returns the time of an entry, in milliseconds. */
export function timeOf({ timestamp }: LogEntry): number {
  return Date.parse(timestamp);
}
