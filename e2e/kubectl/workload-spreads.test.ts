/** WorkloadSpread: spreads Pods over subsets of nodes. Runs the example in the docs. */
import assert from 'node:assert/strict';
import { readFileSync } from 'node:fs';
import { after, before, describe, test } from 'node:test';
import { hasTool } from '../cluster.ts';
import { type Kubectl, spaceOf, startKubectl } from './kubectl.ts';

const page = readFileSync(new URL('../../docs/concepts/workloadspread.md', import.meta.url), 'utf8');
const [fixed = '', adaptive = ''] = [...page.matchAll(/^```yaml\n([\s\S]*?)^```$/gm)].map(([, example]) => example!);

const workload = (apiVersion: string, kind: string, name: string, replicas: number) => `
apiVersion: ${apiVersion}
kind: ${kind}
metadata: { name: ${name} }
spec:
  replicas: ${replicas}
  selector: { matchLabels: { app: ${name} } }
  template:
    metadata: { labels: { app: ${name} } }
    spec:
      terminationGracePeriodSeconds: 0
      containers: [{ name: main, image: 'busybox:1.37', command: [sleep, '3600'] }]
`;

if (hasTool('kubectl', 'how Pods are spread')) {
  describe('WorkloadSpreads', () => {
    let kubectl: Kubectl;
    before(async () => {
      kubectl = await startKubectl('up', ['--nodes', '3']);
      await kubectl.ok('label node node-1 pool=own');
      await kubectl.ok('label node node-2 node-3 pool=rented');
      await kubectl.ok('taint node node-3 rented=:NoSchedule');
    });
    after(async () => kubectl?.close());

    test('a Deployment fills its first subset first, during updates and scale-in', async () => {
      const { ok, fails } = await spaceOf(kubectl, 'spread');
      const until = (index: number, figure: string, value: number) =>
        ok(`wait --for=jsonpath={.status.subsetStatuses[${index}].${figure}}=${value} ws/web --timeout=120s`);
      const rented = async () => (await ok('get pods -l pool=rented -o name')).trim().split('\n').length;
      assert.match(await ok('apply -f -', fixed), /workloadspread.apps.kruise.io\/web created/);
      await ok('wait --for=jsonpath={.status.observedGeneration}=1 ws/web --timeout=120s');
      await ok('apply -f -', workload('apps/v1', 'Deployment', 'web', 4));
      await ok('rollout status deployment/web --timeout=120s');
      await until(1, 'replicas', 2);
      await until(0, 'missingReplicas', 0);
      assert.equal(await rented(), 2);
      assert.equal(await ok('get pods -l pool!=rented -o jsonpath={.items[*].spec.nodeName}'), 'node-1 node-1');
      assert.match(await ok('get ws'), /^NAME +WORKLOADNAME +WORKLOADKIND +ADAPTIVE +AGE\nweb +web +Deployment /);

      await ok('set env deployment/web VERSION=2');
      await ok('rollout status deployment/web --timeout=120s');
      await until(1, 'replicas', 2);
      assert.equal(await rented(), 2);

      const cost = '{.metadata.annotations.controller\\.kubernetes\\.io/pod-deletion-cost}';
      await ok(`wait --for=jsonpath=${cost} pod -l app=web --timeout=120s`);
      await ok('scale deployment/web --replicas=2');
      await until(1, 'replicas', 0);
      await until(0, 'replicas', 2);
      assert.equal(await ok('get pods -l pool=rented -o name'), '');
      const target = '{"spec":{"targetRef":{"name":"other"}}}';
      assert.match(
        await fails(['patch', 'ws', 'web', '--type=merge', '-p', target]),
        /change TargetReference is not permitted for WorkloadSpread/,
      );
    });

    test('unschedulable Pods move to another subset', async () => {
      const { ok } = await spaceOf(kubectl, 'adaptive');
      await ok('apply -f -', adaptive);
      await ok('wait --for=jsonpath={.status.observedGeneration}=1 ws/batch --timeout=120s');
      await ok('apply -f -', workload('apps.kruise.io/v1beta1', 'CloneSet', 'batch', 3));
      await ok('wait --for=jsonpath={.status.subsetStatuses[1].replicas}=3 ws/batch --timeout=120s');
      const room = 'get ws batch -o jsonpath={.status.subsetStatuses[*].conditions[*].status}';
      assert.equal(await ok(room), 'False True');
      await ok('wait --for=condition=Ready pod -l app=batch --timeout=120s');
    });
  });
}
