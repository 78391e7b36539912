import assert from 'node:assert/strict';
import { test } from 'node:test';
import type { ObjectMeta } from '@kruise/api/meta/object-meta';
import type { OwnerReference } from '@kruise/machinery/owner-references';
import { type Dependents, decide, type OwnerState, type Step, stateOf } from './decide.ts';

const going = { deletionTimestamp: '2026-01-01T00:00:00Z' };
const held = (...finalizers: string[]) => ({ finalizers });
const owner = (uid: string, blockOwnerDeletion = true): OwnerReference => ({
  apiVersion: 'v1',
  kind: 'ConfigMap',
  name: uid,
  uid,
  blockOwnerDeletion,
});
const none: Dependents = { count: 0, blocking: 0, isOneWaiting: false, isCircular: false };
const some: Dependents = { count: 2, blocking: 1, isOneWaiting: false, isCircular: false };
const circle: Dependents = { ...some, isOneWaiting: true, isCircular: true };

/** `owners` are their states, in the order of UIDs `o0`, `o1`. */
function decideFor(
  owners: readonly OwnerState[],
  dependents: Dependents,
  metadata: ObjectMeta = {},
  blocking = true,
): string {
  const references = owners.map((_, index) => owner(`o${index}`, blocking));
  const step = decide({
    metadata: { name: 'a', uid: 'a', ownerReferences: references, ...metadata },
    owners: owners.map((state, index) => ({ reference: references[index]!, state })),
    dependents,
  });
  return describe(step);
}

function describe(step: Step): string {
  if (step.type === 'disown') return `disown ${step.uids.join(' ')}`;
  if (step.type === 'release') return `release ${step.finalizer}`;
  if (step.type === 'delete') return `${step.unblock ? 'unblock, ' : ''}delete ${step.policy}`;
  return step.type;
}

const cases: readonly { name: string; actual: () => string; expected: string }[] = [
  { name: 'an object without owners is never deleted', actual: () => decideFor([], some), expected: 'nothing' },
  { name: 'an existing owner keeps the object', actual: () => decideFor(['solid'], none), expected: 'nothing' },
  {
    name: 'an object without its only owner is deleted',
    actual: () => decideFor(['dangling'], none),
    expected: 'delete Background',
  },
  {
    name: 'an object without all its owners is deleted',
    actual: () => decideFor(['dangling', 'dangling'], some),
    expected: 'delete Background',
  },
  {
    name: 'one existing owner keeps the object',
    actual: () => decideFor(['dangling', 'solid'], none),
    expected: 'disown o0',
  },
  {
    name: 'a waiting owner is removed if there is another',
    actual: () => decideFor(['solid', 'waiting'], some),
    expected: 'disown o1',
  },
  {
    name: 'all absent and waiting owners are removed',
    actual: () => decideFor(['dangling', 'solid', 'waiting'], none),
    expected: 'disown o0 o2',
  },
  {
    name: 'an object with a waiting owner is deleted',
    actual: () => decideFor(['waiting'], none),
    expected: 'delete Background',
  },
  {
    name: 'an object with dependents and a waiting owner is deleted in the foreground',
    actual: () => decideFor(['waiting'], some),
    expected: 'delete Foreground',
  },
  {
    name: 'so is one with another owner that is absent',
    actual: () => decideFor(['dangling', 'waiting'], some),
    expected: 'delete Foreground',
  },
  {
    name: 'in a cycle, the object unblocks its owners',
    actual: () => decideFor(['waiting'], { ...some, isOneWaiting: true }),
    expected: 'unblock, delete Foreground',
  },
  {
    name: 'an object that does not block its owners needs no unblocking',
    actual: () => decideFor(['waiting'], { ...some, isOneWaiting: true }, {}, false),
    expected: 'delete Foreground',
  },
  {
    name: 'an orphan finalizer determines the policy',
    actual: () => decideFor(['dangling'], some, held('orphan')),
    expected: 'delete Orphan',
  },
  {
    name: 'a foregroundDeletion finalizer determines the policy',
    actual: () => decideFor(['dangling'], some, held('foregroundDeletion')),
    expected: 'delete Foreground',
  },
  {
    name: 'other finalizers do not determine the policy',
    actual: () => decideFor(['dangling'], none, held('example.com/hold')),
    expected: 'delete Background',
  },
  {
    name: 'a terminating object needs no step',
    actual: () => decideFor(['dangling'], none, { ...going, ...held('example.com/hold') }),
    expected: 'nothing',
  },
  {
    name: 'in foreground deletion, an object waits for blocking dependents',
    actual: () => decideFor([], some, { ...going, ...held('foregroundDeletion') }),
    expected: 'nothing',
  },
  {
    name: 'in foreground deletion, an object is released when nothing blocks it',
    actual: () => decideFor([], { ...some, blocking: 0 }, { ...going, ...held('foregroundDeletion') }),
    expected: 'release foregroundDeletion',
  },
  {
    name: 'in a cycle of waiting objects, the object unblocks its owners',
    actual: () => decideFor(['waiting'], circle, { ...going, ...held('foregroundDeletion') }),
    expected: 'unblock',
  },
  {
    name: 'an object that is already unblocked waits for the others',
    actual: () => decideFor(['waiting'], circle, { ...going, ...held('foregroundDeletion') }, false),
    expected: 'nothing',
  },
  {
    name: 'in foreground deletion, the owners do not matter',
    actual: () => decideFor(['dangling'], none, { ...going, ...held('foregroundDeletion') }),
    expected: 'release foregroundDeletion',
  },
  {
    name: 'orphaning is executed',
    actual: () => decideFor([], some, { ...going, ...held('orphan') }),
    expected: 'orphan',
  },
  {
    name: 'orphaning takes precedence over foreground deletion',
    actual: () => decideFor([], some, { ...going, ...held('foregroundDeletion', 'orphan') }),
    expected: 'orphan',
  },
];
for (const { name, actual, expected } of cases) test(name, () => assert.equal(actual(), expected));

const states: readonly { name: string; found: ObjectMeta | undefined; state: OwnerState }[] = [
  { name: 'absent', found: undefined, state: 'dangling' },
  { name: 'replaced by another object of its name', found: { name: 'o', uid: 'other' }, state: 'dangling' },
  { name: 'there', found: { name: 'o', uid: 'o' }, state: 'solid' },
  { name: 'going', found: { name: 'o', uid: 'o', ...going }, state: 'solid' },
  {
    name: 'marked for foreground deletion but not deleted',
    found: { name: 'o', uid: 'o', ...held('foregroundDeletion') },
    state: 'solid',
  },
  {
    name: 'in foreground deletion',
    found: { name: 'o', uid: 'o', ...going, ...held('foregroundDeletion') },
    state: 'waiting',
  },
  { name: 'terminating and orphaning', found: { name: 'o', uid: 'o', ...going, ...held('orphan') }, state: 'solid' },
];
for (const { name, found, state } of states) {
  test(`an owner that is ${name} is ${state}`, () => assert.equal(stateOf(owner('o'), found), state));
}
