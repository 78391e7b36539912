/** A cluster on a containerd that runs already, with a Pod network of its own. */
import assert from 'node:assert/strict';
import { rmSync } from 'node:fs';
import { hostname } from 'node:os';
import { join } from 'node:path';
import { after, before, describe, test } from 'node:test';
import type { Pod } from '@kruise/api/core/pod';
import { busyboxImage, type Containerd, startContainerd } from '@kruise/node/cri/conformance/containerd';
import { createGrpcRuntime } from '@kruise/node/cri/grpc/grpc-runtime';
import { systemClock } from '@kruise/values/system';
import { type Cluster, kruiseArguments, startCluster, temporaryHome } from '../cluster.ts';
import { type Kubectl, kubectlOn, until } from './kubectl.ts';
import { createMachines, hasRealNodes, type Machine, type Machines } from './machines.ts';
import { pod, script, sleeps } from './manifests.ts';

if (hasRealNodes()) {
  describe('a cluster on an existing containerd', () => {
    const home = temporaryHome();
    let machines: Machines;
    let machine: Machine;
    let containerd: Containerd;
    let cluster: Cluster;
    let kubectl: Kubectl;

    const kruiseHere = (...args: string[]) => machine.run(process.execPath, kruiseArguments(args), { home });
    const sandboxes = async () => {
      const connection = new AbortController();
      const { endpoint } = containerd;
      const runtime = createGrpcRuntime({ clock: systemClock, endpoint, signal: connection.signal });
      const { items } = await runtime.listPodSandbox({});
      connection.abort();
      return items.length;
    };

    before(async () => {
      machines = createMachines('kruise-existing-', 1);
      machine = machines.all[0]!;
      containerd = await startContainerd('ptp', machine.enter);
      cluster = await startCluster(home, ['--runtime', containerd.endpoint, '--nodes', '1'], { enter: machine.enter });
      kubectl = kubectlOn(machine, home, cluster.kubeconfig);
      await until(
        'the default ServiceAccount',
        () => kubectl.outcome(['get', 'serviceaccount', 'default']),
        ({ code }) => code === 0,
      );
      await kubectl.apply(
        pod({
          name: 'real',
          spec: {
            nodeSelector: { 'kubernetes.io/hostname': hostname().toLowerCase() },
            containers: [{ ...script('main', sleeps), image: busyboxImage }],
          },
        }),
        pod({
          name: 'simulated',
          spec: { nodeName: 'node-1', containers: [{ name: 'main', image: 'nginx' }] },
        }),
      );
    });

    after(async () => {
      await cluster?.stop();
      if (cluster) await kruiseHere('down', '--data', cluster.data);
      await containerd?.dispose();
      machines?.dispose();
      rmSync(home, { recursive: true, force: true });
    });

    test('its network and its images are used, beside a simulated node', async () => {
      for (const name of ['real', 'simulated']) {
        await until(
          name,
          () => kubectl.get<Pod>('pod', name),
          ({ status }) => status?.phase === 'Running',
        );
      }
      assert.match((await kubectl.get<Pod>('pod', 'real')).status?.podIP ?? '', /^10\.244\.250\./);
      assert.equal(await kubectl('exec', 'real', '--', 'hostname'), 'real\n');
      assert.equal(await sandboxes(), 1);
    });

    test('a second cluster does not take over the Pods of the first', async () => {
      const { code, stderr } = await kruiseHere(
        ...['up', '--runtime', containerd.endpoint, '--data', join(home, 'second')],
        ...['--kubeconfig', join(home, 'second.kubeconfig')],
      );
      assert.equal(code, 1);
      assert.match(stderr, /runs Pods of another kubelet \(default\/real\)/);
      assert.equal(await sandboxes(), 1);
    });

    test('kruise down removes the Pods and leaves the runtime running', async () => {
      const { code, stdout, stderr } = await kruiseHere('down', '--data', cluster.data);
      assert.equal(code, 0, stderr);
      assert.match(stdout, /Removed the containers of 1 Pod\./);
      assert.equal(await sandboxes(), 0);
    });
  });
}
