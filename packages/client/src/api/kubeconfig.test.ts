import assert from 'node:assert/strict';
import { chmodSync, mkdirSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { delimiter, join } from 'node:path';
import { after, test } from 'node:test';
import { virtualClock } from '@kruise/values/virtual-clock';
import { impersonationHeaders } from './credentials.ts';
import { proxyFromEnvironment } from './http/proxy.ts';
import { inClusterServer, isInCluster } from './in-cluster.ts';
import { type KubeconfigUser, loadKubeconfig, parseKubeconfig, resolveServer } from './kubeconfig.ts';
import { formatKubeconfig, kubeconfigFileOf } from './kubeconfig-file.ts';

const folder = mkdtempSync(join(tmpdir(), 'kruise-kubeconfig-'));
after(() => rmSync(folder, { recursive: true }));
const clock = virtualClock();
const environment = { PATH: process.env.PATH };
const base64 = (text: string) => Buffer.from(text).toString('base64');

function file(name: string, content: unknown): string {
  const path = join(folder, name);
  mkdirSync(join(path, '..'), { recursive: true });
  writeFileSync(path, typeof content === 'string' ? content : JSON.stringify(content));
  return path;
}

/** A kubeconfig with one cluster and one user, resolved. */
function chosen(user: KubeconfigUser, cluster: object = {}) {
  const config = {
    clusters: [{ name: 'c', cluster: { server: 'https://example.com', ...cluster } }],
    users: [{ name: 'u', user }],
    contexts: [{ name: 'x', context: { cluster: 'c', user: 'u' } }],
    'current-context': 'x',
  };
  return resolveServer(parseKubeconfig(JSON.stringify(config), folder), { clock, environment });
}

const current = (user: KubeconfigUser, cluster?: object) => chosen(user, cluster).credentials!.current();

test('reads only the explicit file', () => {
  const path = file('given', { 'current-context': 'here' });
  assert.equal(loadKubeconfig({ path, environment: { KUBECONFIG: '/none' } }).currentContext, 'here');
  assert.throws(() => loadKubeconfig({ path: join(folder, 'none') }), { name: 'KubeconfigError' });
});

test('merges the files of KUBECONFIG: the first entry of a name and the first current context win', () => {
  const clusters = (...servers: string[]) =>
    servers.map((server, index) => ({ name: `c${index}`, cluster: { server } }));
  const one = file('one', { clusters: clusters('a'), 'current-context': '' });
  const two = file('two', { clusters: clusters('b', 'b'), 'current-context': 'two' });
  const three = file('three', { clusters: clusters('c', 'c', 'c'), 'current-context': 'three' });
  const KUBECONFIG = ['', one, join(folder, 'missing'), two, three].join(delimiter);
  const config = loadKubeconfig({ environment: { KUBECONFIG } });
  assert.deepEqual(
    ['c0', 'c1', 'c2'].map((name) => config.clusters.get(name)?.server),
    ['a', 'b', 'c'],
  );
  assert.equal(config.currentContext, 'two');
});

test('reads the file in the home directory if KUBECONFIG is empty', () => {
  file('home/.kube/config', { 'current-context': 'home' });
  const place = { environment: { KUBECONFIG: delimiter }, homeDirectory: join(folder, 'home') };
  assert.equal(loadKubeconfig(place).currentContext, 'home');
  assert.equal(loadKubeconfig({ ...place, homeDirectory: join(folder, 'nobody') }).clusters.size, 0);
});

test('resolves relative paths against the directory of the file', async () => {
  file('sub/ca.crt', 'the authority');
  file('sub/user.crt', 'the certificate');
  file('sub/user.key', 'the key');
  const path = file('sub/config', {
    clusters: [{ name: 'c', cluster: { server: 'https://example.com', 'certificate-authority': 'ca.crt' } }],
    users: [{ name: 'u', user: { 'client-certificate': './user.crt', 'client-key': 'user.key' } }],
    contexts: [{ name: 'x', context: { cluster: 'c', user: 'u', namespace: 'space' } }],
    'current-context': 'x',
  });
  const server = resolveServer(loadKubeconfig({ path }), { clock, environment });
  assert.deepEqual([server.authorities, server.namespace], ['the authority', 'space']);
  assert.deepEqual(await server.credentials!.current(), {
    certificate: { certificate: 'the certificate', key: 'the key' },
  });
});

test('prefers inline data to files', () => {
  const cluster = { 'certificate-authority': '/none', 'certificate-authority-data': base64('inline') };
  assert.equal(chosen({}, cluster).authorities, 'inline');
});

test('sends basic and bearer credentials', async () => {
  assert.deepEqual(await current({ username: 'ann', password: 'x:y' }), {
    authorization: `Basic ${base64('ann:x:y')}`,
  });
  assert.deepEqual(await current({ token: 'secret' }), { authorization: 'Bearer secret' });
});

test('overrides context, cluster and user', async () => {
  const config = parseKubeconfig(
    JSON.stringify({
      clusters: ['a', 'b'].map((name) => ({ name, cluster: { server: `https://${name}` } })),
      users: ['a', 'b'].map((name) => ({ name, user: { token: name } })),
      contexts: ['a', 'b'].map((name) => ({ name, context: { cluster: name, user: name } })),
      'current-context': 'a',
    }),
    folder,
  );
  const choose = async (choice: object) => {
    const { server, credentials } = resolveServer(config, { clock, environment, ...choice });
    return [server, (await credentials!.current()).authorization];
  };
  assert.deepEqual(await choose({}), ['https://a', 'Bearer a']);
  assert.deepEqual(await choose({ context: 'b' }), ['https://b', 'Bearer b']);
  assert.deepEqual(await choose({ user: 'b' }), ['https://a', 'Bearer b']);
  assert.deepEqual(await choose({ cluster: 'b' }), ['https://b', 'Bearer a']);
});

const mistakes: readonly (readonly [text: string, user: KubeconfigUser, cluster: object, message: RegExp])[] = [
  ['a certificate without a key', { 'client-certificate-data': 'eA==' }, {}, /without a key/],
  ['two authentication methods', { token: 'a', username: 'b' }, {}, /more than one authentication method found for u/],
  [
    'a CA bundle together with insecure-skip-tls-verify',
    {},
    { 'certificate-authority-data': 'eA==', 'insecure-skip-tls-verify': true },
    /not allowed/,
  ],
  ['an auth-provider', { 'auth-provider': { name: 'gcp' } }, {}, /auth-provider gcp/],
  ['no server', {}, { server: '' }, /has no server/],
  ['impersonated groups without a user', { 'as-groups': ['g'] }, {}, /as is missing/],
  [
    'a plugin with an unknown version',
    { exec: { command: 'x', apiVersion: 'client.authentication.k8s.io/v1alpha1' } },
    {},
    /v1alpha1/,
  ],
  [
    'a plugin without interactiveMode',
    { exec: { command: 'x', apiVersion: 'client.authentication.k8s.io/v1' } },
    {},
    /interactiveMode/,
  ],
];
for (const [text, user, cluster, message] of mistakes) {
  test(`rejects ${text}`, () => assert.throws(() => chosen(user, cluster), message));
}

for (const text of ['[]', 'clusters: 1', 'clusters: [{}]', 'a: [', '{"a":1}}']) {
  test(`rejects ${text} as a kubeconfig`, () => {
    assert.throws(() => loadKubeconfig({ path: file('faulty', text) }), { name: 'KubeconfigError' });
  });
}

test('rejects names of missing entries', () => {
  const config = parseKubeconfig('contexts: [{name: x, context: {cluster: c, user: u}}]\ncurrent-context: x', folder);
  assert.throws(() => resolveServer(config, { clock, environment }), /cluster "c" does not exist/);
  assert.throws(() => resolveServer(config, { clock, environment, context: 'y' }), /context "y" does not exist/);
});

test('sends impersonation headers', () => {
  const { impersonate } = chosen({
    as: 'ann',
    'as-uid': '7',
    'as-groups': ['one', 'two'],
    'as-user-extra': { 'example.com/Scope%': ['a', 'b'] },
  });
  assert.deepEqual(impersonationHeaders(impersonate!), {
    'impersonate-user': 'ann',
    'impersonate-uid': '7',
    'impersonate-group': ['one', 'two'],
    'impersonate-extra-example.com%2Fscope%25': ['a', 'b'],
  });
});

test('rereads a token file periodically and when its token is rejected', async () => {
  const path = file('token', 'one\n');
  const { credentials } = chosen({ tokenFile: path, token: 'zero' });
  const shown = async () => (await credentials!.current()).authorization;
  assert.equal(await shown(), 'Bearer one');
  writeFileSync(path, 'two');
  assert.equal(await shown(), 'Bearer one');
  clock.advance(60_000);
  assert.equal(await shown(), 'Bearer two');
  writeFileSync(path, 'three');
  assert.equal(credentials!.rejected!({ authorization: 'Bearer two' }), true);
  assert.equal(await shown(), 'Bearer three');
  rmSync(path);
  clock.advance(60_000);
  assert.equal(await shown(), 'Bearer three');
  assert.equal(credentials!.rejected!({ authorization: 'Bearer three' }), false);
});

/** A plugin that logs its calls. */
function plugin(status: object, version = 'v1'): { readonly command: string; readonly calls: () => unknown[] } {
  const log = join(folder, 'calls');
  writeFileSync(log, '');
  const credential = { kind: 'ExecCredential', apiVersion: `client.authentication.k8s.io/${version}`, status };
  const command = file(
    'plugin',
    `#!/bin/sh\nprintf '{"info":%s,"args":"%s","extra":"%s"}\\n' "$KUBERNETES_EXEC_INFO" "$*" "$EXTRA" >> ${log}\ncat <<'END'\n${JSON.stringify(credential)}\nEND\n`,
  );
  chmodSync(command, 0o755);
  const calls = () =>
    readFileSync(log, 'utf8')
      .trim()
      .split('\n')
      .filter(Boolean)
      .map((line) => JSON.parse(line));
  return { command, calls };
}
const exec = { apiVersion: 'client.authentication.k8s.io/v1', interactiveMode: 'Never' } as const;

test('passes the cluster to a plugin and uses its token and certificate', async () => {
  const { calls } = plugin({ token: 'secret', clientCertificateData: 'cert', clientKeyData: 'key' });
  const user = {
    exec: {
      ...exec,
      command: './plugin',
      args: ['a', 'b'],
      env: [{ name: 'EXTRA', value: 'e' }],
      provideClusterInfo: true,
    },
  };
  const extension = { audience: 'x' };
  const cluster = {
    'certificate-authority-data': base64('ca'),
    'tls-server-name': 'name',
    extensions: [{ name: 'client.authentication.k8s.io/exec', extension }],
  };
  assert.deepEqual(await current(user, cluster), {
    authorization: 'Bearer secret',
    certificate: { certificate: 'cert', key: 'key' },
  });
  assert.deepEqual(calls(), [
    {
      info: {
        kind: 'ExecCredential',
        apiVersion: exec.apiVersion,
        spec: {
          cluster: {
            server: 'https://example.com',
            'tls-server-name': 'name',
            'certificate-authority-data': base64('ca'),
            config: extension,
          },
          interactive: false,
        },
      },
      args: 'a b',
      extra: 'e',
    },
  ]);
});

test('runs a plugin once for concurrent requests, and again before its token expires or when it is rejected', async () => {
  const now = clock.now();
  const { command, calls } = plugin({ token: 'secret', expirationTimestamp: new Date(now + 3_600_000).toISOString() });
  const { credentials } = chosen({ exec: { ...exec, command } });
  await Promise.all([credentials!.current(), credentials!.current()]);
  clock.advance(3_500_000);
  const credential = await credentials!.current();
  assert.equal(calls().length, 1);
  clock.advance(50_000);
  await credentials!.current();
  assert.equal(calls().length, 2);
  assert.equal(credentials!.rejected!(credential), true);
});

const badPlugins: readonly (readonly [name: string, script: string, message: RegExp])[] = [
  ['fails', 'exit 3', /exit code 3/],
  ['prints invalid JSON', 'echo hello', /not valid JSON/],
  [
    'uses another version',
    'echo \'{"kind":"ExecCredential","apiVersion":"client.authentication.k8s.io/v1beta1"}\'',
    /v1beta1/,
  ],
  [
    'returns no credentials',
    `echo '{"kind":"ExecCredential","apiVersion":"${exec.apiVersion}","status":{}}'`,
    /neither a token/,
  ],
];
for (const [name, script, message] of badPlugins) {
  test(`fails if a plugin ${name}`, async () => {
    const command = file('bad-plugin', `#!/bin/sh\n${script}\n`);
    chmodSync(command, 0o755);
    await assert.rejects(async () => current({ exec: { ...exec, command } }), message);
  });
}

test('shows the install hint of a missing plugin', async () => {
  const user = { exec: { ...exec, command: 'no-such-plugin', installHint: 'get it from example.com' } };
  await assert.rejects(async () => current(user), /get it from example\.com/);
});

const proxies: readonly (readonly [server: string, environment: object, proxy: string | undefined])[] = [
  ['https://example.com', { HTTPS_PROXY: 'proxy:3128' }, 'http://proxy:3128/'],
  ['https://example.com', { https_proxy: 'socks5://proxy' }, 'socks5://proxy'],
  ['http://example.com', { HTTPS_PROXY: 'proxy:3128' }, undefined],
  ['https://127.0.0.1:6443', { HTTPS_PROXY: 'proxy' }, undefined],
  ['https://localhost', { HTTPS_PROXY: 'proxy' }, undefined],
  ['https://a.example.com', { HTTPS_PROXY: 'proxy', NO_PROXY: 'example.com' }, undefined],
  ['https://example.com', { HTTPS_PROXY: 'proxy', NO_PROXY: '.example.com' }, 'http://proxy/'],
  ['https://notexample.com', { HTTPS_PROXY: 'proxy', NO_PROXY: 'example.com' }, 'http://proxy/'],
  ['https://10.1.2.3', { HTTPS_PROXY: 'proxy', NO_PROXY: 'x, 10.0.0.0/8' }, undefined],
  ['https://11.1.2.3', { HTTPS_PROXY: 'proxy', NO_PROXY: '10.0.0.0/8' }, 'http://proxy/'],
  ['https://a.com:6443', { HTTPS_PROXY: 'proxy', NO_PROXY: 'a.com:443' }, 'http://proxy/'],
  ['https://a.com:6443', { HTTPS_PROXY: 'proxy', NO_PROXY: '*' }, undefined],
];
for (const [server, variables, proxy] of proxies) {
  test(`connects to ${server} by ${proxy ?? 'no proxy'} if the environment is ${JSON.stringify(variables)}`, () => {
    assert.equal(proxyFromEnvironment(new URL(server), { ...variables })?.href, proxy);
  });
}

test('prefers the proxy of the kubeconfig to that of the environment', () => {
  assert.equal(chosen({}, { 'proxy-url': 'socks5://proxy:1080' }).proxy?.href, 'socks5://proxy:1080');
});

test('resolves the in-cluster configuration', async () => {
  const directory = join(folder, 'account');
  for (const [name, content] of Object.entries({ token: 'mine', 'ca.crt': 'ca', namespace: 'space' })) {
    file(`account/${name}`, content);
  }
  const place = { directory, environment: { KUBERNETES_SERVICE_HOST: 'fd00::1', KUBERNETES_SERVICE_PORT: '443' } };
  assert.equal(isInCluster(place), true);
  assert.equal(isInCluster({ ...place, environment: {} }), false);
  const { credentials, ...server } = inClusterServer(clock, place);
  assert.deepEqual(server, { server: 'https://[fd00::1]:443', authorities: 'ca', namespace: 'space' });
  assert.deepEqual(await credentials!.current(), { authorization: 'Bearer mine' });
});

test('parses its own output', async () => {
  const certificate = { certificate: 'cert', key: 'key' };
  const text = formatKubeconfig(kubeconfigFileOf({ name: 'n', server: 'https://h:1', authorities: 'ca', certificate }));
  const server = resolveServer(parseKubeconfig(text, folder), { clock, environment });
  assert.deepEqual([server.server, server.authorities], ['https://h:1', 'ca']);
  assert.deepEqual(await server.credentials!.current(), { certificate });
});
