import assert from 'node:assert/strict';
import { test } from 'node:test';
import type { KubernetesObject } from '../cache/object-key.ts';
import {
  type Action,
  create,
  flattenSteps,
  parallel,
  parallelByKind,
  patch,
  record,
  remove,
  requireExists,
  type Step,
  sequence,
  update,
} from './actions.ts';

const objectOf = (kind: string, name: string): KubernetesObject => ({
  apiVersion: 'v1',
  kind,
  metadata: { name, namespace: 'default' },
});
const pod = (name: string) => objectOf('Pod', name);
const secret = (name: string) => objectOf('Secret', name);
const event = record({ about: pod('a'), type: 'Normal', reason: 'Done', message: '' });

/** Formats steps: parallel actions in brackets, sequences with arrows. */
function format(steps: readonly Step[]): string {
  return steps
    .map((step) => {
      if (step.type === 'parallel') return `[${format(step.actions)}]`;
      if (step.type === 'sequence') return step.actions.map((each) => format([each])).join('→');
      return 'object' in step ? `${step.type} ${step.object.metadata.name}` : step.type;
    })
    .join(', ');
}

test('one action needs no group, and none is no step', () => {
  assert.deepEqual(parallel([]), []);
  assert.deepEqual(sequence([]), []);
  assert.equal(format(parallel([create(pod('a'))])), 'create a');
  assert.equal(format(sequence([create(pod('a'))])), 'create a');
});

test('groups are flattened in order', () => {
  const actions = [create(pod('a')), patch(pod('b'), {}), patch(pod('b'), {}), event];
  const [first, ...patches] = actions.slice(0, 3);
  const steps = [...parallel([first!, ...sequence(patches)]), event];
  assert.equal(format(steps), '[create a, patch b→patch b], record');
  assert.deepEqual(flattenSteps(steps), actions);
});

const cases: { name: string; actions: readonly Action[]; steps: string }[] = [
  { name: 'no actions are no steps', actions: [], steps: '' },
  {
    name: 'creates, deletes and patches of one kind are grouped by type',
    actions: [
      ...['a', 'b'].map((name) => create(pod(name))),
      ...['c', 'd'].map((name) => patch(pod(name), {})),
      ...['e', 'f'].map((name) => remove(pod(name))),
    ],
    steps: '[create a, create b], [patch c, patch d], [remove e, remove f]',
  },
  {
    name: 'other kinds end a group',
    actions: [create(secret('a')), create(secret('b')), create(pod('c')), create(pod('d'))],
    steps: '[create a, create b], [create c, create d]',
  },
  { name: 'updates run in order', actions: [update(pod('a')), update(pod('b'))], steps: 'update a, update b' },
  {
    name: 'an Event ends a group',
    actions: [remove(pod('a')), event, remove(pod('b'))],
    steps: 'remove a, record, remove b',
  },
  {
    name: 'consecutive patches of one object are a sequence',
    actions: ['a', 'b', 'b', 'c'].map((name) => patch(pod(name), {})),
    steps: '[patch a, patch b→patch b, patch c]',
  },
  {
    name: 'a later patch of an object waits for the patches before',
    actions: ['a', 'b', 'a', 'c'].map((name) => patch(pod(name), {})),
    steps: '[patch a, patch b], [patch a, patch c]',
  },
  {
    name: 'a patch with a live read runs alone',
    actions: [
      patch(pod('a'), {}),
      requireExists(patch(pod('b'), {}), secret('owner')),
      patch(pod('c'), {}),
      patch(pod('d'), {}),
    ],
    steps: 'patch a, patch b, [patch c, patch d]',
  },
];
for (const { name, actions, steps } of cases) {
  test(`in mixed writes, ${name}`, () => {
    assert.equal(format(parallelByKind(actions)), steps);
    assert.deepEqual(flattenSteps(parallelByKind(actions)), actions);
  });
}
