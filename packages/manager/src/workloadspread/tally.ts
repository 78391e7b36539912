import type { WorkloadSpreadSubsetStatus } from '@kruise/api/kruise/workloadspread';
import type { NewEvent } from '@kruise/client/actions';
import type { Instant } from '@kruise/values/time';

export type SubsetStatus = WorkloadSpreadSubsetStatus;

/** A counted value, with the deadlines for the next count. */
export type Tally<T> = Notes & { readonly value: T };

export type Notes = {
  readonly told: readonly NewEvent[];
  /** Times at which the count changes without an event. */
  readonly deadlines: readonly Instant[];
};

export function notesOf(...notes: readonly Notes[]): Notes {
  return { told: notes.flatMap(({ told }) => told), deadlines: notes.flatMap(({ deadlines }) => deadlines) };
}
