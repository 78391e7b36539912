import assert from 'node:assert/strict';
import { test } from 'node:test';
import { conditionPatch, nominationPatch, noteOf } from './pod-status.ts';
import { podOf } from './testing/fixtures.ts';

const notes: readonly (readonly [name: string, message: string, note: string])[] = [
  ['a short one', 'no room', 'no room'],
  ['one of 1024 bytes', 'x'.repeat(1024), 'x'.repeat(1024)],
  ['one of 1025 bytes', 'x'.repeat(1025), `${'x'.repeat(1020)} ...`],
];
for (const [name, message, note] of notes) {
  test(`an event note is limited to 1024 bytes: ${name}`, () => assert.equal(noteOf(message), note));
}

const now = Date.UTC(2026, 0, 1);
const rejected = { type: 'PodScheduled', status: 'False', reason: 'Unschedulable', message: 'no room' } as const;

test('an unchanged condition is not written again', () => {
  const pod = podOf('p', { status: { conditions: [{ ...rejected, lastTransitionTime: '2026-01-01T00:00:00Z' }] } });
  assert.equal(conditionPatch(pod, rejected, now), undefined);
  assert.deepEqual(conditionPatch(pod, { ...rejected, message: 'no ports' }, now)?.conditions, [
    { ...rejected, message: 'no ports', lastTransitionTime: '2026-01-01T00:00:00Z' },
  ]);
});

test('a nomination is set, cleared, and not written if unchanged', () => {
  const nominated = podOf('p', { status: { nominatedNodeName: 'n' } });
  assert.deepEqual(nominationPatch(podOf('p'), 'n'), { nominatedNodeName: 'n' });
  assert.deepEqual(nominationPatch(nominated, ''), { nominatedNodeName: null });
  assert.equal(nominationPatch(nominated, 'n'), undefined);
  assert.equal(nominationPatch(podOf('p'), ''), undefined);
});
