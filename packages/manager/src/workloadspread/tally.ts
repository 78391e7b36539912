import type { WorkloadSpreadSubsetStatus } from '@kruise/api/kruise/workloadspread';
import type { NewEvent } from '@kruise/client/actions';
import type { Instant } from '@kruise/values/time';

export type SubsetStatus = WorkloadSpreadSubsetStatus;

/** A counted value, with the deadlines for the next count. */
export type Tally<T> = FollowUps & { readonly value: T };

export type FollowUps = {
  readonly events: readonly NewEvent[];
  /** Times at which the count changes without an event. */
  readonly deadlines: readonly Instant[];
};

export function mergeFollowUps(...followUps: readonly FollowUps[]): FollowUps {
  return {
    events: followUps.flatMap(({ events }) => events),
    deadlines: followUps.flatMap(({ deadlines }) => deadlines),
  };
}
