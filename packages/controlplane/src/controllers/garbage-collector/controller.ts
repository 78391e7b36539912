import type { Runnable } from '@kruise/client/controller';
import { createNamedQueue, runWorkers } from '@kruise/client/workers';
import type { OwnerReference } from '@kruise/machinery/owner-references';
import { apiVersionOf } from '@kruise/schema/kind';
import { createAbsentOwners } from './absent-owners.ts';
import { createCollector, UnobservedOwner } from './collector.ts';
import { createGraph, type Node } from './graph.ts';
import { discoveryKinds, startMonitors } from './monitors.ts';

/** Number of objects processed concurrently. */
const workers = 20;

/** Queue keys are the UID of an object, or this prefix and the UID of an owner that was not observed. */
const unobservedPrefix = '?';

/**
 * Garbage collector: deletes objects of any kind whose owners no longer exist, and executes foreground deletion and
 * orphaning.
 */
export function garbageCollector(): Runnable {
  return {
    name: 'garbage-collector',
    component: 'garbage-collector-controller',
    watches: [],
    uses: discoveryKinds,
    async run(context, signal) {
      const { log, record } = context;
      const queue = createNamedQueue(context, 'garbage_collector_attempt_to_delete');
      const absentOwners = createAbsentOwners();
      const postponed = new Set<string>();
      const enqueue = (uid: string) => queue.add(uid);

      const graph = createGraph({
        enqueue,
        unobserved: (ownerUid) => queue.add(`${unobservedPrefix}${ownerUid}`),
        deleted: (owner) => absentOwners.add(referenceTo(owner), owner.namespace),
        invalidReference: (dependent, reference) => record(invalidReferenceEvent(dependent, reference)),
      });
      const monitors = startMonitors(
        context,
        graph,
        () => {
          for (const key of postponed) queue.add(key);
          postponed.clear();
        },
        signal,
      );
      const collector = createCollector(
        context,
        {
          graph,
          monitors,
          absentOwners,
          enqueue,
          postpone: (what) => postponed.add('uid' in what ? what.uid : `${unobservedPrefix}${what.ownerUid}`),
        },
        signal,
      );
      const work = async (key: string): Promise<number | undefined> =>
        key.startsWith(unobservedPrefix)
          ? void (await collector.verify(key.slice(unobservedPrefix.length)))
          : collector.look(key);
      const onError = (key: string, error: unknown) => {
        if (error instanceof UnobservedOwner) return;
        log.error({ controller: 'garbage-collector', key, error }, 'garbage collection of object failed; requeued');
      };
      // Before all monitors have synced, most owners have not been observed yet.
      await monitors.complete;
      await runWorkers(queue, { workers, work, onError }, signal);
    },
  };
}

function referenceTo({ kind, name, uid }: Node): OwnerReference {
  return { apiVersion: apiVersionOf(kind), kind: kind.kind, name, uid };
}

function invalidReferenceEvent({ kind, name, namespace, uid }: Node, owner: OwnerReference) {
  const place = namespace ?? '';
  const named = `[${owner.apiVersion}/${owner.kind}, namespace: ${place}, name: ${owner.name}, uid: ${owner.uid}]`;
  const metadata = { name, uid, ...(namespace === undefined ? {} : { namespace }) };
  return {
    about: { apiVersion: apiVersionOf(kind), kind: kind.kind, metadata },
    type: 'Warning',
    reason: 'OwnerRefInvalidNamespace',
    message: `ownerRef ${named} does not exist in namespace ${JSON.stringify(place)}`,
  } as const;
}
