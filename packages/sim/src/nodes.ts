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
import { scopeToLifetime } from './lifetime-scope.ts';
import type { Program } from './world.ts';

/**
 * Simulated machines. Their containers keep running, whatever happens to the kubelets, until the machine loses power.
 */
export type Machines = {
  /** Kubelet of each machine. */
  readonly kubelets: readonly Program[];
  /** Returns the running containers of all machines. */
  running(): Iterable<ObservedContainer>;
  /** Returns a container by its id, if it was ever started. */
  container(id: string): ObservedContainer | undefined;
  /** Returns whether a container of a Pod, by its uid, was ever started. */
  hasRun(uid: string): boolean;
  /** Returns the container runtime of a machine. */
  runtimeOf(name: string): NodeRuntime;
  /** Stops everything on a machine, like a power failure. */
  powerOff(name: string): Promise<void>;
};

/** A container that was started, as its runtime records it. */
export type ObservedContainer = {
  readonly machine: string;
  /** Namespace and name of its Pod. */
  readonly pod: string;
  readonly uid: string;
  readonly name: string;
  readonly image: string;
  readonly attempt: number;
  readonly isRunning: boolean;
};

/** Small machines, so that Pods do not always fit. */
const smallCapacity: ResourceList = { cpu: '1600m', memory: '4Gi' };

/** Creates machines `node-1`, `node-2`, … on virtual time. */
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
            runtime: scopeToLifetime(runtime, life),
            nodeName: name,
            addresses: [address],
            capacity,
            // Failed requests are expected here.
            log: silentLog,
          },
          life.stopping,
        ),
    }),
  );
  const containers = new Map<string, ObservedContainer>();
  const haveRun = new Set<string>();
  for (const { name, runtime } of machines) void follow(name, runtime, containers, haveRun);
  const runtimeOf = (name: string) => machines.find((each) => each.name === name)!.runtime;
  return {
    kubelets,
    running: () => containers.values().filter(({ isRunning }) => isRunning),
    container: (id) => containers.get(id),
    hasRun: (uid) => haveRun.has(uid),
    runtimeOf,
    async powerOff(name) {
      const runtime = runtimeOf(name);
      const { items } = await runtime.listPodSandbox({ filter: { state: 'SANDBOX_READY' } });
      for (const { id } of items) await runtime.stopPodSandbox({ podSandboxId: id });
    },
  };
}

/** Records the containers of a machine as they start and end. */
async function follow(
  machine: string,
  runtime: NodeRuntime,
  containers: Map<string, ObservedContainer>,
  haveRun: Set<string>,
): Promise<void> {
  for await (const event of runtime.getContainerEvents({})) {
    const { containerId, containerEventType, podSandboxStatus, containersStatuses } = event;
    const { namespace, name: podName, uid = '' } = podSandboxStatus?.metadata ?? {};
    const known = containers.get(containerId);
    if (containerEventType !== 'CONTAINER_STARTED_EVENT') {
      if (known) containers.set(containerId, { ...known, isRunning: false });
    } else if (containerId !== podSandboxStatus?.id) {
      const started = containersStatuses.find(({ id }) => id === containerId);
      const { name = '', attempt = 0 } = started?.metadata ?? {};
      // Runtimes report the reference that the kubelet gave, which may be a digest.
      const image = started?.image.userSpecifiedImage || (started?.image.image ?? '');
      containers.set(containerId, {
        machine,
        pod: `${namespace}/${podName}`,
        uid,
        name,
        image,
        attempt,
        isRunning: true,
      });
      haveRun.add(uid);
    }
  }
}
