/**
 * Bootstrap snapshot: the store after the first start of the API server. It is the same in every simulation and
 * therefore created once.
 */
import { startApiServer } from '@kruise/apiserver/server';
import { installKruiseKinds, kruiseConverterOf } from '@kruise/cluster/kruise-kinds';
import { seededRandom } from '@kruise/values/random';
import { instantOf } from '@kruise/values/time';
import { ticking, type VirtualClock, virtualClock } from '@kruise/values/virtual-clock';
import { createDisk, type KeptVersion } from './disk.ts';
import { createBudget } from './endless.ts';
import { beginLife } from './life.ts';

/** Start time of every simulation. */
export const worldStart = instantOf(2026, 1, 1);

let laid: Promise<readonly KeptVersion[]> | undefined;

/**
 * Returns the versions that the first API server of a cluster, with Kruise's CRDs, has stored before it serves
 * requests.
 */
export function foundation(): Promise<readonly KeptVersion[]> {
  laid ??= lay();
  return laid;
}

async function lay(): Promise<readonly KeptVersion[]> {
  const budget = createBudget(ticking(), () => clock.now());
  const clock = virtualClock(worldStart, budget.settle);
  const life = beginLife(clock);
  const versions: KeptVersion[] = [];
  const disk = createDisk({ syncMs: () => 0, onSafe: (version) => versions.push(version) });
  const failures: unknown[] = [];
  const starting = startApiServer({
    store: budget.limit(disk.open(life)),
    clock: life.clock,
    random: seededRandom('foundation'),
    converterOf: kruiseConverterOf,
    onError: (error) => failures.push(error),
  });
  const server = await driven(clock, starting);
  await driven(clock, installKruiseKinds(server.core));
  if (failures.length > 0) throw new AggregateError(failures, 'the first API server failed to start');
  life.release();
  void server.close();
  return versions;
}

/** Advances the virtual time until a promise settles. */
export async function driven<T>(clock: VirtualClock, work: Promise<T>): Promise<T> {
  let isDone = false;
  const settle = () => {
    isDone = true;
  };
  work.then(settle, settle);
  while (!isDone) await clock.advanceAsync(1);
  return work;
}
