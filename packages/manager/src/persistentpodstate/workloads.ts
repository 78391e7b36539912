/** Workloads with persistent Pod states: their Pods have ordinals, and are recreated under the same names. */
import { statefulSet } from '@kruise/api/apps/statefulset';
import { statefulSet as advancedStatefulSet } from '@kruise/api/kruise/statefulset';
import type { Reference } from '@kruise/client/client';
import type { DynamicKind } from '@kruise/client/dynamic-kind';
import type { Caches } from '@kruise/client/informer';
import type { KubernetesObject } from '@kruise/client/object-key';
import { groupOf, type Kind, type ObjectOf } from '@kruise/schema/kind';
import type { FeatureGates } from '../configuration/feature-gates.ts';
import { replicasOf, wantedOrdinals } from '../statefulset/ordinals.ts';

export type Workload = Size & { readonly object: KubernetesObject };

/** Number of replicas, and the desired ordinals. */
export type Size = { readonly replicas: number; readonly isWanted: (ordinal: number) => boolean };

/** A workload kind whose Pods have ordinals. */
export type OrdinalKind = {
  readonly kind: Kind;
  find(caches: Caches, reference: Reference): Workload | undefined;
};

export function builtinKinds(gates: FeatureGates): readonly OrdinalKind[] {
  return [
    ordinalKindOf(statefulSet, ({ spec }) => consecutive(spec?.replicas ?? 1, spec?.ordinals?.start)),
    ordinalKindOf(advancedStatefulSet, (set) => {
      const wanted = new Set(wantedOrdinals(set, gates));
      return { replicas: replicasOf(set), isWanted: (ordinal) => wanted.has(ordinal) };
    }),
  ];
}

/** Returns a custom kind, of which only `spec.replicas` is known. */
export function customKind(kind: DynamicKind): OrdinalKind {
  return ordinalKindOf(kind, (object) => {
    const { spec } = object as { readonly spec?: { readonly replicas?: unknown } };
    return consecutive(Number.isInteger(spec?.replicas) ? (spec?.replicas as number) : 0);
  });
}

/** Finds the kind of a reference, in any version. */
export function findKind(
  kinds: readonly OrdinalKind[],
  { apiVersion, kind: name }: { readonly apiVersion: string; readonly kind: string },
): OrdinalKind | undefined {
  return kinds.find(({ kind }) => kind.kind === name && kind.group === groupOf(apiVersion));
}

function ordinalKindOf<K extends Kind>(kind: K, sizeOf: (object: ObjectOf<K>) => Size): OrdinalKind {
  return {
    kind,
    find(caches, reference) {
      const object = caches.of(kind).get(reference);
      return object && { object, ...sizeOf(object) };
    },
  };
}

function consecutive(replicas: number, start = 0): Size {
  return { replicas, isWanted: (ordinal) => ordinal >= start && ordinal < start + replicas };
}
