/** Runs the examples of Kruise workloads in the docs, and kubectl commands on them. */
import assert from 'node:assert/strict';
import { globSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { after, before, describe, test } from 'node:test';
import { fileURLToPath } from 'node:url';
import { hasTool } from '../cluster.ts';
import { type Kubectl, spaceOf, startKubectl, table } from './kubectl.ts';

const root = fileURLToPath(new URL('../..', import.meta.url));

/** All Kruise workloads in the docs. */
const examples = globSync('docs/**/*.md', { cwd: root }).flatMap((page) => {
  const blocks = readFileSync(join(root, page), 'utf8').matchAll(/^```yaml\n([\s\S]*?)^```$/gm);
  return [...blocks].flatMap(([, text = '']) => {
    const [, kind] = /^apiVersion: apps\.kruise\.io\/.*\nkind: (CloneSet|StatefulSet|DaemonSet)$/m.exec(text) ?? [];
    const [, name] = /^metadata: \{ name: (\S+) \}$/m.exec(text) ?? [];
    return kind && name ? [{ page, text, name, resource: `${kind.toLowerCase()}s.apps.kruise.io` }] : [];
  });
});

const clones = `
apiVersion: apps.kruise.io/v1beta1
kind: CloneSet
metadata: { name: web }
spec:
  replicas: 2
  selector: { matchLabels: { app: web } }
  template:
    metadata: { labels: { app: web } }
    spec:
      containers: [{ name: main, image: 'nginx:1.28', resources: { requests: { cpu: 100m } } }]
`;

if (hasTool('kubectl', "what kubectl makes of Kruise's workloads")) {
  describe("Kruise's workloads", () => {
    let kubectl: Kubectl;
    before(async () => {
      kubectl = await startKubectl();
    });
    after(async () => kubectl?.close());

    test('the docs have an example of each kind', () => {
      const kinds = new Set(examples.map(({ resource }) => resource.split('.')[0]));
      assert.deepEqual(kinds, new Set(['clonesets', 'statefulsets', 'daemonsets']));
    });

    for (const { page, text, name, resource } of examples) {
      test(`${name} of ${page} runs, is updated and goes`, async () => {
        const { ok } = await spaceOf(kubectl, `page-${name}`);
        assert.match(await ok('apply -f -', text), new RegExp(`/${name} created`));
        const figure = resource.startsWith('daemonsets') ? 'desiredNumberScheduled' : 'replicas';
        const ready = resource.startsWith('daemonsets') ? 'numberReady' : 'readyReplicas';
        const wanted = /^ {2}replicas: (\d+)$/m.exec(text)?.[1] ?? '3';
        for (const each of [figure, ready]) {
          await ok(`wait --for=jsonpath={.status.${each}}=${wanted} ${resource}/${name} --timeout=60s`);
        }
        const isHeard = async () => {
          const generation = await ok(`get ${resource} ${name} -o jsonpath={.metadata.generation}`);
          const observed = `{.status.observedGeneration}=${generation}`;
          await ok(`wait --for=jsonpath=${observed} ${resource}/${name} --timeout=60s`);
        };
        const uids = 'get pods -o jsonpath={.items[*].metadata.uid}';
        const before = await ok(uids);
        await ok('apply -f -', text);
        await isHeard();
        assert.equal(await ok(uids), before, 'what is there already is not changed');
        assert.match(await ok('apply -f -', text.replace('nginx:1.28', 'nginx:1.29')), /configured/);
        await isHeard();
        await ok(`delete ${resource} ${name} --wait=false`);
        // Removes the labels that hold Pods in lifecycle hooks.
        await ok('label pods --all example.com/hold-');
        await ok('wait --for=delete pod --all --timeout=60s');
      });
    }

    test('kubectl get shows their columns', async () => {
      const { ok } = await spaceOf(kubectl, 'columns');
      await ok('apply -f -', clones);
      await ok('wait --for=jsonpath={.status.availableReplicas}=2 clone/web --timeout=30s');
      assert.equal(
        table(await ok('get cloneset')),
        [
          'NAME  DESIRED  UPDATED  UPDATED_READY  UPDATED_AVAILABLE  READY  TOTAL  AGE',
          'web  2  2  2  2  2  2  AGE',
        ].join('\n'),
      );
      assert.match(await ok('get clone -o wide'), /CONTAINERS\s+IMAGES\s+SELECTOR\s*\n.*main\s+nginx:1\.28\s+app=web/);
      assert.match(
        await ok('describe clone web'),
        /SuccessfulCreate\s+\S+\s+\S*cloneset\S*\s+succeed to create pod web-/,
      );
    });

    test('kubectl scale scales them', async () => {
      const { ok } = await spaceOf(kubectl, 'scaled');
      await ok('apply -f -', clones);
      assert.equal(await ok('scale clone/web --replicas=4'), 'cloneset.apps.kruise.io/web scaled\n');
      await ok('wait --for=jsonpath={.status.readyReplicas}=4 clone/web --timeout=30s');
      assert.equal(
        await ok('get clone web --subresource=scale -o jsonpath={.spec.replicas},{.status.selector}'),
        '4,app=web',
      );
      await ok('scale clone/web --current-replicas=4 --replicas=1');
      await ok('wait --for=jsonpath={.status.replicas}=1 clone/web --timeout=30s');
    });

    test('kubectl explain explains their fields', async () => {
      const strategy = await kubectl.ok('explain cloneset.spec.updateStrategy');
      assert.match(
        strategy,
        /^GROUP: +apps\.kruise\.io\nKIND: +CloneSet\nVERSION: +v1beta1\n\nFIELD: updateStrategy <Object>/,
      );
      assert.match(strategy, /\n {2}rollingUpdate\s<Object>\n {4}\S/);
      assert.match(
        await kubectl.ok('explain clonesets.spec.updateStrategy.rollingUpdate.partition'),
        /FIELD: partition <[^>]+>\n\n\nDESCRIPTION:\n {4}\S/,
      );
      for (const kind of ['statefulset', 'daemonset']) {
        const fields = await kubectl.ok(`explain ${kind}.spec --api-version=apps.kruise.io/v1beta1 --recursive`);
        assert.match(fields, /\n {2}updateStrategy\s<Object>\n {4}rollingUpdate\s<Object>/);
      }
    });

    test('both kinds of StatefulSets and DaemonSets are distinguishable', async () => {
      const { ok } = await spaceOf(kubectl, 'named');
      for (const name of ['asts', 'daemon']) assert.equal(await ok(`get ${name}`), '');
      assert.match(await kubectl.ok('api-resources --api-group=apps.kruise.io'), /^statefulsets\s+\S*asts/m);
    });

    test('an autoscaler keeps a CloneSet within its bounds and uses the metrics of its Pods', async () => {
      const { ok } = await spaceOf(kubectl, 'autoscaled');
      const busy = 'metadata: { annotations: { sim.kruise.io/cpu: 100m }, labels';
      await ok('apply -f -', clones.replace('metadata: { labels', busy));
      await ok('wait --for=jsonpath={.status.readyReplicas}=2 clone/web --timeout=30s');
      await ok('autoscale clone web --min=3 --max=5 --cpu-percent=60');
      await ok('wait --for=jsonpath={.spec.replicas}=3 clone/web --timeout=60s');
      // The usage equals the requests, which is more than 60 % of them: five Pods suffice.
      await ok('wait --for=jsonpath={.status.readyReplicas}=5 clone/web --timeout=60s');
      const text = await ok('describe hpa web');
      assert.match(text, /Reference:\s+CloneSet\/web/);
      assert.match(text, /resource cpu on pods +\(as a percentage of request\): +100% \(100m\) \/ 60%/);
      assert.match(text, /New size: 5; reason: cpu resource utilization \(percentage of request\) above target/);
    });
  });
}
