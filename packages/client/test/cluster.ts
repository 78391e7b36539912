/** An API server in memory and clients of it, on a time that moves when it is told to. */
import { inProcessTransport } from '@kruise/apiserver/in-process';
import { type ApiServer, startApiServer } from '@kruise/apiserver/server';
import { createMemoryStore } from '@kruise/apiserver/store/memory';
import { serverItself } from '@kruise/apiserver/user';
import { type Client, createClient } from '@kruise/client/client';
import { type Random, seededRandom } from '@kruise/values/random';
import { instantOf } from '@kruise/values/time';
import { type VirtualClock, virtualClock } from '@kruise/values/virtual-clock';

export type Cluster = {
  readonly server: ApiServer;
  readonly client: Client;
  readonly clock: VirtualClock;
  readonly random: Random;
  /** Lets a while pass, and everything happen that happens in it. */
  pass(seconds: number): Promise<void>;
  close(): Promise<void>;
};

export async function startCluster({ watchList = false } = {}): Promise<Cluster> {
  const clock = virtualClock(instantOf(2026, 1, 1));
  const random = seededRandom('cluster');
  const server = await startApiServer({
    store: createMemoryStore({ clock }),
    clock,
    random,
    features: { watchList },
    onError: (error) => {
      throw error;
    },
  });
  return {
    server,
    clock,
    random,
    client: createClient(inProcessTransport(server.core, serverItself)),
    pass: (seconds) => clock.advanceAsync(seconds * 1000),
    close: () => server.close(),
  };
}
