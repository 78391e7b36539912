import { type Pod, pod } from '@kruise/api/core/pod';
import { isBeingDeleted } from '@kruise/client/actions';
import { type Controller, defineController } from '@kruise/client/controller';
import { exponentialBackoff } from '@kruise/client/rate-limiter';
import type { Selection } from '@kruise/client/reflector';
import type { FeatureGates } from '@kruise/manager/configuration/feature-gates';
import { metadataReferences } from '@kruise/manager/workload/inplace/env-from-metadata';
import type { NodeRuntime } from '@kruise/node/cri/runtime';
import { podUidLabel } from '@kruise/node/kubelet/containers/sandbox-config';
import type { DaemonNodes } from '../node.ts';
import { containersOf, decide, type Environment, type Observed, type Restart, reportedMetadata } from './decide.ts';
import { isRelevantPodChange } from './predicate.ts';
import type { Restarter } from './restarter.ts';

export type ContainerMetaOptions = {
  readonly nodes: DaemonNodes;
  readonly selection: Selection | undefined;
  readonly gates: FeatureGates;
  readonly restarter: Restarter;
};

/** The observed state, with the runtime to query. */
type Query = Observed & { readonly runtime: NodeRuntime };

const nothing = { containers: [], environments: new Map() };

export function containerMetaController({ nodes, selection, gates, restarter }: ContainerMetaOptions): Controller {
  const runtimeOf = (found: Pod) => {
    const id = found.status?.containerStatuses?.find(({ containerID }) => containerID)?.containerID ?? '';
    const runtimeName = id.slice(0, Math.max(id.indexOf('://'), 0));
    const runtime = nodes.get(found.spec?.nodeName ?? '')?.runtimes.get(runtimeName);
    return runtime && { runtimeName, runtime };
  };
  return defineController({
    name: 'containermeta',
    component: 'kruise-daemon-containermeta',
    fieldManager: 'kruise-daemon',
    for: pod,
    ...(selection ? { selection } : {}),
    predicate: (change) => nodes.has(change.object.spec?.nodeName ?? '') && isRelevantPodChange(change, gates),
    // A Pod that starts or is updated changes several times in a row, so events are debounced.
    delayMs: 1000,
    workers: 5,
    // The metadata is needed only at the next in-place update.
    isBackground: true,
    rateLimiter: () => exponentialBackoff({ initialMs: 500, maxMs: 50_000 }),
    observe(caches, key): Query | undefined {
      const found = caches.of(pod, selection).get(key);
      const place = found && !isBeingDeleted(found) ? runtimeOf(found) : undefined;
      return found && place && { pod: found, ...place, ...nothing };
    },
    fetch: (query, _client, signal) => inspectContainers(query, gates, signal),
    decide: (observed) => decide(observed, gates),
    effects: {
      // The input of the effect comes from `decide`.
      restart: async (order) => restarter.restart(order as Restart),
    },
  });
}

/** Lists the Pod's containers in the runtime, and reads the environment of the containers that need it. */
async function inspectContainers(query: Query, gates: FeatureGates, signal: AbortSignal): Promise<Query> {
  const { pod: found, runtime, runtimeName } = query;
  const filter = { labelSelector: { [podUidLabel]: found.metadata.uid ?? '' } };
  const { containers } = await runtime.listContainers({ filter }, { signal });
  const environments = new Map<string, Environment>();
  if (gates.InPlaceUpdateEnvFromMetadata) {
    const reported = reportedMetadata(found);
    for (const { spec, container, id } of containersOf({ pod: found, runtimeName, containers })) {
      const before = reported.find(({ containerID }) => containerID === id);
      if (before?.hashes.extractedEnvFromMetadataHash || container.state !== 'CONTAINER_RUNNING') continue;
      const hasReferences = metadataReferences(spec).length > 0;
      environments.set(container.id, hasReferences ? await environmentOf(runtime, container.id, signal) : new Map());
    }
  }
  return { ...query, containers, environments };
}

const execSeconds = 3;

async function environmentOf(runtime: NodeRuntime, containerId: string, signal: AbortSignal): Promise<Environment> {
  try {
    const { stdout } = await runtime.execSync({ containerId, cmd: ['env'], timeout: execSeconds }, { signal });
    const lines = new TextDecoder().decode(stdout).trim().split('\n');
    return new Map(
      lines.flatMap((line): [string, string][] => {
        const equals = line.indexOf('=');
        return equals < 0 ? [] : [[line.slice(0, equals).trim(), line.slice(equals + 1).trim()]];
      }),
    );
  } catch {
    // The image may lack the command, or the container may be terminating.
    return undefined;
  }
}
