import assert from 'node:assert/strict';
import { test } from 'node:test';
import { earliestRequeue } from './earliest-requeue.ts';

const cases: { name: string; seconds: readonly (number | undefined)[]; requeue: object }[] = [
  { name: 'no part asks for a requeue', seconds: [], requeue: {} },
  {
    name: 'parts without a requeue do not count',
    seconds: [undefined, 3, undefined],
    requeue: { requeueAfterSeconds: 3 },
  },
  { name: 'the earliest requeue wins', seconds: [5, 0.5, 2], requeue: { requeueAfterSeconds: 0.5 } },
  { name: 'a time that has passed needs no requeue', seconds: [0, -1], requeue: {} },
];
for (const { name, seconds, requeue } of cases) {
  test(name, () => assert.deepEqual(earliestRequeue(...seconds), requeue));
}
