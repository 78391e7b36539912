/** Stands in for nodes: runs Pods by saying that they run. */
import { type Pod, pod } from '@kruise/api/core/pod';
import type { Client } from '@kruise/client/client';
import { startInformer } from '@kruise/client/informer';
import type { Clock } from '@kruise/values/clock';
import type { Random } from '@kruise/values/random';
import { formatTime } from '@kruise/values/time';

export type FakeNodes = {
  /** Which Pods become ready; all by default. */
  becomesReady: (pod: Pod) => boolean;
};

/**
 * Makes every Pod run and be ready at once, and lets those on their way out go, until the signal is aborted.
 */
export function startFakeNodes(client: Client, clock: Clock, random: Random, signal: AbortSignal): FakeNodes {
  const nodes: FakeNodes = { becomesReady: () => true };
  const pods = startInformer(client, clock, random, pod, {}, signal);
  pods.handle(async ({ type, object }) => {
    if (type === 'deleted' || signal.aborted) return;
    const { name = '', namespace = '', deletionTimestamp } = object.metadata;
    if (deletionTimestamp != null) {
      await client.delete(pod, { name, namespace }, { gracePeriodSeconds: 0 });
    } else if (object.status?.phase !== 'Running' && nodes.becomesReady(object)) {
      const conditions = [{ type: 'Ready', status: 'True', lastTransitionTime: formatTime(clock.now()) }];
      await client.update(pod, { ...object, status: { phase: 'Running', conditions } }, { subresource: 'status' });
    }
  });
  return nodes;
}
