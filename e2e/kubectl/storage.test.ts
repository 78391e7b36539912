/** Storage and metrics of a whole cluster with kubectl, without additional installations. */
import assert from 'node:assert/strict';
import { after, before, describe, test } from 'node:test';
import { setTimeout as sleep } from 'node:timers/promises';
import { hasTool } from '../cluster.ts';
import { type Kubectl, spaceOf, startKubectl } from './kubectl.ts';

const database = `
apiVersion: apps/v1
kind: StatefulSet
metadata: { name: db }
spec:
  replicas: 2
  serviceName: db
  selector: { matchLabels: { app: db } }
  persistentVolumeClaimRetentionPolicy: { whenDeleted: Delete }
  template:
    metadata: { labels: { app: db } }
    spec:
      terminationGracePeriodSeconds: 0
      containers:
        - { name: main, image: 'busybox:1.36', command: [sleep, infinity], volumeMounts: [{ name: data, mountPath: /data }] }
  volumeClaimTemplates:
    - metadata: { name: data }
      spec: { accessModes: [ReadWriteOnce], resources: { requests: { storage: 1Gi } } }
`;

const scratch = `
apiVersion: v1
kind: Pod
metadata: { name: web }
spec:
  terminationGracePeriodSeconds: 0
  containers: [{ name: main, image: 'nginx:1.25', volumeMounts: [{ name: scratch, mountPath: /scratch }] }]
  volumes:
    - name: scratch
      ephemeral:
        volumeClaimTemplate:
          spec: { accessModes: [ReadWriteOnce], resources: { requests: { storage: 1Gi } } }
`;

const busy = `
apiVersion: apps/v1
kind: Deployment
metadata: { name: busy }
spec:
  selector: { matchLabels: { app: busy } }
  template:
    metadata:
      labels: { app: busy }
      annotations: { sim.kruise.io/cpu: 400m, sim.kruise.io/memory: 64Mi }
    spec:
      containers: [{ name: main, image: 'nginx:1.25', resources: { requests: { cpu: 200m } } }]
`;

if (hasTool('kubectl', 'kubectl')) {
  describe('storage and metrics', { concurrency: true }, () => {
    let kubectl: Kubectl;
    before(async () => {
      kubectl = await startKubectl('up');
    });
    after(async () => kubectl?.close());

    const space = async (namespace: string) => (await spaceOf(kubectl, namespace)).ok;

    test('a StatefulSet keeps the data of its Pods, scales out, and deletes its volumes', async () => {
      const ok = await space('database');
      await ok('apply -f -', database);
      await ok('wait --for=jsonpath={.status.readyReplicas}=2 statefulset.apps/db --timeout=60s');
      await ok(['exec', 'db-1', '--', 'sh', '-c', 'echo kept > /data/file']);
      const before = await ok('get pod db-1 -o jsonpath={.metadata.uid}{.spec.nodeName}');
      await ok('delete pod db-1');
      await ok('wait --for=create pod/db-1 --timeout=30s');
      await ok('wait --for=condition=Ready pod/db-1 --timeout=30s');
      const now = await ok('get pod db-1 -o jsonpath={.metadata.uid}{.spec.nodeName}');
      assert.notEqual(now, before);
      assert.equal(now.slice(36), before.slice(36), 'it comes back to the node of its volume');
      assert.equal((await ok('exec db-1 -- cat /data/file')).trim(), 'kept');

      const request = JSON.stringify({ spec: { resources: { requests: { storage: '2Gi' } } } });
      await ok(['patch', 'pvc', 'data-db-1', '-p', request]);
      await ok('wait --for=jsonpath={.status.capacity.storage}=2Gi pvc/data-db-1 --timeout=30s');
      const volume = await ok('get pvc data-db-1 -o jsonpath={.spec.volumeName}');
      assert.equal(await ok(`get pv ${volume} -o jsonpath={.spec.capacity.storage}`), '2Gi');

      await ok('delete statefulset.apps db');
      await ok(`wait --for=delete pv/${volume} --timeout=60s`);
    });

    test('an ephemeral volume is deleted with its Pod', async () => {
      const ok = await space('scratch');
      await ok('apply -f -', scratch);
      await ok('wait --for=condition=Ready pod/web --timeout=30s');
      const volume = await ok('get pvc web-scratch -o jsonpath={.spec.volumeName}');
      await ok('delete pod web');
      await ok(`wait --for=delete pv/${volume} --timeout=60s`);
    });

    test('PVCs without a Pod stay pending, and PVCs that cannot be provisioned report the reason', async () => {
      const ok = await space('waiting');
      const claim = (name: string, spec: string) =>
        `{apiVersion: v1, kind: PersistentVolumeClaim, metadata: {name: ${name}}, spec: {accessModes: [ReadWriteOnce], resources: {requests: {storage: 1Gi}}, ${spec}}}`;
      await ok('apply -f -', [claim('plain', ''), claim('lost', 'storageClassName: none')].join('\n---\n'));
      const reason = (name: string) =>
        `wait --for=create events --field-selector involvedObject.name=${name} --timeout=30s`;
      for (const name of ['plain', 'lost']) await ok(reason(name));
      assert.match(await ok('describe pvc plain'), /WaitForFirstConsumer .*waiting for first consumer to be created/);
      assert.match(await ok('describe pvc lost'), /storageclass.storage.k8s.io "none" not found/);
    });

    test('kubectl top shows usage, and an autoscaler uses it', async () => {
      const ok = await space('busy');
      await kubectl.ok('wait --for=condition=Available apiservice/v1beta1.metrics.k8s.io --timeout=30s');
      await ok('apply -f -', busy);
      await ok('autoscale deployment busy --cpu-percent=50 --min=1 --max=3');
      await ok('wait --for=condition=Available deployment/busy --timeout=30s');
      // A newly created Pod has no metrics yet, and metrics cannot be watched.
      const measured = await pollUntilOutput(() => ok('get podmetrics'));
      assert.match(measured, /^NAME +CPU +MEMORY +WINDOW\nbusy-\S+ +400m +64Mi +15s\n/);
      assert.match(await ok('top pods'), /busy-\S+ +400m +64Mi/);
      assert.match(await kubectl.ok('top nodes'), /node-1 +\d+m +\d+% +\d+Mi +\d+%/);
      // A Pod is measured for a while before its metrics count.
      await ok('wait --for=jsonpath={.status.readyReplicas}=3 deployment/busy --timeout=90s');
    });
  });
}

/** Polls until there is output. */
async function pollUntilOutput(ask: () => Promise<string>, patienceMs = 60_000): Promise<string> {
  const deadline = performance.now() + patienceMs;
  for (;;) {
    const answer = await ask();
    if (answer !== '' || performance.now() > deadline) return answer;
    await sleep(200);
  }
}
