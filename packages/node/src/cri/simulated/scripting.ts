/** Execution of simulation annotations: counted failures and delays. */
import { after, type Clock } from '@kruise/values/clock';
import type { StringMap } from '../messages.ts';
import { runtimeError } from './runtime-error.ts';
import { type Script, ScriptError, scriptOf } from './script.ts';

export type Scripting = {
  /** Throws INVALID_ARGUMENT if an annotation is malformed. */
  read(annotations: StringMap | undefined, container?: string): Script;
  /** Rejects with CANCELLED if the caller aborts. */
  delay(delayMs: number, signal: AbortSignal | undefined): Promise<void>;
  /** Reports whether an operation of a Pod fails this time; every call counts. */
  fails(podUid: string, what: string, failure: ScriptedFailure): boolean;
  /** Removes the counters of a deleted Pod. */
  remove(podUid: string): void;
};

export type ScriptedFailure = {
  readonly error: string | undefined;
  /** Number of failures; unlimited if absent. */
  readonly limit: number | undefined;
};

/** Creates the executor; when `ended` is aborted, pending delays never end. */
export function createScripting(clock: Clock, ended?: AbortSignal): Scripting {
  const counts = new Map<string, Map<string, number>>();
  return {
    read(annotations, container) {
      try {
        return scriptOf(annotations, container);
      } catch (error) {
        if (error instanceof ScriptError) throw runtimeError('INVALID_ARGUMENT', error.message);
        throw error;
      }
    },
    async delay(delayMs, signal) {
      if (delayMs <= 0) return;
      try {
        await after(clock, delayMs, signal && ended ? AbortSignal.any([signal, ended]) : (signal ?? ended));
      } catch {
        throw runtimeError('CANCELLED', 'context canceled');
      }
    },
    fails(podUid, what, { error, limit }) {
      if (error === undefined && limit === undefined) return false;
      const ofPod = counts.get(podUid) ?? new Map<string, number>();
      counts.set(podUid, ofPod);
      const count = ofPod.get(what) ?? 0;
      if (count >= (limit ?? Number.POSITIVE_INFINITY)) return false;
      ofPod.set(what, count + 1);
      return true;
    },
    remove(podUid) {
      counts.delete(podUid);
    },
  };
}
