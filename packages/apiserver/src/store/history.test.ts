import assert from 'node:assert/strict';
import { test } from 'node:test';
import fc from 'fast-check';
import { createHistory, type History, restoreHistory, type SavedVersion, type Version } from './history.ts';

const write = (history: History, key: string, deleted = false) =>
  history.append({ key, deleted, expiresAtMs: 0, value: undefined });

function collectAll(history: History, before: number, limit = 3): number[] {
  const dropped: Version[] = [];
  for (let some = history.collect({ before, limit }); some; some = history.collect({ before, limit }))
    dropped.push(...some);
  return dropped.map(({ revision }) => revision);
}

const anySteps = fc.array(fc.record({ key: fc.constantFrom('a', 'b', 'c'), deleted: fc.boolean() }), {
  maxLength: 40,
  size: 'max',
});

/** Applies steps; deletes only existing keys, as a store would. */
function play(history: History, steps: readonly { readonly key: string; readonly deleted: boolean }[]): Version[] {
  return steps.flatMap(({ key, deleted }) => {
    const newest = history.newest(key);
    return deleted && (!newest || newest.deleted) ? [] : [write(history, key, deleted)];
  });
}

/** Returns the revisions that are needed for every state and change from a revision on. */
function needed(versions: readonly Version[], compacted: number): number[] {
  const isReplaced = ({ key, revision }: Version) =>
    versions.some((later) => later.key === key && later.revision > revision && later.revision <= compacted);
  return versions
    .filter((version) => version.revision >= compacted || (!isReplaced(version) && !version.deleted))
    .map(({ revision }) => revision);
}

test('compaction returns each superseded version once, and no other', () => {
  fc.assert(
    fc.property(anySteps, fc.array(fc.nat(40)), (steps, compactions) => {
      const history = createHistory();
      const versions = play(history, steps);
      const dropped: number[] = [];
      for (const compacted of compactions.toSorted((one, other) => one - other)) {
        const revision = Math.max(1, Math.min(compacted, history.head()));
        history.compact(revision);
        dropped.push(...collectAll(history, revision));
        const kept = versions.map((version) => version.revision).filter((kept) => !dropped.includes(kept));
        assert.deepEqual(kept, needed(versions, history.compactRevision()));
      }
      assert.equal(new Set(dropped).size, dropped.length);
    }),
  );
});

test('saved versions, partly compacted or not, are restored to the same history', () => {
  fc.assert(
    fc.property(anySteps, fc.nat(40), fc.nat(40), (steps, compacted, collected) => {
      const history = createHistory();
      const versions = play(history, steps);
      const revision = Math.max(1, Math.min(compacted, history.head()));
      history.compact(revision);
      const dropped = history.collect({ before: revision, limit: collected })?.map((version) => version.revision) ?? [];
      const saved: SavedVersion[] = versions.filter((version) => !dropped.includes(version.revision));
      const { history: restored, superseded } = restoreHistory(saved, revision === 1 ? 0 : revision);
      collectAll(history, revision);

      assert.equal(restored.head(), history.head());
      for (let at = revision; at <= history.head(); at++) {
        const states = [history, restored].map((each) =>
          each
            .range({ prefix: '', start: undefined, limit: 10, revision: at })
            .versions.map((version) => version.revision),
        );
        assert.deepEqual(states[1], states[0]);
        if (at > 1) assert.equal(restored.writtenAt(at).key, history.writtenAt(at).key);
      }
      const left = saved.map((version) => version.revision).filter((kept) => !superseded.includes(kept));
      assert.deepEqual(left, needed(versions, revision));
    }),
  );
});

test('rollback restores the previous state', () => {
  fc.assert(
    fc.property(anySteps, anySteps, (before, after) => {
      const history = createHistory();
      play(history, before);
      const head = history.head();
      const state = () => ['a', 'b', 'c'].map((key) => history.newest(key)?.revision);
      const expected = state();
      play(history, after);
      history.rollback(head);
      assert.deepEqual(state(), expected);
      assert.equal(history.head(), head);
    }),
  );
});

test('a compacted history retains no superseded versions', () => {
  const history = createHistory();
  write(history, 'a');
  write(history, 'a');
  const { revision } = write(history, 'b');
  write(history, 'b', true);
  const last = write(history, 'c').revision;
  history.compact(revision);
  collectAll(history, revision);
  assert.equal(history.newest('a')?.previous, undefined);
  history.compact(last);
  collectAll(history, last);
  assert.equal(history.newest('b'), undefined);
});

test('a deletion that is rolled back after compaction does not return', () => {
  const history = createHistory();
  write(history, 'a');
  write(history, 'a', true);
  const acknowledged = write(history, 'b').revision;
  write(history, 'a');
  history.compact(acknowledged);
  collectAll(history, acknowledged);
  history.rollback(acknowledged);
  assert.equal(history.newest('a'), undefined);
});

test('a saved history with a missing revision is rejected', () => {
  const history = createHistory();
  const saved = [write(history, 'a'), write(history, 'b'), write(history, 'c')];
  assert.throws(() => restoreHistory([saved[0]!, saved[2]!], 0), /revision 3 is missing/);
  assert.throws(() => restoreHistory([], 3), /revision 3 is missing/);
});
