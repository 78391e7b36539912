/** The requests being worked on, so that a server that stops can let them come to their end. */
export type InFlight = {
  begin(): void;
  end(): void;
  readonly count: number;
  /** Resolves when there is none. */
  idle(): Promise<void>;
};

export function createInFlight(): InFlight {
  let count = 0;
  let waiting: (() => void)[] = [];
  return {
    begin: () => void count++,
    end() {
      if (--count > 0) return;
      for (const resolve of waiting) resolve();
      waiting = [];
    },
    get count() {
      return count;
    },
    idle: () => (count === 0 ? Promise.resolve() : new Promise((resolve) => waiting.push(resolve))),
  };
}
