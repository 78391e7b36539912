// Runs simulations until one fails: the simulator's part of scripts/mutate.ts, in a separate process.
//   node --import ./scripts/mutation/hook.ts scripts/mutation/worlds.ts <base> <count>
import { run } from '../../packages/sim/src/run.ts';

const [base = 'mutation', count = '1'] = process.argv.slice(2);
for (let number = 1; number <= Number(count); number++) {
  const seed = `${base}-${number}`;
  const { failure } = await run({ seed, minutes: 1, patienceMinutes: 10, freezesObjects: false });
  if (!failure) continue;
  console.log(`${seed}: ${failure.invariant}: ${failure.why}`);
  process.exit(1);
}
process.exit(0);
