import assert from 'node:assert/strict';
import { test } from 'node:test';
import { createHeldValues, type ValueLimits } from './held-values.ts';
import { createHistory, type Version } from './history.ts';

/** Values of five versions of ten bytes each; the journal answers with the revision as value. */
function makeValues(limits: ValueLimits) {
  const history = createHistory();
  const reads: (readonly number[])[] = [];
  const journal = {
    async read(revisions: readonly number[]) {
      reads.push(revisions);
      return revisions.map((revision) => Uint8Array.of(revision));
    },
  };
  const values = createHeldValues(history, journal, limits, history.head());
  const versions: Version[] = [];
  for (const key of ['a', 'b', 'c', 'd', 'e']) {
    const version = history.append({ key, deleted: false, expiresAtMs: 0, value: new Uint8Array(10) });
    values.add(version);
    versions.push(version);
  }
  const held = () => versions.filter(({ value }) => value !== undefined).map(({ key }) => key);
  return { history, values, versions, reads, held };
}

const unlimited = { heldBytes: Number.POSITIVE_INFINITY, seenBytes: Number.POSITIVE_INFINITY };

test('the oldest values beyond the limit are released', () => {
  const { history, values, held } = makeValues({ heldBytes: 25, seenBytes: 25 });
  values.release({ before: 0, acknowledged: history.head(), seen: 0 });
  assert.deepEqual(held(), ['d', 'e']);
});

test('values that every watch has passed have a limit of their own', () => {
  const { history, values, versions, held } = makeValues({ ...unlimited, seenBytes: 0 });
  values.release({ before: 0, acknowledged: history.head(), seen: versions[1]!.revision });
  assert.deepEqual(held(), ['c', 'd', 'e']);
});

test('values before a compacted revision are released, but not those that are not durable', () => {
  const { values, versions, held } = makeValues(unlimited);
  values.release({ before: versions[3]!.revision, acknowledged: versions[1]!.revision, seen: 0 });
  assert.deepEqual(held(), ['c', 'd', 'e']);
});

test('entries have held values and those of the journal, in order', async () => {
  const { history, values, versions, reads } = makeValues({ heldBytes: 35, seenBytes: 35 });
  values.release({ before: 0, acknowledged: history.head(), seen: 0 });
  const reading = values.trackRead(values.entriesOf([versions[4]!, versions[0]!, versions[3]!, versions[1]!]));
  assert.equal(values.reads().length, 1);
  const entries = await reading;
  assert.deepEqual(
    entries.map(({ key, value }) => `${key} ${value.length}`),
    ['e 10', 'a 1', 'd 10', 'b 1'],
  );
  assert.deepEqual(reads, [[versions[0]!.revision, versions[1]!.revision]]);
  assert.deepEqual(values.reads(), []);
});

test('a value that is released during a read is still returned', async () => {
  const { history, values, versions } = makeValues({ heldBytes: 45, seenBytes: 45 });
  values.release({ before: 0, acknowledged: history.head(), seen: 0 });
  const reading = values.entriesOf([versions[0]!, versions[1]!]);
  values.release({ before: history.head(), acknowledged: history.head(), seen: 0 });
  assert.deepEqual(
    (await reading).map(({ value }) => value.length),
    [1, 10],
  );
});
