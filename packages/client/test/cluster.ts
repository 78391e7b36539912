/** An API server in memory and its client, on a virtual clock. */
import { startTestServer, type TestServer } from '@kruise/apiserver/testing/test-server';
import { type Random, seededRandom } from '@kruise/values/random';
import { instantOf } from '@kruise/values/time';
import { type VirtualClock, virtualClock } from '@kruise/values/virtual-clock';

export type Cluster = TestServer & {
  readonly clock: VirtualClock;
  readonly random: Random;
  /** Advances the clock and runs everything that is due. */
  advance(seconds: number): Promise<void>;
};

export async function startCluster({ watchList = false } = {}): Promise<Cluster> {
  const clock = virtualClock(instantOf(2026, 1, 1));
  const random = seededRandom('cluster');
  const server = await startTestServer({ clock, random, features: { watchList } });
  return { ...server, clock, random, advance: (seconds) => clock.advanceAsync(seconds * 1000) };
}
