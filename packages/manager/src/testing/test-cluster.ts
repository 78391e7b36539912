/** A cluster for one test: the real API server in memory, Kruise's CRDs and the manager, with a clock of its own. */

import { binding } from '@kruise/api/core/binding';
import { namespace } from '@kruise/api/core/namespace';
import { type Pod, pod } from '@kruise/api/core/pod';
import { serviceAccount } from '@kruise/api/core/serviceaccount';
import { kruiseDefinitions } from '@kruise/api/kruise/crds';
import { installDefinitions } from '@kruise/apiserver/custom/install';
import type { KubeObject } from '@kruise/apiserver/object';
import { startTestServer } from '@kruise/apiserver/testing/test-server';
import { type Client, createClient } from '@kruise/client/client';
import type { ApiRequest, Transport } from '@kruise/client/transport';
import type { Webhook } from '@kruise/client/webhook';
import { isConditionTrue } from '@kruise/machinery/conditions';
import { isNotFound } from '@kruise/machinery/status';
import { seededRandom } from '@kruise/values/random';
import { formatTime, type Instant, instantOf } from '@kruise/values/time';
import { type VirtualClock, virtualClock } from '@kruise/values/virtual-clock';
import { allFeatureGates, type FeatureGates, featureGates } from '../configuration/feature-gates.ts';
import { managerSettings } from '../configuration/settings.ts';
import { runManager } from '../manager.ts';

export type TestCluster = {
  readonly client: Client;
  readonly clock: VirtualClock;
  /** Writes of the manager so far, including refused ones and dry runs, without Events and Leases. */
  readonly managerWrites: readonly ManagerWrite[];
  /** Simulates kubelets: runs the selected Pods, all by default, and waits until the cluster is idle. */
  runPods(isToRun?: (pod: Pod) => boolean): Promise<void>;
  /** Waits until the cluster is idle, and advances the clock. */
  pass(seconds: number): Promise<void>;
  [Symbol.asyncDispose](): Promise<void>;
};

/** A write of the manager, such as `PATCH pods/web-1 status`. */
export type ManagerWrite = { readonly at: Instant; readonly what: string; readonly isDryRun: boolean };

const start = instantOf(2026, 1, 1);

/** Starts a cluster with the namespace `default`. All feature gates are enabled unless given otherwise. */
export async function startTestCluster(gates: Partial<FeatureGates> = {}): Promise<TestCluster> {
  const clock = virtualClock(start);
  const random = seededRandom(7);
  const inProcessWebhooks = new Map<string, Webhook>();
  const server = await startTestServer({ clock, random, inProcessWebhooks });
  const { client } = server;
  const service = { namespace: 'kruise-system', name: 'kruise-webhook-service', path: '/convert' };
  // CRDs are ordinary objects with narrower types.
  await installDefinitions(server.core, kruiseDefinitions({ service }) as unknown as KubeObject[]);
  await client.create(namespace, { metadata: { name: 'kruise-system', labels: { 'control-plane': 'openkruise' } } });
  await client.create(serviceAccount, { metadata: { name: 'default', namespace: 'default' } });
  const stop = new AbortController();
  const { promise: serving, resolve: onServing } = Promise.withResolvers<void>();
  const settings = managerSettings({ gates: featureGates({ ...allFeatureGates, ...gates }) });
  const managerWrites: ManagerWrite[] = [];
  const transport = recordingWrites(client.transport, (request) => {
    const write = writeOf(request, clock.now());
    if (write) managerWrites.push(write);
  });
  const options = { client: createClient(transport), clock, random, settings, inProcessWebhooks, onServing };
  const stopped = runManager(options, stop.signal);
  await Promise.race([serving, stopped]);
  const pass = (seconds: number) => clock.advanceAsync(seconds * 1000);
  return {
    client,
    clock,
    managerWrites,
    pass,
    async runPods(isToRun = () => true) {
      for (const found of (await client.list(pod)).items.filter(isToRun)) {
        // The Pod may have been deleted meanwhile.
        await runPod(client, found, clock.now()).catch(unlessNotFound);
      }
      await pass(1);
    },
    async [Symbol.asyncDispose]() {
      stop.abort();
      await stopped;
      await server.close();
    },
  };
}

function recordingWrites(transport: Transport, record: (request: ApiRequest) => void): Transport {
  return {
    ...transport,
    request(request) {
      record(request);
      return transport.request(request);
    },
  };
}

/** Matches the path after the namespace, or after the version if there is none: `/pods/web-1/status`. */
const resourcePath = /\/(?:namespaces\/[^/]+|v\d[a-z0-9]*)\/(?!namespaces\/)([a-z]+)((?:\/[^/]+)*)$/;

function writeOf({ method, path, query }: ApiRequest, at: Instant): ManagerWrite | undefined {
  const [, plural = '', rest = ''] = resourcePath.exec(path) ?? [];
  if (method === 'GET' || plural === 'events' || plural === 'leases') return undefined;
  return { at, what: `${method} ${plural}${rest.replaceAll('/', ' ')}`, isDryRun: query?.['dryRun'] !== undefined };
}

/** Rethrows every error except NotFound. */
export function unlessNotFound(error: unknown): void {
  if (!isNotFound(error)) throw error;
}

/** Simulates the scheduler and the kubelet: sets a node, running containers, and Ready if all gates are open. */
async function runPod(client: Client, found: Pod, now: Instant): Promise<void> {
  const { name = '', namespace: place = '' } = found.metadata;
  const reference = { name, namespace: place };
  if (!found.spec?.nodeName) {
    const target = { kind: 'Node', name: 'node-1' };
    await client.post(pod, reference, { name: 'binding', kind: binding }, { metadata: reference, target });
  }
  const gates = found.spec?.readinessGates ?? [];
  const isReady = gates.every(({ conditionType }) => isConditionTrue(found.status?.conditions, conditionType));
  const condition = (type: string, isTrue: boolean) => ({
    type,
    status: isTrue ? 'True' : 'False',
    lastTransitionTime: formatTime(now),
  });
  const containerStatuses = (found.spec?.containers ?? []).map(({ name: container, image = '', resources }) => ({
    name: container,
    image,
    imageID: `sha256:${image}`,
    ready: true,
    restartCount: 0,
    ...(resources ? { resources } : {}),
  }));
  const conditions = [condition('ContainersReady', true), condition('Ready', isReady)];
  const status = { phase: 'Running', conditions, containerStatuses };
  await client.patch(pod, reference, { status }, { type: 'strategic', subresource: 'status' });
}
