import assert from 'node:assert/strict';
import { test } from 'node:test';
import {
  type Condition,
  findCondition,
  isConditionFalse,
  isConditionTrue,
  withCondition,
  withoutCondition,
} from './conditions.ts';

const then = Date.parse('2024-01-01T00:00:00Z');
const now = Date.parse('2024-01-02T00:00:00Z');
const ready = withCondition<Condition>(undefined, { type: 'Ready', status: 'True', reason: 'Up' }, then);

test('a new condition changes now', () => {
  assert.deepEqual(ready, [
    { type: 'Ready', status: 'True', reason: 'Up', lastTransitionTime: '2024-01-01T00:00:00Z' },
  ]);
  assert.equal(isConditionTrue(ready, 'Ready'), true);
  assert.equal(isConditionFalse(ready, 'Ready'), false);
  assert.equal(isConditionTrue(ready, 'Other'), false);
  assert.equal(isConditionTrue(undefined, 'Ready'), false);
});

test('another reason for the same status is no transition', () => {
  const [condition] = withCondition<Condition>(ready, { type: 'Ready', status: 'True', reason: 'Still' }, now);
  assert.equal(condition?.reason, 'Still');
  assert.equal(condition?.lastTransitionTime, '2024-01-01T00:00:00Z');
});

test('another status is a transition', () => {
  const changed = withCondition<Condition>(ready, { type: 'Ready', status: 'False', reason: 'Down' }, now);
  assert.equal(findCondition(changed, 'Ready')?.lastTransitionTime, '2024-01-02T00:00:00Z');
});

test('a condition without changes returns the same list', () => {
  assert.equal(withCondition<Condition>(ready, { type: 'Ready', status: 'True', reason: 'Up' }, now), ready);
  assert.equal(withoutCondition(ready, 'Other'), ready);
  assert.deepEqual(withoutCondition(ready, 'Ready'), []);
});
