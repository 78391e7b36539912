import assert from 'node:assert/strict';
import { test } from 'node:test';
import { createHistory } from './history.ts';
import { createWriteBatches } from './write-batches.ts';

const put = (key: string) => ({ key, deleted: false, expiresAtMs: 0, value: new Uint8Array(10) });

/** Batches of a new history, and the keys of each batch that is being saved. */
function makeBatches() {
  const history = createHistory();
  const saved: string[] = [];
  const batches = createWriteBatches(history, (versions) => saved.push(versions.map(({ key }) => key).join(' ')));
  return { history, saved, batches };
}

test('writes of one turn are saved together', async () => {
  const { saved, batches } = makeBatches();
  batches.append(put('a'));
  batches.append(put('b'));
  assert.deepEqual(saved, []);
  await undefined;
  batches.append(put('c'));
  await undefined;
  assert.deepEqual(saved, ['a b', 'c']);
});

test('a batch resolves when its last version is durable', async () => {
  const { batches } = makeBatches();
  const first = batches.append(put('a'));
  const second = batches.append(put('b'));
  await undefined;
  const third = batches.append(put('c'));
  batches.resolveUpTo(first.version.revision);
  assert.equal(batches.pending().length, 2);
  batches.resolveUpTo(second.version.revision);
  await Promise.all([first.durable, second.durable]);
  assert.deepEqual(batches.pending(), [third.durable]);
  assert.equal(batches.durabilityOf(third.version), third.durable);
});

test('versions count as unsaved until they are durable', () => {
  const { batches } = makeBatches();
  const { version } = batches.append(put('a'));
  batches.append(put('b'));
  assert.equal(batches.unsavedBytes(), 22);
  batches.recordSaved(version);
  assert.equal(batches.unsavedBytes(), 11);
});

test('a failure rejects all batches, and an open one is not saved', async () => {
  const { saved, batches } = makeBatches();
  const { durable } = batches.append(put('a'));
  batches.reject(new Error('disk full'));
  await assert.rejects(durable, /disk full/);
  assert.deepEqual([saved, batches.pending(), batches.unsavedBytes()], [[], [], 0]);
  const next = batches.append(put('b'));
  await undefined;
  assert.deepEqual(saved, ['b']);
  batches.resolveUpTo(next.version.revision);
  await next.durable;
});
