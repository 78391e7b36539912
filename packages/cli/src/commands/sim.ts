import { told } from '@kruise/sim/faults';
import { type Result, run } from '@kruise/sim/run';
import { shrink } from '@kruise/sim/shrink';

export type SimOptions = {
  readonly seeds: string;
  readonly seed?: string;
  readonly minutes: string;
  readonly verbose?: boolean;
};

/** Runs worlds from seeds until one breaks or all have held. */
export async function sim(options: SimOptions): Promise<number> {
  const minutes = Number(options.minutes);
  if (options.seed !== undefined) return one(options.seed, minutes, options.verbose ?? false);
  const count = Number(options.seeds);
  if (!Number.isInteger(count) || count < 1) throw new Error(`--seeds wants a number, not ${options.seeds}`);
  const base = Date.now().toString(36);
  const begun = performance.now();
  const totals = { simulatedMs: 0, faults: 0, revisions: 0 };
  console.log(`Worlds ${base}-1 to ${base}-${count}, each ${minutes} minutes of faults and then rest.`);
  for (let number = 1; number <= count; number++) {
    const result = await run({ seed: `${base}-${number}`, minutes });
    totals.simulatedMs += result.simulatedMs;
    totals.faults += result.faults.length;
    totals.revisions += result.revisions;
    if (result.failure) {
      console.log(`World ${result.seed} broke.`);
      return report(result, minutes);
    }
    if (number % 50 === 0 || number === count) console.log(progress(number, count, totals, performance.now() - begun));
  }
  return 0;
}

function progress(
  number: number,
  count: number,
  { simulatedMs, faults, revisions }: { simulatedMs: number; faults: number; revisions: number },
  elapsedMs: number,
): string {
  const seconds = elapsedMs / 1000;
  const rate = (simulatedMs / 60_000 / seconds).toFixed(0);
  const seedRate = (number / seconds).toFixed(1);
  return `${number} of ${count} held: ${faults} faults, ${revisions} writes, ${seedRate} worlds and ${rate} simulated minutes a second`;
}

async function one(seed: string, minutes: number, verbose: boolean): Promise<number> {
  const result = await run({ seed, minutes, ...(verbose ? { tell: console.log } : {}) });
  if (result.failure) return report(result, minutes);
  console.log(`World ${seed} held for ${Math.round(result.simulatedMs / 1000)} s. Trace ${result.trace}`);
  return 0;
}

/** Tells what broke, with as few faults as it takes, and how it came about. */
async function report(result: Result, minutes: number): Promise<number> {
  const { seed, failure } = result;
  console.log(`${failure!.invariant}: ${failure!.why}, ${(failure!.atMs / 1000).toFixed(1)} s in.`);
  const least = await shrink(result, (faults) => run({ seed, minutes, faults }));
  console.log(`It takes ${least.faults.length} of ${result.faults.length} faults:`);
  for (const fault of least.faults) console.log(`  ${told(fault)}`);
  const lines: string[] = [];
  await run({ seed, minutes, faults: least.faults, tell: (line) => lines.push(line) });
  console.log('The last of what happened:');
  const notable = lines.filter((line) => !/\/(?:leases|events)\//.test(line));
  for (const line of notable.slice(-60)) console.log(`  ${line}`);
  console.log(`Again: kruise sim --seed ${seed} --minutes ${minutes}`);
  return 1;
}
