/** Runs the UnitedDeployment examples in the docs with kubectl. */
import assert from 'node:assert/strict';
import { readFileSync } from 'node:fs';
import { after, before, describe, test } from 'node:test';
import { hasTool } from '../cluster.ts';
import { type Kubectl, spaceOf, startKubectl } from './kubectl.ts';

const page = readFileSync(new URL('../../docs/concepts/uniteddeployment.md', import.meta.url), 'utf8');
const [zones = '', elastic = ''] = [...page.matchAll(/^```yaml\n([\s\S]*?)^```$/gm)].map(([, text = '']) => text);

if (hasTool('kubectl', 'what kubectl makes of UnitedDeployments')) {
  describe('a UnitedDeployment', () => {
    let kubectl: Kubectl;
    before(async () => {
      kubectl = await startKubectl();
      await kubectl.ok('label node node-1 zone=north');
      await kubectl.ok('label node node-2 node-3 zone=south');
    });
    after(async () => kubectl?.close());

    test('runs a Deployment per subset, scales and updates them together, and deletes them', async () => {
      const { ok, fails } = await spaceOf(kubectl, 'zones');
      // Watch events of Pods and of workloads arrive one after the other.
      const settled = async (replicas: number) => {
        for (const figure of ['updatedReadyReplicas', 'readyReplicas', 'replicas']) {
          await ok(`wait --for=jsonpath={.status.${figure}}=${replicas} ud/web --timeout=60s`);
        }
      };
      assert.match(await ok('apply -f -', zones), /uniteddeployment.apps.kruise.io\/web created/);
      await settled(4);
      const figures = /DESIRED\s+CURRENT\s+UPDATED\s+READY\s+AGE\s*\nweb\s+4\s+4\s+4\s+4\s/;
      assert.match(await ok('get ud'), figures);
      const nodesOf = (zone: string) =>
        ok(`get pods -l apps.kruise.io/subset-name=${zone} -o jsonpath={.items[*].spec.nodeName}`);
      assert.equal(await nodesOf('north'), 'node-1');
      assert.match(await nodesOf('south'), /^node-[23] node-[23] node-[23]$/);
      const zone = 'jsonpath={.items[*].spec.containers[0].env[?(@.name=="ZONE")].value}';
      assert.equal(await ok(['get', 'pods', '-l', 'app=web', '-o', zone]), 'south south south');

      await ok('scale ud web --replicas=8');
      await settled(8);
      const shares = 'jsonpath={.status.subsetStatuses[*].replicas}';
      assert.equal(await ok(`get ud web -o ${shares}`), '2 6');
      assert.match(
        await fails('apply -f -', zones.replace('values: [north]', 'values: [east]')),
        /subsets\[0\]\.nodeSelectorTerm: Forbidden: may not be changed in an update/,
      );

      await ok('apply -f -', zones.replace('nginx:1.28', 'nginx:1.29').replace('replicas: 4', 'replicas: 8'));
      const generation = await ok('get ud web -o jsonpath={.metadata.generation}');
      await ok(`wait --for=jsonpath={.status.observedGeneration}=${generation} ud/web --timeout=60s`);
      await settled(8);
      await ok('wait --for=condition=UnitedDeploymentUpdated ud/web --timeout=60s');
      const images = 'jsonpath={.items[*].spec.template.spec.containers[0].image}';
      assert.equal(await ok(`get deployments -o ${images}`), 'nginx:1.29 nginx:1.29');
      assert.match(await ok('describe ud web'), /SuccessfulUpdateSubset.*Create 2 Subset \(Deployment\)/);
      await ok('delete ud web --cascade=foreground');
      assert.equal(await ok('get deployments,pods -o name'), '');
    });

    test('moves unschedulable Pods to the next subset', async () => {
      const { ok } = await spaceOf(kubectl, 'elastic');
      assert.match(await ok('apply -f -', elastic), /uniteddeployment.apps.kruise.io\/elastic created/);
      await ok('wait --for=jsonpath={.status.readyReplicas}=3 ud/elastic --timeout=60s');
      const schedulable = 'jsonpath={.status.subsetStatuses[0].conditions[0].status}';
      assert.equal(await ok(`get ud elastic -o ${schedulable}`), 'False');
      const names = 'jsonpath={.items[*].metadata.labels.apps\\.kruise\\.io/subset-name}';
      await ok('wait --for=jsonpath={.status.replicas}=3 ud/elastic --timeout=60s');
      assert.equal(await ok(`get pods -o ${names}`), 'on-demand on-demand on-demand');
      await ok('delete ud elastic --cascade=foreground');
    });
  });
}
