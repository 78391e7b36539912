// Mutation testing of the product's sources: makes one small random change at a time and counts how many of these bugs
// the simulator finds with a fixed number of simulations, and how many the unit tests beside the changed file find.
//   node scripts/mutate.ts --seed a --count 100 --worlds 10
//   node scripts/mutate.ts --seed a --count 100 --only 17 --verbose   # repeats one of them
import { spawn } from 'node:child_process';
import { existsSync, globSync, readFileSync } from 'node:fs';
import { basename, dirname, join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { parseArgs } from 'node:util';
import { pick, seededRandom } from '../packages/values/src/random.ts';
import type { PlacedMutation } from './mutation/hook.ts';
import { describeMutation, mutationsOf } from './mutation/mutations.ts';

/** Sources with decisions and writes: controllers and their runtime. */
const mutatedSources = [
  'packages/manager/src/controllers/**/*.ts',
  'packages/controlplane/src/controllers/{deployment,replicaset,statefulset,daemonset,job,disruption,garbage-collector}/*.ts',
  'packages/client/src/{controller,execute,expectations,informer,leader-election,manager,reflector,reflector-state,work-queue,workers,back-off,rate-limiter,delays,adoption,modify}.ts',
];

const root = fileURLToPath(new URL('..', import.meta.url));
const { values: options } = parseArgs({
  options: {
    seed: { type: 'string', default: 'a' },
    count: { type: 'string', default: '100' },
    worlds: { type: 'string', default: '10' },
    from: { type: 'string', default: '1' },
    only: { type: 'string' },
    sources: { type: 'string' },
    verbose: { type: 'boolean', default: false },
    'cpu-seconds': { type: 'string', default: '90' },
  },
});

type Outcome = { readonly isFound: boolean; readonly how: string };

/** Runs a process with a mutation. A process that does not end counts as a finding. */
function runMutated(mutation: PlacedMutation | undefined, args: readonly string[]): Promise<Outcome> {
  return new Promise((resolve) => {
    // The limit is CPU time: a delay by a busy machine is not an endless loop.
    const limited = ['-c', `ulimit -t ${options['cpu-seconds']}; exec "$0" "$@"`, process.execPath];
    const child = spawn('sh', [...limited, '--import', join(root, 'scripts/mutation/hook.ts'), ...args], {
      cwd: root,
      env: {
        ...process.env,
        NODE_COMPILE_CACHE: join(root, '.cache', 'compile'),
        ...(mutation ? { MUTATION: JSON.stringify(mutation) } : {}),
      },
    });
    let output = '';
    const keep = (chunk: Buffer) => {
      output = (output + chunk.toString()).slice(-20_000);
    };
    child.stdout.on('data', keep);
    child.stderr.on('data', keep);
    child.on('close', (code, signal) => {
      if (options.verbose) console.log(output);
      const lines = output.trim().split('\n');
      const how = signal
        ? `no end (${signal})`
        : (lines.find((line) => /Error|not ok|✖/.test(line)) ?? lines.at(-1) ?? '');
      resolve({ isFound: code !== 0, how: how.trim().slice(0, 160) });
    });
  });
}

/**
 * Returns the tests in the folder of a file or, if there are none, in the nearest parent, and its own tests in the
 * package's `test`.
 */
function testsBeside(file: string): readonly string[] {
  const own = globSync(`${file.replace(/\/src\/.*/, '')}/test/${basename(file, '.ts')}*.test.ts`, { cwd: root });
  for (let folder = dirname(file); folder.includes('/src'); folder = dirname(folder)) {
    const tests = globSync(`${folder}/*.test.ts`, { cwd: root });
    if (tests.length > 0) return [...tests, ...own];
  }
  return own;
}

const files = [...new Set(globSync(options.sources ?? mutatedSources, { cwd: root }))]
  .filter((file) => !/[.-]test\.ts$|\/testing\/|(?:fixtures|rehearsal)\.ts$/.test(file) && existsSync(join(root, file)))
  .sort();
const places = files.flatMap((file) =>
  mutationsOf(readFileSync(join(root, file), 'utf8')).map((mutation) => ({ file, mutation })),
);
const random = seededRandom(`mutate ${options.seed}`);
const chosen = Array.from({ length: Number(options.count) }, () => pick(random, places));
console.log(
  `${chosen.length} mutants of ${places.length} places in ${files.length} files, ${options.worlds} worlds each.`,
);

const survivors: string[] = [];
let [tried, bySim, byTests, byEither] = [0, 0, 0, 0];
for (const [index, { file, mutation }] of chosen.entries()) {
  const number = index + 1;
  if (options.only ? number !== Number(options.only) : number < Number(options.from)) continue;
  const placed = { ...mutation, file: join(root, file) };
  const tests = testsBeside(file);
  const inTests: Outcome =
    tests.length === 0
      ? { isFound: false, how: 'no tests' }
      : await runMutated(placed, ['--test', '--test-isolation=none', '--test-reporter=dot', ...tests]);
  const inWorlds = await runMutated(placed, [
    join(root, 'scripts/mutation/worlds.ts'),
    `mutation-${options.seed}`,
    options.worlds,
  ]);
  tried++;
  if (inWorlds.isFound) bySim++;
  if (inTests.isFound) byTests++;
  if (inWorlds.isFound || inTests.isFound) byEither++;
  const what = `${number} ${file}:${describeMutation(readFileSync(join(root, file), 'utf8'), mutation)}`;
  const verdict = `simulator ${inWorlds.isFound ? 'found' : 'missed'}, tests ${inTests.isFound ? 'found' : 'missed'}`;
  console.log(`${what}\n    ${verdict}; ${inWorlds.isFound ? inWorlds.how : inTests.isFound ? '' : 'survived'}`);
  if (!inWorlds.isFound && !inTests.isFound) survivors.push(what);
  if (tried % 10 === 0) console.log(`-- of ${tried}: simulator ${bySim}, tests ${byTests}, either ${byEither}`);
}
console.log(`Of ${tried} mutants the simulator found ${bySim}, the tests beside them ${byTests}, either ${byEither}.`);
console.log(`Survivors:\n${survivors.map((each) => `  ${each}`).join('\n')}`);
