import assert from 'node:assert/strict';
import { test } from 'node:test';
import { findFinishedCondition } from './jobs.ts';

const condition = (type: string, status = 'True') => ({ type, status });

const cases = [
  { name: 'a Job without a status is active', status: undefined, end: undefined },
  { name: 'a Job that is complete has ended', status: { conditions: [condition('Complete')] }, end: 'Complete' },
  { name: 'a Job that failed has ended', status: { conditions: [condition('Failed')] }, end: 'Failed' },
  {
    name: 'a Job that is about to fail is active',
    status: { conditions: [condition('FailureTarget')] },
    end: undefined,
  },
  {
    name: 'a Job that is not complete is active',
    status: { conditions: [condition('Complete', 'False')] },
    end: undefined,
  },
];
for (const { name, status, end } of cases) {
  test(name, () => assert.equal(findFinishedCondition(status)?.type, end));
}
