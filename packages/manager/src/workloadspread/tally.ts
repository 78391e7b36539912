import type { WorkloadSpreadSubsetStatus } from '@kruise/api/kruise/workloadspread';
import type { NewEvent } from '@kruise/client/actions';
import type { Instant } from '@kruise/values/time';

export type SubsetStatus = WorkloadSpreadSubsetStatus;

/** Something counted, and what follows from that. */
export type Tally<T> = Notes & { readonly value: T };

export type Notes = {
  readonly told: readonly NewEvent[];
  /** When, though nothing happens, it is to be counted again. */
  readonly deadlines: readonly Instant[];
};

export function notesOf(...notes: readonly Notes[]): Notes {
  return { told: notes.flatMap(({ told }) => told), deadlines: notes.flatMap(({ deadlines }) => deadlines) };
}
