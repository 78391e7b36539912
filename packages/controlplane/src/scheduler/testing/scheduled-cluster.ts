/** An in-memory API server with schedulers, on a fake clock. */
import assert from 'node:assert/strict';
import type { TestContext } from 'node:test';
import { node as nodeKind } from '@kruise/api/core/node';
import { type Pod, pod as podKind } from '@kruise/api/core/pod';
import { serviceAccount } from '@kruise/api/core/serviceaccount';
import { event as eventKind } from '@kruise/api/events/event';
import { priorityClass } from '@kruise/api/scheduling/priorityclass';
import { startTestServer } from '@kruise/apiserver/testing/test-server';
import { type Client, createClient } from '@kruise/client/client';
import type { LeaderElectionOptions } from '@kruise/client/leader-election';
import { LeadershipLostError } from '@kruise/client/manager';
import type { Transport } from '@kruise/client/transport';
import { seededRandom } from '@kruise/values/random';
import { instantOf } from '@kruise/values/time';
import { virtualClock } from '@kruise/values/virtual-clock';
import { defaultConfiguration, type SchedulerConfiguration } from '../configuration.ts';
import type { Post } from '../extenders/extender.ts';
import { runScheduler } from '../scheduler.ts';
import { type NodeTraits, nodeOf, type PodTraits, podOf } from './fixtures.ts';

export const namespace = 'default';

/** Options of a scheduler under test. */
type SchedulerTraits = {
  readonly configuration: SchedulerConfiguration;
  /** HTTP client of extenders. */
  readonly post: Post;
  /** Middleware between the scheduler and the server. */
  readonly middleware: (transport: Transport) => Transport;
  readonly leaderElection: LeaderElectionOptions;
};

/** Starts a server with a default ServiceAccount and two priority classes, without nodes and without a scheduler. */
export async function startServer(t: TestContext) {
  const clock = virtualClock(instantOf(2026, 1, 1));
  const random = seededRandom(1);
  const server = await startTestServer({ clock, random });
  const { client } = server;
  await client.create(serviceAccount, { metadata: { name: 'default', namespace } });
  for (const [name, value] of [
    ['low', 1],
    ['high', 100],
  ] as const) {
    await client.create(priorityClass, { metadata: { name }, value });
  }
  const warnings: unknown[] = [];
  const addWarning = (fields: object, message: string) => void warnings.push({ message, ...fields });
  const log = { info() {}, warn: addWarning, error: addWarning };
  const ends: (() => Promise<void>)[] = [];
  t.after(async () => {
    for (const end of ends) await end();
    await server.close();
    assert.deepEqual(warnings, []);
  });

  const advance = (seconds: number) => clock.advanceAsync(seconds * 1000);
  const read = (name: string) => client.get(podKind, { name, namespace });
  return {
    client,
    pass: advance,
    read,
    /** Starts a scheduler with only its own permissions; returns a function that stops it. */
    startScheduler({ configuration, post, middleware, leaderElection }: Partial<SchedulerTraits> = {}): () => void {
      const stop = new AbortController();
      const user = { username: 'system:kube-scheduler', groups: ['system:authenticated'] };
      const { transport } = server.clientOf(user);
      const done = runScheduler(
        {
          client: createClient(middleware?.(transport) ?? transport),
          clock,
          random,
          log,
          host: 'here',
          configuration: configuration ?? defaultConfiguration,
          ...(post ? { post } : {}),
          ...(leaderElection ? { leaderElection } : {}),
        },
        stop.signal,
      ).catch((error) => {
        // A scheduler that loses its lease stops and would be restarted.
        if (!(error instanceof LeadershipLostError)) throw error;
      });
      ends.push(async () => {
        stop.abort();
        await clock.advanceAsync(1000);
        await done;
      });
      return () => stop.abort();
    },
    /** Returns the Pod as soon as a predicate holds; time advances by some seconds. */
    async until(name: string, holds: (pod: Pod) => boolean, seconds = 30): Promise<Pod> {
      for (let tenth = 0; tenth < seconds * 10; tenth++) {
        const pod = await read(name);
        if (holds(pod)) return pod;
        await advance(0.1);
      }
      throw new Error(`the condition was not met in time: ${JSON.stringify((await read(name)).status)}`);
    },
    /** Returns the events of a Pod, in order. */
    async eventsOf(name: string): Promise<readonly string[]> {
      await advance(0.1);
      const { items } = await client.list(eventKind, { namespace });
      return items
        .filter(({ regarding }) => regarding?.name === name)
        .sort((a, b) => (a.metadata.name! < b.metadata.name! ? -1 : 1))
        .map(({ type, reason, action, note }) => `${type} ${reason} ${action}: ${note}`);
    },
  };
}

type ClusterTraits = SchedulerTraits & {
  /** Creates objects before the scheduler starts. */
  readonly prepare: (client: Client) => Promise<unknown>;
};

/** Starts a server and one scheduler. */
export async function startCluster(t: TestContext, { prepare, ...traits }: Partial<ClusterTraits> = {}) {
  const { startScheduler, ...server } = await startServer(t);
  await prepare?.(server.client);
  return { ...server, stop: startScheduler(traits) };
}

export async function addNode(client: Client, name: string, traits: NodeTraits = {}): Promise<void> {
  const { status, ...node } = nodeOf(name, traits);
  const created = await client.create(nodeKind, node);
  // The server taints new nodes as not ready, which other controllers undo.
  const ready = await client.update(nodeKind, {
    ...created,
    spec: { ...created.spec, taints: node.spec?.taints ?? [] },
  });
  await client.update(nodeKind, { ...ready, status: { ...ready.status, ...status } }, { subresource: 'status' });
}

export async function addPod(client: Client, name: string, traits: PodTraits = {}): Promise<Pod> {
  const { metadata, ...pod } = podOf(name, traits);
  const { uid: _, ...rest } = metadata;
  return client.create(podKind, { ...pod, metadata: rest });
}

export const isPlaced = ({ spec }: Pod) => Boolean(spec?.nodeName);
export const condition = ({ status }: Pod) => status?.conditions?.find(({ type }) => type === 'PodScheduled');
export const isRejected = (pod: Pod) => condition(pod)?.reason === 'Unschedulable';
