import { createInput, emptyInput, type Input } from './byte-streams.ts';

/** Standard input of a container: it blocks until a client attaches, and the client may detach again. */
export type AttachableInput = Input & {
  /** Reads from `source`; returns a function that detaches it. */
  attach(source: Input): () => void;
};

/** Input at end of file from the start, which most containers have. */
export const closedInput: AttachableInput = { ...emptyInput, attach: () => () => {} };

export type AttachableInputOptions = {
  /** True if the input ends when the first client detaches (`stdinOnce`). */
  readonly endsWithFirst: boolean;
};

export function createAttachableInput({ endsWithFirst }: AttachableInputOptions): AttachableInput {
  let source: Input | undefined;
  let isEnded = false;
  let wake: (() => void) | undefined;
  const signal = () => {
    const waiting = wake;
    wake = undefined;
    waiting?.();
  };
  const input = createInput(async (process) => {
    for (;;) {
      if (isEnded) return undefined;
      const from = source;
      if (from) {
        const bytes = await from.read(process);
        if (bytes !== undefined) return bytes;
        if (source === from) source = undefined;
        if (endsWithFirst) isEnded = true;
        continue;
      }
      await process.wait<void>((resolve) => {
        wake = () => resolve();
        return undefined;
      });
    }
  });
  return {
    ...input,
    attach(from) {
      source = from;
      signal();
      return () => {
        if (source !== from) return;
        source = undefined;
        if (endsWithFirst) isEnded = true;
        signal();
      };
    },
  };
}
