/** Runs the examples of Kruise's jobs in the docs to completion. */
import assert from 'node:assert/strict';
import { readFileSync } from 'node:fs';
import { after, before, describe, test } from 'node:test';
import { hasTool } from '../cluster.ts';
import { type Kubectl, spaceOf, startKubectl, table } from './kubectl.ts';

const page = readFileSync(new URL('../../docs/concepts/jobs.md', import.meta.url), 'utf8');
const [broadcast = '', cron = '', ephemeral = ''] = [...page.matchAll(/^```yaml\n([\s\S]*?)^```$/gm)].map(
  ([, text = '']) => text,
);

const target = `
apiVersion: v1
kind: Pod
metadata: { name: a, labels: { app: jobs-demo } }
spec:
  containers: [{ name: main, image: 'nginx:1.28' }]
`;

if (hasTool('kubectl', "what kubectl makes of Kruise's jobs")) {
  describe("Kruise's jobs", () => {
    let kubectl: Kubectl;
    before(async () => {
      kubectl = await startKubectl();
    });
    after(async () => kubectl?.close());

    test('a BroadcastJob runs once on each node', async () => {
      const { ok } = await spaceOf(kubectl, 'broadcast');
      assert.match(await ok('apply -f -', broadcast), /broadcastjob.apps.kruise.io\/sweep created/);
      await ok('wait --for=condition=Complete bcj/sweep --timeout=60s');
      assert.equal(
        table(await ok('get bcj')),
        ['NAME  DESIRED  ACTIVE  SUCCEEDED  FAILED  AGE', 'sweep  3  0  3  0  AGE'].join('\n'),
      );
      const nodes = await ok('get pods -o jsonpath={.items[*].spec.nodeName}');
      assert.equal(new Set(nodes.split(' ')).size, 3);
      assert.match(await ok('describe bcj sweep'), /JobComplete.*3 pods succeeded, 0 pods failed/);
      await ok('delete bcj sweep --cascade=foreground');
      assert.equal(await ok('get pods -o name'), '');
    });

    test('an AdvancedCronJob starts a BroadcastJob when it is due', async () => {
      const { ok } = await spaceOf(kubectl, 'cron');
      assert.match(await ok('apply -f -', cron), /advancedcronjob.apps.kruise.io\/nightly created/);
      await ok('wait --for=jsonpath={.status.type}=BroadcastJob acj/nightly --timeout=30s');
      assert.equal(await ok('get bcj -o name'), '');
      await ok('apply -f -', cron.replace('30 2 * * *', '@every 2s').replace('Forbid', 'Allow'));
      await ok('wait --for=jsonpath={.status.lastScheduleTime} acj/nightly --timeout=30s');
      assert.match(await ok('get bcj -o name'), /broadcastjob.apps.kruise.io\/nightly-\d+/);
      assert.match(
        await ok('get acj'),
        /SCHEDULE\s+TYPE\s+LASTSCHEDULETIME\s+AGE\s*\nnightly\s+@every 2s\s+BroadcastJob/,
      );
      await ok('delete acj nightly --cascade=foreground');
      assert.equal(await ok('get bcj -o name'), '');
    });

    test('an EphemeralJob runs in running Pods', async () => {
      const { ok } = await spaceOf(kubectl, 'ephemeral');
      await ok('apply -f -', [target, target.replace('name: a', 'name: b')].join('---'));
      await ok('wait --for=condition=Ready pod --all --timeout=60s');
      assert.match(await ok('apply -f -', ephemeral), /ephemeraljob.apps.kruise.io\/look created/);
      await ok('wait --for=jsonpath={.status.phase}=Succeeded ejob/look --timeout=60s');
      assert.equal(
        table(await ok('get ejob')),
        ['NAME  STATUS  MATCH  SUCCEED  FAILED  RUNNING  WAITING  AGE', 'look  Succeeded  2  2  0  0  0  AGE'].join(
          '\n',
        ),
      );
      await ok('delete ejob look');
    });
  });
}
