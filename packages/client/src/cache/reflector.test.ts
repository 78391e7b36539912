import assert from 'node:assert/strict';
import { test } from 'node:test';
import { type ConfigMap, configMap } from '@kruise/api/core/configmap';
import { seededRandom } from '@kruise/values/random';
import { virtualClock } from '@kruise/values/virtual-clock';
import fc from 'fast-check';
import { createClient } from '../api/client.ts';
import { type FaultyServer, startFaultyServer } from '../testing/faulty-server.ts';
import { startInformer } from './informer.ts';
import { keyOf } from './object-key.ts';
import { runReflector } from './reflector.ts';

const operation = fc.record({
  what: fc.constantFrom('put', 'put', 'put', 'remove', 'compact'),
  name: fc.constantFrom('a', 'b', 'c', 'd', 'e', 'f'),
  thenMs: fc.constantFrom(0, 0, 10, 2000, 45_000),
});

function perform(server: FaultyServer, { what, name }: { readonly what: string; readonly name: string }): void {
  if (what === 'put') server.put(name);
  else if (what === 'remove') server.remove(name);
  else server.compact();
}

/** Longer than all backoffs and timeouts together. */
const longMs = 30 * 60_000;

test('a reflector delivers every change once and in order through all transport faults', async () => {
  const faults = new Map<string, number>();
  await fc.assert(
    fc.asyncProperty(
      fc.integer(),
      fc.boolean(),
      fc.array(operation, { maxLength: 60 }),
      async (seed, watchList, operations) => {
        const clock = virtualClock();
        const random = seededRandom(seed);
        const server = startFaultyServer(clock, random, 2);
        const stop = new AbortController();
        const broken: Error[] = [];
        let at = 0;
        void runReflector(
          createClient(server),
          clock,
          random,
          configMap,
          { watchList, onError: (error) => error instanceof assert.AssertionError && broken.push(error) },
          {
            replace(objects, version) {
              assert.ok(Number(version) >= at, `went back from ${at} to ${version}`);
              at = Number(version);
              assert.deepEqual(objects, server.stateAt(at));
            },
            change(type, object) {
              const next = server.log.find(({ revision }) => revision > at);
              assert.deepEqual({ type, object }, { type: next?.type, object: next?.object });
              at = next!.revision;
            },
            progress(version) {
              const missed = server.log.find(({ revision }) => revision > at && revision <= Number(version));
              assert.equal(missed, undefined);
              at = Number(version);
            },
          },
          stop.signal,
        );
        for (const each of operations) {
          perform(server, each);
          if (each.thenMs > 0) await clock.advanceAsync(each.thenMs);
        }
        server.stopFaults();
        await clock.advanceAsync(longMs);
        stop.abort();
        assert.deepEqual(broken, []);
        assert.equal(at, server.revision);
        for (const [fault, count] of server.faults) faults.set(fault, (faults.get(fault) ?? 0) + count);
      },
    ),
    { numRuns: 150 },
  );
  // The property is meaningful only if all faults have occurred.
  const met = [...faults.keys()].sort();
  assert.deepEqual(
    met,
    ['ahead', 'broken', 'cut', 'end', 'expired', 'garbage', 'hang', 'later', 'none', 'silent', 'slow'].sort(),
  );
});

test('an informer converges to the state of the server and delivers a gapless sequence of events per object', async () => {
  await fc.assert(
    fc.asyncProperty(fc.integer(), fc.array(operation, { maxLength: 60 }), async (seed, operations) => {
      const clock = virtualClock();
      const random = seededRandom(seed);
      const server = startFaultyServer(clock, random, 2);
      const stop = new AbortController();
      const broken: Error[] = [];
      const onError = (error: unknown) => error instanceof assert.AssertionError && broken.push(error);
      const informer = startInformer(createClient(server), clock, random, configMap, { onError }, stop.signal);
      const changes = new Map<string, ConfigMap>();
      informer.handle(({ type, object, previous }) => {
        const key = keyOf(object);
        const known = changes.get(key);
        assert.equal(type === 'added', known === undefined);
        if (type === 'updated') assert.equal(previous, known);
        assert.ok(type === 'added' || known?.metadata.uid === object.metadata.uid);
        assert.ok(type === 'deleted' || informer.get(key)?.metadata.uid !== undefined);
        if (type === 'deleted') changes.delete(key);
        else changes.set(key, object);
      });
      for (const each of operations) {
        perform(server, each);
        if (each.thenMs > 0) await clock.advanceAsync(each.thenMs);
      }
      server.stopFaults();
      await clock.advanceAsync(longMs);
      stop.abort();
      assert.deepEqual(broken, []);
      const byName = (objects: Iterable<ConfigMap>) => [...objects].sort((a, b) => (keyOf(a) < keyOf(b) ? -1 : 1));
      assert.deepEqual(byName(informer.list()), byName(server.stateAt(server.revision)));
      assert.deepEqual(byName(changes.values()), byName(informer.list()));
      assert.ok(informer.hasReached(String(server.revision)));
    }),
    { numRuns: 100 },
  );
});
