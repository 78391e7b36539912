/** Status conditions: one of each type, with the time its status last changed. */
import { formatTime, type Instant } from '@kruise/values/time';

/** A condition's claim holds, does not hold, or nobody knows. */
export type ConditionStatus = 'True' | 'False' | 'Unknown';

/** What the conditions of all kinds have in common. */
export type Condition = {
  readonly type: string;
  readonly status: string;
  readonly lastTransitionTime?: string | null;
  readonly reason?: string;
  readonly message?: string;
};

/** The condition of a type, if there is one. */
export function findCondition<C extends Condition>(conditions: readonly C[] | undefined, type: string): C | undefined {
  return conditions?.find((condition) => condition.type === type);
}

/** Whether the condition of a type is there and true. */
export function isConditionTrue(conditions: readonly Condition[] | undefined, type: string): boolean {
  return findCondition(conditions, type)?.status === 'True';
}

/** Whether the condition of a type is there and false. */
export function isConditionFalse(conditions: readonly Condition[] | undefined, type: string): boolean {
  return findCondition(conditions, type)?.status === 'False';
}

/**
 * The conditions with one set. The transition time is `now` only where the status changes, and what the condition
 * brings no new value for (say a heartbeat) is kept. The same list if nothing changes, so that nothing is written.
 */
export function withCondition<C extends Condition>(
  conditions: readonly C[] | undefined,
  condition: Omit<C, 'lastTransitionTime'>,
  now: Instant,
): readonly C[] {
  const present = conditions ?? [];
  const index = present.findIndex(({ type }) => type === condition.type);
  const previous = present[index];
  // The cast holds as the only field left out of C is given here.
  if (previous === undefined)
    return [...present, { ...condition, lastTransitionTime: formatTime(now) } as unknown as C];
  if (hasSameFields(previous, condition)) return present;
  const lastTransitionTime =
    previous.status === condition.status
      ? { lastTransitionTime: previous.lastTransitionTime }
      : { lastTransitionTime: formatTime(now) };
  return present.with(index, { ...previous, ...condition, ...lastTransitionTime });
}

/** The conditions without one. The same list if it was not there. */
export function withoutCondition<C extends Condition>(
  conditions: readonly C[] | undefined,
  type: string,
): readonly C[] {
  const present = conditions ?? [];
  const kept = present.filter((condition) => condition.type !== type);
  return kept.length === present.length ? present : kept;
}

function hasSameFields(condition: object, fields: object): boolean {
  return Object.entries(fields).every(
    ([name, value]) => (condition as Readonly<Record<string, unknown>>)[name] === value,
  );
}
