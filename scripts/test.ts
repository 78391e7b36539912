// The test command of the README: checks the sources, installs the programs that tests need, and runs all tests.
//   npm test                      all tests
//   npm test -- packages/schema   the tests below a path
import { spawnSync } from 'node:child_process';
import { existsSync, globSync } from 'node:fs';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { prepareTools } from './tools.ts';

const root = fileURLToPath(new URL('..', import.meta.url));
const paths = process.argv.slice(2);

function step(title: string, command: string, args: readonly string[]): void {
  console.log(`\n── ${title}`);
  const { status, error } = spawnSync(command, [...args], { cwd: root, stdio: 'inherit' });
  if (status === 0) return;
  console.error(`${title}: failed${error ? ` (${error.message})` : ''}`);
  process.exit(status ?? 1);
}

if (paths.length === 0) {
  step('Format and lint', 'biome', ['check', '--error-on-warnings', '.']);
  step('Types', 'tsc', ['--noEmit']);
}
await prepareTools(root);

const places = paths.length === 0 ? ['packages', 'scripts', 'examples', 'e2e'] : paths;
const files = places.flatMap((place) =>
  place.endsWith('.ts')
    ? [place]
    : existsSync(join(root, place))
      ? globSync(`${place}/**/*.test.ts`, { cwd: root })
      : [],
);
const tests = files.filter((file) => !file.includes('node_modules')).sort();
if (tests.length === 0) {
  console.error(`no tests below ${places.join(', ')}`);
  process.exit(1);
}
step('Tests', process.execPath, [
  '--test',
  '--test-timeout=600000',
  '--test-reporter=./scripts/test-reporter.ts',
  ...tests,
]);
