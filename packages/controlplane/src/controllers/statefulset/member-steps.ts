/** What is done for one Pod of a StatefulSet: it is made with its claims, put right, or deleted. */
import type { PersistentVolumeClaim } from '@kruise/api/core/persistentvolumeclaim';
import type { Pod } from '@kruise/api/core/pod';
import {
  type Action,
  type Announcement,
  announced,
  create,
  isBeingDeleted,
  record,
  remove,
  update,
} from '@kruise/client/actions';
import { hasOtherController, isLeftBehind, type Tenure, wantedOwners } from './claim-retention.ts';
import { claimsFor, hasIdentity, hasStorage, type NumberedSet, withIdentity, withStorage } from './identity.ts';

/** A number in a set, the Pod that has it or is to have it, and how to find the claims there are. */
export type Seat = {
  readonly set: NumberedSet;
  readonly pod: Pod;
  readonly ordinal: number;
  readonly findClaim: (name: string) => PersistentVolumeClaim | undefined;
};

/** A Pod, there or still to be made, and whose its claims are. */
export type Member = Tenure & Seat;

/** What is done about claims comes before what is done about their Pod. */
export type Step = { readonly claims: readonly Action[]; readonly pod: readonly Action[] };

/** Makes a Pod, after the claims it is to use. It waits for claims that are on their way out. */
export function creation(member: Member): Step {
  const { set, pod } = member;
  const present = presentClaims(member);
  if (present.some((claim) => isLeftBehind(claim, member))) return { claims: [], pod: [] };
  const claims = [...missingClaims(member), ...conflicts(member), ...ownerUpdates(member)];
  const leaving = present.filter(isBeingDeleted).map(({ metadata }) => `pvc ${metadata.name} is being deleted`);
  if (leaving.length === 0) return { claims, pod: [announced(create(pod), podEvents(set, 'create', pod))] };
  const error = leaving.length === 1 ? leaving[0] : `[${leaving.join(', ')}]`;
  const { reason, message } = podEvents(set, 'create', pod).failed;
  return {
    claims,
    pod: [record({ about: set, type: 'Warning', reason, message: message.replace('{error}', () => error ?? '') })],
  };
}

/** Makes the claims that a Pod waits for. */
export function provision(member: Member): readonly Action[] {
  return [...missingClaims(member), ...conflicts(member), ...ownerUpdates(member)];
}

/** Gives a Pod back what makes it a member, and its claims the owners they are to have. */
export function correction(member: Member): Step {
  const { set, ordinal, pod } = member;
  const usesItsClaims = hasStorage(set, ordinal, pod);
  const owners = condemnation(member);
  const claims = usesItsClaims ? owners : [...missingClaims(member), ...owners];
  const events = podEvents(set, 'update', pod);
  if (hasIdentity(pod) && usesItsClaims) {
    return { claims, pod: owners.length > 0 ? [record({ about: set, type: 'Normal', ...events.done })] : [] };
  }
  const corrected = withStorage(set, ordinal, withIdentity(pod, ordinal));
  return { claims, pod: [announced(update(corrected), events)] };
}

/** Gives the claims of a Pod the owners they are to have, those that go with it the Pod itself. */
export function condemnation(member: Member): readonly Action[] {
  const updates = ownerUpdates(member);
  return updates.length === 0 ? updates : [...conflicts(member), ...updates];
}

/** Deletes a Pod. */
export function removal(set: NumberedSet, pod: Pod): Action {
  return announced(remove(pod), podEvents(set, 'delete', pod));
}

/** The claims of a Pod that are there. */
export function presentClaims({ set, ordinal, findClaim }: Seat): readonly PersistentVolumeClaim[] {
  return claimsFor(set, ordinal).flatMap(({ metadata }) => findClaim(metadata.name ?? '') ?? []);
}

/** Makes the claims of a Pod that are not there. */
export function missingClaims({ set, pod, ordinal, findClaim }: Seat): readonly Action[] {
  const inStatefulSet = `Pod ${pod.metadata.name} in StatefulSet ${set.metadata.name}`;
  return claimsFor(set, ordinal)
    .filter(({ metadata }) => !findClaim(metadata.name ?? ''))
    .map((claim) => {
      const { name } = claim.metadata;
      return announced(create(claim), {
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

/** What is told of what is done with a Pod of a set. */
export function podEvents(set: NumberedSet, verb: Verb, { metadata }: Pod): Required<Announcement> {
  const what = `${verb} Pod ${metadata.name} in StatefulSet ${set.metadata.name}`;
  return {
    about: set,
    done: { reason: `Successful${outcomes[verb]}`, message: `${what} successful` },
    failed: { reason: `Failed${outcomes[verb]}`, message: `${what} failed error: {error}` },
  };
}
