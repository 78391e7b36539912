/** Volume claims live as long as they are to, and no longer. What is left at rest is in `at-rest.ts`. */
import { type PersistentVolumeClaim, persistentVolumeClaim } from '@kruise/api/core/persistentvolumeclaim';
import { pod } from '@kruise/api/core/pod';
import { type StatefulSet, statefulSet } from '@kruise/api/kruise/statefulset';
import { cloneSetInstanceIdLabel } from '@kruise/api/kruise/well-known';
import { controllerOf, type OwnerReference } from '@kruise/machinery/owner-references';
import { isPodActive } from '@kruise/machinery/pods';
import type { Invariant } from './invariant.ts';
import { isOfManager, numberOf, numbersOf, specsInForce } from './kruise.ts';

/** Claims go with those who own them: whether they may be owned, and go with nobody else, is all there is to it. */
export const claimsGoAsTold: Invariant = {
  name: "a claim of a StatefulSet of Kruise's goes only as its policy says",
  begin() {
    const sets = new Map<string, readonly StatefulSet['spec'][]>();
    const specsOf = specsInForce<StatefulSet['spec']>();
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
        if (wrong) return `${name} is to go with ${wrong.kind} ${wrong.name}`;
        present.set(uid, claim);
        if (deletionTimestamp == null || leaving.has(uid)) continue;
        if (ownerReferences.length === 0) return `${name} is deleted, and nobody owned it`;
        leaving.add(uid);
      }
      for (const [uid, { metadata }] of known) {
        if (present.has(uid) || leaving.has(uid)) continue;
        if (!metadata.ownerReferences?.length) return `${metadata.name} is gone, and nobody owned it`;
      }
      known = present;
      return undefined;
    };
  },
};

/** The set and the number in the name of a claim. */
function memberOf(claim: string): { readonly set?: string; readonly number: number } {
  const [, set, number] = /^data-(.+)-(\d+)$/.exec(claim) ?? [];
  return { ...(set === undefined ? {} : { set }), number: Number(number) };
}

/** Whether a claim may go with one: with the set as a whole, or with a Pod whose number is not wanted any more. */
function mayOwn({ kind }: OwnerReference, set: Pick<StatefulSet, 'spec'>, number: number): boolean {
  if (kind === 'Pod') return goesWithPods(set, number);
  return set.spec.persistentVolumeClaimRetentionPolicy?.whenDeleted === 'Delete';
}

function goesWithPods(set: Pick<StatefulSet, 'spec'>, number: number): boolean {
  const { whenScaled } = set.spec.persistentVolumeClaimRetentionPolicy ?? {};
  return whenScaled === 'Delete' && !numbersOf(set).includes(number);
}

/** A claim that nobody has had go with its Pod when that goes stays for good: there is nobody left to go with. */
export const claimsGoWithPods: Invariant = {
  name: "a Pod that a StatefulSet of Kruise's does not want any more takes its claims with it, where they are to go",
  begin({ onRequest, view }) {
    let broken: string | undefined;
    const specsOf = specsInForce<StatefulSet['spec']>();
    onRequest((heard) => {
      const seen = heard.request.method === 'DELETE' && isOfManager(heard) ? view() : undefined;
      const found = seen?.at(pod, heard.request.path);
      const { name = '', uid = '' } = found?.metadata ?? {};
      const set = found && seen?.list(statefulSet).find(({ metadata }) => metadata.uid === controllerOf(found)?.uid);
      if (!seen || !set || !specsOf(set).every((spec) => goesWithPods({ spec }, numberOf(found)))) return undefined;
      const left = seen
        .list(persistentVolumeClaim)
        .find(({ metadata }) => metadata.name === `data-${name}` && metadata.deletionTimestamp == null);
      if (!left || left.metadata.ownerReferences?.some((owner) => owner.uid === uid)) return undefined;
      return () => (broken ??= `${name} went without ${left.metadata.name}`);
    });
    return (seen) => {
      for (const set of seen.list(statefulSet)) specsOf(set);
      return broken;
    };
  },
};

export const claimsInUseStay: Invariant = {
  name: 'a CloneSet deletes no claim of a Pod that stays',
  begin({ onRequest, view }) {
    let broken: string | undefined;
    onRequest((heard) => {
      if (heard.request.method !== 'DELETE' || !isOfManager(heard)) return undefined;
      const seen = view();
      const claim = seen?.at(persistentVolumeClaim, heard.request.path);
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
