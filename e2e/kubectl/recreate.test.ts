/** ContainerRecreateRequest: restarts containers in place. Runs the example in the docs. */
import assert from 'node:assert/strict';
import { readFileSync } from 'node:fs';
import { after, before, describe, test } from 'node:test';
import { hasTool } from '../cluster.ts';
import { type Kubectl, spaceOf, startKubectl } from './kubectl.ts';

const page = readFileSync(new URL('../../docs/concepts/containerrecreaterequest.md', import.meta.url), 'utf8');
const [, request = ''] = /^```yaml\n([\s\S]*?)^```$/m.exec(page) ?? [];

const pod = `
apiVersion: v1
kind: Pod
metadata: { name: app }
spec:
  readinessGates: [{ conditionType: KruisePodReady }]
  containers:
    - { name: main, image: 'nginx:1.28' }
    - { name: helper, image: 'nginx:1.28', ports: [{ containerPort: 81 }] }
    - { name: other, image: 'nginx:1.28', ports: [{ containerPort: 82 }] }
`;

if (hasTool('kubectl', 'how containers are restarted')) {
  describe('ContainerRecreateRequests', () => {
    let kubectl: Kubectl;
    before(async () => {
      kubectl = await startKubectl();
    });
    after(async () => kubectl?.close());

    test('only the requested containers of a Pod restart', async () => {
      const { ok } = await spaceOf(kubectl, 'recreate');
      await ok('apply -f -', pod);
      await ok('wait --for=condition=Ready pod/app --timeout=60s');
      const identity = 'get pod app -o jsonpath={.metadata.uid}/{.status.podIP}';
      const before = await ok(identity);
      assert.match(await ok('apply -f -', request), /containerrecreaterequest.apps.kruise.io\/restart created/);
      await ok('wait --for=jsonpath={.status.phase}=Completed crr/restart --timeout=90s');
      const states = '{.status.containerRecreateStates[*].phase}/{.status.containerRecreateStates[*].isKilled}';
      assert.equal(await ok(`get crr restart -o jsonpath=${states}`), 'Succeeded Succeeded/true true');
      assert.equal(await ok(identity), before);
      const restarts = '{range.status.containerStatuses[*]}{.name}={.restartCount},{end}';
      assert.equal(await ok(`get pod app -o jsonpath=${restarts}`), 'helper=1,main=1,other=0,');
      await ok('wait --for=condition=Ready pod/app --timeout=60s');
      assert.match(await ok('get crr'), /PHASE\s+POD\s+NODE\s+AGE\s*\nrestart\s+Completed\s+app\s+node-\d/);
    });

    test('containers that cannot be restarted are rejected', async () => {
      const { namespace } = await spaceOf(kubectl, 'recreate-refused');
      const { stderr } = await kubectl.run(`-n ${namespace} apply -f -`, { input: request });
      assert.match(stderr, /denied the request: no found Pod named app/);
    });
  });
}
