import { createInput, emptyInput, type Input } from './byte-streams.ts';

/** Standard input of a container: nothing comes until someone attaches, who may leave again. */
export type AttachableInput = Input & {
  /** Lets what comes from `source` in; returns how to stop that. */
  attach(source: Input): () => void;
};

/** One that is at its end from the start, as most containers have it. */
export const closedInput: AttachableInput = { ...emptyInput, attach: () => () => {} };

export type AttachableInputOptions = {
  /** Whether it ends with the first who attaches. */
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
