import { node } from '@kruise/api/core/node';
import { type Pod, pod } from '@kruise/api/core/pod';
import { type Runnable, whenSynced } from '@kruise/client/controller';
import { keyOf } from '@kruise/client/object-key';
import { createNamedQueue, runWorkers } from '@kruise/client/workers';
import { isPodFinished } from '@kruise/machinery/pods';
import { isNotFound } from '@kruise/machinery/status';
import { mapConcurrently } from '@kruise/values/map-concurrently';
import { byNode } from '@kruise/workload-kit/pod-indexes';
import { isForced, isOutOfService, isStranded, lastStatus, type Removal, surplusOf } from './decide.ts';

const uses = [node, pod];

/** Default number of terminated Pods to keep. */
const defaultThreshold = 12_500;
/** Quarantine before the Pods of a missing node are deleted, because the node cache may be stale. */
const quarantineMs = 40_000;
/** Maximum delay between the end of a Pod and the check of the threshold. */
const surplusDelayMs = 20_000;
const maxConcurrentDeletions = 20;

/** Queue keys: one Pod, all Pods of a missing node, or all terminated Pods. */
const podPrefix = 'pod ';
const nodePrefix = 'node ';
const surplusKey = 'surplus';

const byEnd = (found: Pod) => (isPodFinished(found) ? ['ended'] : []);

/**
 * Pod garbage collector: deletes orphaned Pods of deleted nodes, terminating Pods without a kubelet, and terminated
 * Pods above a threshold.
 */
export function podGarbageCollector(threshold = defaultThreshold): Runnable {
  return {
    name: 'pod-garbage-collector',
    component: 'pod-garbage-collector',
    watches: [],
    uses,
    async run(context, signal) {
      const { client, clock, caches, log } = context;
      await whenSynced({ watches: [], uses }, caches, signal);
      if (signal.aborted) return;
      const [nodes, pods] = [caches.informer(node), caches.informer(pod)];
      const queue = createNamedQueue(context, 'orphaned_pods_nodes');

      const consider = (found: Pod) => {
        const { nodeName } = found.spec ?? {};
        if (isStranded(found, nodeName ? nodes.get(nodeName) : undefined)) queue.add(`${podPrefix}${keyOf(found)}`);
        if (nodeName && !nodes.get(nodeName)) queue.addAfter(`${nodePrefix}${nodeName}`, quarantineMs);
        if (isPodFinished(found)) queue.addAfter(surplusKey, surplusDelayMs);
      };
      const follow = { signal };
      pods.handle(({ type, object }) => {
        if (type !== 'deleted') consider(object);
      }, follow);
      nodes.handle(({ type, object }) => {
        if (type !== 'deleted' && !isOutOfService(object)) return;
        for (const each of pods.byIndex(byNode, object.metadata.name ?? '')) consider(each);
      }, follow);

      /** Force-deletes a Pod, ignoring its grace period. */
      async function forceDelete(found: Pod, removal: Removal): Promise<void> {
        if (isForced(found)) return;
        const { name = '', namespace = '', uid = '' } = found.metadata;
        const status = lastStatus(found, removal, clock.now());
        try {
          if (status) {
            const change = { metadata: { uid }, status };
            await client.patch(pod, { name, namespace }, change, { type: 'strategic', subresource: 'status', signal });
          }
          await client.delete(pod, { name, namespace }, { gracePeriodSeconds: 0, preconditions: { uid }, signal });
        } catch (error) {
          if (!isNotFound(error)) throw error;
        }
      }

      async function removeOrphans(nodeName: string): Promise<void> {
        const orphans = pods.byIndex(byNode, nodeName);
        if (nodes.get(nodeName) || orphans.length === 0 || (await isThere(nodeName))) return;
        await mapConcurrently(orphans, maxConcurrentDeletions, (each) => forceDelete(each, 'orphaned'));
      }

      async function isThere(nodeName: string): Promise<boolean> {
        try {
          await client.get(node, { name: nodeName }, { signal });
          return true;
        } catch (error) {
          if (isNotFound(error)) return false;
          throw error;
        }
      }

      async function work(key: string): Promise<undefined> {
        if (key.startsWith(nodePrefix)) {
          await removeOrphans(key.slice(nodePrefix.length));
        } else if (key === surplusKey) {
          const surplus = surplusOf(pods.byIndex(byEnd, 'ended'), threshold);
          await mapConcurrently(surplus, maxConcurrentDeletions, (each) => forceDelete(each, 'surplus'));
        } else {
          const found = pods.get(key.slice(podPrefix.length));
          const on = found?.spec?.nodeName ? nodes.get(found.spec.nodeName) : undefined;
          if (found && isStranded(found, on)) await forceDelete(found, 'stranded');
        }
        return undefined;
      }
      const onError = (key: string, error: unknown) =>
        log.error({ controller: 'pod-garbage-collector', key, error }, 'pod garbage collection failed; requeued');
      await runWorkers(queue, { workers: 5, work, onError }, signal);
    },
  };
}
