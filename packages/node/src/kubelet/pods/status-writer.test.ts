import assert from 'node:assert/strict';
import { test } from 'node:test';
import type { PodStatus } from '@kruise/api/core/pod';
import { findCondition } from '@kruise/machinery/conditions';
import { mergedStatus } from './status-writer.ts';

const now = Date.UTC(2026, 0, 1);
const condition = (type: string, status: string) => ({ type, status });
const ready = [condition('Ready', 'True'), condition('ContainersReady', 'True')];

function merged(current: PodStatus, status: PodStatus, couldRun = true) {
  return mergedStatus(current, { status, couldRun, isFinished: false }, now);
}

test('conditions of other writers are kept, those of the kubelet are replaced', () => {
  const current = { conditions: [condition('example.com/gate', 'True'), condition('Ready', 'True')] };
  const { conditions } = merged(current, { conditions: [condition('Ready', 'False')] });
  assert.deepEqual(conditions, [condition('example.com/gate', 'True'), condition('Ready', 'False')]);
});

test('a condition that the kubelet no longer sets is removed', () => {
  const { conditions } = merged({ conditions: [condition('PodResizePending', 'True')] }, { conditions: ready });
  assert.equal(findCondition(conditions, 'PodResizePending'), undefined);
});

test('a terminal phase is not reported while a container could run', () => {
  const current = { phase: 'Running', conditions: [] } as const;
  const over = {
    phase: 'Failed',
    reason: 'Evicted',
    message: 'full',
    conditions: [condition('DisruptionTarget', 'True')],
  } as const;
  const held = merged(current, over);
  assert.deepEqual([held.phase, held.reason, held.message], ['Running', undefined, undefined]);
  assert.equal(findCondition(held.conditions, 'DisruptionTarget'), undefined);
  const mergedStatusOf = merged(current, over, false);
  assert.deepEqual(
    [mergedStatusOf.phase, mergedStatusOf.reason, mergedStatusOf.message],
    ['Failed', 'Evicted', 'full'],
  );
  assert.equal(findCondition(mergedStatusOf.conditions, 'DisruptionTarget')?.status, 'True');
});

test('a terminal Pod is not ready', () => {
  const { conditions } = merged({ phase: 'Running' }, { phase: 'Succeeded', conditions: ready }, false);
  for (const type of ['Ready', 'ContainersReady']) {
    const { status, reason } = findCondition(conditions, type)!;
    assert.deepEqual([status, reason], ['False', 'PodCompleted']);
  }
});

test('resource claim statuses belong to their own controller', () => {
  const resourceClaimStatuses = [{ name: 'gpu', resourceClaimName: 'gpu-1' }];
  assert.deepEqual(
    merged({ resourceClaimStatuses }, { phase: 'Running' }).resourceClaimStatuses,
    resourceClaimStatuses,
  );
});
