import assert from 'node:assert/strict';
import { test } from 'node:test';
import { stuckLines } from './status.ts';

test('status lists the objects that have been retried for more than ten minutes, and why', () => {
  const denied = { controller: 'cloneset', key: 'default/web', retriedForSeconds: 754, message: 'denied image' };
  const silent = { controller: 'job', key: 'default/once', retriedForSeconds: 601 };
  assert.deepEqual(stuckLines([denied, silent]), [
    'Stuck:',
    '  cloneset default/web, retried for 12 min: denied image',
    '  job default/once, retried for 10 min',
  ]);
  assert.deepEqual(stuckLines([]), []);
});
