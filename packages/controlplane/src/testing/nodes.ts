/** Fake nodes: report Pods as running without running them. */
import { type Pod, pod } from '@kruise/api/core/pod';
import type { Client } from '@kruise/client/client';
import { startInformer } from '@kruise/client/informer';
import type { Clock } from '@kruise/values/clock';
import type { Random } from '@kruise/values/random';
import { formatTime } from '@kruise/values/time';

export type FakeNodes = {
  /** Selects the Pods that become ready; all by default. */
  becomesReady: (pod: Pod) => boolean;
};

/**
 * Marks every Pod as running and ready at once, and completes the deletion of terminating ones, until the signal is
 * aborted.
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
