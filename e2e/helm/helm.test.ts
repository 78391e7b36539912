/** Chart operations with the real Helm. */
import assert from 'node:assert/strict';
import { rmSync } from 'node:fs';
import { after, before, describe, test } from 'node:test';
import { fileURLToPath } from 'node:url';
import { type Cluster, freshEnvironment, hasTool, type Outcome, run, startCluster, temporaryHome } from '../cluster.ts';

const chart = fileURLToPath(new URL('chart', import.meta.url));
if (hasTool('helm', 'what charts install')) describe('Helm', testHelm);

function testHelm(): void {
  const home = temporaryHome();
  let cluster: Cluster;
  before(async () => {
    cluster = await startCluster(home);
  });
  after(async () => {
    await cluster.stop();
    rmSync(home, { recursive: true });
  });

  const ask = (command: string, args: readonly string[], input = ''): Promise<Outcome> =>
    run(command, args, { env: { ...freshEnvironment(home), KUBECONFIG: cluster.kubeconfig }, input });
  async function runCommand(command: string, ...args: readonly string[]): Promise<string> {
    const { code, stdout, stderr } = await ask(command, args);
    assert.equal(code, 0, stderr);
    return stdout;
  }
  const helm = (...args: readonly string[]) => runCommand('helm', ...args, '--namespace=market');
  const shown = (what: string, path: string) =>
    runCommand('kubectl', 'get', '-n=market', ...what.split(' '), `-o=jsonpath={${path}}`);
  const statuses = async () => {
    const history = JSON.parse(await helm('history', 'shop', '--output=json')) as { status: string }[];
    return history.map(({ status }) => status);
  };
  const waiting = ['--wait', '--timeout=1m'];

  test('install creates hooks and CRDs first, then everything else, and waits until it is ready', async () => {
    const text = await helm('install', 'shop', chart, '--create-namespace', ...waiting);
    assert.match(text, /STATUS: deployed\nREVISION: 1\nNOTES:\nshop has 2 Pods of nginx:1\.25 on 1\.33\.\n/);
    assert.equal(await shown('deployment shop', '.status.readyReplicas'), '2');
    assert.equal(await shown('till shop', '.spec.drawers'), '1');
    assert.equal(await shown('job shop-prepare', '.status.succeeded'), '1');
    assert.deepEqual(
      (JSON.parse(await helm('list', '--output=json')) as { name: string; chart: string }[]).map(
        ({ name, chart: made }) => `${name} ${made}`,
      ),
      ['shop shop-0.1.0'],
    );
    assert.match(await helm('status', 'shop'), /STATUS: deployed/);
  });

  test('helm test runs the test Pods', async () => {
    assert.match(await helm('test', 'shop', '--logs'), /Phase: +Succeeded[\s\S]*it is open/);
  });

  test('upgrade applies the changes', async () => {
    await helm('upgrade', 'shop', chart, '--set=image=nginx:1.26,replicas=3,greeting=hi', ...waiting);
    assert.equal(await shown('deployment shop', '.status.updatedReplicas'), '3');
    assert.equal(await shown('cloneset shop-workers', '.spec.template.spec.containers[0].image'), 'nginx:1.26');
    assert.equal(await shown('configmap shop-settings', '.data.greeting'), 'hi');
    assert.deepEqual(await statuses(), ['superseded', 'deployed']);
  });

  test('a failed atomic upgrade is rolled back', async () => {
    const refused = await ask('helm', [
      ...['upgrade', 'shop', chart, '--namespace=market', '--atomic', '--timeout=5s'],
      '--set=image=nginx:non-existent',
    ]);
    assert.match(refused.stderr, /release shop failed, and has been rolled back due to atomic being set/);
    assert.equal(await shown('deployment shop', '.spec.template.spec.containers[0].image'), 'nginx:1.26');
    assert.deepEqual(await statuses(), ['superseded', 'superseded', 'failed', 'deployed']);
  });

  test('a failed hook changes nothing', async () => {
    const refused = await ask('helm', [
      'upgrade',
      'shop',
      chart,
      '--namespace=market',
      '--set=preparation=1,greeting=no',
    ]);
    assert.match(refused.stderr, /pre-upgrade hooks failed: [\s\S]*job shop-prepare failed: BackoffLimitExceeded/);
    assert.equal(await shown('configmap shop-settings', '.data.greeting'), 'hi');
  });

  test('rollback restores the previous revision', async () => {
    await helm('rollback', 'shop', '1', ...waiting);
    assert.equal(await shown('deployment shop', '.spec.template.spec.containers[0].image'), 'nginx:1.25');
    assert.equal(await shown('deployment shop', '.spec.replicas'), '2');
  });

  test('kubectl can apply the output of helm template', async () => {
    const text = await helm('template', 'stall', chart, '--no-hooks', '--validate');
    const applied = await ask('kubectl', ['apply', '-n=market', '-f=-'], text);
    assert.equal(applied.code, 0, applied.stderr);
    assert.deepEqual(applied.stdout.trim().split('\n').sort(), [
      'cloneset.apps.kruise.io/stall-workers created',
      'configmap/stall-settings created',
      'deployment.apps/stall created',
      'service/stall created',
      'till.shop.example.com/stall created',
    ]);
  });

  test('uninstall leaves only CRDs and objects of others', async () => {
    assert.match(await helm('uninstall', 'shop', ...waiting), /release "shop" uninstalled/);
    const left = await runCommand('kubectl', 'get', 'deploy,clonesets,services,tills', '-n=market', '-o=name');
    assert.deepEqual(left.trim().split('\n').sort(), [
      'cloneset.apps.kruise.io/stall-workers',
      'deployment.apps/stall',
      'service/stall',
      'till.shop.example.com/stall',
    ]);
    assert.equal(await helm('list', '--short', '--all'), '');
  });
}
