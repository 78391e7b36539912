/** A cluster of three real nodes: one in the process of the API server, two that join. */
import assert from 'node:assert/strict';
import { type ChildProcess, spawn } from 'node:child_process';
import { once } from 'node:events';
import { rmSync } from 'node:fs';
import { hostname } from 'node:os';
import { join } from 'node:path';
import { after, before, describe, test } from 'node:test';
import type { Node } from '@kruise/api/core/node';
import type { Pod } from '@kruise/api/core/pod';
import { type Cluster, freshEnvironment, kruiseArguments, startCluster, temporaryHome } from '../cluster.ts';
import { serveImages } from './image-registry.ts';
import { type Kubectl, kubectlOn, until } from './kubectl.ts';
import { leftoversOf, placesOf } from './leftovers.ts';
import { createMachines, hasRealNodes, type Machine, type Machines } from './machines.ts';
import { busybox, pause, script, sleeps } from './manifests.ts';

type List<T> = { readonly items: readonly T[] };

if (hasRealNodes()) {
  describe('a cluster of three real nodes', () => {
    const home = temporaryHome();
    const names = ['node-b', 'node-c'];
    const joined: ChildProcess[] = [];
    let machines: Machines;
    let first: Machine;
    let cluster: Cluster;
    let kubectl: Kubectl;
    let images: { readonly archive: string; close(): void };

    const kruiseOn = async (machine: Machine, ...args: string[]) => {
      const { code, stdout, stderr } = await machine.run(process.execPath, kruiseArguments(args), { home });
      assert.equal(code, 0, stderr);
      return stdout;
    };
    const dataOf = (name: string) => join(home, name);
    const podsOn = async (node: string) =>
      (await kubectl.get<List<Pod>>('pods', '--field-selector', `spec.nodeName=${node}`)).items;

    /** Joins a machine, and waits until the command reports it. */
    const joinAs = async (machine: Machine, name: string, args: readonly string[]) => {
      const [enter = '', ...rest] = machine.enter;
      const flags = ['--data', dataOf(name), '--node-name', name, '--node-ip', machine.address];
      const child = spawn(
        enter,
        [...rest, process.execPath, ...kruiseArguments(['join', ...args, ...flags, '--runtime', 'own-containerd'])],
        { env: freshEnvironment(home), stdio: ['ignore', 'pipe', 'pipe'] },
      );
      joined.push(child);
      child.unref();
      let output = '';
      child.stderr.on('data', (chunk: Buffer) => {
        output += chunk.toString();
      });
      await Promise.race([
        once(child.stdout, 'data'),
        once(child, 'exit').then(() => assert.fail(`${name} did not join:\n${output}`)),
      ]);
      return child;
    };

    const leave = async (child: ChildProcess) => {
      if (child.exitCode !== null) return;
      child.kill('SIGTERM');
      await once(child, 'exit');
    };

    before(async () => {
      machines = createMachines('kruise-join-', 3);
      first = machines.all[0]!;
      images = await serveImages(first, home, { loaded: [pause, busybox], served: [pause] });
      cluster = await startCluster(home, ['--runtime', 'own-containerd'], { enter: first.enter });
      kubectl = kubectlOn(first, home, cluster.kubeconfig);
      const command = await kruiseOn(first, 'token', 'create', '--data', cluster.data);
      const args = command.trim().split(' ').slice(2);
      assert.equal(args[0], `${first.address}:${new URL(cluster.url).port}`);
      await Promise.all(names.map((name, index) => joinAs(machines.all[index + 1]!, name, args)));
      for (const name of ['data', ...names])
        await kruiseOn(first, 'image', 'load', images.archive, '--data', dataOf(name));
    });

    after(async () => {
      await Promise.all(joined.map(leave));
      for (const [index, name] of names.entries())
        await kruiseOn(machines.all[index + 1]!, 'down', '--data', dataOf(name));
      if (cluster) {
        await cluster.stop();
        await kruiseOn(first, 'down', '--data', cluster.data);
      }
      images?.close();
      machines?.dispose();
      rmSync(home, { recursive: true, force: true });
    });

    test('machines that join become ready nodes with their own Pod CIDRs', async () => {
      const nodes = await until(
        'the nodes',
        async () => (await kubectl.get<List<Node>>('nodes')).items,
        (all) => all.length === 3 && all.every(({ status }) => status?.conditions?.some(isReady)),
      );
      assert.deepEqual(nodes.map(({ metadata }) => metadata.name).sort(), [...names, hostname().toLowerCase()].sort());
      assert.equal(new Set(nodes.map(({ spec }) => spec?.podCIDR)).size, 3);
      const listed = await kruiseOn(first, 'node', 'list', '--data', cluster.data);
      assert(listed.includes(`node-b\t${machines.all[1]?.address}\tup\n`), listed);
    });

    test('a token of another cluster is rejected before anything is sent', async () => {
      const wrong = [
        '--token',
        'abcdef.0123456789abcdef',
        '--discovery-token-ca-cert-hash',
        `sha256:${'0'.repeat(64)}`,
      ];
      const server = `${first.address}:${new URL(cluster.url).port}`;
      const { code, stderr } = await first.run(
        process.execPath,
        kruiseArguments(['join', server, ...wrong, '--data', join(home, 'stranger')]),
        { home },
      );
      assert.equal(code, 1);
      assert.match(stderr, /the token abcdef is not valid for this cluster/);
    });

    test('a DaemonSet runs on each node, with logs and exec through the API server', async () => {
      await kubectl.apply(everywhere);
      await kubectl('rollout', 'status', 'daemonset/everywhere', '--timeout=60s');
      for (const name of names) {
        const [pod] = await podsOn(name);
        const podName = pod?.metadata.name ?? '';
        assert.equal(await kubectl('logs', podName), `${podName}\n`);
        assert.equal(await kubectl('exec', podName, '--', 'hostname'), `${podName}\n`);
      }
    });

    test('a node that is started again without a token keeps its containers', async () => {
      const [before] = await podsOn('node-b');
      await leave(joined[0]!);
      await joinAs(machines.all[1]!, 'node-b', []);
      const [later] = await podsOn('node-b');
      assert.deepEqual(
        later?.status?.containerStatuses?.[0]?.containerID,
        before?.status?.containerStatuses?.[0]?.containerID,
      );
    });

    test('a drained node has only the Pods of DaemonSets', async () => {
      await kubectl.apply(movable);
      await kubectl('rollout', 'status', 'deployment/movable', '--timeout=60s');
      const output = await kruiseOn(first, 'node', 'drain', 'node-c', '--data', cluster.data);
      assert.match(output, /node\/node-c drained/);
      const owners = (await podsOn('node-c')).map(({ metadata }) => metadata.ownerReferences?.[0]?.kind);
      assert.deepEqual(owners, ['DaemonSet']);
      await kubectl('rollout', 'status', 'deployment/movable', '--timeout=60s');
    });

    test('a removed node is gone, and leaves nothing behind on its machine', async () => {
      const places = placesOf(dataOf('node-c'));
      await kruiseOn(first, 'node', 'remove', 'node-c', '--data', cluster.data);
      assert.equal((await kubectl.outcome(['get', 'node', 'node-c'])).code, 1);
      // Stops the process and removes the containers of the DaemonSet.
      await kruiseOn(machines.all[2]!, 'down', '--data', dataOf('node-c'));
      assert.equal(joined[1]?.exitCode, 0);
      assert.deepEqual(leftoversOf(places), []);
    });
  });
}

const labels = { app: 'everywhere' };
const everywhere = {
  apiVersion: 'apps/v1',
  kind: 'DaemonSet',
  metadata: { name: 'everywhere' },
  spec: {
    selector: { matchLabels: labels },
    template: {
      metadata: { labels },
      spec: { terminationGracePeriodSeconds: 1, containers: [script('main', `hostname; ${sleeps}`)] },
    },
  },
};

const movable = {
  apiVersion: 'apps/v1',
  kind: 'Deployment',
  metadata: { name: 'movable' },
  spec: {
    replicas: 3,
    selector: { matchLabels: { app: 'movable' } },
    template: {
      metadata: { labels: { app: 'movable' } },
      spec: { terminationGracePeriodSeconds: 1, containers: [script('main', sleeps)] },
    },
  },
};

function isReady({ type, status }: { readonly type: string; readonly status: string }): boolean {
  return type === 'Ready' && status === 'True';
}
