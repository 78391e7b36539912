#!/usr/bin/env node
// Starts the bundled command with the Node.js version of the workspace: the machine's own may be older, and a start
// from source takes five times as long.
import { spawn } from 'node:child_process';
import { existsSync } from 'node:fs';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { bundledCommand } from '../../../scripts/bundle.mjs';
import { memorySettings } from './memory.mjs';

const root = fileURLToPath(new URL('../../..', import.meta.url));
const pinned = join(root, 'node_modules', '.bin', 'node');
const main = await bundledCommand();
const child = spawn(existsSync(pinned) ? pinned : process.execPath, [main, ...process.argv.slice(2)], {
  stdio: 'inherit',
  env: {
    ...memorySettings,
    ...process.env,
    NODE_COMPILE_CACHE: process.env.NODE_COMPILE_CACHE ?? join(root, '.cache', 'compile'),
  },
});
for (const signal of ['SIGINT', 'SIGTERM', 'SIGHUP']) process.on(signal, () => child.kill(signal));
child.on('exit', (code, signal) => {
  if (signal) process.kill(process.pid, signal);
  else process.exit(code ?? 1);
});
