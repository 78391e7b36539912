// Bundles the kruise command into a few files: a start from source reads a thousand files. Plain JavaScript, because it
// runs on any installed Node.js version.
import { spawnSync } from 'node:child_process';
import { existsSync, mkdirSync, readdirSync, renameSync, rmSync, statSync } from 'node:fs';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';

const root = fileURLToPath(new URL('..', import.meta.url));
const output = join(root, '.cache', 'bundle');
const main = join(output, 'main.mjs');
const draft = join(root, '.cache', `bundle-${process.pid}`);
const pinned = join(root, 'node_modules', '.bin', process.platform === 'win32' ? 'node.cmd' : 'node');

/** Returns the path of the bundled command; bundles it if a source has changed. */
export async function bundledCommand() {
  if (!isFresh()) await bundle();
  return main;
}

function isFresh() {
  if (!existsSync(main)) return false;
  const made = statSync(main).mtimeMs;
  const newest = (folder) => {
    for (const entry of readdirSync(folder, { withFileTypes: true })) {
      const path = join(folder, entry.name);
      if (entry.isDirectory()) {
        if (entry.name !== 'node_modules' && newest(path)) return true;
      } else if (/\.(ts|json)$/.test(entry.name) && !entry.name.endsWith('.test.ts') && statSync(path).mtimeMs > made) {
        return true;
      }
    }
    return false;
  };
  return !newest(join(root, 'packages')) && statSync(join(root, 'package-lock.json')).mtimeMs <= made;
}

async function bundle() {
  console.error('Bundling the kruise command …');
  const { build } = await import('esbuild');
  rmSync(draft, { recursive: true, force: true });
  mkdirSync(draft, { recursive: true });
  const settings = {
    absWorkingDir: root,
    outdir: draft,
    entryNames: '[name]',
    chunkNames: '[name]-[hash]',
    splitting: true,
    outExtension: { '.js': '.mjs' },
    bundle: true,
    format: 'esm',
    platform: 'node',
    target: 'node24',
    // Names are kept, so that stack traces are readable.
    minifyWhitespace: true,
    minifySyntax: true,
    sourcemap: true,
    sourcesContent: false,
    banner: {
      js: 'import { createRequire as makeRequire } from "node:module"; const require = makeRequire(import.meta.url);',
    },
    logLevel: 'warning',
  };
  await Promise.all([
    build({
      ...settings,
      // The thread of the store is started by its file, so it is a separate entry point.
      entryPoints: ['packages/cli/src/main.ts', 'packages/apiserver/src/store/sqlite-thread.ts'],
      plugins: [sparingHttp, apart],
    }),
    build({
      ...settings,
      entryPoints: commandsApart.map((name) => `packages/cli/src/commands/${name}.ts`),
      plugins: [sparingHttp],
    }),
    build({
      ...settings,
      entryPoints: ['scripts/foundation.ts'],
      splitting: false,
    }),
  ]);
  createBootstrapSnapshot();
  putInPlace();
}

/** Creates the bootstrap snapshot, so that the first start of a cluster need not build these objects. */
function createBootstrapSnapshot() {
  const made = spawnSync(pinned, [join(draft, 'foundation.mjs'), join(draft, 'foundation.json')], {
    stdio: ['ignore', 'inherit', 'inherit'],
    shell: process.platform === 'win32',
  });
  if (made.status !== 0) throw new Error('the bundle was created but does not run');
}

/** Replaces the bundle atomically: other processes that run or create a bundle always find a complete one. */
function putInPlace() {
  const former = `${draft}-former`;
  try {
    renameSync(output, former);
  } catch {
    // There was no bundle, or another process has just moved it.
  }
  try {
    renameSync(draft, output);
  } catch (error) {
    // Another process has already put a bundle of the same sources in place.
    if (!existsSync(main)) throw error;
  }
  for (const folder of [draft, former]) rmSync(folder, { recursive: true, force: true });
}

/**
 * Commands with latency requirements get their own chunks: the chunks that all commands share are a hundred files, and
 * each costs a lookup, a read and a compile cache lookup.
 */
const commandsApart = ['up', 'apiserver'];

const apart = {
  name: 'apart',
  setup({ onResolve }) {
    onResolve({ filter: /^\.\/commands\// }, ({ path }) => {
      const name = commandsApart.find((each) => path === `./commands/${each}.ts`);
      return name && { path: `./${name}.mjs`, external: true };
    });
  },
};

/**
 * Importing `node:http` directly loads all its exports, including an unused web client with a megabyte of source. This
 * shim loads it without: two megabytes less memory.
 */
const sparingHttp = {
  name: 'sparing-http',
  setup({ onResolve, onLoad }) {
    onResolve({ filter: /^(node:)?http$/ }, () => ({ path: 'node:http', namespace: 'builtin' }));
    onLoad({ filter: /.*/, namespace: 'builtin' }, ({ path }) => ({
      contents: `module.exports = process.getBuiltinModule(${JSON.stringify(path)});`,
    }));
  },
};
