/** PodUnavailableBudget: protects Pods. Runs the example in the docs. */
import assert from 'node:assert/strict';
import { readFileSync } from 'node:fs';
import { after, before, describe, test } from 'node:test';
import { hasTool } from '../cluster.ts';
import { type Kubectl, spaceOf, startKubectl } from './kubectl.ts';

const page = readFileSync(new URL('../../docs/concepts/podunavailablebudget.md', import.meta.url), 'utf8');
const [, budget = ''] = /^```yaml\n([\s\S]*?)^```$/m.exec(page) ?? [];
const [, shown = ''] = /^\$ kubectl get pub\n([\s\S]*?)^```$/m.exec(page) ?? [];

const web = `
apiVersion: apps/v1
kind: Deployment
metadata: { name: web }
spec:
  replicas: 3
  selector: { matchLabels: { app: web } }
  template:
    metadata: { labels: { app: web } }
    spec:
      terminationGracePeriodSeconds: 1
      containers: [{ name: main, image: 'busybox:1.37', command: [sleep, '3600'] }]
`;

if (hasTool('kubectl', 'how budgets hold Pods back')) {
  describe('PodUnavailableBudgets', () => {
    let kubectl: Kubectl;
    before(async () => {
      kubectl = await startKubectl();
    });
    after(async () => kubectl?.close());

    test('Pods of a Deployment are deleted only within the budget, and all of them with the Deployment', async () => {
      const { ok, fails } = await spaceOf(kubectl, 'budgets');
      const until = (figure: string, value: number) =>
        ok(`wait --for=jsonpath={.status.${figure}}=${value} pub/web --timeout=120s`);
      assert.match(await ok('apply -f -', budget), /podunavailablebudget.policy.kruise.io\/web created/);
      await ok('apply -f -', web);
      await until('unavailableAllowed', 1);
      const columns = (text: string) => text.trim().split(/\s+/);
      assert.deepEqual(columns(await ok('get pub')), columns(shown));

      const [first, second, third] = (await ok('get pods -o name')).trim().split('\n');
      await ok(`delete ${first} --wait=false`);
      await ok(['patch', 'pub', 'web', '--type=merge', '-p', '{"spec":{"maxUnavailable":0}}']);
      await until('desiredAvailable', 3);
      await until('currentAvailable', 3);
      assert.match(
        await fails(`delete ${second} --wait=false`),
        /admission webhook "vpod.kb.io" denied the request: podunavailablebudget.policy.kruise.io "web" is forbidden/,
      );
      await ok('scale deployment web --replicas=0');
      await ok(`wait --for=delete ${second} ${third} --timeout=120s`);
      await until('totalReplicas', 0);
    });
  });
}
