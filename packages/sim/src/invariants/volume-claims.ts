/**
 * PVCs exist for as long as their retention policy says. `convergence.ts` checks PVCs that are left over after convergence.
 */
import { type PersistentVolumeClaim, persistentVolumeClaim } from '@kruise/api/core/persistentvolumeclaim';
import { pod } from '@kruise/api/core/pod';
import { type StatefulSet, statefulSet } from '@kruise/api/kruise/statefulset';
import { cloneSetInstanceIdLabel } from '@kruise/api/kruise/well-known';
import { controllerOf, type OwnerReference } from '@kruise/machinery/owner-references';
import { isPodActive } from '@kruise/machinery/pods';
import type { Invariant } from './invariant.ts';
import { effectiveSpecs, isFromManager, ordinalOf, ordinalsOf } from './kruise.ts';

/**
 * PVCs are garbage-collected with their owners. The retention policy therefore decides who may own a PVC, and nothing
 * else may delete it.
 */
export const pvcRetentionPolicyIsRespected: Invariant = {
  name: 'a PVC of an Advanced StatefulSet is deleted only as its retention policy allows',
  observe() {
    const sets = new Map<string, readonly StatefulSet['spec'][]>();
    const specsOf = effectiveSpecs<StatefulSet['spec']>();
    let known = new Map<string, PersistentVolumeClaim>();
    const leaving = new Set<string>();
    return (view) => {
      for (const set of view.list(statefulSet)) sets.set(set.metadata.name ?? '', specsOf(set));
      const present = new Map<string, PersistentVolumeClaim>();
      for (const claim of view.list(persistentVolumeClaim)) {
        const { name = '', uid = '', ownerReferences = [], deletionTimestamp } = claim.metadata;
        const { set = '', number } = memberOf(name);
        const specs = sets.get(set);
        if (!specs) continue;
        const before = known.get(uid)?.metadata.ownerReferences ?? [];
        const fresh = ownerReferences.filter((each) => !before.some(({ uid: former }) => former === each.uid));
        const wrong = fresh.find((owner) => !specs.some((spec) => mayOwn(owner, { spec }, number)));
        if (wrong) return `${name} is owned by ${wrong.kind} ${wrong.name}`;
        present.set(uid, claim);
        if (deletionTimestamp == null || leaving.has(uid)) continue;
        if (ownerReferences.length === 0) return `${name} is terminating and had no owner`;
        leaving.add(uid);
      }
      for (const [uid, { metadata }] of known) {
        if (present.has(uid) || leaving.has(uid)) continue;
        if (!metadata.ownerReferences?.length) return `${metadata.name} is deleted and had no owner`;
      }
      known = present;
      return undefined;
    };
  },
};

/** Returns the StatefulSet and the ordinal in the name of a PVC. */
function memberOf(claim: string): { readonly set?: string; readonly number: number } {
  const [, set, number] = /^data-(.+)-(\d+)$/.exec(claim) ?? [];
  return { ...(set === undefined ? {} : { set }), number: Number(number) };
}

/** Returns whether an object may own a PVC: the StatefulSet itself, or a Pod whose ordinal is not desired any more. */
function mayOwn({ kind }: OwnerReference, set: Pick<StatefulSet, 'spec'>, number: number): boolean {
  if (kind === 'Pod') return isDeletedWithPod(set, number);
  return set.spec.persistentVolumeClaimRetentionPolicy?.whenDeleted === 'Delete';
}

function isDeletedWithPod(set: Pick<StatefulSet, 'spec'>, number: number): boolean {
  const { whenScaled } = set.spec.persistentVolumeClaimRetentionPolicy ?? {};
  return whenScaled === 'Delete' && !ordinalsOf(set).includes(number);
}

/** A PVC whose Pod is deleted before it owns the PVC is never collected. */
export const scaledInPodsOwnTheirPvcs: Invariant = {
  name: 'a scaled-in Pod of an Advanced StatefulSet owns its PVCs if whenScaled is Delete',
  observe({ onRequest, view }) {
    let broken: string | undefined;
    const specsOf = effectiveSpecs<StatefulSet['spec']>();
    onRequest((observed) => {
      const seen = observed.request.method === 'DELETE' && isFromManager(observed) ? view() : undefined;
      const found = seen?.at(pod, observed.request.path);
      const { name = '', uid = '' } = found?.metadata ?? {};
      const set = found && seen?.list(statefulSet).find(({ metadata }) => metadata.uid === controllerOf(found)?.uid);
      if (!seen || !set || !specsOf(set).every((spec) => isDeletedWithPod({ spec }, ordinalOf(found))))
        return undefined;
      const left = seen
        .list(persistentVolumeClaim)
        .find(({ metadata }) => metadata.name === `data-${name}` && metadata.deletionTimestamp == null);
      if (!left || left.metadata.ownerReferences?.some((owner) => owner.uid === uid)) return undefined;
      return () => (broken ??= `${name} was deleted without ownership of ${left.metadata.name}`);
    });
    return (seen) => {
      for (const set of seen.list(statefulSet)) specsOf(set);
      return broken;
    };
  },
};

export const pvcsInUseAreKept: Invariant = {
  name: 'a CloneSet deletes no PVC of an active Pod',
  observe({ onRequest, view }) {
    let broken: string | undefined;
    onRequest((observed) => {
      if (observed.request.method !== 'DELETE' || !isFromManager(observed)) return undefined;
      const seen = view();
      const claim = seen?.at(persistentVolumeClaim, observed.request.path);
      const id = claim?.metadata.labels?.[cloneSetInstanceIdLabel];
      const user = seen
        ?.list(pod)
        .find(
          (each) => id !== undefined && each.metadata.labels?.[cloneSetInstanceIdLabel] === id && isPodActive(each),
        );
      if (!user) return undefined;
      return () => (broken ??= `${claim?.metadata.name} of ${user.metadata.name}`);
    });
    return () => broken;
  },
};
