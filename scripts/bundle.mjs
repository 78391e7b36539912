// Puts the kruise command into a few files: a start from source reads a thousand. Plain JavaScript, because it runs on
// whatever Node the machine has.
import { spawnSync } from 'node:child_process';
import { existsSync, mkdirSync, readdirSync, renameSync, rmSync, statSync } from 'node:fs';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';

const root = fileURLToPath(new URL('..', import.meta.url));
const output = join(root, '.cache', 'bundle');
const main = join(output, 'main.mjs');
const draft = join(root, '.cache', `bundle-${process.pid}`);
const pinned = join(root, 'node_modules', '.bin', process.platform === 'win32' ? 'node.cmd' : 'node');

/** The bundled command, made anew if a source has changed since. */
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
    // Names stay, so that a stack trace can be read.
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
      // The store's thread is started by its file, so it has one of its own.
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
  makeFoundation();
  putInPlace();
}

/** Makes what the first start of every cluster stores, so that it need not. */
function makeFoundation() {
  const made = spawnSync(pinned, [join(draft, 'foundation.mjs'), join(draft, 'foundation.json')], {
    stdio: ['ignore', 'inherit', 'inherit'],
    shell: process.platform === 'win32',
  });
  if (made.status !== 0) throw new Error('the bundle was made, but does not run');
}

/** Whoever runs the bundle that was there, or makes one at the same time, finds a whole one at any moment. */
function putInPlace() {
  const former = `${draft}-former`;
  try {
    renameSync(output, former);
  } catch {
    // There was none, or someone else has just taken it away.
  }
  try {
    renameSync(draft, output);
  } catch (error) {
    // Someone else's, of the same sources, has got there first.
    if (!existsSync(main)) throw error;
  }
  for (const folder of [draft, former]) rmSync(folder, { recursive: true, force: true });
}

/**
 * The commands people wait for, of a few files: those that all commands share something with are a hundred, each of them
 * looked for, read and looked up in the compile cache by itself.
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
 * Whoever imports `node:http` is given all it exports, a client for the web of a megabyte of source among it, though
 * nobody here uses that. Asked for in this way it comes without: two megabytes of memory less.
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
