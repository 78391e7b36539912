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

/** `owners` are their states, in the order of uids `o0`, `o1`. */
function look(
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
  return told(step);
}

function told(step: Step): string {
  if (step.type === 'disown') return `disown ${step.uids.join(' ')}`;
  if (step.type === 'release') return `release ${step.finalizer}`;
  if (step.type === 'delete') return `${step.unblock ? 'unblock, ' : ''}delete ${step.policy}`;
  return step.type;
}

const cases: readonly { name: string; actual: () => string; expected: string }[] = [
  { name: 'what has no owners is never touched', actual: () => look([], some), expected: 'nothing' },
  { name: 'an owner that is there keeps it', actual: () => look(['solid'], none), expected: 'nothing' },
  {
    name: 'without its only owner it is deleted',
    actual: () => look(['dangling'], none),
    expected: 'delete Background',
  },
  {
    name: 'without all its owners it is deleted',
    actual: () => look(['dangling', 'dangling'], some),
    expected: 'delete Background',
  },
  { name: 'one owner is enough to keep it', actual: () => look(['dangling', 'solid'], none), expected: 'disown o0' },
  {
    name: 'an owner that waits is let go of if there is another',
    actual: () => look(['solid', 'waiting'], some),
    expected: 'disown o1',
  },
  {
    name: 'all that are gone or wait are let go of',
    actual: () => look(['dangling', 'solid', 'waiting'], none),
    expected: 'disown o0 o2',
  },
  {
    name: 'for an owner that waits it is deleted',
    actual: () => look(['waiting'], none),
    expected: 'delete Background',
  },
  {
    name: 'what owns others is deleted in the foreground for an owner that waits',
    actual: () => look(['waiting'], some),
    expected: 'delete Foreground',
  },
  {
    name: 'so it is if another owner is gone',
    actual: () => look(['dangling', 'waiting'], some),
    expected: 'delete Foreground',
  },
  {
    name: 'in a circle it ceases to keep its owners',
    actual: () => look(['waiting'], { ...some, isOneWaiting: true }),
    expected: 'unblock, delete Foreground',
  },
  {
    name: 'where it does not keep them there is nothing to cease',
    actual: () => look(['waiting'], { ...some, isOneWaiting: true }, {}, false),
    expected: 'delete Foreground',
  },
  {
    name: 'a wish to orphan is honoured',
    actual: () => look(['dangling'], some, held('orphan')),
    expected: 'delete Orphan',
  },
  {
    name: 'a wish for the foreground is honoured',
    actual: () => look(['dangling'], some, held('foregroundDeletion')),
    expected: 'delete Foreground',
  },
  {
    name: 'other finalizers say nothing',
    actual: () => look(['dangling'], none, held('example.com/hold')),
    expected: 'delete Background',
  },
  {
    name: 'what is going needs no help',
    actual: () => look(['dangling'], none, { ...going, ...held('example.com/hold') }),
    expected: 'nothing',
  },
  {
    name: 'in the foreground it waits for what blocks it',
    actual: () => look([], some, { ...going, ...held('foregroundDeletion') }),
    expected: 'nothing',
  },
  {
    name: 'in the foreground it goes when nothing blocks it',
    actual: () => look([], { ...some, blocking: 0 }, { ...going, ...held('foregroundDeletion') }),
    expected: 'release foregroundDeletion',
  },
  {
    name: 'where all of a circle wait, it lets go of its owners',
    actual: () => look(['waiting'], circle, { ...going, ...held('foregroundDeletion') }),
    expected: 'unblock',
  },
  {
    name: 'who lets go of all already waits for another to do so',
    actual: () => look(['waiting'], circle, { ...going, ...held('foregroundDeletion') }, false),
    expected: 'nothing',
  },
  {
    name: 'in the foreground its own owners do not matter',
    actual: () => look(['dangling'], none, { ...going, ...held('foregroundDeletion') }),
    expected: 'release foregroundDeletion',
  },
  {
    name: 'what is to be orphaned is',
    actual: () => look([], some, { ...going, ...held('orphan') }),
    expected: 'orphan',
  },
  {
    name: 'to orphan goes before the foreground',
    actual: () => look([], some, { ...going, ...held('foregroundDeletion', 'orphan') }),
    expected: 'orphan',
  },
];
for (const { name, actual, expected } of cases) test(name, () => assert.equal(actual(), expected));

const states: readonly { name: string; found: ObjectMeta | undefined; state: OwnerState }[] = [
  { name: 'not there', found: undefined, state: 'dangling' },
  { name: 'another of its name', found: { name: 'o', uid: 'other' }, state: 'dangling' },
  { name: 'there', found: { name: 'o', uid: 'o' }, state: 'solid' },
  { name: 'going', found: { name: 'o', uid: 'o', ...going }, state: 'solid' },
  {
    name: 'to be deleted in the foreground some day',
    found: { name: 'o', uid: 'o', ...held('foregroundDeletion') },
    state: 'solid',
  },
  {
    name: 'going in the foreground',
    found: { name: 'o', uid: 'o', ...going, ...held('foregroundDeletion') },
    state: 'waiting',
  },
  { name: 'going and orphaning', found: { name: 'o', uid: 'o', ...going, ...held('orphan') }, state: 'solid' },
];
for (const { name, found, state } of states) {
  test(`an owner that is ${name} is ${state}`, () => assert.equal(stateOf(owner('o'), found), state));
}
