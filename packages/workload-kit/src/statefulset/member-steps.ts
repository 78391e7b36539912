/** Steps for one Pod of a StatefulSet: creation with its PVCs, correction, and deletion. */
import type { PersistentVolumeClaim } from '@kruise/api/core/persistentvolumeclaim';
import type { Pod } from '@kruise/api/core/pod';
import {
  type Action,
  create,
  isBeingDeleted,
  type OutcomeEvents,
  record,
  remove,
  update,
  withOutcomeEvents,
} from '@kruise/client/actions';
import { claimsFor, hasIdentity, hasStorage, type NumberedSet, withIdentity, withStorage } from './identity.ts';
import { hasOtherController, isAwaitingDeletion, type PvcOwnership, wantedOwners } from './pvc-retention.ts';

/** An ordinal of a set with its Pod, existing or not, and a lookup of PVCs. */
export type OrdinalSlot = {
  readonly set: NumberedSet;
  readonly pod: Pod;
  readonly ordinal: number;
  readonly findClaim: (name: string) => PersistentVolumeClaim | undefined;
};

/** A Pod, existing or not, and the ownership of its PVCs. */
export type Member = PvcOwnership & OrdinalSlot;

/** Actions on PVCs precede actions on their Pod. */
export type MemberStep = { readonly claims: readonly Action[]; readonly pod: readonly Action[] };

/** Creates a Pod after its PVCs. The creation waits while a PVC is terminating. */
export function creation(member: Member): MemberStep {
  const { set, pod } = member;
  const present = presentClaims(member);
  if (present.some((claim) => isAwaitingDeletion(claim, member))) return { claims: [], pod: [] };
  const claims = [...missingClaims(member), ...conflicts(member), ...ownerUpdates(member)];
  const leaving = present.filter(isBeingDeleted).map(({ metadata }) => `pvc ${metadata.name} is being deleted`);
  if (leaving.length === 0) return { claims, pod: [withOutcomeEvents(create(pod), podEvents(set, 'create', pod))] };
  const error = leaving.length === 1 ? leaving[0] : `[${leaving.join(', ')}]`;
  const { reason, message } = podEvents(set, 'create', pod).failed;
  return {
    claims,
    pod: [record({ about: set, type: 'Warning', reason, message: message.replace('{error}', () => error ?? '') })],
  };
}

/** Creates the PVCs that a Pod waits for. */
export function provisionPvcs(member: Member): readonly Action[] {
  return [...missingClaims(member), ...conflicts(member), ...ownerUpdates(member)];
}

/** Restores the identity of a Pod, and the owner references of its PVCs. */
export function repair(member: Member): MemberStep {
  const { set, ordinal, pod } = member;
  const usesItsClaims = hasStorage(set, ordinal, pod);
  const owners = updateCondemnedOwners(member);
  const claims = usesItsClaims ? owners : [...missingClaims(member), ...owners];
  const events = podEvents(set, 'update', pod);
  if (hasIdentity(pod) && usesItsClaims) {
    return { claims, pod: owners.length > 0 ? [record({ about: set, type: 'Normal', ...events.done })] : [] };
  }
  const corrected = withStorage(set, ordinal, withIdentity(pod, ordinal));
  return { claims, pod: [withOutcomeEvents(update(corrected), events)] };
}

/** Sets the owner references of a condemned Pod's PVCs. */
export function updateCondemnedOwners(member: Member): readonly Action[] {
  const updates = ownerUpdates(member);
  return updates.length === 0 ? updates : [...conflicts(member), ...updates];
}

/** Deletes a Pod. */
export function removal(set: NumberedSet, pod: Pod): Action {
  return withOutcomeEvents(remove(pod), podEvents(set, 'delete', pod));
}

/** Returns the existing PVCs of a Pod. */
export function presentClaims({ set, ordinal, findClaim }: OrdinalSlot): readonly PersistentVolumeClaim[] {
  return claimsFor(set, ordinal).flatMap(({ metadata }) => findClaim(metadata.name ?? '') ?? []);
}

/** Creates the missing PVCs of a Pod. */
export function missingClaims({ set, pod, ordinal, findClaim }: OrdinalSlot): readonly Action[] {
  const inStatefulSet = `Pod ${pod.metadata.name} in StatefulSet ${set.metadata.name}`;
  return claimsFor(set, ordinal)
    .filter(({ metadata }) => !findClaim(metadata.name ?? ''))
    .map((claim) => {
      const { name } = claim.metadata;
      return withOutcomeEvents(create(claim), {
        about: set,
        done: { reason: 'SuccessfulCreate', message: `create Claim ${name} ${inStatefulSet} success` },
        failed: { reason: 'FailedCreate', message: `create Claim ${name} for ${inStatefulSet} failed error: {error}` },
      });
    });
}

function ownerUpdates(member: Member): readonly Action[] {
  return presentClaims(member).flatMap((claim) => {
    const ownerReferences = wantedOwners(claim, member);
    return ownerReferences ? [update({ ...claim, metadata: { ...claim.metadata, ownerReferences } })] : [];
  });
}

function conflicts(member: Member): readonly Action[] {
  return presentClaims(member)
    .filter((claim) => hasOtherController(claim, member))
    .map(({ metadata }) =>
      record({
        about: member.set,
        type: 'Warning',
        reason: 'ConflictingController',
        message: `PersistentVolumeClaim ${metadata.name} has a conflicting OwnerReference that acts as a manging controller, the retention policy is ignored for this claim`,
      }),
    );
}

type Verb = 'create' | 'update' | 'delete';
const outcomes = { create: 'Create', update: 'Update', delete: 'Delete' } as const;

/** Returns the events for an action on a Pod. */
export function podEvents(set: NumberedSet, verb: Verb, { metadata }: Pod): Required<OutcomeEvents> {
  const what = `${verb} Pod ${metadata.name} in StatefulSet ${set.metadata.name}`;
  return {
    about: set,
    done: { reason: `Successful${outcomes[verb]}`, message: `${what} successful` },
    failed: { reason: `Failed${outcomes[verb]}`, message: `${what} failed error: {error}` },
  };
}
