/** Kinds that serve objects stored as another kind: an older version, or the same objects in two groups. */
import type { HorizontalPodAutoscaler } from '@kruise/api/autoscaling/horizontalpodautoscaler';
import { horizontalPodAutoscaler } from '@kruise/api/autoscaling/horizontalpodautoscaler';
import { fromVersion1, toVersion1 } from '@kruise/api/autoscaling/horizontalpodautoscaler.conversion';
import type { HorizontalPodAutoscaler as HorizontalPodAutoscalerV1 } from '@kruise/api/autoscaling/horizontalpodautoscaler-v1';
import { horizontalPodAutoscaler as horizontalPodAutoscalerV1 } from '@kruise/api/autoscaling/horizontalpodautoscaler-v1';
import { type Event as CoreEvent, event as coreEvent } from '@kruise/api/core/event';
import { type Event, event } from '@kruise/api/events/event';
import { fromCoreEvent, toCoreEvent } from '@kruise/api/events/event.conversion';
import type { Versioned } from '@kruise/machinery/server-side-apply/updater';
import { codecOf } from '@kruise/schema/codec';
import { apiVersionOf, type Kind, type KubernetesObject } from '@kruise/schema/kind';
import { mergeTypeOf } from '@kruise/schema/merge-type';
import type { KubeObject } from '../object.ts';
import type { Conversion } from '../resource.ts';

/** Kind that serves objects of another kind. */
type EquivalentKind = {
  readonly served: Kind;
  readonly stored: Kind;
  toStorage(object: KubeObject): KubeObject;
  fromStorage(object: KubeObject): KubeObject;
};

function equivalentKind<Shown extends KubernetesObject, Stored extends KubernetesObject>(
  served: Kind<Shown>,
  stored: Kind<Stored>,
  convert: { readonly to: (object: Shown) => Stored; readonly from: (object: Stored) => Shown },
): EquivalentKind {
  const [shownCodec, storedCodec] = [codecOf(served.root), codecOf(stored.root)];
  // Objects are dispatched by kind, so each has the type of its function.
  return {
    served,
    stored,
    toStorage: (object) => storedCodec.canonical(convert.to(object as unknown as Shown)) as KubeObject,
    fromStorage: (object) => shownCodec.canonical(convert.from(object as unknown as Stored)) as KubeObject,
  };
}

const equivalentKinds: readonly EquivalentKind[] = [
  equivalentKind<HorizontalPodAutoscalerV1, HorizontalPodAutoscaler>(
    horizontalPodAutoscalerV1,
    horizontalPodAutoscaler,
    {
      to: fromVersion1,
      from: toVersion1,
    },
  ),
  equivalentKind<Event, CoreEvent>(event, coreEvent, { to: toCoreEvent, from: fromCoreEvent }),
];

/** Returns the storage form of a kind, if it differs from the kind. */
export function findEquivalentKind(kind: Kind): EquivalentKind | undefined {
  return equivalentKinds.find(({ served }) => served === kind);
}

export function conversionOf(kind: Kind): Conversion {
  const other = findEquivalentKind(kind);
  if (!other) return { storageVersion: kind.version, toStorage: (object) => object, fromStorage: (object) => object };
  return { storageVersion: other.stored.version, toStorage: other.toStorage, fromStorage: other.fromStorage };
}

/** Converts an object to another kind, for fields that are owned with its paths. */
export function convertToEquivalent(object: KubeObject, apiVersion: string): Versioned | undefined {
  for (const { served, stored, toStorage, fromStorage } of equivalentKinds) {
    if (served.kind !== object.kind) continue;
    if (apiVersion === apiVersionOf(served)) {
      const result = object.apiVersion === apiVersion ? object : fromStorage(object);
      return { object: result, type: mergeTypeOf(served.root) };
    }
    if (apiVersion === apiVersionOf(stored)) {
      const result = object.apiVersion === apiVersion ? object : toStorage(object);
      return { object: result, type: mergeTypeOf(stored.root) };
    }
  }
  return undefined;
}
