/**
 * Trigger times: when a change required new endpoints, such as a created Service or a change of a Pod's readiness. The
 * time is written as an annotation, so that the propagation latency can be measured.
 */
import type { Pod } from '@kruise/api/core/pod';
import type { Service } from '@kruise/api/core/service';
import { type Key, keyOf } from '@kruise/client/object-key';
import { findCondition } from '@kruise/machinery/conditions';

export const triggerTimeAnnotation = 'endpoints.kubernetes.io/last-change-trigger-time';

/** Tracks the Pods of each Service between reconciles. */
export type TriggerTimes = {
  /** Returns the time of the earliest change since the last call; undefined if none is known. */
  update(service: Service, pods: readonly Pod[]): string | undefined;
  forget(key: Key): void;
};

export function createTriggerTimes(): TriggerTimes {
  const known = new Map<Key, { readonly service: string; readonly pods: ReadonlyMap<string, string> }>();
  return {
    update(service, pods) {
      const key = keyOf(service);
      const before = known.get(key);
      const created = service.metadata.creationTimestamp ?? '';
      const times = new Map<string, string>();
      // RFC 3339 times sort as strings.
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

/** Returns the annotations of an object with the trigger time of its change. */
export function withTriggerTime(
  annotations: Readonly<Record<string, string>> | undefined,
  time: string | undefined,
): Record<string, string> {
  const { [triggerTimeAnnotation]: _, ...others } = annotations ?? {};
  return time ? { ...others, [triggerTimeAnnotation]: time } : others;
}
