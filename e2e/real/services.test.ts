/** Services, names and policies of real containers, beside a simulated node. */
import assert from 'node:assert/strict';
import { existsSync, rmSync } from 'node:fs';
import { hostname } from 'node:os';
import { join } from 'node:path';
import { after, before, describe, test } from 'node:test';
import type { Pod } from '@kruise/api/core/pod';
import { type Cluster, kruiseArguments, startCluster, temporaryHome } from '../cluster.ts';
import { serveImages } from './image-registry.ts';
import { type Kubectl, kubectlOn, until } from './kubectl.ts';
import { createMachines, hasRealNodes, type Machine, type Machines } from './machines.ts';
import { agnhost, busybox, pause, pod, script, sleeps } from './manifests.ts';

type List<T> = { readonly items: readonly T[] };

const nodePort = 30080;

if (hasRealNodes()) {
  describe('the network of a real node', () => {
    const home = temporaryHome();
    let machines: Machines;
    let machine: Machine;
    let cluster: Cluster;
    let kubectl: Kubectl;
    let images: { readonly archive: string; close(): void };

    const kruiseHere = async (...args: string[]) => {
      const { code, stderr } = await machine.run(process.execPath, kruiseArguments(args), { home });
      assert.equal(code, 0, stderr);
    };
    const here = async (command: string, ...args: string[]) => (await machine.run(command, args, { home })).stdout;
    const webPods = async () => (await kubectl.get<List<Pod>>('pods', '-l', 'app=web')).items;
    const inClient = (...command: string[]) => kubectl.outcome(['exec', 'client', '--', ...command]);
    /** Returns the page that the client gets; empty if it gets none within two seconds. */
    const fetched = async (url: string) => (await inClient('curl', '-sfm', '2', url)).stdout.trim();
    /** Returns the addresses of a name, as the client sees them. */
    const resolved = async (name: string) => {
      const { stdout } = await inClient('dig', '+short', '+search', name, 'A');
      return stdout.trim().split('\n').sort();
    };
    /** Returns the names of the Pods that answer twenty requests. */
    const answering = async () => {
      const loop = `for i in $(seq 20); do curl -sfm 2 http://web; done`;
      return [...new Set((await inClient('sh', '-c', loop)).stdout.trim().split('\n'))].sort();
    };
    const scaledTo = async (replicas: number) => {
      await kubectl('scale', 'deployment/web', `--replicas=${replicas}`);
      return until(
        `${replicas} endpoints`,
        async () => ({ pods: (await webPods()).map(({ metadata }) => metadata.name).sort(), names: await answering() }),
        ({ pods, names }) => pods.length === replicas && pods.join() === names.join(),
      );
    };

    before(async () => {
      machines = createMachines('kruise-services-', 1);
      machine = machines.all[0]!;
      images = await serveImages(machine, home, { loaded: [pause, busybox, agnhost], served: [pause] });
      cluster = await startCluster(home, ['--runtime', 'own-containerd', '--nodes', '1'], { enter: machine.enter });
      kubectl = kubectlOn(machine, home, cluster.kubeconfig);
      await kruiseHere('image', 'load', images.archive, '--data', cluster.data);
      await until(
        'the default ServiceAccount',
        () => kubectl.outcome(['get', 'serviceaccount', 'default']),
        ({ code }) => code === 0,
      );
      await kubectl.apply(...objects);
      await kubectl('rollout', 'status', 'deployment/web', '--timeout=60s');
      await kubectl('wait', '--for=condition=Ready', 'pod/client', 'pod/named', '--timeout=60s');
    });

    after(async () => {
      await cluster?.stop();
      if (cluster) await kruiseHere('down', '--data', cluster.data);
      images?.close();
      machines?.dispose();
      rmSync(home, { recursive: true, force: true });
    });

    test('a Pod reaches a Service by its short and its full name', async () => {
      const names = (await webPods()).map(({ metadata }) => metadata.name);
      for (const name of ['web', 'web.default', 'web.default.svc.cluster.local']) {
        const page = await until(
          name,
          () => fetched(`http://${name}`),
          (text) => text !== '',
        );
        assert(names.includes(page), page);
      }
      const { spec } = await kubectl.get<{ readonly spec: { readonly clusterIP: string } }>('service', 'web');
      assert.deepEqual(await resolved('web.default.svc.cluster.local'), [spec.clusterIP]);
    });

    test('every Pod of a Service answers', async () => {
      assert.deepEqual(await answering(), (await webPods()).map(({ metadata }) => metadata.name).sort());
    });

    test('a node port is open on the address of the machine', async () => {
      const page = await here('curl', '-sm', '2', `http://${machine.address}:${nodePort}`);
      assert(
        (await webPods()).some(({ metadata }) => metadata.name === page.trim()),
        page,
      );
    });

    test('a Pod reaches the API server by its name, with the token of its ServiceAccount', async () => {
      const directory = '/var/run/secrets/kubernetes.io/serviceaccount';
      const url = 'https://kubernetes.default/api/v1/namespaces/default/services/web';
      const request = `curl -sm 5 --cacert ${directory}/ca.crt -H "Authorization: Bearer $(cat ${directory}/token)" ${url}`;
      const { stdout, stderr } = await inClient('sh', '-c', request);
      assert.match(stdout, /"kind": ?"Service"/, stderr);
      const anonymous = await inClient('curl', '-sm', '5', '--cacert', `${directory}/ca.crt`, url);
      assert.match(anonymous.stdout, /"code": ?403/);
    });

    test('a headless Service has the addresses of its Pods, and names of Pods with a hostname', async () => {
      const addresses = (await webPods()).map(({ status }) => status?.podIP).sort();
      assert.deepEqual(await resolved('web-pods.default.svc.cluster.local'), addresses);
      const { status } = await kubectl.get<Pod>('pod', 'named');
      assert.deepEqual(await resolved('host.peers.default.svc.cluster.local'), [status?.podIP]);
    });

    test('a Service follows its endpoints', async () => {
      await scaledTo(1);
      await scaledTo(3);
      await kubectl('scale', 'deployment/web', '--replicas=0');
      await until(
        'a refused connection',
        () => inClient('curl', '-sm', '5', 'http://web'),
        // Exit code of curl: failed to connect, and not a timeout.
        ({ code }) => code === 7,
      );
      await scaledTo(2);
    });

    test('a policy denies connections, and another one allows them', async () => {
      await kubectl.apply(policy('deny', {}));
      await until(
        'the denial',
        () => fetched('http://web'),
        (page) => page === '',
      );
      const fromMachine = await here('curl', '-sm', '2', `http://${machine.address}:${nodePort}`);
      assert.notEqual(fromMachine, '');
      const from = [{ podSelector: { matchLabels: { app: 'client' } } }];
      await kubectl.apply(policy('allow', { ingress: [{ from, ports: [{ port: 'http' }] }] }));
      await until(
        'the permission',
        () => fetched('http://web'),
        (page) => page !== '',
      );
      await kubectl('label', 'pod', 'client', '--overwrite', 'app=stranger');
      await until(
        'the denial of another Pod',
        () => fetched('http://web'),
        (page) => page === '',
      );
      await kubectl('delete', 'networkpolicy', '--all');
      await until(
        'the end of the policies',
        () => fetched('http://web'),
        (page) => page !== '',
      );
    });

    test('Pods of the simulated node have no routes', async () => {
      const routes = (await here('ip', 'route', 'show', 'proto', '76')).trim().split('\n');
      assert.deepEqual(
        routes.map((route) => route.split(' ')[0]),
        ['unreachable'],
      );
      assert.equal((await machine.run('ip', ['link', 'show', 'kruise-vxlan'], { home })).code, 1);
    });

    test('a second node in the network of this machine is refused', async () => {
      const place = join(home, 'second');
      const args = ['up', '--runtime', 'own-containerd', '--data', place, '--kubeconfig', `${place}.kubeconfig`];
      const { code, stderr } = await machine.run(process.execPath, kruiseArguments(args), { home });
      assert.equal(code, 1);
      assert.match(stderr, /another node of kruise uses the network of this machine/);
    });

    test('connections go on while the cluster is stopped, and kruise down removes every rule and route', async () => {
      await cluster.stop();
      const url = `http://${machine.address}:${nodePort}`;
      assert.notEqual(await here('curl', '-sm', '2', url), '');
      const configuration = join(cluster.data, 'node/containerd');
      await kruiseHere('down', '--data', cluster.data);
      // The CNI plugin `firewall` leaves its empty chains.
      assert.doesNotMatch(await here('nft', 'list', 'ruleset'), /kube-proxy|kruise|10\.240\./);
      assert.equal(await here('ip', 'route', 'show', 'proto', '76'), '');
      const left = await here('find', configuration, '-name', '10-kruise.conflist');
      assert.equal(left, '');
      assert(existsSync(configuration));
    });
  });
}

const onThisMachine = { nodeSelector: { 'kubernetes.io/hostname': hostname().toLowerCase() } };

const service = (name: string, spec: object) => ({
  apiVersion: 'v1',
  kind: 'Service',
  metadata: { name },
  spec: { selector: { app: 'web' }, ports: [{ port: 80, targetPort: 'http' }], ...spec },
});

const policy = (name: string, spec: object) => ({
  apiVersion: 'networking.k8s.io/v1',
  kind: 'NetworkPolicy',
  metadata: { name },
  spec: { podSelector: { matchLabels: { app: 'web' } }, policyTypes: ['Ingress'], ...spec },
});

const serve = 'mkdir /www; hostname > /www/index.html; trap "exit 0" TERM; httpd -f -p 8080 -h /www & wait';

const objects = [
  {
    apiVersion: 'apps/v1',
    kind: 'Deployment',
    metadata: { name: 'web' },
    spec: {
      replicas: 2,
      selector: { matchLabels: { app: 'web' } },
      template: {
        metadata: { labels: { app: 'web' } },
        spec: {
          ...onThisMachine,
          terminationGracePeriodSeconds: 1,
          containers: [
            script('main', serve, {
              ports: [{ name: 'http', containerPort: 8080 }],
              readinessProbe: { httpGet: { port: 'http', path: '/' }, periodSeconds: 1 },
            }),
          ],
        },
      },
    },
  },
  service('web', {}),
  service('web-node', { type: 'NodePort', ports: [{ port: 80, targetPort: 'http', nodePort }] }),
  service('web-pods', { clusterIP: 'None' }),
  service('peers', { clusterIP: 'None', selector: { app: 'named' } }),
  pod({
    name: 'named',
    labels: { app: 'named' },
    spec: { ...onThisMachine, hostname: 'host', subdomain: 'peers', containers: [script('main', sleeps)] },
  }),
  pod({
    name: 'client',
    labels: { app: 'client' },
    spec: { ...onThisMachine, containers: [script('main', sleeps, { image: agnhost })] },
  }),
  {
    apiVersion: 'rbac.authorization.k8s.io/v1',
    kind: 'RoleBinding',
    metadata: { name: 'view' },
    roleRef: { apiGroup: 'rbac.authorization.k8s.io', kind: 'ClusterRole', name: 'view' },
    subjects: [{ kind: 'ServiceAccount', name: 'default', namespace: 'default' }],
  },
];
