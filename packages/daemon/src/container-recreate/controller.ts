import { type ContainerRecreateRequest, containerRecreateRequest } from '@kruise/api/kruise/containerrecreaterequest';
import { recreateActiveLabel, recreateNodeNameLabel, recreatePodUidLabel } from '@kruise/api/kruise/well-known';
import type { NewEvent } from '@kruise/client/actions';
import { type Controller, defineController, watch } from '@kruise/client/controller';
import type { Caches } from '@kruise/client/informer';
import { keyOf } from '@kruise/client/object-key';
import { exponentialBackoff } from '@kruise/client/rate-limiter';
import { updateWithRetry } from '@kruise/client/update-with-retry';
import type { NodeRuntime } from '@kruise/node/cri/runtime';
import { readContainerAnnotations } from '@kruise/node/kubelet/containers/container-config';
import { podUidLabel } from '@kruise/node/kubelet/containers/sandbox-config';
import type { Clock } from '@kruise/values/clock';
import type { DaemonNodes } from '../node.ts';
import { decide, findActiveRequest, type Observed, type Stop } from './decide.ts';
import { afterStop, type Found, type FoundContainers, runtimeNameOf } from './states.ts';
import { stopContainer } from './stop.ts';

export type ContainerRecreateOptions = {
  readonly nodes: DaemonNodes;
  /** The node whose requests are reconciled. All nodes if undefined. */
  readonly nodeName: string | undefined;
  readonly clock: Clock;
  readonly recordFor: (nodeName: string) => (event: NewEvent) => void;
};

/** The observed state, with the runtime to query. */
type Query = Observed & { readonly service: NodeRuntime | undefined };

const noContainers: FoundContainers = new Map();

export function containerRecreateController({
  nodes,
  nodeName,
  clock,
  recordFor,
}: ContainerRecreateOptions): Controller {
  const own = nodeName === undefined ? '' : `${recreateNodeNameLabel}=${nodeName},`;
  const selection = { labelSelector: `${own}${recreateActiveLabel}=true` };
  const nodeOf = ({ metadata }: ContainerRecreateRequest) => nodes.get(metadata.labels?.[recreateNodeNameLabel] ?? '');
  const runtimeOf = (request: ContainerRecreateRequest): Pick<Query, 'runtime' | 'service'> => {
    const names = new Set(
      request.spec.containers.map(({ statusContext }) => runtimeNameOf(statusContext?.containerID ?? '')),
    );
    const [name = ''] = names;
    const service = names.size === 1 ? nodeOf(request)?.runtimes.get(name) : undefined;
    const fault = names.size > 1 ? 'containers of several runtimes' : `no runtime ${JSON.stringify(name)}`;
    return { service, runtime: service ? { name } : { fault } };
  };
  const requestsOf = (caches: Caches, { metadata, spec }: ContainerRecreateRequest) =>
    caches
      .of(containerRecreateRequest, selection)
      .list({ namespace: metadata.namespace ?? '' })
      .filter((each) => each.spec.podName === spec.podName);

  /** Stops a container. Returns the error if that fails. */
  async function attemptStop(request: ContainerRecreateRequest, name: string, signal: AbortSignal): Promise<unknown> {
    try {
      const { service } = runtimeOf(request);
      const found = service && (await containersOf(service, request, signal)).get(name);
      if (!service || !found) return new Error(`container ${name} not found`);
      const record = recordFor(request.metadata.labels?.[recreateNodeNameLabel] ?? '');
      await stopContainer({ runtime: service, clock, record }, request, { name, found }, signal);
      return undefined;
    } catch (error) {
      if (signal.aborted) throw error;
      return error;
    }
  }

  return defineController({
    name: 'crr',
    component: 'kruise-daemon-crr',
    fieldManager: 'kruise-daemon',
    for: containerRecreateRequest,
    selection,
    predicate: ({ object }) => nodeOf(object) !== undefined,
    // The active request depends on all requests of the Pod.
    watches: [
      watch(containerRecreateRequest, ({ object }, caches) => requestsOf(caches, object).map(keyOf), { selection }),
    ],
    workers: 32,
    rateLimiter: () => exponentialBackoff({ initialMs: 500, maxMs: 50_000 }),
    observe(caches, key): Query | undefined {
      const request = caches.of(containerRecreateRequest, selection).get(key);
      if (!request || !nodeOf(request)) return undefined;
      return { request, podRequests: requestsOf(caches, request), ...runtimeOf(request), found: noContainers };
    },
    fetch: fetchContainers,
    decide,
    effects: {
      async stop(input, signal, { client }) {
        // The input of the effect comes from `decide`.
        const { request, container } = input as Stop;
        const error = await attemptStop(request, container, signal);
        const { namespace = '', name = '' } = request.metadata;
        // The result is recorded even if the request has completed meanwhile.
        const withResult = (found: ContainerRecreateRequest): ContainerRecreateRequest => ({
          ...found,
          status: {
            ...found.status!,
            containerRecreateStates: afterStop(found.status?.containerRecreateStates ?? [], container, error),
          },
        });
        await updateWithRetry(client, containerRecreateRequest, { namespace, name }, withResult, {
          subresource: 'status',
          signal,
        });
      },
    },
  });
}

/** Lists the containers in the runtime, once the request is the active one. */
async function fetchContainers(query: Query, _client: unknown, signal: AbortSignal): Promise<Query> {
  const { request, podRequests, service } = query;
  const isActive = request.status?.phase === 'Recreating' && findActiveRequest(podRequests) === request;
  return isActive && service ? { ...query, found: await containersOf(service, request, signal) } : query;
}

async function containersOf(
  runtime: NodeRuntime,
  { metadata, spec }: ContainerRecreateRequest,
  signal: AbortSignal,
): Promise<FoundContainers> {
  const filter = { labelSelector: { [podUidLabel]: metadata.labels?.[recreatePodUidLabel] ?? '' } };
  const { containers } = await runtime.listContainers({ filter }, { signal });
  const found = new Map<string, Found>();
  for (const { name } of spec.containers) {
    const [newest] = containers
      .filter((each) => each.metadata.name === name)
      .sort((a, b) => (a.createdAt < b.createdAt ? 1 : -1));
    if (!newest) continue;
    const { id, podSandboxId, annotations } = newest;
    const { status } = await runtime.containerStatus({ containerId: id }, { signal });
    found.set(name, {
      id,
      podSandboxId,
      isExited: status.state === 'CONTAINER_EXITED',
      startedAt: Number(status.startedAt / 1_000_000n),
      restartCount: readContainerAnnotations(annotations).restartCount,
    });
  }
  return found;
}
