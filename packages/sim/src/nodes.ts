import { createClient } from '@kruise/client/client';
import { silentLog } from '@kruise/client/log';
import type { ResourceList } from '@kruise/machinery/resource-list';
import type { NodeRuntime } from '@kruise/node/cri/runtime';
import { createSimulatedNetwork } from '@kruise/node/cri/simulated/network';
import { createRegistry } from '@kruise/node/cri/simulated/registry';
import { createSimulatedRuntime } from '@kruise/node/cri/simulated/simulated-runtime';
import { runKubelet } from '@kruise/node/kubelet/kubelet';
import type { Clock } from '@kruise/values/clock';
import { seededRandom } from '@kruise/values/random';
import { heardOnlyAlive } from './mortal.ts';
import type { Program } from './world.ts';

/** Machines: their containers run on, whatever becomes of the kubelets, until a machine itself is switched off. */
export type Machines = {
  /** The kubelet of each machine. */
  readonly kubelets: readonly Program[];
  /** The Pods whose containers run, wherever that is. */
  running(): Iterable<RunningPod>;
  /** Whether a container of a Pod, by its uid, has ever run. */
  hasRun(uid: string): boolean;
  /** What runs containers on a machine. */
  runtimeOf(name: string): NodeRuntime;
  /** Ends all that runs on a machine, as a power failure does. */
  switchOff(name: string): Promise<void>;
};

export type RunningPod = { readonly machine: string; readonly pod: string; readonly uid: string };

/** Small machines, so that there is not always room. */
const smallCapacity: ResourceList = { cpu: '1600m', memory: '4Gi' };

/** Machines called `node-1`, `node-2`, … on the world's time. */
export function createMachines(clock: Clock, seed: string, count: number, capacity = smallCapacity): Machines {
  const network = createSimulatedNetwork();
  const registry = createRegistry();
  const machines = Array.from({ length: count }, (_, index) => {
    const name = `node-${index + 1}`;
    const address = `172.18.0.${index + 2}`;
    const podCidr = `10.244.${index}.0/24`;
    const random = seededRandom(`${seed} ${name} runtime`);
    const runtime = createSimulatedRuntime({ clock, random, network, registry, nodeAddress: address, podCidr });
    return { name, address, runtime };
  });
  const kubelets = machines.map(
    ({ name, address, runtime }): Program => ({
      name,
      run: ({ life, random, transportOf }) =>
        runKubelet(
          {
            client: createClient(
              transportOf({ username: `system:node:${name}`, groups: ['system:nodes', 'system:authenticated'] }),
            ),
            clock: life.clock,
            random,
            runtime: heardOnlyAlive(runtime, life),
            nodeName: name,
            addresses: [address],
            capacity,
            // Requests that fail are what this world is about.
            log: silentLog,
          },
          life.stopping,
        ),
    }),
  );
  const containers = new Map<string, RunningPod>();
  const haveRun = new Set<string>();
  for (const { name, runtime } of machines) void follow(name, runtime, containers, haveRun);
  const runtimeOf = (name: string) => machines.find((each) => each.name === name)!.runtime;
  return {
    kubelets,
    running: () => containers.values(),
    hasRun: (uid) => haveRun.has(uid),
    runtimeOf,
    async switchOff(name) {
      const runtime = runtimeOf(name);
      const { items } = await runtime.listPodSandbox({ filter: { state: 'SANDBOX_READY' } });
      for (const { id } of items) await runtime.stopPodSandbox({ podSandboxId: id });
    },
  };
}

/** Keeps in mind which containers of a machine run. */
async function follow(
  machine: string,
  runtime: NodeRuntime,
  containers: Map<string, RunningPod>,
  haveRun: Set<string>,
): Promise<void> {
  for await (const { containerId, containerEventType, podSandboxStatus } of runtime.getContainerEvents({})) {
    const { namespace, name, uid } = podSandboxStatus?.metadata ?? {};
    if (containerEventType !== 'CONTAINER_STARTED_EVENT') containers.delete(containerId);
    else if (containerId !== podSandboxStatus?.id) {
      containers.set(containerId, { machine, pod: `${namespace}/${name}`, uid: uid ?? '' });
      haveRun.add(uid ?? '');
    }
  }
}
