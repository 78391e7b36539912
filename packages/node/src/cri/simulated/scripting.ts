/** What annotations script, carried out: failures that come so often, and time that passes. */
import { after, type Clock } from '@kruise/values/clock';
import type { StringMap } from '../messages.ts';
import { runtimeError } from './runtime-error.ts';
import { type Script, ScriptError, scriptOf } from './script.ts';

export type Scripting = {
  /** Throws INVALID_ARGUMENT if an annotation cannot be read. */
  read(annotations: StringMap | undefined, container?: string): Script;
  /** Rejects with CANCELLED if the caller gives up. */
  passTime(delayMs: number, signal: AbortSignal | undefined): Promise<void>;
  /** Whether something of a Pod is to fail this time; each time counts. */
  fails(podUid: string, what: string, failure: ScriptedFailure): boolean;
  /** The Pod is gone. */
  forget(podUid: string): void;
};

export type ScriptedFailure = {
  readonly error: string | undefined;
  /** How often; without it, always. */
  readonly limit: number | undefined;
};

/** When `ended` is aborted, no time passes any more for whoever waits. */
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
    async passTime(delayMs, signal) {
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
    forget(podUid) {
      counts.delete(podUid);
    },
  };
}
