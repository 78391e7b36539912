/** Status conditions: one per type, with the time of the last transition. */
import { formatTime, type Instant } from '@kruise/values/time';

/** Status of a condition. */
export type ConditionStatus = 'True' | 'False' | 'Unknown';

/** Fields that conditions of all kinds have. */
export type Condition = {
  readonly type: string;
  readonly status: string;
  readonly lastTransitionTime?: string | null;
  readonly reason?: string;
  readonly message?: string;
};

/** Returns the condition of a type, if there is one. */
export function findCondition<C extends Condition>(conditions: readonly C[] | undefined, type: string): C | undefined {
  return conditions?.find((condition) => condition.type === type);
}

/** Reports whether the condition of a type exists and is true. */
export function isConditionTrue(conditions: readonly Condition[] | undefined, type: string): boolean {
  return findCondition(conditions, type)?.status === 'True';
}

/** Reports whether the condition of a type exists and is false. */
export function isConditionFalse(conditions: readonly Condition[] | undefined, type: string): boolean {
  return findCondition(conditions, type)?.status === 'False';
}

/**
 * Sets a condition. The transition time changes only with the status, and fields without a new value (for example a
 * heartbeat) are kept. Returns the same list if nothing changes, so that nothing is written.
 *
 * ```ts
 * withCondition(web.status?.conditions, { type: 'Ready', status: 'True', reason: 'PodsReady' }, now);
 * ```
 */
export function withCondition<C extends Condition>(
  conditions: readonly C[] | undefined,
  condition: Omit<C, 'lastTransitionTime'>,
  now: Instant,
): readonly C[] {
  const present = conditions ?? [];
  const index = present.findIndex(({ type }) => type === condition.type);
  const previous = present[index];
  // The cast is safe: the only omitted field of C is added here.
  if (previous === undefined)
    return [...present, { ...condition, lastTransitionTime: formatTime(now) } as unknown as C];
  if (hasSameFields(previous, condition)) return present;
  const lastTransitionTime =
    previous.status === condition.status
      ? { lastTransitionTime: previous.lastTransitionTime }
      : { lastTransitionTime: formatTime(now) };
  return present.with(index, { ...previous, ...condition, ...lastTransitionTime });
}

/** Removes a condition. Returns the same list if there is none. */
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
