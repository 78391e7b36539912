/** So many at a time, in the order in which they came; all at once where there is no limit. */
export function createTurns(limit: number): (work: () => Promise<void>, signal: AbortSignal) => Promise<void> {
  const waiting: (() => void)[] = [];
  let free = limit;
  const turn = async (): Promise<void> => {
    if (free > 0) free--;
    else await new Promise<void>((resolve) => waiting.push(resolve));
  };
  return async (work, signal) => {
    await turn();
    try {
      if (!signal.aborted) await work();
    } finally {
      // Whoever has waited longest takes the place before anyone else can.
      const next = waiting.shift();
      if (next) next();
      else free++;
    }
  };
}
