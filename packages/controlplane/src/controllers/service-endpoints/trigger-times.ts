/**
 * When it happened that endpoints had to change: a Service was made, or a Pod became ready or ceased to be. It is noted
 * on what is written, so that it can be told how long the change took to get around.
 */
import type { Pod } from '@kruise/api/core/pod';
import type { Service } from '@kruise/api/core/service';
import { type Key, keyOf } from '@kruise/client/object-key';
import { findCondition } from '@kruise/machinery/conditions';

export const triggerTimeAnnotation = 'endpoints.kubernetes.io/last-change-trigger-time';

/** Remembers of each Service what its Pods were like at the last look. */
export type TriggerTimes = {
  /** The time of the earliest change since the last look; undefined where none is known. */
  look(service: Service, pods: readonly Pod[]): string | undefined;
  forget(key: Key): void;
};

export function createTriggerTimes(): TriggerTimes {
  const known = new Map<Key, { readonly service: string; readonly pods: ReadonlyMap<string, string> }>();
  return {
    look(service, pods) {
      const key = keyOf(service);
      const before = known.get(key);
      const created = service.metadata.creationTimestamp ?? '';
      const times = new Map<string, string>();
      // Times are written so that their order is that of their texts.
      let earliest: string | undefined;
      const consider = (time: string, previous: string | undefined) => {
        if (previous !== undefined && time <= previous) return;
        if (earliest === undefined || time < earliest) earliest = time;
      };
      for (const { metadata, status } of pods) {
        const time = findCondition(status?.conditions, 'Ready')?.lastTransitionTime;
        if (!time) continue;
        times.set(metadata.name ?? '', time);
        consider(time, before?.pods.get(metadata.name ?? ''));
      }
      consider(created, before?.service);
      known.set(key, { service: created, pods: times });
      return before ? earliest : created;
    },
    forget: (key) => void known.delete(key),
  };
}

/** The annotations of an object that is written because of a change at a time. */
export function withTriggerTime(
  annotations: Readonly<Record<string, string>> | undefined,
  time: string | undefined,
): Record<string, string> {
  const { [triggerTimeAnnotation]: _, ...others } = annotations ?? {};
  return time ? { ...others, [triggerTimeAnnotation]: time } : others;
}
