/**
 * Processes of simulated containers: programs are async functions, which wait through their process, so that a signal
 * can end them wherever they wait. A process that only waits costs a few objects and no timer.
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

/** The signal a text names, by name with or without `SIG`, or by number. */
export function signalOf(text: string): SignalName | undefined {
  const upper = text.toUpperCase();
  const name = upper.startsWith('SIG') ? upper : `SIG${upper}`;
  if (name in signalNumbers) return name as SignalName;
  const entry = Object.entries(signalNumbers).find(([, number]) => String(number) === text);
  return entry?.[0] as SignalName | undefined;
}

/** What whoever waits finds when the process was told to leave what it is doing. */
export class ProcessInterrupted extends Error {
  override readonly name = 'ProcessInterrupted';
}

/** What a process that was killed finds where it waits; it is not to be caught. */
export class ProcessKilled extends Error {
  override readonly name = 'ProcessKilled';
}

export type Process = {
  readonly pid: number;
  readonly isAlive: boolean;
  /** Whether it waits for something. */
  readonly isWaiting: boolean;
  /** Waits for something that can be called off. Rejects with `ProcessKilled` if the process ends before. */
  wait<T>(
    start: (resolve: (value: T) => void, reject: (error: unknown) => void) => (() => void) | undefined,
  ): Promise<T>;
  sleep(delayMs: number): Promise<void>;
  /** Waits for one of some signals, and gives what is said for it. */
  waitForSignal<T>(meanings: SignalMeanings<T>): Promise<T>;
  /** Counts a step of work; now and then a step takes time, so that an endless loop ends no world. */
  step(): Promise<void> | undefined;
  /** Has a signal handled, or with undefined left to its default again. */
  handle(signal: SignalName, handler: (() => void) | 'ignore' | undefined): void;
  signal(signal: SignalName): void;
  /** Ends whatever it waits for, but not the process: all waits reject with `ProcessInterrupted`. */
  interrupt(): void;
  /** Ends it, with whatever it waits for. */
  exit(exitCode: number): void;
};

export type ProcessOptions = {
  readonly pid: number;
  readonly clock: Clock;
  /** Whether it is the first of its process namespace. */
  readonly isInit: boolean;
  onExit(exitCode: number): void;
};

/** What a busy loop may do, and how long that takes it. */
const burstSteps = 200;
const burstMs = 100;

/** Where it was made says nothing about who was killed, and to find that out takes longer than all the rest. */
const killed = new ProcessKilled();

/** What signals mean to whoever waits for them. */
export type SignalMeanings<T> = { readonly [S in SignalName]?: T };

type Wait = { cancel: (() => void) | undefined; readonly reject: (error: unknown) => void };

export function createProcess(options: ProcessOptions): Process {
  return new SimulatedProcess(options);
}

/** A class, for there may be a hundred thousand: functions of its own would take more than all the rest of it. */
class SimulatedProcess implements Process {
  isAlive = true;
  readonly pid: number;
  readonly #options: ProcessOptions;
  #steps = 0;
  // Made when needed: most processes wait once and handle nothing.
  #waits: Set<Wait> | undefined;
  #handlers: Map<SignalName, (() => void) | 'ignore'> | undefined;
  // Most servers do this and nothing else, so it takes no functions.
  #awaited: { readonly meanings: SignalMeanings<unknown>; readonly resolve: (meaning: unknown) => void } | undefined;

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

  waitForSignal<T>(meanings: SignalMeanings<T>): Promise<T> {
    return this.wait<T>((resolve) => {
      // It is given nothing but what these signals mean.
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
    // The kernel spares the first process of a namespace every signal it does not handle, save SIGKILL.
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
