/** A cluster whose node is this machine, with real containers, used with the real kubectl. */
import assert from 'node:assert/strict';
import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { existsSync, mkdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { hostname } from 'node:os';
import { join } from 'node:path';
import { after, before, describe, test } from 'node:test';
import { setTimeout as sleep } from 'node:timers/promises';
import type { Pod } from '@kruise/api/core/pod';
import { type Cluster, freshEnvironment, kruise, kruiseArguments, startCluster, temporaryHome } from '../cluster.ts';
import { serveImages } from './image-registry.ts';
import { type Kubectl, kubectlOn, until } from './kubectl.ts';
import { leftoversOf, placesOf } from './leftovers.ts';
import { createMachines, hasRealNodes, type Machine, type Machines } from './machines.ts';
import {
  busybox,
  cloneSet,
  configuration,
  credentials,
  hooks,
  liveness,
  nginx,
  otherBusybox,
  pause,
  pulledImage,
  pullJob,
  recreateRequest,
  restarts,
  sidecar,
  volumes,
  web,
} from './manifests.ts';

const flags = ['--runtime', 'own-containerd', '--feature-gates', 'ImagePullJobGate=true'];

type PodList = { readonly items: readonly Pod[] };

if (hasRealNodes()) {
  describe('a cluster with this machine as its node', () => {
    const home = temporaryHome();
    const shared = join(home, 'shared');
    let machines: Machines;
    let machine: Machine;
    let cluster: Cluster;
    let kubectl: Kubectl;
    let images: { readonly url: string; readonly archive: string; close(): void };

    const start = async (...args: string[]) => {
      cluster = await startCluster(home, [...flags, '--registry-mirror', images.url, ...args], {
        enter: machine.enter,
      });
      kubectl = kubectlOn(machine, home, cluster.kubeconfig);
    };
    const getPod = (name: string) => kubectl.get<Pod>('pod', name);
    const phaseOf = async (name: string) => (await getPod(name)).status?.phase;
    const podsOf = async (app: string) => (await kubectl.get<PodList>('pods', '-l', `app=${app}`)).items;
    const allReady = (pods: readonly Pod[]) => pods.every((each) => each.status?.conditions?.some(isReady));

    before(async () => {
      mkdirSync(shared);
      machines = createMachines('kruise-e2e-', 1);
      machine = machines.all[0]!;
      images = await serveImages(machine, home, {
        loaded: [pause, busybox, otherBusybox, nginx],
        served: [pulledImage],
      });
      await start();
      const { code, stdout, stderr } = await machine.run(
        process.execPath,
        kruiseArguments(['image', 'load', images.archive, '--data', cluster.data]),
        { home },
      );
      assert.equal(code, 0, stderr);
      assert.match(stdout, /image\/docker\.io\/library\/busybox:latest loaded/);
      // Everything at once: the tests wait for what they are about.
      await until(
        'the default ServiceAccount',
        () => kubectl.outcome(['get', 'serviceaccount', 'default']),
        (each) => each.code === 0,
      );
      // An ImagePullJob pulls to the nodes that it finds, and without any it has completed.
      await until(
        'the NodeImage',
        () => kubectl.outcome(['get', 'nodeimage', hostname().toLowerCase()]),
        (each) => each.code === 0,
      );
      await kubectl.apply(
        configuration,
        credentials,
        web,
        volumes,
        restarts,
        sidecar,
        liveness,
        hooks(shared),
        cloneSet(busybox),
        pullJob,
      );
    });

    after(async () => {
      await cluster?.stop();
      if (cluster) await machine.run(process.execPath, kruiseArguments(['down', '--data', cluster.data]), { home });
      images?.close();
      machines?.dispose();
      rmSync(home, { recursive: true, force: true });
    });

    test('the Node has the name of the machine and the runtime in its status', async () => {
      const node = await until(
        'the node',
        () => kubectl.get<{ readonly status: NodeStatus }>('node', hostname().toLowerCase()),
        ({ status }) => status.conditions.some(isReady),
      );
      assert.match(node.status.nodeInfo.containerRuntimeVersion, /^containerd:\/\//);
      assert.deepEqual(node.status.addresses.find(({ type }) => type === 'InternalIP')?.address, machine.address);
    });

    test('a Deployment with startup, readiness and liveness probes becomes ready', async () => {
      await kubectl('rollout', 'status', 'deployment/web', '--timeout=60s');
      for (const each of await podsOf('web')) assert.equal(each.status?.containerStatuses?.[0]?.restartCount, 0);
    });

    test('logs, exec with its exit code and input, and files go through kubectl', async () => {
      const [first] = await podsOf('web');
      const name = first?.metadata.name ?? '';
      await until(
        'the access log',
        () => kubectl('logs', name),
        (text) => text.includes('GET / HTTP/1.1'),
      );
      assert.equal(await kubectl('exec', name, '--', 'hostname'), `${name}\n`);
      assert.equal((await kubectl.outcome(['exec', name, '--', 'sh', '-c', 'exit 42'])).code, 42);
      const { stdout } = await kubectl.outcome(['exec', '-i', name, '--', 'cat'], 'input');
      assert.equal(stdout, 'input');
      writeFileSync(join(home, 'sent'), 'a file');
      await kubectl('cp', join(home, 'sent'), `${name}:/tmp/received`);
      await kubectl('cp', `${name}:/tmp/received`, join(home, 'returned'));
      assert.equal(readFileSync(join(home, 'returned'), 'utf8'), 'a file');
    });

    test('a forwarded port reaches the container', async () => {
      const [enter = '', ...rest] = machine.enter;
      const args = ['kubectl', '--kubeconfig', cluster.kubeconfig, 'port-forward', 'deployment/web', '18080:80'];
      const forwarding = spawn(enter, [...rest, ...args], {
        env: freshEnvironment(home),
        stdio: ['ignore', 'pipe', 'inherit'],
      });
      try {
        await once(forwarding.stdout, 'data');
        const { stdout } = await machine.run('busybox', ['wget', '-qO-', 'http://127.0.0.1:18080/'], { home });
        assert.match(stdout, /Welcome to nginx!/);
      } finally {
        forwarding.kill();
      }
    });

    test('statistics of nodes and Pods are measured', async () => {
      const summary = JSON.parse(
        await kubectl('get', '--raw', `/api/v1/nodes/${hostname().toLowerCase()}/proxy/stats/summary`),
      );
      assert(summary.node.memory.workingSetBytes > 0);
      assert(
        summary.pods.some(({ podRef }: { readonly podRef: { readonly name: string } }) =>
          podRef.name.startsWith('web-'),
        ),
      );
    });

    test('volumes of every kind have their content', async () => {
      await until(
        'the Pod',
        () => phaseOf('volumes'),
        (phase) => phase === 'Succeeded' || phase === 'Failed',
      );
      assert.deepEqual((await kubectl('logs', 'volumes')).trim().split('\n'), [
        'from the ConfigMap',
        'from the Secret',
        'from the ConfigMap',
        'volumes',
        'token',
        'authority',
        'scratch',
        'tmpfs',
        'tmpfs',
        'tmpfs',
        '2000',
      ]);
    });

    test('a container that fails is restarted by restartPolicy OnFailure', async () => {
      await until(
        'the Pod',
        () => phaseOf('restarts'),
        (phase) => phase === 'Succeeded',
      );
      const status = (await getPod('restarts')).status?.containerStatuses?.[0];
      assert.equal(status?.restartCount, 1);
      assert.equal(status?.lastState?.terminated?.exitCode, 3);
      assert.equal(status?.lastState?.terminated?.message, 'failing\n');
    });

    test('init containers and sidecars start in order, and the sidecar ends with the Pod', async () => {
      await until(
        'the Pod',
        () => phaseOf('sidecar'),
        (phase) => phase === 'Succeeded',
      );
      assert.equal(await kubectl('logs', 'sidecar', '-c', 'main'), 'first\nbeside\nmain\n');
    });

    test('a failed liveness probe restarts the container', async () => {
      const restarted = await until(
        'the restart',
        () => getPod('liveness'),
        ({ status }) => (status?.containerStatuses?.[0]?.restartCount ?? 0) === 1,
      );
      assert.equal(restarted.status?.containerStatuses?.[0]?.restartCount, 1);
    });

    test('lifecycle hooks run around the life of a container', async () => {
      await until(
        'the Pod',
        () => phaseOf('hooks'),
        (phase) => phase === 'Running',
      );
      await kubectl('delete', 'pod', 'hooks');
      assert.equal(readFileSync(join(shared, 'order'), 'utf8'), 'started\nstopping\nstopped\n');
    });

    test('an in-place update restarts only the changed container, and the address stays', async () => {
      const before = await until(
        'the CloneSet',
        () => podsOf('clones'),
        (pods) => pods.length === 2 && allReady(pods),
      );
      await kubectl.apply(cloneSet(otherBusybox));
      const later = await until(
        'the update',
        () => podsOf('clones'),
        (pods) => allReady(pods) && pods.every((each) => restartsOf(each, 'main') === 1),
      );
      for (const each of before) {
        const same = later.find(({ metadata }) => metadata.uid === each.metadata.uid);
        assert.equal(same?.status?.podIP, each.status?.podIP);
        assert.equal(containerOf(same, 'beside'), containerOf(each, 'beside'));
        assert.notEqual(containerOf(same, 'main'), containerOf(each, 'main'));
      }
    });

    test('a ContainerRecreateRequest restarts one container', async () => {
      const [first] = await podsOf('clones');
      const name = first?.metadata.name ?? '';
      await kubectl.apply(recreateRequest(name));
      await until(
        'the request',
        () => kubectl.get<{ readonly status?: { readonly phase?: string } }>('containerrecreaterequest', 'again'),
        ({ status }) => status?.phase === 'Completed',
      );
      const later = await getPod(name);
      assert.notEqual(containerOf(later, 'beside'), containerOf(first, 'beside'));
      assert.equal(containerOf(later, 'main'), containerOf(first, 'main'));
    });

    test('an ImagePullJob pulls the image to the node', async () => {
      await until(
        'the job',
        () => kubectl.get<{ readonly status?: { readonly succeeded?: number } }>('imagepulljob', 'pull'),
        ({ status }) => status?.succeeded === 1,
      );
      const { stdout } = await kruise(home, ['image', 'list', '--data', cluster.data]);
      assert(stdout.includes(pulledImage));
    });

    for (const [how, stop] of [
      ['stopped', () => cluster.stop()],
      ['killed', () => cluster.kill()],
    ] as const) {
      test(`containers keep running while the cluster is ${how} and started again`, async () => {
        const before = await podsOf('web');
        await stop();
        await start();
        const node = hostname().toLowerCase();
        await kubectl('wait', '--for=condition=Ready', `node/${node}`, '--timeout=30s');
        // A restart would happen at the first sync, within seconds.
        await sleep(3000);
        const later = await podsOf('web');
        assert.deepEqual(later.map(lifeOf), before.map(lifeOf));
        assert.equal(
          await kubectl('exec', later[0]?.metadata.name ?? '', '--', 'cat', '/tmp/received').catch(() => 'a file'),
          'a file',
        );
      });
    }

    test('containers of Pods that no longer exist are removed at the start', async () => {
      await cluster.stop();
      await start('--reset');
      const list = [
        '-a',
        join(cluster.data, 'node/containerd/containerd.sock'),
        '-n',
        'k8s.io',
        'containers',
        'list',
        '-q',
      ];
      await until(
        'the removal',
        () => machine.run('ctr', list, { home }),
        ({ stdout }) => stdout.trim() === '',
      );
    });

    test('nothing is left behind after the cluster is down', async () => {
      await kubectl.apply(web);
      await kubectl('rollout', 'status', 'deployment/web', '--timeout=60s');
      const places = placesOf(cluster.data);
      assert(leftoversOf(places).length > 0);
      const { code, stdout, stderr } = await machine.run(
        process.execPath,
        kruiseArguments(['down', '--data', cluster.data]),
        { home },
      );
      assert.equal(code, 0, stderr);
      assert.match(stdout, /Removed the containers of 2 Pods\./);
      assert.deepEqual(leftoversOf(places), []);
      assert(!existsSync(join(cluster.data, 'running.json')));
    });
  });
}

type NodeStatus = {
  readonly conditions: readonly { readonly type: string; readonly status: string }[];
  readonly nodeInfo: { readonly containerRuntimeVersion: string };
  readonly addresses: readonly { readonly type: string; readonly address: string }[];
};

function isReady({ type, status }: { readonly type: string; readonly status: string }): boolean {
  return type === 'Ready' && status === 'True';
}

function statusOf(pod: Pod | undefined, name: string) {
  return pod?.status?.containerStatuses?.find((each) => each.name === name);
}

function containerOf(pod: Pod | undefined, name: string): string | undefined {
  return statusOf(pod, name)?.containerID;
}

function restartsOf(pod: Pod, name: string): number | undefined {
  return statusOf(pod, name)?.restartCount;
}

/** Returns what must not change while the kubelet is away. */
function lifeOf({ metadata, status }: Pod) {
  const containers = status?.containerStatuses?.map(({ containerID, restartCount }) => ({ containerID, restartCount }));
  return { name: metadata.name, uid: metadata.uid, podIP: status?.podIP, containers };
}
