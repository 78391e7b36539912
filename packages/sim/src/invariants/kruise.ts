/** Helpers for the invariants of Kruise workloads. */
import type { Pod } from '@kruise/api/core/pod';
import { type CloneSet, cloneSet } from '@kruise/api/kruise/cloneset';
import { type DaemonSet, daemonSet } from '@kruise/api/kruise/daemonset';
import { type StatefulSet, statefulSet } from '@kruise/api/kruise/statefulset';
import { controllerOf } from '@kruise/machinery/owner-references';
import { featureGates } from '@kruise/manager/configuration/feature-gates';
import { wantedOrdinals } from '@kruise/manager/statefulset/ordinals';
import type { View } from '../view.ts';
import type { ObservedRequest } from '../world.ts';

export type KruiseWorkload = CloneSet | StatefulSet | DaemonSet;

/** Returns every workload that kruise-manager controls. */
export function kruiseWorkloads(view: View): readonly KruiseWorkload[] {
  return [...view.list(cloneSet), ...view.list(statefulSet), ...view.list(daemonSet)];
}

/** Returns the Kruise workload that controls a Pod, if any. */
export function kruiseOwnerOf(view: View, pod: Parameters<typeof controllerOf>[0]): KruiseWorkload | undefined {
  const uid = controllerOf(pod)?.uid;
  return uid === undefined ? undefined : kruiseWorkloads(view).find(({ metadata }) => metadata.uid === uid);
}

export function isFromManager({ user }: ObservedRequest): boolean {
  return user.username === 'system:serviceaccount:kruise-system:kruise-manager';
}

/** Default feature gates of kruise-manager. */
const gates = featureGates();

/** Returns the desired ordinals of an Advanced StatefulSet, in ascending order. */
export function ordinalsOf({ spec }: Pick<StatefulSet, 'spec'>): readonly number[] {
  return wantedOrdinals({ spec }, gates);
}

/** Returns the ordinal of a Pod. */
export function ordinalOf({ metadata }: Pod): number {
  return Number(metadata.name?.split('-').at(-1));
}

type ObservedWorkload<S> = {
  readonly metadata: { readonly uid?: string; readonly generation?: number };
  readonly spec: S;
  readonly status?: { readonly observedGeneration?: number };
};

/**
 * Returns the specs of a workload that its controller may act on: the current spec and, until observedGeneration has
 * caught up, the previous ones.
 */
export function effectiveSpecs<S>(): (workload: ObservedWorkload<S>) => readonly S[] {
  const specs = new Map<string, ReadonlyMap<number, S>>();
  return ({ metadata, spec, status }) => {
    const { uid = '', generation = 0 } = metadata;
    const inForce = new Map(specs.get(uid)).set(generation, spec);
    const isObserved = status?.observedGeneration === generation;
    specs.set(uid, isObserved ? new Map([[generation, spec]]) : inForce);
    return [...inForce.values()];
  };
}
