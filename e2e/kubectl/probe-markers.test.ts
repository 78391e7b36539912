/** PodProbeMarker: probes that label Pods. Runs the example in the docs. */
import assert from 'node:assert/strict';
import { readFileSync } from 'node:fs';
import { after, before, describe, test } from 'node:test';
import { hasTool } from '../cluster.ts';
import { type Kubectl, spaceOf, startKubectl } from './kubectl.ts';

const page = readFileSync(new URL('../../docs/concepts/podprobemarker.md', import.meta.url), 'utf8');
const [, marker = ''] = /^```yaml\n([\s\S]*?)^```$/m.exec(page) ?? [];

const pod = `
apiVersion: v1
kind: Pod
metadata: { name: one, labels: { app: game } }
spec:
  containers: [{ name: main, image: 'busybox:1.37', command: [sleep, '3600'] }]
`;

if (hasTool('kubectl', 'how checks mark Pods')) {
  describe('PodProbeMarkers', () => {
    let kubectl: Kubectl;
    before(async () => {
      kubectl = await startKubectl();
    });
    after(async () => kubectl?.close());

    test('a Pod has the results of its probes', async () => {
      const { ok } = await spaceOf(kubectl, 'markers');
      await ok('apply -f -', pod);
      await ok('wait --for=condition=Ready pod/one --timeout=60s');
      assert.match(await ok('apply -f -', marker), /podprobemarker.apps.kruise.io\/game created/);
      await ok('wait --for=condition=example.com/idle=False pod/one --timeout=60s');
      await ok('exec one -- touch /idle');
      await ok('wait --for=condition=example.com/idle pod/one --timeout=60s');
      await ok('wait --for=jsonpath={.metadata.labels.idle}=true pod/one --timeout=60s');
      const cost = 'get pod one -o jsonpath={.metadata.annotations.controller\\.kubernetes\\.io/pod-deletion-cost}';
      assert.equal(await ok(cost), '-10');
      await ok('delete podprobemarker game --timeout=60s');
      const namespaces = await ok('get nodepodprobes -o jsonpath={.items[*].spec.podProbes[*].namespace}');
      assert.ok(!namespaces.includes('markers'), 'no NodePodProbe contains the probe');
    });
  });
}
