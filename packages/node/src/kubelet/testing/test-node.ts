/** Test node: a real API server in memory, a kubelet with the permissions of its node, and a simulated runtime. */

import { event } from '@kruise/api/core/event';
import { namespace } from '@kruise/api/core/namespace';
import { type Pod, pod as podKind } from '@kruise/api/core/pod';
import type { PodSpec } from '@kruise/api/core/pod-spec';
import { serviceAccount } from '@kruise/api/core/serviceaccount';
import { startTestServer, type TestServer, type TestServerOptions } from '@kruise/apiserver/testing/test-server';
import { startInformer } from '@kruise/client/informer';
import type { Log } from '@kruise/client/log';
import { isAlreadyExists } from '@kruise/machinery/status';
import { seededRandom } from '@kruise/values/random';
import { type VirtualClock, virtualClock } from '@kruise/values/virtual-clock';
import type { NodeRuntime } from '../../cri/runtime.ts';
import { createSimulatedRuntime, type SimulatedRuntimeOptions } from '../../cri/simulated/simulated-runtime.ts';
import { createKubelet, type Kubelet } from '../kubelet.ts';
import type { KubeletOptions } from '../kubelet-options.ts';

export type TestNode = {
  readonly server: TestServer;
  readonly clock: VirtualClock;
  readonly kubelet: Kubelet;
  readonly runtime: NodeRuntime;
  /** Every observed state of every Pod, in order. */
  readonly history: readonly Pod[];
  /** Creates a Pod bound to the node. */
  create(pod: TestPod): Promise<Pod>;
  get(name: string): Promise<Pod>;
  /** Advances the clock until a Pod matches a predicate; fails after twenty minutes of virtual time. */
  waitUntil(name: string, predicate: (pod: Pod | undefined) => boolean): Promise<Pod | undefined>;
  /** Advances the clock. */
  advance(seconds: number): Promise<void>;
  /** Returns the events of a Pod, oldest first: `Normal Started: Started container c`. */
  events(name: string): Promise<readonly string[]>;
  /** Stops the kubelet. */
  stop(): Promise<void>;
  /** Restarts the kubelet on the same runtime. */
  restart(): Promise<Kubelet>;
  [Symbol.asyncDispose](): Promise<void>;
};

export type TestPod = Partial<PodSpec> & {
  readonly name?: string;
  readonly labels?: { readonly [key: string]: string };
  readonly annotations?: { readonly [key: string]: string };
};

export type TestNodeOptions = {
  readonly kubelet?: Partial<KubeletOptions>;
  readonly runtime?: Partial<SimulatedRuntimeOptions>;
  readonly server?: TestServerOptions;
  readonly log?: Log;
};

const nodeName = 'node-1';
const start = Date.UTC(2026, 0, 1);

export async function startTestNode(options: TestNodeOptions = {}): Promise<TestNode> {
  const clock = virtualClock(start);
  const random = seededRandom('test-node');
  const server = await startTestServer({ clock, random, ...options.server });
  const { client } = server;
  const images = ['nginx:1.25', 'nginx:1.26', 'busybox:1.36'];
  const runtime = createSimulatedRuntime({
    clock,
    random,
    nodeAddress: '172.18.0.2',
    podCidr: '10.244.0.0/24',
    images,
    ...options.runtime,
  });
  const problems: unknown[] = [];
  const log: Log = options.log ?? { info() {}, warn: (fields, message) => problems.push(message, fields), error() {} };
  const disposed = new AbortController();
  const history: Pod[] = [];

  // No controller creates these objects in this test.
  for (const name of ['kube-node-lease', 'default']) {
    await client.create(namespace, { metadata: { name } }).catch(ignoreExisting);
  }
  await client.create(serviceAccount, { metadata: { name: 'default', namespace: 'default' } }).catch(ignoreExisting);
  startInformer(client, clock, random, podKind, {}, disposed.signal).handle(({ type, object }) => {
    if (type !== 'deleted') history.push(object);
  });

  let stop = new AbortController();
  const startKubelet = () =>
    createKubelet(
      {
        client: server.clientOf({
          username: `system:node:${nodeName}`,
          groups: ['system:nodes', 'system:authenticated'],
        }),
        clock,
        random,
        runtime,
        nodeName,
        addresses: ['172.18.0.2'],
        log,
        ...options.kubelet,
      },
      stop.signal,
    );
  let kubelet = startKubelet();
  await waitFor(clock, () => kubelet.registered);

  const advance = (seconds: number) => clock.advanceAsync(seconds * 1000);
  const node: TestNode = {
    server,
    clock,
    get kubelet() {
      return kubelet;
    },
    runtime,
    history,
    create({ name = 'web', labels, annotations, ...spec }) {
      return client.create(podKind, {
        metadata: {
          name,
          namespace: 'default',
          ...(labels ? { labels } : {}),
          ...(annotations ? { annotations } : {}),
        },
        spec: {
          nodeName,
          automountServiceAccountToken: false,
          containers: [{ name: 'c', image: 'nginx:1.25' }],
          ...spec,
        },
      });
    },
    get: (name) => client.get(podKind, { name, namespace: 'default' }),
    async waitUntil(name, predicate) {
      const deadline = clock.now() + 1_200_000;
      for (;;) {
        await runPending();
        const found = (await client.list(podKind, { namespace: 'default' })).items.find(
          (each) => each.metadata.name === name,
        );
        if (predicate(found)) return found;
        if (clock.now() > deadline)
          throw new Error(
            `the Pod did not reach the expected state: ${JSON.stringify(found?.status)} ${String(problems)}`,
          );
        const next = clock.nextTimer();
        await clock.advanceAsync(next === undefined ? 1000 : Math.max(1, Math.min(1000, next - clock.now())));
      }
    },
    advance,
    async events(name) {
      await advance(0.01);
      const { items } = await client.list(event, { namespace: 'default' });
      return items
        .filter(({ involvedObject }) => involvedObject.name === name)
        .sort((a, b) => (a.metadata.name! < b.metadata.name! ? -1 : 1))
        .map(({ type, reason, message }) => `${type} ${reason}: ${message}`);
    },
    async stop() {
      stop.abort();
      await kubelet.stopped;
    },
    async restart() {
      await node.stop();
      stop = new AbortController();
      kubelet = startKubelet();
      await waitFor(clock, () => kubelet.registered);
      return kubelet;
    },
    async [Symbol.asyncDispose]() {
      stop.abort();
      disposed.abort();
      await runPending();
      await server.close();
    },
  };
  return node;
}

function ignoreExisting(error: unknown): void {
  if (!isAlreadyExists(error)) throw error;
}

/** Runs pending work without advancing the clock. */
async function runPending(): Promise<void> {
  for (let iteration = 0; iteration < 20; iteration++) await new Promise((resolve) => setImmediate(resolve));
}

async function waitFor(clock: VirtualClock, predicate: () => Promise<void>): Promise<void> {
  let isDone = false;
  void predicate().then(() => (isDone = true));
  for (let iteration = 0; !isDone && iteration < 1000; iteration++) await clock.advanceAsync(10);
  if (!isDone) throw new Error('the node was not registered in time');
}
