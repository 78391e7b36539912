/** Concurrency limit for asynchronous work. */
export type Limit = {
  /** Starts work immediately; a caller that exceeds the limit must await `free` before it starts more. */
  run(work: () => Promise<void>, onError: (error: unknown) => void): void;
  /** Resolves when the limit is not reached. */
  free(): Promise<void> | undefined;
  /** Resolves when no work is in progress. */
  settled(): Promise<void>;
};

export function createLimit(maxInFlight: number): Limit {
  let inFlight = 0;
  let freed: PromiseWithResolvers<void> | undefined;
  let settled: PromiseWithResolvers<void> | undefined;
  const end = () => {
    inFlight--;
    if (inFlight < maxInFlight) {
      freed?.resolve();
      freed = undefined;
    }
    if (inFlight === 0) settled?.resolve();
  };
  return {
    run(work, onError) {
      inFlight++;
      work().catch(onError).finally(end);
    },
    free() {
      if (inFlight < maxInFlight) return undefined;
      freed ??= Promise.withResolvers<void>();
      return freed.promise;
    },
    async settled() {
      if (inFlight === 0) return;
      settled = Promise.withResolvers<void>();
      await settled.promise;
    },
  };
}
