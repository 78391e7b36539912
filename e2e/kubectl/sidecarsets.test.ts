/** Runs the SidecarSet examples in the docs. */
import assert from 'node:assert/strict';
import { readFileSync } from 'node:fs';
import { after, before, describe, test } from 'node:test';
import { hasTool } from '../cluster.ts';
import { type Kubectl, spaceOf, startKubectl } from './kubectl.ts';

const page = readFileSync(new URL('../../docs/concepts/sidecarset.md', import.meta.url), 'utf8');
const examples = new Map(
  [...page.matchAll(/^```yaml\n([\s\S]*?)^```$/gm)].map(([, text = '']) => [/name: (\w+)/.exec(text)?.[1] ?? '', text]),
);

const application = (app: string) => `
apiVersion: apps/v1
kind: Deployment
metadata: { name: web }
spec:
  replicas: 2
  selector: { matchLabels: { app: ${app} } }
  template:
    metadata: { labels: { app: ${app} } }
    spec:
      volumes: [{ name: data, emptyDir: {} }]
      containers:
        - name: main
          image: nginx:1.28
          env: [{ name: REGION, value: north }]
          volumeMounts: [{ name: data, mountPath: /data }]
          resources: { limits: { cpu: "1", memory: 500Mi }, requests: { cpu: 500m } }
`;

if (hasTool('kubectl', 'what becomes of Pods that have sidecars')) {
  describe('SidecarSets', () => {
    let kubectl: Kubectl;
    before(async () => {
      kubectl = await startKubectl();
    });
    after(async () => kubectl?.close());

    /** Creates an example and an application for it; waits until both Pods are ready. */
    async function begin(name: string) {
      const { ok } = await spaceOf(kubectl, `page-${name}`);
      const text = examples.get(name) ?? '';
      assert.match(await ok('apply -f -', text), new RegExp(`/${name} created`));
      await ok(`wait --for=jsonpath={.status.observedGeneration}=1 sidecarset/${name} --timeout=30s`);
      await ok('apply -f -', application(`${name}-demo`));
      await ok(`wait --for=jsonpath={.status.readyPods}=2 sidecarset/${name} --timeout=60s`);
      const uids = () => ok('get pods -o jsonpath={.items[*].metadata.uid}');
      const images = async () => {
        const all = await ok('get pods -o jsonpath={range.items[*]}{.spec.containers[*].image},{end}');
        return new Set(all.split(',').filter((each) => each !== ''));
      };
      const update = async () => {
        const before = await uids();
        await ok('apply -f -', text.replace(':1.28', ':1.29'));
        await ok(`wait --for=jsonpath={.status.observedGeneration}=2 sidecarset/${name} --timeout=30s`);
        await ok(`wait --for=jsonpath={.status.updatedReadyPods}=2 sidecarset/${name} --timeout=60s`);
        assert.equal(await uids(), before, 'Pods are not replaced');
      };
      return { ok, images, update };
    }

    test('a sidecar shares volumes and is updated in place', async () => {
      const { ok, images, update } = await begin('logs');
      assert.deepEqual(await images(), new Set(['example/collector:1.28 nginx:1.28']));
      const sidecar = (path: string) => ok(`get pods -o jsonpath={.items[0].spec.containers[0].${path}}`);
      assert.match(await sidecar('volumeMounts[*].mountPath'), /^\/buffer \/data /);
      assert.equal(await sidecar('env[*].value'), 'true north');
      assert.equal(await sidecar('resources.limits.cpu'), '100m');
      assert.equal(await sidecar('resources.limits.memory'), '50Mi');
      await update();
      assert.deepEqual(await images(), new Set(['example/collector:1.29 nginx:1.28']));
      assert.match(await ok('get sidecarset logs'), /logs\s+2\s+2\s+2\s/);
      await ok('delete sidecarset logs');
      assert.deepEqual(await images(), new Set(['example/collector:1.29 nginx:1.28']));
    });

    test('a hot upgrade switches between two sidecar containers', async () => {
      const { ok, images, update } = await begin('mesh');
      assert.deepEqual(await images(), new Set(['nginx:1.28 example/proxy:1.28 registry.k8s.io/pause:3.10']));
      assert.equal(await ok('get pods -o jsonpath={.items[0].spec.initContainers[*].name}'), 'routes');
      await update();
      assert.deepEqual(await images(), new Set(['nginx:1.28 registry.k8s.io/pause:3.10 example/proxy:1.29']));
      await ok('delete sidecarset mesh');
    });
  });
}
