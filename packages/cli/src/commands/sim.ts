import { availableParallelism } from 'node:os';
import { addCoverage, type Coverage } from '@kruise/sim/coverage';
import { describeFault, type FaultKind } from '@kruise/sim/faults';
import { invariants } from '@kruise/sim/invariants/catalogue';
import { type Result, run } from '@kruise/sim/run';
import { shrink } from '@kruise/sim/shrink';
import { parseDuration, toMilliseconds } from '@kruise/values/duration';
import { runInWorkers, serveAsWorker } from '../worker-pool.ts';

export type SimOptions = {
  readonly seeds: string;
  readonly for?: string;
  readonly from?: string;
  readonly seed?: string;
  readonly minutes: string;
  readonly verbose?: boolean;
  readonly workers?: string;
  readonly mutants?: boolean;
  readonly coverage?: boolean;
  /** Task of a worker process that another `kruise sim` started. */
  readonly worker?: 'worlds' | 'mutants';
};

/** The part of a result that a worker process sends to its parent. */
type Outcome = Omit<Result, 'view'>;
type Task = { readonly seed: string; readonly minutes: number };

/** Runs simulations from seeds until one fails or all pass. */
export async function sim(options: SimOptions): Promise<number> {
  if (options.worker === 'worlds') return serveAsWorker(outcomeOf);
  if (options.worker === 'mutants') return serveAsWorker(findMutant);
  const minutes = Number(options.minutes);
  if (options.seed !== undefined) return runOne(options.seed, minutes, options.verbose ?? false);
  const count = wholeNumber('--seeds', options.seeds);
  const workers = wholeNumber('--workers', options.workers ?? String(availableParallelism()));
  const base = options.from ?? Date.now().toString(36);
  if (options.mutants) return searchMutants(base, count, workers);
  const limit = options.for === undefined ? { count } : { forMs: toMilliseconds(parseDuration(options.for)) };
  return soak({ base, ...limit, minutes, workers, showsCoverage: options.coverage ?? false });
}

async function outcomeOf(task: Task): Promise<Outcome> {
  const { view: _, ...outcome } = await run({ ...task, freezesObjects: false });
  return outcome;
}

function wholeNumber(flag: string, text: string): number {
  const number = Number(text);
  if (!Number.isInteger(number) || number < 1) throw new Error(`${flag} must be a positive number, not ${text}`);
  return number;
}

type Soak = {
  readonly base: string;
  /** Maximum number of simulations, and the time during which new ones start. */
  readonly count?: number;
  readonly forMs?: number;
  readonly minutes: number;
  readonly workers: number;
  readonly showsCoverage: boolean;
};

async function soak({ base, count = Number.POSITIVE_INFINITY, minutes, workers, ...more }: Soak): Promise<number> {
  const { forMs = Number.POSITIVE_INFINITY, showsCoverage } = more;
  const startMs = performance.now();
  const totals = createTotals();
  const last = Number.isFinite(count) ? `to ${base}-${count}` : 'and so on';
  console.log(`Simulations ${base}-1 ${last}: ${minutes} minutes of fault injection each, then time to converge.`);
  console.log(
    `${invariants.length} invariants are checked at every write; at the end all objects must have converged.`,
  );
  function* tasks(): Generator<Task> {
    for (const seed of seedsOf(base, count)) {
      if (performance.now() - startMs >= forMs) return;
      yield { seed, minutes };
    }
  }
  const worlds = runInWorkers<Task, Outcome>(['sim', '--worker', 'worlds'], workers, tasks(), {
    limitMs: maxSimulationMs,
    resultOf: lostSimulation,
  });
  for await (const { result } of worlds) {
    totals.add(result);
    if (result.failure) {
      console.log(`Simulation ${result.seed} failed.`);
      return report(result, minutes);
    }
    if (totals.worlds % 50 === 0) console.log(totals.progress(performance.now() - startMs));
  }
  console.log(`All passed. ${totals.progress(performance.now() - startMs)}`);
  console.log(totals.faultsByKind());
  if (showsCoverage) for (const line of totals.reachedLines()) console.log(line);
  else console.log(`Controllers did ${Object.keys(totals.reached).length} kinds of actions (--coverage lists them).`);
  return 0;
}

/** Maximum real time of a simulation. Step budgets end most endless simulations long before. */
const maxSimulationMs = 15 * 60_000;
const noResult = 'a simulation returns a result';

/** Returns the outcome of a simulation whose process returned none. */
function lostSimulation({ seed }: Task, why: string): Outcome {
  const failure = { invariant: noResult, why, atMs: 0 };
  return { seed, failure, faults: [], trace: '', simulatedMs: 0, revisions: 0, reached: {} };
}

/** Totals of many simulations. */
function createTotals() {
  const reached: Coverage = {};
  const faults = new Map<FaultKind, number>();
  let [worlds, simulatedMs, revisions] = [0, 0, 0];
  return {
    reached,
    get worlds() {
      return worlds;
    },
    add(result: Outcome) {
      worlds++;
      simulatedMs += result.simulatedMs;
      revisions += result.revisions;
      addCoverage(reached, result.reached);
      for (const { kind } of result.faults) faults.set(kind, (faults.get(kind) ?? 0) + 1);
    },
    progress(elapsedMs: number): string {
      const seconds = elapsedMs / 1000;
      const rate = (simulatedMs / 60_000 / seconds).toFixed(0);
      const all = [...faults.values()].reduce((sum, each) => sum + each, 0);
      return `${worlds} simulations: ${all} faults, ${revisions} writes, ${(worlds / seconds).toFixed(1)} simulations and ${rate} simulated minutes per second`;
    },
    faultsByKind(): string {
      const shown = [...faults].sort(([, a], [, b]) => b - a).map(([kind, times]) => `${kind} ${times}`);
      return `Faults: ${shown.join(', ')}.`;
    },
    reachedLines: () =>
      Object.entries(reached)
        .sort(([a], [b]) => (a < b ? -1 : 1))
        .map(([what, times]) => `${String(times).padStart(8)}  ${what}`),
  };
}

type MutantTask = { readonly name: string; readonly base: string; readonly count: number };
type MutantFinding = { readonly worlds: number; readonly seed: string; readonly caughtBy: string } | undefined;

async function findMutant({ name, base, count }: MutantTask): Promise<MutantFinding | { readonly worlds: undefined }> {
  const { mutants } = await import('@kruise/sim/mutants/catalogue');
  const { searchMutant } = await import('@kruise/sim/mutants/search');
  const mutant = mutants.find((each) => each.name === name)!;
  return (await searchMutant(mutant, seedsOf(base, count))) ?? { worlds: undefined };
}

function* seedsOf(base: string, count: number): Generator<string> {
  for (let number = 1; number <= count; number++) yield `${base}-${number}`;
}

/** Counts the simulations that it takes to detect each mutant. */
async function searchMutants(base: string, count: number, workers: number): Promise<number> {
  const { mutants } = await import('@kruise/sim/mutants/catalogue');
  const tasks = mutants.map(({ name }) => ({ name, base, count }));
  let missed = 0;
  const args = ['sim', '--worker', 'mutants'];
  for await (const { work, result } of runInWorkers<MutantTask, NonNullable<MutantFinding>>(args, workers, tasks)) {
    if (result.worlds === undefined) missed++;
    const found =
      result.worlds === undefined
        ? `not detected in ${count}`
        : `${result.worlds} (${result.seed}, ${result.caughtBy})`;
    console.log(`${work.name}: ${found}`);
  }
  console.log(`${mutants.length - missed} of ${mutants.length} detected within ${count} simulations each.`);
  return missed === 0 ? 0 : 1;
}

async function runOne(seed: string, minutes: number, verbose: boolean): Promise<number> {
  const result = await run({ seed, minutes, ...(verbose ? { onLine: console.log } : {}) });
  if (result.failure) return report(result, minutes);
  console.log(
    `Simulation ${seed} passed (${Math.round(result.simulatedMs / 1000)} s simulated). Trace ${result.trace}`,
  );
  return 0;
}

/** Prints the failure, a minimal set of faults that causes it, and the last events. */
async function report(result: Outcome, minutes: number): Promise<number> {
  const { seed, failure } = result;
  console.log(`${failure!.invariant}: ${failure!.why}, ${(failure!.atMs / 1000).toFixed(1)} s in.`);
  if (failure!.invariant === noResult) {
    // The simulation would not end in this process either.
    console.log(`Reproduce with: kruise sim --seed ${seed} --minutes ${minutes}`);
    return 1;
  }
  const least = await shrink(result, (faults) => run({ seed, minutes, faults }));
  console.log(`Minimal faults (${least.faults.length} of ${result.faults.length}):`);
  for (const fault of least.faults) console.log(`  ${describeFault(fault)}`);
  const lines: string[] = [];
  await run({ seed, minutes, faults: least.faults, onLine: (line) => lines.push(line) });
  console.log('Last events:');
  const notable = lines.filter((line) => !/\/(?:leases|events)\//.test(line));
  for (const line of notable.slice(-60)) console.log(`  ${line}`);
  console.log(`Reproduce with: kruise sim --seed ${seed} --minutes ${minutes}`);
  return 1;
}
