/**
 * Processes of simulated containers. Programs are async functions that wait through their process, so that a signal can
 * end them at any wait. A waiting process costs a few objects and no timer.
 */
import type { Clock } from '@kruise/values/clock';

export const signalNumbers = {
  SIGHUP: 1,
  SIGINT: 2,
  SIGQUIT: 3,
  SIGABRT: 6,
  SIGKILL: 9,
  SIGUSR1: 10,
  SIGSEGV: 11,
  SIGUSR2: 12,
  SIGPIPE: 13,
  SIGALRM: 14,
  SIGTERM: 15,
  SIGCHLD: 17,
  SIGCONT: 18,
  SIGSTOP: 19,
  SIGWINCH: 28,
} as const;

export type SignalName = keyof typeof signalNumbers;

const ignoredByDefault: ReadonlySet<SignalName> = new Set(['SIGCHLD', 'SIGCONT', 'SIGWINCH']);

/** Parses a signal by name, with or without `SIG`, or by number. */
export function signalOf(text: string): SignalName | undefined {
  const upper = text.toUpperCase();
  const name = upper.startsWith('SIG') ? upper : `SIG${upper}`;
  if (name in signalNumbers) return name as SignalName;
  const entry = Object.entries(signalNumbers).find(([, number]) => String(number) === text);
  return entry?.[0] as SignalName | undefined;
}

/** Thrown from a wait when the process was interrupted. */
export class ProcessInterrupted extends Error {
  override readonly name = 'ProcessInterrupted';
}

/** Thrown from a wait when the process was killed; programs must not catch it. */
export class ProcessKilled extends Error {
  override readonly name = 'ProcessKilled';
}

export type Process = {
  readonly pid: number;
  readonly isAlive: boolean;
  /** True while the process waits. */
  readonly isWaiting: boolean;
  /** Waits for a cancelable operation. Rejects with `ProcessKilled` if the process exits first. */
  wait<T>(
    start: (resolve: (value: T) => void, reject: (error: unknown) => void) => (() => void) | undefined,
  ): Promise<T>;
  sleep(delayMs: number): Promise<void>;
  /** Waits for one of several signals; resolves with the value given for it. */
  waitForSignal<T>(meanings: SignalValues<T>): Promise<T>;
  /** Counts a step of work; occasionally a step takes time, so that an endless loop does not block the process. */
  step(): Promise<void> | undefined;
  /** Sets the handler of a signal; undefined restores the default. */
  handle(signal: SignalName, handler: (() => void) | 'ignore' | undefined): void;
  signal(signal: SignalName): void;
  /** Interrupts the process without ending it: all waits reject with `ProcessInterrupted`. */
  interrupt(): void;
  /** Exits the process and cancels its waits. */
  exit(exitCode: number): void;
};

export type ProcessOptions = {
  readonly pid: number;
  readonly clock: Clock;
  /** True for the first process of its PID namespace. */
  readonly isInit: boolean;
  onExit(exitCode: number): void;
};

/** Steps of a busy loop between pauses, and the length of a pause. */
const burstSteps = 200;
const burstMs = 100;

/**
 * One shared error: its stack trace says nothing about the killed process, and capturing it costs more than everything
 * else.
 */
const killed = new ProcessKilled();

/** Values by signal. */
export type SignalValues<T> = { readonly [S in SignalName]?: T };

type Wait = { cancel: (() => void) | undefined; readonly reject: (error: unknown) => void };

export function createProcess(options: ProcessOptions): Process {
  return new SimulatedProcess(options);
}

/**
 * A class rather than closures: there may be a hundred thousand processes, and closures would dominate their memory.
 */
class SimulatedProcess implements Process {
  isAlive = true;
  readonly pid: number;
  readonly #options: ProcessOptions;
  #steps = 0;
  // Created lazily: most processes wait once and handle no signals.
  #waits: Set<Wait> | undefined;
  #handlers: Map<SignalName, (() => void) | 'ignore'> | undefined;
  // Most servers only wait for a signal, so this wait needs no closures.
  #awaited: { readonly meanings: SignalValues<unknown>; readonly resolve: (meaning: unknown) => void } | undefined;

  constructor(options: ProcessOptions) {
    this.pid = options.pid;
    this.#options = options;
  }

  wait<T>(
    start: (resolve: (value: T) => void, reject: (error: unknown) => void) => (() => void) | undefined,
  ): Promise<T> {
    if (!this.isAlive) return Promise.reject(killed);
    return new Promise((resolve, reject) => {
      this.#waits ??= new Set();
      const pending = this.#waits;
      const wait: Wait = { cancel: undefined, reject };
      pending.add(wait);
      wait.cancel = start(
        (value) => {
          if (pending.delete(wait)) resolve(value);
        },
        (error) => {
          if (pending.delete(wait)) reject(error);
        },
      );
    });
  }

  get isWaiting(): boolean {
    return this.#waits !== undefined && this.#waits.size > 0;
  }

  sleep(delayMs: number): Promise<void> {
    return this.wait<void>((resolve) => this.#options.clock.setTimer(delayMs, () => resolve()));
  }

  waitForSignal<T>(meanings: SignalValues<T>): Promise<T> {
    return this.wait<T>((resolve) => {
      // The cast is safe: it is only called with the values of these signals.
      this.#awaited = { meanings, resolve: resolve as (meaning: unknown) => void };
      return undefined;
    });
  }

  step(): Promise<void> | undefined {
    return ++this.#steps % burstSteps === 0 ? this.sleep(burstMs) : undefined;
  }

  handle(signal: SignalName, handler: (() => void) | 'ignore' | undefined): void {
    if (handler === undefined) this.#handlers?.delete(signal);
    else (this.#handlers ??= new Map()).set(signal, handler);
  }

  signal(signal: SignalName): void {
    if (!this.isAlive) return;
    const handler = signal === 'SIGKILL' ? undefined : this.#handlers?.get(signal);
    if (handler === 'ignore') return;
    if (handler) {
      handler();
      return;
    }
    if (signal !== 'SIGKILL' && this.#awaited && signal in this.#awaited.meanings) {
      this.#awaited.resolve(this.#awaited.meanings[signal]);
      return;
    }
    // The kernel discards signals without a handler for the first process of a namespace, except SIGKILL.
    if (signal !== 'SIGKILL' && (this.#options.isInit || ignoredByDefault.has(signal))) return;
    this.exit(128 + signalNumbers[signal]);
  }

  interrupt(): void {
    this.#endWaits(new ProcessInterrupted());
  }

  exit(exitCode: number): void {
    if (!this.isAlive) return;
    this.isAlive = false;
    this.#endWaits(killed);
    this.#options.onExit(exitCode);
  }

  #endWaits(reason: Error): void {
    const waits = this.#waits;
    this.#waits = undefined;
    for (const wait of waits ?? []) {
      waits?.delete(wait);
      wait.cancel?.();
      wait.reject(reason);
    }
  }
}
