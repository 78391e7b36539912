/** Standard input and output of simulated processes. */
import type { Readable, Writable } from 'node:stream';
import type { Process } from './process.ts';

export type Input = {
  /** Reads the next bytes; undefined at the end. */
  read(process: Process): Promise<Uint8Array | undefined>;
  /** Reads the next line without its newline and leaves the rest for the next read. Undefined at the end. */
  readLine(process: Process): Promise<string | undefined>;
};

export type Output = {
  /** Resolves when the output accepts more. Throws `BrokenPipe` if the reader is gone. */
  write(bytes: Uint8Array): void | Promise<void>;
};

export class BrokenPipe extends Error {
  override readonly name = 'BrokenPipe';
}

/** Error of a read that exceeds the memory of a simulated process. */
export class OutOfMemory extends Error {
  override readonly name = 'OutOfMemory';
}

const newline = 0x0a;

/** Creates an input from a function that returns the next bytes. */
export function createInput(next: (process: Process) => Promise<Uint8Array | undefined>): Input {
  let rest: Uint8Array | undefined;
  return {
    async read(process) {
      const bytes = rest;
      rest = undefined;
      return bytes ?? next(process);
    },
    async readLine(process) {
      const parts: Uint8Array[] = [];
      for (;;) {
        const bytes = rest ?? (await next(process));
        rest = undefined;
        if (bytes === undefined) return parts.length === 0 ? undefined : Buffer.concat(parts).toString();
        const end = bytes.indexOf(newline);
        if (end < 0) {
          parts.push(bytes);
          continue;
        }
        parts.push(bytes.subarray(0, end));
        if (end + 1 < bytes.length) rest = bytes.subarray(end + 1);
        return Buffer.concat(parts).toString();
      }
    },
  };
}

export const emptyInput: Input = createInput(async () => undefined);
export const nullOutput: Output = { write() {} };

const pipeBytes = 64 * 1024;
const maxHeldBytes = 16 * 1024 * 1024;

export type Pipe = {
  readonly input: Input;
  readonly output: Output;
  /** Signals that no more is written. */
  closeOutput(): void;
  /** Signals that no more is read. */
  closeInput(): void;
};

/** Connects the output of one process to the input of another, with backpressure. */
export function createPipe(process: Process): Pipe {
  const chunks: Uint8Array[] = [];
  let heldBytes = 0;
  let isEnded = false;
  let isBroken = false;
  let onReadable: (() => void) | undefined;
  let onWritable: (() => void) | undefined;
  const wakeReader = () => {
    const wake = onReadable;
    onReadable = undefined;
    wake?.();
  };
  const wakeWriter = () => {
    const wake = onWritable;
    onWritable = undefined;
    wake?.();
  };
  return {
    input: createInput(async (reader) => {
      while (chunks.length === 0 && !isEnded) {
        await reader.wait<void>((resolve) => {
          onReadable = () => resolve();
          return undefined;
        });
      }
      const chunk = chunks.shift();
      heldBytes -= chunk?.length ?? 0;
      wakeWriter();
      return chunk;
    }),
    output: {
      async write(bytes) {
        if (isBroken) throw new BrokenPipe();
        if (bytes.length === 0) return;
        chunks.push(bytes);
        heldBytes += bytes.length;
        wakeReader();
        while (heldBytes > pipeBytes && !isBroken) {
          await process.wait<void>((resolve) => {
            onWritable = () => resolve();
            return undefined;
          });
        }
      },
    },
    closeOutput() {
      isEnded = true;
      wakeReader();
    },
    closeInput() {
      isBroken = true;
      chunks.length = 0;
      heldBytes = 0;
      wakeWriter();
    },
  };
}

/** Creates an input of fixed bytes. */
export function inputOf(content: Uint8Array | string): Input {
  let rest: Uint8Array | undefined = typeof content === 'string' ? Buffer.from(content) : content;
  return createInput(async () => {
    const bytes = rest?.length ? rest : undefined;
    rest = undefined;
    return bytes;
  });
}

/** Collects output up to a limit; further output is discarded. */
export function collectingOutput(maxBytes: number): Output & { bytes(): Uint8Array } {
  const chunks: Uint8Array[] = [];
  let length = 0;
  return {
    write(bytes) {
      const room = maxBytes - length;
      if (room <= 0) return;
      const kept = bytes.length > room ? bytes.subarray(0, room) : bytes;
      chunks.push(kept);
      length += kept.length;
    },
    bytes: () => Buffer.concat(chunks),
  };
}

export function inputFrom(readable: Readable): Input {
  const iterator = readable[Symbol.asyncIterator]();
  let next: Promise<IteratorResult<unknown>> | undefined;
  return createInput(async (process) => {
    // A broken connection counts as the end of the input. A pending read that a process abandoned is kept for the next
    // read.
    next ??= iterator.next().catch(() => ({ done: true, value: undefined }));
    const asked = next;
    const result = await process.wait<IteratorResult<unknown>>((resolve) => {
      void asked.then(resolve);
      return undefined;
    });
    next = undefined;
    return result.done ? undefined : (result.value as Uint8Array);
  });
}

export function outputTo(writable: Writable): Output {
  return {
    write(bytes) {
      if (writable.destroyed || writable.writableEnded) throw new BrokenPipe();
      if (writable.write(bytes)) return;
      return new Promise((resolve) => {
        const done = () => {
          writable.off('drain', done);
          writable.off('close', done);
          resolve();
        };
        writable.once('drain', done);
        writable.once('close', done);
      });
    },
  };
}

/** Reads the whole input. */
export async function readAll(input: Input, process: Process): Promise<Buffer> {
  const chunks: Uint8Array[] = [];
  let length = 0;
  for (let chunk = await input.read(process); chunk; chunk = await input.read(process)) {
    chunks.push(chunk);
    length += chunk.length;
    if (length > maxHeldBytes) throw new OutOfMemory();
  }
  return Buffer.concat(chunks);
}

/** Yields the lines of the input, without newlines. */
export async function* linesOf(input: Input, process: Process): AsyncGenerator<string> {
  for (let line = await input.readLine(process); line !== undefined; line = await input.readLine(process)) yield line;
}
