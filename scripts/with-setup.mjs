// Runs a script with the Node.js version of the workspace, after installing missing dependencies. Plain JavaScript,
// because it runs on any installed Node.js version.
//   node scripts/with-setup.mjs scripts/test.ts …    runs a script
//   node scripts/with-setup.mjs --bundle up …        runs the bundled kruise command
import { spawnSync } from 'node:child_process';
import { createHash } from 'node:crypto';
import { existsSync, mkdirSync, readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { memorySettings } from '../packages/cli/bin/memory.mjs';

const root = fileURLToPath(new URL('..', import.meta.url));
const [first, ...args] = process.argv.slice(2);
const pinned = join(root, 'node_modules', '.bin', process.platform === 'win32' ? 'node.cmd' : 'node');
const stamp = join(root, 'node_modules', '.kruise-setup');

const wanted = createHash('sha256')
  .update(readFileSync(join(root, 'package-lock.json')))
  .digest('hex');
const installed = existsSync(stamp) && existsSync(pinned) ? readFileSync(stamp, 'utf8') : '';
if (installed !== wanted) {
  console.error('Installing dependencies (npm ci) …');
  const npm = process.platform === 'win32' ? 'npm.cmd' : 'npm';
  const result = spawnSync(npm, ['ci', '--ignore-scripts', '--no-audit', '--no-fund', '--loglevel=error'], {
    cwd: root,
    stdio: ['ignore', 2, 2],
    shell: process.platform === 'win32',
  });
  if (result.status !== 0) {
    console.error('npm ci failed; nothing was started.');
    process.exit(result.status ?? 1);
  }
  if (!existsSync(pinned)) {
    console.error(`There is no Node build for ${process.platform}-${process.arch} among the dependencies.`);
    process.exit(1);
  }
  writeFileSync(stamp, wanted);
}

// Compiled code is cached between runs: a start from source then takes a third of the time.
const cache = join(root, '.cache', 'compile');
mkdirSync(cache, { recursive: true });
const script =
  first === '--bundle' ? await (await import('./bundle.mjs')).bundledCommand() : join(root, first ?? 'scripts/test.ts');
const child = spawnSync(pinned, [script, ...args], {
  cwd: process.env.INIT_CWD ?? process.cwd(),
  stdio: 'inherit',
  env: {
    ...memorySettings,
    ...process.env,
    NODE_COMPILE_CACHE: process.env.NODE_COMPILE_CACHE ?? cache,
    PATH: `${join(root, 'node_modules', '.bin')}:${process.env.PATH ?? ''}`,
  },
});
if (child.error) console.error(child.error.message);
process.exit(child.status ?? 1);
