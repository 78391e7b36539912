import assert from 'node:assert/strict';
import { existsSync, globSync, readFileSync, rmSync, statSync, symlinkSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { after, test } from 'node:test';
import { configMap } from '@kruise/api/core/configmap';
import { node as nodeKind } from '@kruise/api/core/node';
import { loadKubeconfig } from '@kruise/client/kubeconfig';
import { isNotFound } from '@kruise/machinery/status';
import { kruise, startCluster, temporaryHome } from './cluster.ts';

const homes: string[] = [];
after(() => {
  for (const home of homes) rmSync(home, { recursive: true, force: true });
});
function newHome(): string {
  const home = temporaryHome();
  homes.push(home);
  return home;
}

const settings = (name: string) => ({ metadata: { name, namespace: 'default' }, data: { name } });

test('a cluster keeps its objects and its port across restarts', async () => {
  const home = newHome();
  const first = await startCluster(home);
  const { client, close } = first.connect();
  const { metadata } = await client.create(configMap, settings('kept'));
  close();
  assert.equal(await first.stop(), 0);
  assert.match(first.output(), /Ready in \d+ ms at https:\/\/127\.0\.0\.1:\d+/);
  assert.match(first.output(), /Stopped\.\n$/);
  assert.equal(existsSync(join(first.data, 'running.json')), false);

  const second = await startCluster(home);
  assert.equal(second.url, first.url);
  const again = second.connect();
  const found = await again.client.get(configMap, { name: 'kept', namespace: 'default' });
  assert.equal(found.metadata.resourceVersion, metadata.resourceVersion);
  again.close();
  await second.stop();
});

test('a cluster stops during watches and requests', async () => {
  const home = newHome();
  const cluster = await startCluster(home);
  const { client, close } = cluster.connect();
  const watch = client.watch(configMap)[Symbol.asyncIterator]();
  await watch.next();
  const startMs = performance.now();
  assert.equal(await cluster.stop(), 0);
  assert.ok(performance.now() - startMs < 2000);
  close();
});

test('a cluster runs in the background, reports its status, and is stopped', async () => {
  const home = newHome();
  const data = join(home, 'data');
  const kubeconfig = join(home, 'config');
  const started = await kruise(home, ['up', '--detach', '--data', data, '--kubeconfig', kubeconfig]);
  assert.equal(started.code, 0, started.stderr);
  assert.match(started.stdout, /^Ready at https:\/\/127\.0\.0\.1:\d+\nStop it with: kruise down --data /);
  try {
    const shown = await kruise(home, ['kubeconfig', '--data', data]);
    assert.equal(shown.stdout, readFileSync(join(data, 'kubeconfig'), 'utf8'));
    assert.equal(loadKubeconfig({ path: kubeconfig }).currentContext, 'kruise');

    const status = await kruise(home, ['status', '--json', '--data', data]);
    const { running, pid, server } = JSON.parse(status.stdout);
    assert.deepEqual([status.code, running], [0, true]);
    assert.ok(started.stdout.includes(server));
    process.kill(pid, 0);

    const second = await kruise(home, ['up', '--data', data, '--kubeconfig', kubeconfig]);
    assert.equal(second.code, 1);
    assert.match(second.stderr, new RegExp(`already running at ${server} \\(pid ${pid}\\)`));
  } finally {
    const stopped = await kruise(home, ['down', '--data', data]);
    assert.deepEqual([stopped.code, stopped.stdout], [0, 'Stopped.\n']);
  }
  const status = await kruise(home, ['status', '--data', data]);
  assert.deepEqual([status.code, status.stdout], [1, `Not running. Data: ${data}\n`]);
  const again = await kruise(home, ['down', '--data', data]);
  assert.deepEqual([again.code, again.stderr], [0, `No cluster is running in ${data}.\n`]);
});

test('a cluster starts only once if it is started twice at the same time', async () => {
  const home = newHome();
  const outcomes = await Promise.allSettled([startCluster(home), startCluster(home)]);
  const failures = outcomes.filter((outcome) => outcome.status === 'rejected');
  assert.equal(failures.length, 1);
  assert.match(String(failures[0]!.reason), /error: .*is in use by another process|already running/);
  for (const outcome of outcomes) if (outcome.status === 'fulfilled') await outcome.value.stop();
});

test('another process with the pid of a crashed cluster is not taken for the cluster', async () => {
  const home = newHome();
  const data = join(home, 'data');
  const first = await startCluster(home);
  const running = readFileSync(join(data, 'running.json'), 'utf8');
  await first.kill();
  writeFileSync(join(data, 'running.json'), JSON.stringify({ ...JSON.parse(running), pid: process.pid }));
  assert.equal((await kruise(home, ['status', '--data', data])).code, 1);
});

test('a failed start in the background prints the log', async () => {
  const home = newHome();
  const data = join(home, 'data');
  const { code, stderr } = await kruise(home, ['up', '--detach', '--data', data, '--bind', '192.0.2.1']);
  assert.equal(code, 1);
  assert.match(stderr, /The cluster did not start[\s\S]*EADDRNOTAVAIL/);
});

test('a reset deletes all objects and keeps the certificates', async () => {
  const home = newHome();
  const first = await startCluster(home);
  const { client, close } = first.connect();
  await client.create(configMap, settings('gone'));
  close();
  await first.stop();
  const certificate = readFileSync(join(first.data, 'pki', 'ca.crt'), 'utf8');

  const second = await startCluster(home, ['--reset']);
  assert.equal(readFileSync(join(second.data, 'pki', 'ca.crt'), 'utf8'), certificate);
  const again = second.connect();
  await assert.rejects(again.client.get(configMap, { name: 'gone', namespace: 'default' }), isNotFound);
  again.close();
  await second.stop();
});

test('added nodes are kept until they are removed', async () => {
  const home = newHome();
  const first = await startCluster(home, ['--nodes', '1']);
  const node = async (...args: readonly string[]) => {
    const { code, stdout, stderr } = await kruise(home, ['node', ...args, '--data', first.data]);
    assert.equal(code, 0, stderr);
    return stdout;
  };
  assert.equal(await node('add', 'extra', '--label', 'zone=b'), 'node/extra added\n');
  await first.stop();

  const second = await startCluster(home, ['--nodes', '1']);
  assert.deepEqual(
    (await node('list')).split('\n').map((line) => line.split('\t')[0]),
    ['node-1', 'extra', ''],
  );
  const { client, close } = second.connect();
  const namesOf = async () => (await client.list(nodeKind)).items.map(({ metadata }) => metadata.name).sort();
  assert.equal((await client.get(nodeKind, { name: 'extra' })).metadata.labels?.zone, 'b');
  assert.equal(await node('add'), 'node/node-3 added\n');
  await node('remove', 'extra');
  assert.deepEqual(await namesOf(), ['node-1', 'node-3']);
  assert.equal(readFileSync(join(second.data, 'store', 'nodes.json'), 'utf8'), '[{"name":"node-3","labels":{}}]');
  close();
  await second.stop();
});

test('a cluster in memory stores nothing', async () => {
  const home = newHome();
  const cluster = await startCluster(home, ['--memory']);
  await cluster.stop();
  assert.deepEqual(globSync('store/*', { cwd: cluster.data }), []);
});

test('other entries of a kubeconfig are kept, and a taken name is avoided', async () => {
  const home = newHome();
  const theirs = {
    apiVersion: 'v1',
    kind: 'Config',
    preferences: { colors: true },
    clusters: [{ name: 'kruise', cluster: { server: 'https://production' } }],
    contexts: [{ name: 'kruise', context: { cluster: 'kruise', user: 'kruise' } }],
    users: [{ name: 'kruise', user: { token: 'secret' } }],
    'current-context': 'kruise',
  };
  const file = join(home, 'theirs');
  writeFileSync(file, JSON.stringify(theirs), { mode: 0o600 });
  symlinkSync(file, join(home, 'data.kubeconfig'));
  for (const _ of ['first', 'second']) await (await startCluster(home)).stop();
  const config = loadKubeconfig({ path: file });
  assert.deepEqual([...config.contexts.keys()], ['kruise', 'kruise-2']);
  assert.equal(config.clusters.get('kruise')?.server, 'https://production');
  assert.equal(config.users.get('kruise')?.token, 'secret');
  assert.equal(config.currentContext, 'kruise-2');
  assert.match(readFileSync(file, 'utf8'), /colors: true/);
});

test('a file that is not a kubeconfig is not changed', async () => {
  const home = newHome();
  writeFileSync(join(home, 'data.kubeconfig'), '- a\n- b\n');
  await assert.rejects(startCluster(home), /is not a kubeconfig and was not changed/);
  assert.equal(readFileSync(join(home, 'data.kubeconfig'), 'utf8'), '- a\n- b\n');
});

test('keys and data are readable only by their owner', async () => {
  const home = newHome();
  const cluster = await startCluster(home);
  await cluster.stop();
  const readable = globSync('{data,data/**,data.kubeconfig}', { cwd: home }).filter(
    (path) => !path.endsWith('.crt') && (statSync(join(home, path)).mode & 0o077) !== 0,
  );
  assert.deepEqual(readable, []);
});

test('two clusters run side by side with separate objects', async () => {
  const home = newHome();
  const clusters = await Promise.all(['one', 'two'].map((name) => startCluster(home, [], { name })));
  const [one, two] = clusters.map((cluster) => cluster.connect());
  await one!.client.create(configMap, settings('only-in-one'));
  await assert.rejects(two!.client.get(configMap, { name: 'only-in-one', namespace: 'default' }), isNotFound);
  for (const { close } of [one!, two!]) close();
  for (const cluster of clusters) assert.equal(await cluster.stop(), 0);
});

test('two clusters that start at once both have an entry in one kubeconfig', async () => {
  const home = newHome();
  const shared = join(home, 'shared');
  const clusters = await Promise.all(
    ['one', 'two'].map((name) => startCluster(home, ['--kubeconfig', shared], { name })),
  );
  const servers = [...loadKubeconfig({ path: shared }).clusters.values()].map(({ server }) => server);
  assert.deepEqual(servers.toSorted(), clusters.map(({ url }) => url).toSorted());
  for (const cluster of clusters) await cluster.stop();
});

test('a cluster listens on the given port, and fails if the port is in use', async () => {
  const home = newHome();
  const first = await startCluster(home);
  const { port } = new URL(first.url);
  await assert.rejects(startCluster(home, ['--kubernetes-port', port], { name: 'other' }), /EADDRINUSE/);
  await first.stop();
  const second = await startCluster(home, ['--kubernetes-port', port], { name: 'other' });
  assert.equal(second.url, first.url);
  await second.stop();
});

test("kruise apiserver serves only the API, without Kruise's CRDs", async () => {
  const home = newHome();
  const cluster = await startCluster(home, [], { command: 'apiserver' });
  const { client, close } = cluster.connect();
  const { object } = await client.transport.request({ method: 'GET', path: '/apis' });
  const groups = (object as { groups: { name: string }[] }).groups.map(({ name }) => name);
  assert.ok(groups.includes('apps'));
  assert.ok(!groups.includes('apps.kruise.io'));
  close();
  await cluster.stop();
});
