/**
 * Typical work with kubectl on a whole cluster: user actions on workloads and their visible results. No test needs
 * running containers: nodes that only report Pods as running suffice, so that controllers and scheduler can be tested
 * with other nodes and vice versa (KRUISE_E2E_KUBECONFIG).
 */
import assert from 'node:assert/strict';
import { after, before, describe, test } from 'node:test';
import { hasTool } from '../cluster.ts';
import { type Kubectl, spaceOf, startKubectl } from './kubectl.ts';

const statefulSet = `
apiVersion: v1
kind: Service
metadata: { name: db }
spec: { clusterIP: None, selector: { app: db }, ports: [{ port: 5432 }] }
---
apiVersion: apps/v1
kind: StatefulSet
metadata: { name: db }
spec:
  replicas: 2
  serviceName: db
  selector: { matchLabels: { app: db } }
  template:
    metadata: { labels: { app: db } }
    spec:
      containers: [{ name: main, image: 'nginx:1.25', volumeMounts: [{ name: data, mountPath: /data }] }]
  volumeClaimTemplates:
    - metadata: { name: data }
      spec: { accessModes: [ReadWriteOnce], storageClassName: by-hand, resources: { requests: { storage: 1Gi } } }
`;

const volume = (name: string) => `
apiVersion: v1
kind: PersistentVolume
metadata: { name: ${name} }
spec:
  capacity: { storage: 1Gi }
  accessModes: [ReadWriteOnce]
  storageClassName: by-hand
  hostPath: { path: /var/${name} }
`;

const daemonSet = `
apiVersion: apps/v1
kind: DaemonSet
metadata: { name: agent }
spec:
  selector: { matchLabels: { app: agent } }
  template:
    metadata: { labels: { app: agent } }
    spec:
      containers: [{ name: main, image: 'nginx:1.25' }]
`;

const failingJob = `
apiVersion: batch/v1
kind: Job
metadata: { name: bad }
spec:
  backoffLimit: 0
  template:
    spec:
      restartPolicy: Never
      containers: [{ name: main, image: 'busybox:1.36', command: ['false'] }]
`;

if (hasTool('kubectl', 'what kubectl makes of workloads')) {
  describe('workloads', () => {
    let kubectl: Kubectl;
    let count = 0;
    before(async () => {
      kubectl = await startKubectl();
    });
    after(async () => {
      await kubectl.close();
    });

    const space = () => spaceOf(kubectl, `space-${++count}`);

    test('nodes are ready', async () => {
      await kubectl.ok('wait --for=condition=Ready node --all --timeout=20s');
      assert.equal((await kubectl.ok('get nodes -o name')).trim().split('\n').length, 3);
    });

    test('a Deployment is rolled out, watched, paused, undone and restarted', async () => {
      const { ok } = await space();
      await ok('create deployment web --image=nginx:1.25 --replicas=3');
      assert.match(await ok('rollout status deploy/web --timeout=30s'), /successfully rolled out/);
      await ok('set image deploy/web nginx=nginx:1.26');
      assert.match(await ok('rollout status deploy/web --timeout=30s'), /successfully rolled out/);
      assert.match(await ok('rollout history deploy/web'), /REVISION.*\n1 .*\n2 /);
      await ok('rollout undo deploy/web');
      await ok('rollout status deploy/web --timeout=30s');
      assert.equal(await ok('get deploy web -o jsonpath={.spec.template.spec.containers[0].image}'), 'nginx:1.25');
      assert.match(await ok('rollout history deploy/web'), /\n2 .*\n3 /);
      await ok('rollout pause deploy/web');
      await ok('set image deploy/web nginx=nginx:1.27');
      const images = 'get pods -o jsonpath={.items[*].spec.containers[0].image}';
      assert.doesNotMatch(await ok(images), /1\.27/);
      await ok('rollout resume deploy/web');
      await ok('rollout status deploy/web --timeout=30s');
      await ok('rollout restart deploy/web');
      await ok('rollout status deploy/web --timeout=30s');
      await ok('scale deploy/web --replicas=5');
      await ok('wait --for=jsonpath={.status.readyReplicas}=5 deploy/web --timeout=30s');
      await ok('delete deploy web');
      await ok('wait --for=delete pod --all --timeout=60s');
    });

    test('an autoscaler keeps a Deployment within its bounds', async () => {
      const { ok } = await space();
      await ok('create deployment web --image=nginx:1.25 --replicas=1');
      await ok('rollout status deploy/web --timeout=30s');
      await ok('autoscale deploy web --min=3 --max=4 --cpu-percent=50');
      await ok('wait --for=jsonpath={.status.readyReplicas}=3 deploy/web --timeout=60s');
      assert.match(
        await ok('describe hpa web'),
        /SuccessfulRescale .*New size: 3; reason: Current number of replicas below/,
      );
      await ok('delete hpa web');
      await ok('scale deploy/web --replicas=6');
      await ok('autoscale deploy web --min=1 --max=2 --cpu-percent=50');
      await ok('wait --for=jsonpath={.spec.replicas}=2 deploy/web --timeout=60s');
    });

    test('a StatefulSet has ordinal Pods and PVCs, and updates Pods in descending order', async () => {
      const { namespace, ok } = await space();
      const volumes = ['one', 'two'].map((name) => `${namespace}-${name}`);
      await kubectl.ok('apply -f -', volumes.map(volume).join('---'));
      await ok('apply -f -', statefulSet);
      await ok('rollout status sts/db --timeout=30s');
      assert.equal(await ok('get pods -o jsonpath={.items[*].metadata.name}'), 'db-0 db-1');
      assert.equal(await ok('get pvc -o jsonpath={.items[*].metadata.name}'), 'data-db-0 data-db-1');
      const bound = await ok('get pvc -o jsonpath={.items[*].spec.volumeName}');
      assert.deepEqual(bound.split(' ').sort(), volumes);
      await ok('set image sts/db main=nginx:1.26');
      await ok('rollout status sts/db --timeout=60s');
      assert.equal(await ok('get pods -o jsonpath={.items[*].spec.containers[0].image}'), 'nginx:1.26 nginx:1.26');
      assert.match(await ok('get endpointslices -l kubernetes.io/service-name=db -o name'), /^endpointslice/);
      await ok('rollout undo sts/db');
      await ok('rollout status sts/db --timeout=60s');
      assert.equal(await ok('get pods -o jsonpath={.items[*].spec.containers[0].image}'), 'nginx:1.25 nginx:1.25');
      await ok('scale sts/db --replicas=1');
      await ok('wait --for=delete pod/db-1 --timeout=30s');
      assert.equal(await ok('get pvc -o jsonpath={.items[*].spec.volumeName}'), bound, 'claims are kept');
      await ok('delete sts db');
      await ok('delete pvc --all');
      await kubectl.ok([
        'wait',
        '--for=jsonpath={.status.phase}=Released',
        '--timeout=30s',
        ...volumes.map((name) => `pv/${name}`),
      ]);
      await kubectl.ok(['delete', 'pv', ...volumes]);
    });

    test('a DaemonSet has a Pod on each node whose taints it tolerates', async () => {
      const { ok } = await space();
      await ok('apply -f -', daemonSet);
      await ok('rollout status ds/agent --timeout=30s');
      await kubectl.ok('taint node node-3 maintenance=now:NoExecute');
      await ok('wait --for=jsonpath={.status.desiredNumberScheduled}=2 ds/agent --timeout=30s');
      await kubectl.ok('taint node node-3 maintenance-');
      await ok('wait --for=jsonpath={.status.numberReady}=3 ds/agent --timeout=30s');
      await kubectl.ok('taint node node-3 maintenance=soon:NoSchedule');
      await ok('wait --for=jsonpath={.status.numberMisscheduled}=1 ds/agent --timeout=30s');
      assert.equal((await ok('get pods -o name')).trim().split('\n').length, 3, 'who is there stays');
      await kubectl.ok('taint node node-3 maintenance-');
      await ok('set image ds/agent main=nginx:1.26');
      await ok('rollout status ds/agent --timeout=60s');
      assert.match(await ok('rollout history ds/agent'), /REVISION.*\n1 .*\n2 /);
    });

    test('a NoExecute taint evicts Pods without a toleration immediately and others after tolerationSeconds', async () => {
      const { ok } = await space();
      await ok('create deployment web --image=nginx:1.25 --replicas=2');
      await ok('rollout status deploy/web --timeout=30s');
      const node = await ok('get pods -o jsonpath={.items[0].spec.nodeName}');
      const driven = await ok(`get pods --field-selector spec.nodeName=${node} -o name`);
      const run = (name: string, toleration: object) => {
        const tolerations = [{ key: 'fire', operator: 'Exists', effect: 'NoExecute', ...toleration }];
        const overrides = JSON.stringify({ spec: { nodeName: node, tolerations } });
        return ok(['run', name, '--image=nginx:1.25', `--overrides=${overrides}`]);
      };
      await run('patient', { tolerationSeconds: 1 });
      await run('brave', {});
      await ok('wait --for=condition=Ready pod/patient pod/brave --timeout=30s');
      await kubectl.ok(`taint node ${node} fire=yes:NoExecute`);
      for (const name of [...driven.trim().split('\n'), 'pod/patient'])
        await ok(`wait --for=delete ${name} --timeout=60s`);
      await ok('wait --for=jsonpath={.status.readyReplicas}=2 deploy/web --timeout=30s');
      await ok('wait --for=condition=Ready pod/brave --timeout=1s');
      await kubectl.ok(`taint node ${node} fire-`);
    });

    test('a Job completes, a failing Job reaches its backoff limit, and a CronJob starts a Job', async () => {
      const { ok } = await space();
      await ok('create job good --image=busybox:1.36 -- echo done');
      await ok('wait --for=condition=Complete job/good --timeout=30s');
      await ok('apply -f -', failingJob);
      await ok('wait --for=condition=Failed job/bad --timeout=30s');
      assert.equal(await ok('get job bad -o jsonpath={.status.conditions[-1].reason}'), 'BackoffLimitExceeded');
      await ok(['create', 'cronjob', 'tick', '--image=busybox:1.36', '--schedule=@every 1s', '--', 'true']);
      await ok('create job tock --from=cronjob/tick');
      await ok('wait --for=condition=Complete job/tock --timeout=30s');
      await ok('wait --for=jsonpath={.status.lastSuccessfulTime} cronjob/tick --timeout=60s');
      assert.match(await ok('describe cronjob tick'), /SuccessfulCreate .*Created job tick-\d+/);
    });

    test('a PodDisruptionBudget blocks kubectl drain until Pods can be evicted', async () => {
      const { ok } = await space();
      await ok('create deployment web --image=nginx:1.25 --replicas=2');
      await ok('rollout status deploy/web --timeout=30s');
      await ok('create pdb web --selector=app=web --min-available=2');
      await ok('wait --for=jsonpath={.status.currentHealthy}=2 pdb/web --timeout=30s');
      const node = await ok('get pods -o jsonpath={.items[0].spec.nodeName}');
      const refused = await kubectl.fails(
        `drain ${node} --ignore-daemonsets --delete-emptydir-data --force --timeout=2s`,
      );
      assert.match(refused, /Cannot evict pod as it would violate the pod's disruption budget|timed out|deadline/);
      await ok('delete pdb web');
      await kubectl.ok(`drain ${node} --ignore-daemonsets --delete-emptydir-data --force --timeout=60s`);
      assert.doesNotMatch(await ok('get pods -o jsonpath={.items[*].spec.nodeName}'), new RegExp(`${node}\\b`));
      await kubectl.ok(`uncordon ${node}`);
    });

    test('a Service has its ready Pods as endpoints, and a load balancer gets an address', async () => {
      const { ok } = await space();
      await ok('create deployment web --image=nginx:1.25 --replicas=2 --port=80');
      await ok('rollout status deploy/web --timeout=30s');
      await ok('expose deploy web --port=80 --type=LoadBalancer');
      await ok('wait --for=jsonpath={.status.loadBalancer.ingress[0].ip} svc/web --timeout=30s');
      const slices =
        'get endpointslices -l kubernetes.io/service-name=web -o jsonpath={.items[*].endpoints[*].addresses[0]}';
      assert.equal((await ok(slices)).split(' ').length, 2);
      assert.match(await ok('get endpoints web -o jsonpath={.subsets[0].addresses[*].ip}'), /^10\.\S+ 10\.\S+$/);
    });

    test('dependents of a Deployment are deleted or orphaned', async () => {
      const { ok } = await space();
      await ok('create deployment web --image=nginx:1.25 --replicas=1');
      await ok('rollout status deploy/web --timeout=30s');
      await ok('delete deploy web --cascade=orphan');
      assert.match(await ok('get rs -o name'), /^replicaset/);
      await ok('delete rs --all --cascade=foreground');
      assert.equal(await ok('get pods -o name'), '');
      await ok('create deployment web --image=nginx:1.25 --replicas=1');
      await ok('rollout status deploy/web --timeout=30s');
      await ok('delete deploy web --cascade=background');
      await ok('wait --for=delete rs,pod --all --timeout=60s');
    });

    test('a namespace is deleted with all its objects', async () => {
      const { namespace, ok } = await space();
      await ok('create deployment web --image=nginx:1.25 --replicas=2');
      await ok('create configmap settings');
      await kubectl.ok(`delete namespace ${namespace} --timeout=60s`);
      assert.match(await kubectl.fails(`get namespace ${namespace}`), /NotFound/);
    });
  });
}
