import assert from 'node:assert/strict';
import { test } from 'node:test';
import { seededRandom } from '@kruise/values/random';
import {
  createRuleset,
  emptyFragment,
  type Fragment,
  type InstalledRules,
  isEmpty,
  type RuleChanges,
} from './ruleset.ts';

function fragment(owner: string, version: number, keys: readonly string[]): Fragment {
  const rules = [`rule ${version}`];
  return {
    chains: [{ name: `chain-${owner}`, rules, digest: rules.join() }],
    entries: keys.map((key) => ({ container: 'map', key, value: `goto chain-${owner}` })),
    sets: version % 2 === 0 ? [`set-${owner}`] : [],
  };
}

/** Applies changes as a kernel does, and fails where a kernel would. */
function applyTo(kernel: InstalledRules, changes: RuleChanges): InstalledRules {
  const chains = new Map(kernel.chains);
  const sets = new Set(kernel.sets);
  const entries = new Map(kernel.entries.get('map') ?? []);
  for (const { key, value } of changes.deletedEntries) {
    assert.equal(entries.get(key), value, 'a deleted entry exists');
    entries.delete(key);
  }
  for (const { name, digest } of changes.addedChains) {
    assert.ok(!chains.has(name), 'an added chain does not exist');
    chains.set(name, digest);
  }
  for (const { name, digest } of changes.changedChains) {
    assert.ok(chains.has(name), 'a changed chain exists');
    chains.set(name, digest);
  }
  for (const { key, value } of changes.addedEntries) {
    assert.ok(!entries.has(key), 'an added entry does not exist');
    entries.set(key, value);
  }
  for (const name of changes.staleChains) assert.ok(chains.delete(name), 'a stale chain exists');
  for (const name of changes.addedSets) sets.add(name);
  for (const name of changes.staleSets) assert.ok(sets.delete(name), 'a stale set exists');
  return { chains, sets, entries: new Map([['map', entries]]) };
}

test('the changes lead from any installed rules to the desired ones, also after failures and restarts', () => {
  const random = seededRandom('rules');
  const owners = ['a', 'b', 'c', 'd'];
  const keys = ['k1', 'k2', 'k3'];
  let ruleset = createRuleset();
  let kernel: InstalledRules = { chains: new Map(), entries: new Map(), sets: new Set() };
  const desired = new Map<string, Fragment>();
  for (let step = 0; step < 500; step++) {
    for (const owner of owners.filter(() => random.next() < 0.4)) {
      const next =
        random.next() < 0.3
          ? emptyFragment
          : fragment(
              owner,
              Math.floor(random.next() * 4),
              keys.filter(() => random.next() < 0.5),
            );
      desired.set(owner, next);
      ruleset.replace(owner, next);
    }
    const event = random.next();
    if (event < 0.1) {
      // A restart.
      ruleset = createRuleset();
      for (const [owner, each] of desired) ruleset.replace(owner, each);
      ruleset.assume(kernel);
    } else if (event < 0.2) {
      // A failed transaction: the kernel is read again.
      ruleset.takeChanges();
      ruleset.assume(kernel);
    }
    const changes = ruleset.takeChanges();
    kernel = applyTo(kernel, changes);
    ruleset.commit(changes);
    assert.ok(isEmpty(ruleset.takeChanges()), 'nothing is left to change');

    const winners = new Map<string, string>();
    const chains = new Map<string, string>();
    for (const owner of owners) {
      for (const { key, value } of desired.get(owner)?.entries ?? []) if (!winners.has(key)) winners.set(key, value);
      for (const { name, digest } of desired.get(owner)?.chains ?? []) chains.set(name, digest);
    }
    const byKey = ([a]: [string, string], [b]: [string, string]) => (a < b ? -1 : 1);
    assert.deepEqual([...(kernel.entries.get('map') ?? [])].sort(byKey), [...winners].sort(byKey));
    assert.deepEqual([...kernel.chains].sort(byKey), [...chains].sort(byKey));
    assert.equal(ruleset.size.entries, winners.size);
  }
});

test('a change of one owner changes nothing of the others', () => {
  const ruleset = createRuleset();
  for (let index = 0; index < 1000; index++)
    ruleset.replace(`owner-${index}`, fragment(`owner-${index}`, 1, [`k${index}`]));
  ruleset.commit(ruleset.takeChanges());
  ruleset.replace('owner-7', fragment('owner-7', 3, ['k7']));
  const changes = ruleset.takeChanges();
  assert.deepEqual(
    changes.changedChains.map(({ name }) => name),
    ['chain-owner-7'],
  );
  assert.ok(isEmpty({ ...changes, changedChains: [] }));
});
