/** What invariants about Kruise's workloads ask of all of them. */
import type { Pod } from '@kruise/api/core/pod';
import { type CloneSet, cloneSet } from '@kruise/api/kruise/cloneset';
import { type DaemonSet, daemonSet } from '@kruise/api/kruise/daemonset';
import { type StatefulSet, statefulSet } from '@kruise/api/kruise/statefulset';
import { controllerOf } from '@kruise/machinery/owner-references';
import { wantedOrdinals } from '@kruise/manager/controllers/statefulset/ordinals';
import { featureGates } from '@kruise/manager/feature-gates';
import type { View } from '../view.ts';
import type { Heard } from '../world.ts';

export type KruiseWorkload = CloneSet | StatefulSet | DaemonSet;

/** Every workload that kruise-manager looks after. */
export function kruiseWorkloads(view: View): readonly KruiseWorkload[] {
  return [...view.list(cloneSet), ...view.list(statefulSet), ...view.list(daemonSet)];
}

/** The workload of Kruise's that a Pod belongs to, if it belongs to one. */
export function kruiseOwnerOf(view: View, pod: Parameters<typeof controllerOf>[0]): KruiseWorkload | undefined {
  const uid = controllerOf(pod)?.uid;
  return uid === undefined ? undefined : kruiseWorkloads(view).find(({ metadata }) => metadata.uid === uid);
}

export function isOfManager({ user }: Heard): boolean {
  return user.username === 'system:serviceaccount:kruise-system:kruise-manager';
}

/** What kruise-manager runs with where nothing else is said. */
const gates = featureGates();

/** The numbers a StatefulSet of Kruise's wants, from the lowest up. */
export function numbersOf({ spec }: Pick<StatefulSet, 'spec'>): readonly number[] {
  return wantedOrdinals({ spec }, gates);
}

/** The number of a Pod in its set. */
export function numberOf({ metadata }: Pod): number {
  return Number(metadata.name?.split('-').at(-1));
}

type Watched<S> = {
  readonly metadata: { readonly uid?: string; readonly generation?: number };
  readonly spec: S;
  readonly status?: { readonly observedGeneration?: number };
};

/**
 * The specs of a workload that its controller may be acting on: the present one and, until it has said that it has heard
 * of that, those before it.
 */
export function specsInForce<S>(): (workload: Watched<S>) => readonly S[] {
  const asked = new Map<string, ReadonlyMap<number, S>>();
  return ({ metadata, spec, status }) => {
    const { uid = '', generation = 0 } = metadata;
    const inForce = new Map(asked.get(uid)).set(generation, spec);
    const isHeard = status?.observedGeneration === generation;
    asked.set(uid, isHeard ? new Map([[generation, spec]]) : inForce);
    return [...inForce.values()];
  };
}
