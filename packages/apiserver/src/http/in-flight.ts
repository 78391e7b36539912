/** Tracks in-flight requests, so that a server that shuts down can drain them. */
export type InFlight = {
  begin(): void;
  end(): void;
  readonly count: number;
  /** Resolves when no request is in flight. */
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
