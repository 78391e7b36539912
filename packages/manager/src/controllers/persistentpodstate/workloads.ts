/** The workloads whose Pods are remembered: their Pods are numbered, and come back under the same names. */
import { statefulSet } from '@kruise/api/apps/statefulset';
import { statefulSet as advancedStatefulSet } from '@kruise/api/kruise/statefulset';
import type { Reference } from '@kruise/client/client';
import type { DynamicKind } from '@kruise/client/dynamic-kind';
import type { Caches } from '@kruise/client/informer';
import type { KubernetesObject } from '@kruise/client/object-key';
import { groupOf, type Kind, type ObjectOf } from '@kruise/schema/kind';
import type { FeatureGates } from '../../feature-gates.ts';
import { replicasOf, wantedOrdinals } from '../statefulset/ordinals.ts';

export type Workload = Size & { readonly object: KubernetesObject };

/** How many Pods a workload is to have, and of which numbers. */
export type Size = { readonly replicas: number; readonly isWanted: (ordinal: number) => boolean };

/** A kind of such workloads. */
export type NumberedKind = {
  readonly kind: Kind;
  find(caches: Caches, reference: Reference): Workload | undefined;
};

export function builtinKinds(gates: FeatureGates): readonly NumberedKind[] {
  return [
    numbered(statefulSet, ({ spec }) => consecutive(spec?.replicas ?? 1, spec?.ordinals?.start)),
    numbered(advancedStatefulSet, (set) => {
      const wanted = new Set(wantedOrdinals(set, gates));
      return { replicas: replicasOf(set), isWanted: (ordinal) => wanted.has(ordinal) };
    }),
  ];
}

/** A kind of which nothing is known but that it has `spec.replicas`. */
export function customKind(kind: DynamicKind): NumberedKind {
  return numbered(kind, (object) => {
    const { spec } = object as { readonly spec?: { readonly replicas?: unknown } };
    return consecutive(Number.isInteger(spec?.replicas) ? (spec?.replicas as number) : 0);
  });
}

/** The kind that is referred to, in whatever version. */
export function kindAmong(
  kinds: readonly NumberedKind[],
  { apiVersion, kind: name }: { readonly apiVersion: string; readonly kind: string },
): NumberedKind | undefined {
  return kinds.find(({ kind }) => kind.kind === name && kind.group === groupOf(apiVersion));
}

function numbered<K extends Kind>(kind: K, sizeOf: (object: ObjectOf<K>) => Size): NumberedKind {
  return {
    kind,
    find(caches, reference) {
      const object = caches.of(kind).get(reference);
      // An object of a kind has what every object has.
      return object && { object: object as unknown as KubernetesObject, ...sizeOf(object) };
    },
  };
}

function consecutive(replicas: number, start = 0): Size {
  return { replicas, isWanted: (ordinal) => ordinal >= start && ordinal < start + replicas };
}
