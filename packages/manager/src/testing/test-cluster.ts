/** A cluster for one test: the real API server in memory, Kruise's kinds and the manager, on a clock of the test's own. */
import { namespace } from '@kruise/api/core/namespace';
import { serviceAccount } from '@kruise/api/core/serviceaccount';
import { kruiseDefinitions } from '@kruise/api/kruise/crds';
import { installDefinitions } from '@kruise/apiserver/custom/install';
import type { KubeObject } from '@kruise/apiserver/object';
import { startTestServer } from '@kruise/apiserver/testing/test-server';
import type { Client } from '@kruise/client/client';
import type { Webhook } from '@kruise/client/webhook';
import { seededRandom } from '@kruise/values/random';
import { instantOf } from '@kruise/values/time';
import { type VirtualClock, virtualClock } from '@kruise/values/virtual-clock';
import { allFeatureGates, type FeatureGates, featureGates } from '../feature-gates.ts';
import { runManager } from '../manager.ts';
import { managerSettings } from '../settings.ts';

export type TestCluster = {
  readonly client: Client;
  readonly clock: VirtualClock;
  /** Lets everything that follows from what was done happen, and so much time go by. */
  pass(seconds: number): Promise<void>;
  [Symbol.asyncDispose](): Promise<void>;
};

const start = instantOf(2026, 1, 1);

/** Starts a cluster with a namespace `default`; all gates are open but those that say otherwise. */
export async function startTestCluster(gates: Partial<FeatureGates> = {}): Promise<TestCluster> {
  const clock = virtualClock(start);
  const random = seededRandom(7);
  const inProcessWebhooks = new Map<string, Webhook>();
  const server = await startTestServer({ clock, random, inProcessWebhooks });
  const { client } = server;
  const service = { namespace: 'kruise-system', name: 'kruise-webhook-service', path: '/convert' };
  // Definitions are objects like any other, of which their own type says more.
  await installDefinitions(server.core, kruiseDefinitions({ service }) as unknown as KubeObject[]);
  await client.create(namespace, { metadata: { name: 'kruise-system', labels: { 'control-plane': 'openkruise' } } });
  await client.create(serviceAccount, { metadata: { name: 'default', namespace: 'default' } });
  const stop = new AbortController();
  const { promise: serving, resolve: onServing } = Promise.withResolvers<void>();
  const settings = managerSettings({ gates: featureGates({ ...allFeatureGates, ...gates }) });
  const options = { client, clock, random, settings, inProcessWebhooks, onServing };
  const stopped = runManager(options, stop.signal);
  await Promise.race([serving, stopped]);
  return {
    client,
    clock,
    pass: (seconds) => clock.advanceAsync(seconds * 1000),
    async [Symbol.asyncDispose]() {
      stop.abort();
      await stopped;
      await server.close();
    },
  };
}
