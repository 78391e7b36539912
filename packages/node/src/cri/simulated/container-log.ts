import type { Instant } from '@kruise/values/time';
import { nanosecondsOf } from '../nanoseconds.ts';
import type { LogEntry, ReadLogRequest } from '../runtime.ts';
import type { Output } from './byte-streams.ts';

/** Container log in memory, bounded: old entries are dropped for new ones. */
export type ContainerLog = {
  output(stream: LogEntry['stream']): Output;
  /** Writes incomplete lines as partial entries, and ends all followers. */
  end(): void;
  read(request: Omit<ReadLogRequest, 'containerId'>, signal?: AbortSignal): AsyncGenerator<LogEntry>;
};

/** Maximum line length, as in containerd. */
const maxLineBytes = 16 * 1024;
/** Overhead of an entry besides its bytes. */
const entryBytes = 128;
const newline = 0x0a;

type Kept = { readonly at: Instant; readonly entry: LogEntry };

export function createContainerLog(now: () => Instant, maxBytes: number): ContainerLog {
  let kept: Kept[] = [];
  /** Number of dropped entries: entry n is at index n − dropped. */
  let dropped = 0;
  let heldBytes = 0;
  let isEnded = false;
  const followers = new Set<() => void>();
  const partialLines = new Map<LogEntry['stream'], Uint8Array>();

  function add(stream: LogEntry['stream'], content: Uint8Array, isPartial: boolean): void {
    const at = now();
    kept.push({ at, entry: { timestamp: timestampOf(at), stream, isPartial, content } });
    heldBytes += content.length + entryBytes;
    if (heldBytes > maxBytes) dropOldEntries();
  }

  /** Drops the older half, so that compaction is rare. */
  function dropOldEntries(): void {
    let count = 0;
    while (heldBytes > maxBytes / 2 && count < kept.length - 1) {
      heldBytes -= (kept[count++] as Kept).entry.content.length + entryBytes;
    }
    kept = kept.slice(count);
    dropped += count;
  }

  function notifyFollowers(): void {
    for (const wake of [...followers]) wake();
  }

  function write(stream: LogEntry['stream'], bytes: Uint8Array): void {
    if (bytes.length === 0) return;
    let rest = bytes;
    const before = partialLines.get(stream);
    if (before) {
      rest = Buffer.concat([before, bytes]);
      partialLines.delete(stream);
    }
    while (rest.length > 0) {
      const end = rest.subarray(0, maxLineBytes + 1).indexOf(newline);
      if (end >= 0) {
        add(stream, Buffer.from(rest.subarray(0, end)), false);
        rest = rest.subarray(end + 1);
      } else if (rest.length > maxLineBytes) {
        add(stream, Buffer.from(rest.subarray(0, maxLineBytes)), true);
        rest = rest.subarray(maxLineBytes);
      } else {
        partialLines.set(stream, Buffer.from(rest));
        break;
      }
    }
    notifyFollowers();
  }

  return {
    output: (stream) => ({ write: (bytes) => write(stream, bytes) }),
    end() {
      for (const [stream, rest] of partialLines) add(stream, rest, true);
      partialLines.clear();
      isEnded = true;
      notifyFollowers();
    },
    async *read({ tailLines, since, follow = false }, signal) {
      const total = dropped + kept.length;
      let next = Math.max(dropped, tailLines === undefined ? 0 : total - tailLines);
      for (;;) {
        signal?.throwIfAborted();
        while (next < dropped + kept.length) {
          next = Math.max(next, dropped);
          const { at, entry } = kept[next++ - dropped] as Kept;
          if (since === undefined || at >= since) yield entry;
        }
        if (!follow || isEnded) return;
        await new Promise<void>((resolve) => {
          const wake = () => {
            followers.delete(wake);
            signal?.removeEventListener('abort', wake);
            resolve();
          };
          followers.add(wake);
          signal?.addEventListener('abort', wake, { once: true });
        });
      }
    },
  };
}

function timestampOf(at: Instant): string {
  const nanoseconds = nanosecondsOf(at) % 1_000_000_000n;
  return `${new Date(at).toISOString().slice(0, 19)}.${String(nanoseconds).padStart(9, '0')}Z`;
}
