/** PersistentPodState: recreated Pods return to their nodes. Runs the example in the docs. */
import assert from 'node:assert/strict';
import { readFileSync } from 'node:fs';
import { after, before, describe, test } from 'node:test';
import { hasTool } from '../cluster.ts';
import { type Kubectl, spaceOf, startKubectl } from './kubectl.ts';

const page = readFileSync(new URL('../../docs/concepts/persistentpodstate.md', import.meta.url), 'utf8');
const [annotated = '', byHand = ''] = [...page.matchAll(/^```yaml\n([\s\S]*?)^```$/gm)].map(([, example]) => example!);

const cache = `
apiVersion: apps.kruise.io/v1beta1
kind: StatefulSet
metadata: { name: cache }
spec:
  replicas: 3
  serviceName: cache
  podManagementPolicy: Parallel
  selector: { matchLabels: { app: cache } }
  template:
    metadata: { labels: { app: cache } }
    spec: { containers: [{ name: main, image: 'nginx:1.28' }] }
`;

if (hasTool('kubectl', 'how Pods come back')) {
  describe('PersistentPodStates', () => {
    let kubectl: Kubectl;
    before(async () => {
      kubectl = await startKubectl('up', ['--nodes', '3']);
    });
    after(async () => kubectl?.close());

    const nodeOf = (name: string) => `get pod ${name} -o jsonpath={.spec.nodeName}`;

    test('Pods of an annotated StatefulSet prefer their previous nodes', async () => {
      const { ok } = await spaceOf(kubectl, 'annotated');
      await ok('apply -f -', annotated);
      await ok('rollout status statefulset/db --timeout=60s');
      await ok('wait --for=jsonpath={.status.podStates.db-1.nodeName} persistentpodstate/db --timeout=60s');
      const before = await ok('get persistentpodstate db -o jsonpath={.status.podStates.db-0.nodeName}');
      await ok('rollout restart statefulset/db');
      await ok('rollout status statefulset/db --timeout=60s');
      const injected =
        'get pods -o jsonpath={.items[*].metadata.annotations.kruise\\.io/injected-persistent-pod-state}';
      assert.equal(await ok(injected), 'db db');
      assert.equal(await ok('get pod db-0 -o jsonpath={.spec.nodeSelector}'), '{"kubernetes.io/os":"linux"}');
      const preferred = '{.spec.affinity.nodeAffinity.preferredDuringSchedulingIgnoredDuringExecution[*]';
      const hosts = `${preferred}.preference.matchExpressions[*].values[*]}`;
      assert.equal(await ok(`get pod db-0 -o jsonpath=${hosts}`), before);
      await ok('delete statefulset db --timeout=60s');
      await ok('wait --for=delete persistentpodstate/db --timeout=60s');
    });

    test('Pods return to their previous nodes after a scale-in and scale-out', async () => {
      const { ok, fails } = await spaceOf(kubectl, 'by-hand');
      await ok('apply -f -', cache);
      await ok('apply -f -', byHand);
      const known = '{.status.podStates.cache-2.nodeName}';
      await ok(`wait --for=jsonpath=${known} persistentpodstate/cache --timeout=60s`);
      const before = await ok(nodeOf('cache-2'));
      await ok('scale statefulsets.apps.kruise.io/cache --replicas=0');
      await ok('wait --for=delete pod -l app=cache --timeout=60s');
      await ok('scale statefulsets.apps.kruise.io/cache --replicas=3');
      await ok('wait --for=jsonpath={.status.readyReplicas}=3 statefulsets.apps.kruise.io/cache --timeout=60s');
      assert.equal(await ok(nodeOf('cache-2')), before);
      const target = '{"spec":{"targetRef":{"name":"other"}}}';
      assert.match(await fails(['patch', 'persistentpodstate', 'cache', '--type=merge', '-p', target]), /is immutable/);
    });
  });
}
