/** Has so much under way at a time, and no more. */
export type Limit = {
  /** Begins some work at once; whoever began so much that there is too much of it waits for `free`. */
  run(work: () => Promise<void>, onError: (error: unknown) => void): void;
  /** Resolves when there is less under way than there may be. */
  free(): Promise<void> | undefined;
  /** Resolves when nothing is under way. */
  settled(): Promise<void>;
};

export function createLimit(most: number): Limit {
  let underway = 0;
  let freed: PromiseWithResolvers<void> | undefined;
  let settled: PromiseWithResolvers<void> | undefined;
  const end = () => {
    underway--;
    if (underway < most) {
      freed?.resolve();
      freed = undefined;
    }
    if (underway === 0) settled?.resolve();
  };
  return {
    run(work, onError) {
      underway++;
      work().catch(onError).finally(end);
    },
    free() {
      if (underway < most) return undefined;
      freed ??= Promise.withResolvers<void>();
      return freed.promise;
    },
    async settled() {
      if (underway === 0) return;
      settled = Promise.withResolvers<void>();
      await settled.promise;
    },
  };
}
