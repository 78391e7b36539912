/**
 * Bootstrap snapshot: the store after the first start of the API server. It is the same in every simulation and
 * therefore created once.
 */
import { startApiServer } from '@kruise/apiserver/server';
import { installKruiseKinds, kruiseConverterOf } from '@kruise/cluster/kruise-kinds';
import { seededRandom } from '@kruise/values/random';
import { instantOf } from '@kruise/values/time';
import { createTickSettle, type VirtualClock, virtualClock } from '@kruise/values/virtual-clock';
import { createDisk, type StoredVersion } from './disk.ts';
import { startLifetime } from './process-lifetime.ts';
import { createBudget } from './step-budget.ts';

/** Start time of every simulation. */
export const simulationStart = instantOf(2026, 1, 1);

let snapshot: Promise<readonly StoredVersion[]> | undefined;

/**
 * Returns the versions that the first API server of a cluster, with Kruise's CRDs, has stored before it serves
 * requests.
 */
export function bootstrapSnapshot(): Promise<readonly StoredVersion[]> {
  snapshot ??= createSnapshot();
  return snapshot;
}

async function createSnapshot(): Promise<readonly StoredVersion[]> {
  const budget = createBudget(createTickSettle(), () => clock.now());
  const clock = virtualClock(simulationStart, budget.settle);
  const life = startLifetime(clock);
  const versions: StoredVersion[] = [];
  const disk = createDisk({ syncMs: () => 0, onSynced: (version) => versions.push(version) });
  const failures: unknown[] = [];
  const starting = startApiServer({
    store: budget.limit(disk.open(life)),
    clock: life.clock,
    random: seededRandom('foundation'),
    converterOf: kruiseConverterOf,
    onError: (error) => failures.push(error),
  });
  const server = await advanceUntilSettled(clock, starting);
  await advanceUntilSettled(clock, installKruiseKinds(server.core));
  if (failures.length > 0) throw new AggregateError(failures, 'the first API server failed to start');
  life.release();
  void server.close();
  return versions;
}

/** Advances the virtual time until a promise settles. */
export async function advanceUntilSettled<T>(clock: VirtualClock, work: Promise<T>): Promise<T> {
  let isDone = false;
  const settle = () => {
    isDone = true;
  };
  work.then(settle, settle);
  while (!isDone) await clock.advanceAsync(1);
  return work;
}
