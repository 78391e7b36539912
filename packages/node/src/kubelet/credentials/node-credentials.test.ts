/** Plugins as real processes, and Docker configurations as real files. */
import assert from 'node:assert/strict';
import { chmodSync, mkdirSync, mkdtempSync, readFileSync, rmSync, symlinkSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { after, type TestContext, test } from 'node:test';
import { jsonLog } from '@kruise/client/log';
import { after as elapsed } from '@kruise/values/clock';
import { systemClock } from '@kruise/values/system';
import { virtualClock } from '@kruise/values/virtual-clock';
import { machineFiles } from '../../cri/machine/files.ts';
import type { AuthConfig } from '../../cri/messages.ts';
import { credentialsFor } from '../containers/pull-secrets.ts';
import { startTestNode } from '../testing/test-node.ts';
import { dockerConfigFiles, machineDockerConfig } from './docker-config.ts';
import { createNodeSecrets, loadCredentialProviders } from './node-credentials.ts';

const base = mkdtempSync(join(tmpdir(), 'kruise-credentials-'));
after(() => rmSync(base, { recursive: true, force: true }));

type Fields = { readonly [field: string]: unknown };
const apiVersion = 'credentialprovider.kubelet.k8s.io/v1';
const response = JSON.stringify({
  kind: 'CredentialProviderResponse',
  apiVersion,
  cacheKeyType: 'Image',
  auth: { 'registry.io': { username: 'plugin', password: 'hunter2' } },
});

/** Installs a shell script as the plugin, and creates the credential providers. */
async function install(context: TestContext, script: string, fields: Fields = {}, clock = systemClock) {
  const directory = mkdtempSync(join(base, 'case-'));
  const binDirectory = join(directory, 'bin');
  mkdirSync(binDirectory);
  const plugin = join(binDirectory, 'plugin');
  writeFileSync(plugin, `#!/bin/sh\n${script}\n`, { mode: 0o755 });
  const configFile = join(directory, 'config.yaml');
  const provider = { name: 'plugin', matchImages: ['registry.io'], defaultCacheDuration: '0s', apiVersion, ...fields };
  const config = { apiVersion: 'kubelet.config.k8s.io/v1', kind: 'CredentialProviderConfig', providers: [provider] };
  writeFileSync(configFile, JSON.stringify(config));
  const lines: string[] = [];
  const log = jsonLog(
    () => 0,
    (line) => void lines.push(line),
  );
  const stop = new AbortController();
  context.after(() => stop.abort());
  const environment = { PATH: process.env['PATH'], OUT: directory, ANSWER: response, REGION: 'host' };
  const load = () => loadCredentialProviders({ configFile, binDirectory }, { clock, log, environment }, stop.signal);
  return { directory, binDirectory, plugin, configFile, lines, log, stop, load };
}

const usersOf = (image: string, secrets: Parameters<typeof credentialsFor>[1]) =>
  credentialsFor(image, secrets).map(({ username, password }) => `${username}/${password}`);

test('a plugin gets the request on its standard input, its arguments and its variables', async (context) => {
  const script = 'cat > "$OUT/request"; echo "$1 $REGION" > "$OUT/call"; printf %s "$ANSWER"';
  const env = [{ name: 'REGION', value: 'config' }];
  const { load, directory, lines } = await install(context, script, { args: ['get'], env });
  const provide = await load();
  assert.deepEqual(usersOf('registry.io/app:1', await provide('registry.io/app:1')), ['plugin/hunter2']);
  const request = { kind: 'CredentialProviderRequest', apiVersion, image: 'registry.io/app' };
  assert.deepEqual(JSON.parse(readFileSync(join(directory, 'request'), 'utf8')), request);
  assert.equal(readFileSync(join(directory, 'call'), 'utf8'), 'get config\n');
  assert.deepEqual(lines, []);
});

const failures: readonly (readonly [title: string, script: string, reason: RegExp])[] = [
  ['fails', 'echo hunter2; echo hunter2 >&2; exit 3', /exit code 3/],
  ['is killed', 'kill -9 $$', /SIGKILL/],
  ['responds with text', 'echo hunter2', /not valid JSON/],
  ['responds without end', 'while :; do echo hunter2hunter2hunter2hunter2hunter2hunter2; done', /exceeds 262144 bytes/],
];
for (const [title, script, reason] of failures) {
  test(`a plugin that ${title} provides no credentials, and its output is not logged`, async (context) => {
    const { load, lines } = await install(context, script);
    assert.deepEqual(await (await load())('registry.io/app'), []);
    assert.equal(lines.length, 1);
    assert.match(lines[0]!, reason);
    assert.doesNotMatch(lines[0]!, /hunter2/);
  });
}

test('a plugin that has no interpreter is reported without its arguments', async (context) => {
  const { load, lines, plugin } = await install(context, '', { args: ['hunter2'] });
  writeFileSync(plugin, '#!/no/such/interpreter\n');
  assert.deepEqual(await (await load())('registry.io/app'), []);
  assert.match(lines.join(), /cannot be run: ENOENT/);
  assert.doesNotMatch(lines.join(), /hunter2/);
});

for (const [title, end] of [
  ['that does not respond in a minute', 'timeout'],
  ['of a kubelet that stops', 'stop'],
] as const) {
  test(`a plugin ${title} is killed with its children`, async (context) => {
    const clock = virtualClock(0);
    const script = 'sleep 1000 & echo "$$ $!" > "$OUT/pids.new"; mv "$OUT/pids.new" "$OUT/pids"; wait';
    const { load, directory, lines, stop } = await install(context, script, {}, clock);
    const found = (await load())('registry.io/app');
    const pids = (await eventually(() => readFileSync(join(directory, 'pids'), 'utf8'))).trim().split(' ').map(Number);
    assert.equal(pids.length, 2);
    clock.advance(59_999);
    for (const pid of pids) assert.ok(isRunning(pid));
    if (end === 'timeout') clock.advance(1);
    else stop.abort();
    assert.deepEqual(await found, []);
    assert.match(lines.join(), end === 'timeout' ? /no response within 60 seconds/ : /^$/);
    for (const pid of pids) await eventually(() => assert.ok(!isRunning(pid)));
  });
}

/** Repeats until the function throws no more. */
async function eventually<T>(read: () => T): Promise<T> {
  for (let attempt = 0; ; attempt++) {
    try {
      return read();
    } catch (error) {
      if (attempt === 500) throw error;
      await elapsed(systemClock, 20);
    }
  }
}

function isRunning(pid: number): boolean {
  try {
    return !/^State:\s+Z/m.test(readFileSync(`/proc/${pid}/status`, 'utf8'));
  } catch {
    // The process is gone.
    return false;
  }
}

const unusable: readonly (readonly [title: string, change: (plugin: string) => void, fault: RegExp])[] = [
  ['that does not exist', (plugin) => rmSync(plugin), /bin\/plugin cannot be used: it does not exist$/],
  ['that is not executable', (plugin) => chmodSync(plugin, 0o644), /it is not executable$/],
  ['that is a link out of the directory', (plugin) => linkTo(plugin, '/bin/sh'), /it is a link out of the directory$/],
  ['that is a directory', (plugin) => makeDirectory(plugin), /it is not a file$/],
];
const makeDirectory = (path: string) => {
  rmSync(path);
  mkdirSync(path);
};
const linkTo = (path: string, target: string) => {
  rmSync(path, { force: true });
  symlinkSync(target, path);
};
for (const [title, change, fault] of unusable) {
  test(`a plugin ${title} fails at start`, async (context) => {
    const { load, plugin } = await install(context, 'printf %s "$ANSWER"');
    change(plugin);
    await assert.rejects(load(), fault);
  });

  test(`a plugin ${title} after the start is not run`, async (context) => {
    const { load, plugin, lines } = await install(context, 'printf %s "$ANSWER"');
    const provide = await load();
    change(plugin);
    assert.deepEqual(await provide('registry.io/app'), []);
    assert.match(lines.join(), /cannot be used/);
  });
}

test('a link within the directory of the plugins is followed', async (context) => {
  const { load, binDirectory } = await install(context, 'printf %s "$ANSWER"', { name: 'link' });
  symlinkSync('plugin', join(binDirectory, 'link'));
  assert.deepEqual(usersOf('registry.io/app', await (await load())('registry.io/app')), ['plugin/hunter2']);
});

test('an invalid configuration fails at start with all faults', async (context) => {
  const { load } = await install(context, '', { matchImages: [], defaultCacheDuration: '-1s' });
  await assert.rejects(load(), /config\.yaml: .*matchImages: at least 1 item.*; .*defaultCacheDuration must be/);
});

test('files of a Docker configuration are searched in the order of Kubernetes', () => {
  const places = { ...machineDockerConfig('/run/kubelet', { HOME: '/var/home' }), rootDirectory: '/var/lib/kubelet' };
  assert.deepEqual(
    dockerConfigFiles(places).map(({ file }) => file),
    [
      '/var/lib/kubelet/config.json',
      '/run/kubelet/config.json',
      '/var/home/.docker/config.json',
      '/.docker/config.json',
      '/var/lib/kubelet/.dockercfg',
      '/run/kubelet/.dockercfg',
      '/var/home/.dockercfg',
      '/.dockercfg',
    ],
  );
  assert.deepEqual(
    dockerConfigFiles({ rootDirectory: '/', home: '' }).map(({ file }) => file),
    ['/config.json', '/.dockercfg'],
  );
});

test('the first valid Docker configuration is used, and later than plugins', async (context) => {
  const { load, directory, lines, log } = await install(context, 'printf %s "$ANSWER"');
  const [rootDirectory, home] = [join(directory, 'root'), join(directory, 'home')];
  mkdirSync(join(home, '.docker'), { recursive: true });
  mkdirSync(rootDirectory);
  const auths = (username: string) => ({ 'registry.io': { username, password: 'p' } });
  const sources = { files: machineFiles, dockerConfig: { rootDirectory, home }, log };
  const secretsOf = createNodeSecrets(sources);
  const users = async () => usersOf('registry.io/app', await secretsOf('registry.io/app'));
  assert.deepEqual(await users(), []);
  writeFileSync(join(home, '.dockercfg'), JSON.stringify(auths('legacy')));
  assert.deepEqual(await users(), ['legacy/p']);
  writeFileSync(join(home, 'real.json'), JSON.stringify({ auths: auths('home') }));
  symlinkSync('../real.json', join(home, '.docker/config.json'));
  assert.deepEqual(await users(), ['home/p']);
  assert.deepEqual(lines, []);
  writeFileSync(join(rootDirectory, 'config.json'), '{ "auths": hunter2');
  assert.deepEqual(await users(), ['home/p']);
  assert.match(lines.join(), /does not contain a JSON object/);
  assert.doesNotMatch(lines.join(), /hunter2/);
  writeFileSync(join(rootDirectory, 'config.json'), JSON.stringify({ auths: auths('root') }));
  assert.deepEqual(await users(), ['root/p']);
  const both = createNodeSecrets({ ...sources, providers: await load() });
  assert.deepEqual(usersOf('registry.io/app', await both('registry.io/app')), ['plugin/hunter2', 'root/p']);
});

test('a Pod starts with the credentials of a plugin', async (context) => {
  const { load } = await install(context, 'printf %s "$ANSWER"');
  await using node = await startTestNode({ kubelet: { credentialProviders: await load() } });
  const { pullImage } = node.runtime;
  const users: (string | undefined)[] = [];
  const pulled = Promise.withResolvers<void>();
  Object.assign(node.runtime, {
    pullImage: (request: { image: { image: string }; auth?: AuthConfig }, options?: object) => {
      users.push(request.auth?.username);
      pulled.resolve();
      return pullImage(request, options);
    },
  });
  await node.create({ containers: [{ name: 'c', image: 'registry.io/app:1' }] });
  await node.advance(1);
  await pulled.promise;
  assert.deepEqual(users, ['plugin']);
});
