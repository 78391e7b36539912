import type { NewEvent } from '@kruise/client/actions';
import type { Runnable } from '@kruise/client/controller';
import { exponentialBackoff } from '@kruise/client/rate-limiter';
import type { WorkQueue } from '@kruise/client/work-queue';
import { createNamedQueue, runWorkers } from '@kruise/client/workers';
import type { NodeRuntime } from '@kruise/node/cri/runtime';
import { fieldPathOf } from '@kruise/node/kubelet/containers/containers';
import { killContainer } from '@kruise/node/kubelet/containers/kill';
import type { DaemonNodes } from '../node.ts';
import type { Restart } from './decide.ts';

export type RestarterOptions = {
  readonly nodes: DaemonNodes;
  /** Records events with a node as their source host. */
  readonly recordFor: (nodeName: string) => (event: NewEvent) => void;
};

/** Stops containers. The kubelet starts them again. */
export type Restarter = {
  readonly runnable: Runnable;
  restart(order: Restart): void;
};

const workers = 10;

export function createRestarter({ nodes, recordFor }: RestarterOptions): Restarter {
  const orders = new Map<string, Restart>();
  let queue: WorkQueue | undefined;
  return {
    restart(order) {
      orders.set(order.containerId, order);
      queue?.addRateLimited(order.containerId);
    },
    runnable: {
      name: 'containermeta-restarter',
      component: 'kruise-daemon-containermeta',
      watches: [],
      uses: [],
      async run(context, signal) {
        const { clock, log } = context;
        const limiter = exponentialBackoff({ initialMs: 3000, maxMs: 600_000 });
        queue = createNamedQueue(context, 'runtime_container_meta_restarter', limiter);
        const work = async (id: string): Promise<undefined> => {
          const order = orders.get(id);
          const runtime = order && nodes.get(order.pod.spec?.nodeName ?? '')?.runtimes.get(order.runtimeName);
          if (order && runtime) await stop(order, runtime, signal);
          orders.delete(id);
        };
        const stop = async ({ pod, containerId, runtimeName }: Restart, runtime: NodeRuntime, until: AbortSignal) => {
          const { containers } = await runtime.listContainers({ filter: { id: containerId } }, { signal: until });
          const [container] = containers;
          if (container?.state !== 'CONTAINER_RUNNING') return;
          const { name } = container.metadata;
          const record = recordFor(pod.spec?.nodeName ?? '');
          await killContainer(
            {
              runtime,
              clock,
              podIP: () => pod.status?.podIP ?? '',
              record: (of, type, reason, message) =>
                record({ about: pod, fieldPath: fieldPathOf(of), type, reason, message }),
            },
            {
              pod,
              target: { id: containerId, name },
              // The message has the name instead of the ID, which users do not recognize.
              message: `Stopping containerID ${runtimeName}://${name} by container meta restarter`,
            },
            until,
          );
        };
        const onError = (id: string, error: unknown) => log.warn({ container: id, error }, 'failed to stop container');
        await runWorkers(queue, { workers, work, onError }, signal);
      },
    },
  };
}
