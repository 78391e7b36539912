/** Tests of the chart that do not need Helm; `e2e/helm` installs it. */
import assert from 'node:assert/strict';
import { globSync, readFileSync, statSync } from 'node:fs';
import { join } from 'node:path';
import { test } from 'node:test';
import { fileURLToPath } from 'node:url';
import { parseYaml } from '@kruise/schema/yaml-text';
import { chartFolder, generatedFiles } from './chart.ts';

type Values = { readonly [name: string]: unknown };

const read = (path: string) => readFileSync(join(chartFolder, path), 'utf8');
const valuesText = read('values.yaml');
const values = parseYaml(valuesText) as Values;
const templates = globSync('templates/**/*', { cwd: chartFolder, withFileTypes: true })
  .filter((entry) => entry.isFile())
  .map((entry) => join(entry.parentPath, entry.name))
  .map((file) => file.slice(chartFolder.length + 1));

test('the generated templates are up to date', () => {
  for (const [path, text] of generatedFiles()) assert.ok(read(path) === text, `${path} is old: node scripts/chart.ts`);
});

test('every CRD belongs to an existing kind', () => {
  const generated = generatedFiles();
  const definitions = templates.filter((path) => path.startsWith('templates/crds/'));
  assert.equal(definitions.length, 18);
  for (const path of definitions) assert.ok(generated.has(path), path);
});

test('templates use exactly the existing values', () => {
  const text = templates.map(read).join('\n').replaceAll('$provider', '.Values.daemon.credentialProvider');
  const asked = new Set([...text.matchAll(/\.Values((?:\.\w+)+)/g)].map(([, path]) => path!.slice(1)));
  for (const path of asked) {
    const value = path.split('.').reduce<unknown>((from, name) => (from as Values | undefined)?.[name], values);
    assert.notEqual(value, undefined, path);
  }
  for (const path of leavesOf(values)) {
    const isAsked = [...asked].some((each) => path === each || path.startsWith(`${each}.`));
    assert.ok(isAsked, `${path} is of no effect`);
  }
});

function leavesOf(value: unknown, path = ''): readonly string[] {
  if (typeof value !== 'object' || value === null || Array.isArray(value) || Object.keys(value).length === 0) {
    return [path];
  }
  return Object.entries(value).flatMap(([name, member]) => leavesOf(member, path ? `${path}.${name}` : name));
}

const root = fileURLToPath(new URL('..', import.meta.url));

test('the chart has the version of the packages', () => {
  const { version } = JSON.parse(readFileSync(join(root, 'package.json'), 'utf8')) as { readonly version: string };
  const chart = parseYaml(read('Chart.yaml')) as Values;
  assert.deepEqual([chart['version'], chart['appVersion']], [version, version]);
  assert.match(valuesText, new RegExp(`tag: v${version}$`, 'm'));
});

test('the image contains the programs that the chart runs', () => {
  const recipe = readFileSync(join(root, 'images/kruise-manager/Dockerfile'), 'utf8');
  for (const template of ['templates/manager.yaml', 'templates/daemon.yaml']) {
    const [, program = ''] = /command:\n +- \/(\S+)/.exec(read(template)) ?? [];
    const file = `images/kruise-manager/${program}`;
    assert.ok(recipe.includes(file), file);
    // Files that are readable must be executable.
    assert.equal(statSync(join(root, file)).mode & 0o555, 0o555);
  }
  const settings = readFileSync(join(root, 'packages/cli/bin/memory.mjs'), 'utf8').matchAll(/(\w+): '(\d+)'/g);
  for (const [, name = '', value] of settings) assert.ok(recipe.includes(`${name}=${value}`), name);
});

test('every container drops unneeded privileges', () => {
  const [, shared = ''] =
    /define "kruise\.securityContext" -}}\n([\s\S]*?)\n{{- end }}\n{{- end }}/.exec(read('templates/_helpers.tpl')) ??
    [];
  const given = parseYaml(shared.replaceAll(/^{{.*$/gm, ''));
  assert.deepEqual(given, {
    allowPrivilegeEscalation: false,
    readOnlyRootFilesystem: true,
    capabilities: { drop: ['ALL'] },
    seccompProfile: { type: 'RuntimeDefault' },
  });
  const include = 'include "kruise.securityContext"';
  for (const path of templates) {
    const text = read(path);
    const containers = text.match(/^ +- name: .*\n +image: /gm)?.length ?? 0;
    assert.equal(text.split(include).length - 1, containers, `${path}: a container without it`);
    if (containers === 0) continue;
    const runsAsRoot = path === 'templates/daemon.yaml';
    assert.match(text, runsAsRoot ? /# .*root.*\n +runAsUser: 0\n/ : /runAsNonRoot: true\n +runAsUser: 65534\n/, path);
  }
});

test('the image runs as an unprivileged user by default', () => {
  const recipe = readFileSync(join(root, 'images/kruise-manager/Dockerfile'), 'utf8');
  // A numeric user, because Kubernetes cannot determine whether a named user is root.
  assert.match(recipe, /\nUSER 65534:65534\nENTRYPOINT /);
});
