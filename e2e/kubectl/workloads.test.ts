/** A day's work with kubectl on a whole cluster: everything a user does to workloads, and what they see of it. */
import assert from 'node:assert/strict';
import { after, before, describe, test } from 'node:test';
import { hasTool } from '../cluster.ts';
import { type Kubectl, startKubectl } from './kubectl.ts';

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
      containers: [{ name: main, image: 'nginx:1.25' }]
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

    const within = (namespace: string, command: string | readonly string[]) => [
      '-n',
      namespace,
      ...(typeof command === 'string' ? command.split(' ') : command),
    ];

    /** kubectl in a namespace of its own. */
    const space = async () => {
      const namespace = `space-${++count}`;
      await kubectl.ok(`create namespace ${namespace}`);
      const ok = (command: string | readonly string[], input?: string) => kubectl.ok(within(namespace, command), input);
      return { namespace, ok, fails: (command: string) => kubectl.fails(within(namespace, command)) };
    };

    test('nodes are there and ready', async () => {
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

    test('a StatefulSet numbers its Pods and updates them from the last', async () => {
      const { ok } = await space();
      await ok('apply -f -', statefulSet);
      await ok('rollout status sts/db --timeout=30s');
      assert.equal(await ok('get pods -o jsonpath={.items[*].metadata.name}'), 'db-0 db-1');
      await ok('set image sts/db main=nginx:1.26');
      await ok('rollout status sts/db --timeout=60s');
      assert.equal(await ok('get pods -o jsonpath={.items[*].spec.containers[0].image}'), 'nginx:1.26 nginx:1.26');
      assert.match(await ok('get endpointslices -l kubernetes.io/service-name=db -o name'), /^endpointslice/);
    });

    test('a DaemonSet has a Pod on each node that it bears', async () => {
      const { ok } = await space();
      await ok('apply -f -', daemonSet);
      await ok('rollout status ds/agent --timeout=30s');
      await kubectl.ok('taint node node-3 maintenance=now:NoExecute');
      await ok('wait --for=jsonpath={.status.desiredNumberScheduled}=2 ds/agent --timeout=30s');
      await kubectl.ok('taint node node-3 maintenance-');
      await ok('wait --for=jsonpath={.status.numberReady}=3 ds/agent --timeout=30s');
    });

    test('a Job completes, a failing one gives up, and a CronJob starts one', async () => {
      const { ok } = await space();
      await ok('create job good --image=busybox:1.36 -- echo done');
      await ok('wait --for=condition=Complete job/good --timeout=30s');
      assert.equal(await ok('logs job/good'), 'done\n');
      await ok('apply -f -', failingJob);
      await ok('wait --for=condition=Failed job/bad --timeout=30s');
      assert.equal(await ok('get job bad -o jsonpath={.status.conditions[-1].reason}'), 'BackoffLimitExceeded');
      await ok(['create', 'cronjob', 'tick', '--image=busybox:1.36', '--schedule=* * * * *', '--', 'true']);
      await ok('create job tock --from=cronjob/tick');
      await ok('wait --for=condition=Complete job/tock --timeout=30s');
    });

    test('a budget keeps drain waiting, and a node is drained', async () => {
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

    test('a Service has the Pods that are ready behind it, and a load balancer an address', async () => {
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

    test('a CloneSet is updated in place', async () => {
      const { ok } = await space();
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

    test('logs and exec reach into a Pod', async () => {
      const { ok, fails } = await space();
      await ok(['run', 'box', '--image=busybox:1.36', '--command', '--', 'sh', '-c', 'echo hello; sleep 3600']);
      await ok('wait --for=condition=Ready pod/box --timeout=30s');
      assert.equal(await ok('logs box'), 'hello\n');
      assert.equal(await ok('exec box -- echo from within'), 'from within\n');
      assert.match(await fails('exec box -- false'), /exit code 1/);
      assert.match(await ok('describe pod box'), /Started\s+\S+\s+kubelet\s+Started container box/);
    });

    test('what belongs to a Deployment goes with it, or stays behind', async () => {
      const { ok } = await space();
      await ok('create deployment web --image=nginx:1.25 --replicas=1');
      await ok('rollout status deploy/web --timeout=30s');
      await ok('delete deploy web --cascade=orphan');
      assert.match(await ok('get rs -o name'), /^replicaset/);
      await ok('delete rs --all --cascade=foreground');
      assert.equal(await ok('get pods -o name'), '');
    });

    test('a namespace is deleted with all that is in it', async () => {
      const { namespace, ok } = await space();
      await ok('create deployment web --image=nginx:1.25 --replicas=2');
      await ok('create configmap settings');
      await kubectl.ok(`delete namespace ${namespace} --timeout=60s`);
      assert.match(await kubectl.fails(`get namespace ${namespace}`), /NotFound/);
    });
  });
}
