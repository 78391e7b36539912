/** Kruise workloads with kubectl, on nodes that update containers in place. */
import assert from 'node:assert/strict';
import { after, before, describe, test } from 'node:test';
import { hasTool } from '../cluster.ts';
import { type Kubectl, spaceOf, startKubectl } from './kubectl.ts';

const cloneSet = (image: string) => `
apiVersion: apps.kruise.io/v1alpha1
kind: CloneSet
metadata: { name: clones }
spec:
  replicas: 3
  selector: { matchLabels: { app: clones } }
  updateStrategy: { type: InPlaceIfPossible, maxUnavailable: 100% }
  template:
    metadata: { labels: { app: clones } }
    spec:
      containers: [{ name: main, image: '${image}' }]
`;

if (hasTool('kubectl', 'what kubectl makes of CloneSets')) {
  describe('CloneSets', () => {
    let kubectl: Kubectl;
    before(async () => {
      kubectl = await startKubectl();
    });
    after(async () => kubectl?.close());

    test('a CloneSet is updated in place', async () => {
      const { ok } = await spaceOf(kubectl, 'clones');
      await ok('apply -f -', cloneSet('nginx:1.25'));
      await ok('wait --for=jsonpath={.status.readyReplicas}=3 clone/clones --timeout=30s');
      const uids = 'get pods -o jsonpath={.items[*].metadata.uid}';
      const before = await ok(uids);
      await ok('apply -f -', cloneSet('nginx:1.26'));
      await ok('wait --for=jsonpath={.status.updatedReadyReplicas}=3 clone/clones --timeout=30s');
      assert.equal(await ok(uids), before);
      assert.equal(await ok('get pods -o jsonpath={.items[*].status.containerStatuses[0].restartCount}'), '1 1 1');
      await ok('delete clone clones');
      await ok('wait --for=delete pod --all --timeout=60s');
    });
  });
}
