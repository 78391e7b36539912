/** Every component of `kruise up` serves its own metrics, and kruise-manager records denied deletions. */
import assert from 'node:assert/strict';
import { readFileSync, rmSync } from 'node:fs';
import { get } from 'node:https';
import { join } from 'node:path';
import { text } from 'node:stream/consumers';
import { test } from 'node:test';
import { namespace } from '@kruise/api/core/namespace';
import { serviceAccount } from '@kruise/api/core/serviceaccount';
import { clusterRoleBinding } from '@kruise/api/rbac/clusterrolebinding';
import { kruise, startCluster, temporaryHome } from './cluster.ts';

test('the components of a cluster serve metrics, and denied deletions are counted and logged', async (context) => {
  const home = temporaryHome();
  context.after(() => rmSync(home, { recursive: true, force: true }));
  const cluster = await startCluster(home, ['--nodes=1', '--feature-gates=ResourcesDeletionProtection=true']);
  context.after(() => cluster.stop());
  const { client, close } = cluster.connect();
  context.after(close);

  const labels = { 'policy.kruise.io/delete-protection': 'Always' };
  await client.create(namespace, { metadata: { name: 'guarded', labels } });
  await assert.rejects(client.delete(namespace, { name: 'guarded' }), /denied the request: forbidden by/);

  const account = { namespace: 'default', name: 'scraper' };
  await client.create(serviceAccount, { metadata: account });
  await client.create(clusterRoleBinding, {
    metadata: { name: 'scraper' },
    roleRef: { apiGroup: 'rbac.authorization.k8s.io', kind: 'ClusterRole', name: 'system:monitoring' },
    subjects: [{ kind: 'ServiceAccount', ...account }],
  });
  const path = '/api/v1/namespaces/default/serviceaccounts/scraper/token';
  const body = { apiVersion: 'authentication.k8s.io/v1', kind: 'TokenRequest', spec: {} };
  const { object } = await client.transport.request({ method: 'POST', path, body });
  const { token } = (object as { readonly status: { readonly token: string } }).status;

  const { stdout } = await kruise(home, ['status', '--json', '--data', cluster.data]);
  const { endpoints } = (JSON.parse(stdout) as { readonly state: { readonly endpoints: { [name: string]: string } } })
    .state;
  const ca = readFileSync(join(cluster.data, 'pki', 'ca.crt'));
  const scrape = async (name: string, headers = { authorization: `Bearer ${token}` }) => {
    const response = await new Promise<import('node:http').IncomingMessage>((resolve, reject) => {
      get(`${endpoints[name]}/metrics`, { ca, headers, agent: false }, resolve).once('error', reject);
    });
    return { code: response.statusCode, body: await text(response) };
  };
  const expected = {
    'cloud-controller-manager': /^workqueue_adds_total\{/m,
    'controller-manager': /^workqueue_adds_total\{name="/m,
    daemon: /^process_start_time_seconds /m,
    manager: /^namespace_deletion_protection\{name="guarded",username="[^"]+"\} 1$/m,
    scheduler: /^scheduler_pending_pods\{/m,
  };
  assert.deepEqual(Object.keys(endpoints).sort(), Object.keys(expected));
  for (const [name, pattern] of Object.entries(expected)) {
    const { code, body: metrics } = await scrape(name);
    assert.equal(code, 200, name);
    assert.match(metrics, pattern, name);
  }
  assert.match((await scrape('manager')).body, /^controller_runtime_webhook_requests_total\{/m);
  assert.equal((await scrape('manager', { authorization: '' })).code, 401);

  const log = readFileSync(join(cluster.data, 'protection.log'), 'utf8').trim().split('\n');
  const lines = log.map(
    (line) => JSON.parse(line) as { readonly Event: string; readonly Kind: string; readonly Name: string },
  );
  assert.deepEqual(
    lines.map(({ Event, Kind, Name }) => ({ Event, Kind, Name })),
    [{ Event: 'DeletionProtection', Kind: 'Namespace', Name: 'guarded' }],
  );
});
