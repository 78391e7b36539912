import assert from 'node:assert/strict';
import { spawnSync } from 'node:child_process';
import { mkdirSync, mkdtempSync, readdirSync, readFileSync, rmSync, symlinkSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { dirname, join } from 'node:path';
import { test } from 'node:test';
import { fileURLToPath } from 'node:url';
import { pack } from './pack.ts';

const root = fileURLToPath(new URL('..', import.meta.url));

test('a project from npm create compiles and passes its tests with the packed packages', (context) => {
  const home = mkdtempSync(join(tmpdir(), 'kruise-create-'));
  context.after(() => rmSync(home, { recursive: true, force: true }));
  const project = join(home, 'greeter');
  const packages = pack();
  run(process.execPath, [join(root, 'examples/create-controller/create.mjs'), project, '--packages', packages], home);
  install(project, packages);
  run(join(root, 'node_modules/.bin/tsc'), [], project);
  run(process.execPath, ['--test'], project);
});

/** Replaces `npm install`, which would request third-party packages from a registry: they are copied from here. */
function install(project: string, packages: string): void {
  const modules = join(project, 'node_modules');
  const link = (name: string) => {
    const target = join(modules, name);
    mkdirSync(dirname(target), { recursive: true });
    symlinkSync(join(root, 'node_modules', name), target);
  };
  const others = new Set(['@types/node', 'undici-types']);
  for (const file of readdirSync(packages)) {
    const name = /^kruise-(?!create-)(.+)-[\d.]+\.tgz$/.exec(file)?.[1];
    if (name === undefined) continue;
    const folder = join(modules, '@kruise', name);
    mkdirSync(folder, { recursive: true });
    run('tar', ['-xzf', join(packages, file), '--strip-components=1', '-C', folder], project);
    const { dependencies = {} } = JSON.parse(readFileSync(join(folder, 'package.json'), 'utf8'));
    for (const each of Object.keys(dependencies)) if (!each.startsWith('@kruise/')) others.add(each);
  }
  for (const name of others) link(name);
}

function run(command: string, args: readonly string[], cwd: string): void {
  const { NODE_TEST_CONTEXT: _, ...env } = process.env;
  const { status, stdout, stderr } = spawnSync(command, [...args], { cwd, env, encoding: 'utf8' });
  assert.equal(status, 0, `${command} ${args.join(' ')}:\n${stdout}${stderr}`);
}
