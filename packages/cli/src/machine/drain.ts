/** Drains nodes, like `kubectl drain --ignore-daemonsets --delete-emptydir-data`. */
import { node as nodeKind } from '@kruise/api/core/node';
import { type Pod, pod as podKind } from '@kruise/api/core/pod';
import type { Client } from '@kruise/client/client';
import { evict } from '@kruise/client/subresources';
import { controllerOf } from '@kruise/machinery/owner-references';
import { isNotFound, isTooManyRequests } from '@kruise/machinery/status';
import { after, type Clock } from '@kruise/values/clock';

export type DrainOptions = {
  readonly client: Client;
  readonly clock: Clock;
  readonly timeoutMs: number;
  /** Called for each Pod whose eviction was accepted. */
  readonly onEvicted?: (pod: Pod) => void;
};

const pollMs = 500;

/** Returns whether a drain leaves a Pod on its node. */
export function staysOnDrain(pod: Pod): boolean {
  const owner = controllerOf(pod);
  const isMirror = pod.metadata.annotations?.['kubernetes.io/config.mirror'] !== undefined;
  return isMirror || owner?.kind === 'DaemonSet';
}

/** Cordons a node and evicts its Pods. Resolves when they are gone; rejects if budgets do not permit it in time. */
export async function drainNode(name: string, options: DrainOptions): Promise<void> {
  const { client, clock, timeoutMs, onEvicted } = options;
  await client.patch(nodeKind, { name }, { spec: { unschedulable: true } }, { type: 'merge' });
  const deadline = clock.now() + timeoutMs;
  const evicted = new Set<string>();
  for (;;) {
    const { items } = await client.list(podKind, { fieldSelector: `spec.nodeName=${name}` });
    const leaving = items.filter((each) => !staysOnDrain(each));
    if (leaving.length === 0) return;
    for (const each of leaving) {
      const uid = each.metadata.uid ?? '';
      if (each.metadata.deletionTimestamp != null || evicted.has(uid)) continue;
      if (await isEvicted(client, each)) {
        evicted.add(uid);
        onEvicted?.(each);
      }
    }
    if (clock.now() > deadline) {
      const names = leaving.map(({ metadata }) => `${metadata.namespace}/${metadata.name}`);
      throw new Error(`node ${name} still has Pods: ${names.join(', ')}`);
    }
    await after(clock, pollMs);
  }
}

/** Evicts a Pod; returns false while its budget does not permit that. */
async function isEvicted(client: Client, { metadata }: Pod): Promise<boolean> {
  const { name = '', namespace = '' } = metadata;
  try {
    await evict(client, { name, namespace });
    return true;
  } catch (error) {
    if (isNotFound(error)) return true;
    if (isTooManyRequests(error)) return false;
    throw error;
  }
}
