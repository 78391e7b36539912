/**
 * Answers of the cluster by the bytes of their questions. A lookup compares bytes and creates no string, so that a
 * repeated question costs a hash of some forty bytes and a copy of the answer.
 */
import type { Template } from './encode.ts';
import type { Sections } from './message.ts';

/** State of a set of objects: any change of them makes the answers from an earlier generation stale. */
export type Generation = { current: number };

export type MemoEntry = {
  /** The question as in a message: name, type, class. */
  readonly question: Uint8Array;
  readonly hash: number;
  readonly template: Template;
  /** Response code and sections, for clients that need a truncated response. */
  readonly code: number;
  readonly sections: Sections;
  readonly type: number;
  readonly objects: Generation;
  readonly generation: number;
};

export type Memo = {
  /** Returns the answer to the question from byte 12 to `end` of a message. */
  find(message: Uint8Array, end: number, hash: number): MemoEntry | undefined;
  add(entry: MemoEntry): void;
  readonly sizeBytes: number;
};

export type MemoLimits = { readonly slots: number; readonly maxBytes: number };

/**
 * Sixteen thousand questions are the names of a large cluster with their search suffixes; in a flood of random names
 * the slots are overwritten. The size is bounded apart, because an answer may have 64 KiB.
 */
export const defaultMemoLimits: MemoLimits = { slots: 1 << 14, maxBytes: 32 * 1024 * 1024 };

/** Bytes of an entry beside its question and its answer, and of its records: an estimate from heap snapshots. */
const entryOverheadBytes = 600;
const bytesPerAnswerByte = 12;

/** Creates a memo with one entry in each slot. `slots` is a power of two. */
export function createMemo({ slots, maxBytes }: MemoLimits = defaultMemoLimits): Memo {
  let entries = new Array<MemoEntry | undefined>(slots).fill(undefined);
  let sizeBytes = 0;
  return {
    find(message, end, hash) {
      const entry = entries[hash & (slots - 1)];
      if (entry === undefined || entry.hash !== hash || entry.generation !== entry.objects.current) return undefined;
      const { question } = entry;
      if (question.length !== end - questionOffset) return undefined;
      for (let index = 0; index < question.length; index++) {
        if (question[index] !== message[index + questionOffset]) return undefined;
      }
      return entry;
    },
    add(entry) {
      const size = sizeOf(entry);
      if (size > maxBytes / 16) return;
      const slot = entry.hash & (slots - 1);
      const previous = entries[slot];
      sizeBytes += size - (previous ? sizeOf(previous) : 0);
      entries[slot] = entry;
      if (sizeBytes <= maxBytes) return;
      entries = new Array<MemoEntry | undefined>(slots).fill(undefined);
      sizeBytes = 0;
    },
    get sizeBytes() {
      return sizeBytes;
    },
  };
}

const questionOffset = 12;

function sizeOf({ question, template }: MemoEntry): number {
  return entryOverheadBytes + question.length + bytesPerAnswerByte * template.bytes.length;
}
