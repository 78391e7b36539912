/**
 * Simulation annotations of a Pod: `sim.kruise.io/<key>` for all its containers, `<container>.sim.kruise.io/<key>` for
 * one. `docs/reference/simulated-runtime.md` documents them.
 */
import { parseDuration, toMilliseconds } from '@kruise/values/duration';
import { ParseError } from '@kruise/values/parse-error';
import { asApproximateFloat, parseQuantity } from '@kruise/values/quantity';
import type { StringMap } from '../messages.ts';

export const annotationPrefix = 'sim.kruise.io/';

/** A step of a timeline: a value and its duration; the last one lasts forever. */
export type Step = { readonly value: string; readonly forMs: number };

export type Script = {
  readonly sandboxLatencyMs: number;
  readonly sandboxError: string | undefined;
  readonly sandboxFailures: number | undefined;
  readonly pullLatencyMs: number | undefined;
  readonly pullError: string | undefined;
  readonly pullFailures: number | undefined;
  readonly createError: string | undefined;
  readonly startLatencyMs: number;
  readonly startError: string | undefined;
  readonly startFailures: number | undefined;
  /** Replaces the command: the container serves until it is stopped or `runForMs` has passed. */
  readonly runForMs: number | undefined;
  /** Exit codes by attempt; the last one is used for all later attempts. */
  readonly exitCodes: readonly number[] | undefined;
  readonly oomAfterMs: number | undefined;
  /** Time to stop after the stop signal; `never` if only SIGKILL stops it. */
  readonly stopLatencyMs: number | 'never' | undefined;
  /** Timeline of responses since the start: an HTTP status, `refuse` or `hang`. */
  readonly answers: readonly Step[] | undefined;
  /** Timeline of exit codes of exec commands since the start. */
  readonly execResults: readonly Step[] | undefined;
  readonly execLatencyMs: number;
  readonly logLine: string | undefined;
  readonly logEveryMs: number | undefined;
  readonly cpuCores: number | undefined;
  readonly memoryBytes: number | undefined;
  readonly diskBytes: number | undefined;
};

/** Malformed annotation; the scripted operation fails. */
export class ScriptError extends Error {
  override readonly name = 'ScriptError';
}

/** Parses the annotations of a Pod, or of one of its containers. */
export function scriptOf(annotations: StringMap | undefined, container?: string): Script {
  if (!annotations || !hasScript(annotations)) return emptyScript;
  const get = (key: string): string | undefined =>
    (container === undefined ? undefined : annotations[`${container}.${annotationPrefix}${key}`]) ??
    annotations[`${annotationPrefix}${key}`];
  const read = <T>(key: string, parse: (text: string) => T): T | undefined => {
    const text = get(key);
    if (text === undefined) return undefined;
    try {
      return parse(text);
    } catch (error) {
      if (error instanceof ParseError || error instanceof RangeError) {
        throw new ScriptError(`annotation ${annotationPrefix}${key}: ${error.message}`);
      }
      throw error;
    }
  };
  return {
    sandboxLatencyMs: read('sandbox-latency', durationMs) ?? 0,
    sandboxError: get('sandbox-error'),
    sandboxFailures: read('sandbox-failures', wholeNumber),
    pullLatencyMs: read('pull-latency', durationMs),
    pullError: get('pull-error'),
    pullFailures: read('pull-failures', wholeNumber),
    createError: get('create-error'),
    startLatencyMs: read('start-latency', durationMs) ?? 0,
    startError: get('start-error'),
    startFailures: read('start-failures', wholeNumber),
    runForMs: read('run-for', durationMs),
    exitCodes: read('exit-code', (text) => text.split(',').map((part) => wholeNumber(part.trim()))),
    oomAfterMs: read('oom-after', durationMs),
    stopLatencyMs: read('stop-latency', (text) => (text === 'never' ? text : durationMs(text))),
    answers: read('answers', (text) => timeline(text, answer)),
    execResults: read('exec', (text) => timeline(text, wholeNumber)),
    execLatencyMs: read('exec-latency', durationMs) ?? 0,
    logLine: get('log-line'),
    logEveryMs: read('log-every', durationMs),
    cpuCores: read('cpu', quantity),
    memoryBytes: read('memory', quantity),
    diskBytes: read('disk', quantity),
  };
}

/** Returns the value of a timeline at an elapsed time. */
export function stepAt(steps: readonly Step[], elapsedMs: number): string {
  let rest = elapsedMs;
  for (const { value, forMs } of steps) {
    if (rest < forMs) return value;
    rest -= forMs;
  }
  return (steps.at(-1) as Step).value;
}

function hasScript(annotations: StringMap): boolean {
  for (const key in annotations) if (key.includes(annotationPrefix)) return true;
  return false;
}

function durationMs(text: string): number {
  const milliseconds = toMilliseconds(parseDuration(text));
  if (milliseconds < 0) throw new RangeError(`${JSON.stringify(text)} is in the past`);
  return milliseconds;
}

function wholeNumber(text: string): number {
  if (!/^\d{1,9}$/.test(text)) throw new RangeError(`${JSON.stringify(text)} is not a whole number`);
  return Number(text);
}

function quantity(text: string): number {
  return asApproximateFloat(parseQuantity(text));
}

function answer(text: string): void {
  if (!/^([1-5]\d\d|refuse|hang)$/.test(text)) {
    throw new RangeError(`${JSON.stringify(text)} is neither an HTTP status nor refuse or hang`);
  }
}

/** Parses `200 for 30s, 503 for 10s, refuse`. */
function timeline(text: string, check: (value: string) => unknown): readonly Step[] {
  return text.split(',').map((part) => {
    const [value = '', duration] = part.trim().split(/(?<!\s)\s+for\s+/);
    check(value);
    return { value, forMs: duration === undefined ? Number.POSITIVE_INFINITY : durationMs(duration) };
  });
}

const emptyScript: Script = {
  sandboxLatencyMs: 0,
  sandboxError: undefined,
  sandboxFailures: undefined,
  pullLatencyMs: undefined,
  pullError: undefined,
  pullFailures: undefined,
  createError: undefined,
  startLatencyMs: 0,
  startError: undefined,
  startFailures: undefined,
  runForMs: undefined,
  exitCodes: undefined,
  oomAfterMs: undefined,
  stopLatencyMs: undefined,
  answers: undefined,
  execResults: undefined,
  execLatencyMs: 0,
  logLine: undefined,
  logEveryMs: undefined,
  cpuCores: undefined,
  memoryBytes: undefined,
  diskBytes: undefined,
};
