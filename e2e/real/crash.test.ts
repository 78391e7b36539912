/** Real containers while the cluster and containerd are killed at random: all converges, and nothing runs twice. */
import assert from 'node:assert/strict';
import { readFileSync, rmSync } from 'node:fs';
import { join } from 'node:path';
import { after, before, describe, test } from 'node:test';
import { setTimeout as sleep } from 'node:timers/promises';
import type { Pod } from '@kruise/api/core/pod';
import { seededRandom } from '@kruise/values/random';
import { type Cluster, kruiseArguments, startCluster, temporaryHome } from '../cluster.ts';
import { serveImages } from './image-registry.ts';
import { type Kubectl, kubectlOn, until } from './kubectl.ts';
import { createMachines, hasRealNodes, type Machine, type Machines } from './machines.ts';
import { busybox, cloneSet, otherBusybox, pause, pod, script, sleeps } from './manifests.ts';

/** Number of kills; `KRUISE_CRASH_ROUNDS` for more. */
const rounds = Number(process.env['KRUISE_CRASH_ROUNDS'] ?? 4);

if (hasRealNodes()) {
  describe('a node whose processes are killed', () => {
    const home = temporaryHome();
    const random = seededRandom('real containers');
    let machines: Machines;
    let machine: Machine;
    let cluster: Cluster;
    let kubectl: Kubectl;
    let images: { readonly archive: string; close(): void };

    const start = async () => {
      cluster = await startCluster(home, ['--runtime', 'own-containerd'], { enter: machine.enter });
      kubectl = kubectlOn(machine, home, cluster.kubeconfig);
    };
    const pods = async () => (await kubectl.get<{ readonly items: readonly Pod[] }>('pods')).items;
    const kruiseHere = async (...args: string[]) => {
      const { code, stderr } = await machine.run(process.execPath, kruiseArguments(args), { home });
      assert.equal(code, 0, stderr);
    };
    const killContainerd = () => {
      const [pid] = readFileSync(join(cluster.data, 'node/containerd/containerd.pid'), 'utf8').split(' ');
      try {
        process.kill(Number(pid), 'SIGKILL');
      } catch (error) {
        // A containerd that an earlier round killed need not run again yet.
        if ((error as NodeJS.ErrnoException).code !== 'ESRCH') throw error;
      }
    };

    /** Returns the running containers by Pod and name, as the runtime lists them. */
    const runningContainers = async () => {
      const socket = join(cluster.data, 'node/containerd/containerd.sock');
      const { stdout } = await machine.run('ctr', ['-a', socket, '-n', 'k8s.io', 'tasks', 'list'], { home });
      const ids = stdout
        .split('\n')
        .filter((line) => line.includes('RUNNING'))
        .map((line) => line.split(/\s+/)[0] ?? '');
      const names = await Promise.all(
        ids.map(async (id) => {
          const info = await machine.run('ctr', ['-a', socket, '-n', 'k8s.io', 'containers', 'info', id], { home });
          const { Labels: labels } = JSON.parse(info.stdout);
          return `${labels['io.kubernetes.pod.uid']}/${labels['io.kubernetes.container.name'] ?? 'sandbox'}`;
        }),
      );
      return names.sort();
    };

    before(async () => {
      machines = createMachines('kruise-kill-', 1);
      machine = machines.all[0]!;
      images = await serveImages(machine, home, { loaded: [pause, busybox, otherBusybox], served: [pause] });
      await start();
      await kruiseHere('image', 'load', images.archive, '--data', cluster.data);
      await until(
        'the default ServiceAccount',
        () => kubectl.outcome(['get', 'serviceaccount', 'default']),
        ({ code }) => code === 0,
      );
    });

    after(async () => {
      await cluster?.stop();
      if (cluster) await kruiseHere('down', '--data', cluster.data);
      images?.close();
      machines?.dispose();
      rmSync(home, { recursive: true, force: true });
    });

    test(`${rounds} kills during updates: no container of another Pod restarts, and none runs twice`, async () => {
      await kubectl.apply(pod({ name: 'bystander', spec: { containers: [script('main', sleeps)] } }));
      await kubectl('wait', '--for=condition=Ready', 'pod/bystander', '--timeout=30s');
      const [bystander] = await pods();
      for (let round = 0; round < rounds; round++) {
        await kubectl.apply(cloneSet(round % 2 === 0 ? busybox : otherBusybox));
        await sleep(1500 * random.next());
        if (round % 2 === 0) killContainerd();
        else {
          await cluster.kill();
          if (random.next() < 0.5) killContainerd();
          await start();
        }
      }
      const image = rounds % 2 === 0 ? otherBusybox : busybox;
      const later = await until(
        'the update',
        pods,
        (all) =>
          all.length === 3 &&
          all.every(({ status }) =>
            status?.conditions?.some(({ type, status: is }) => type === 'Ready' && is === 'True'),
          ) &&
          all.every(({ metadata, spec }) => metadata.name === 'bystander' || spec?.containers[0]?.image === image),
      );
      assert.deepEqual(
        later.find(({ metadata }) => metadata.name === 'bystander')?.status?.containerStatuses,
        bystander?.status?.containerStatuses,
      );
      const expected = later.flatMap(({ metadata, spec }) =>
        ['sandbox', ...(spec?.containers ?? []).map(({ name }) => name)].map((name) => `${metadata.uid}/${name}`),
      );
      assert.deepEqual(
        await until('removals', runningContainers, (all) => all.length === expected.length),
        expected.sort(),
      );
    });
  });
}
