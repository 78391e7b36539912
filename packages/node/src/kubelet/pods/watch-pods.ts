/** Watch of the Pods bound to a node. */
import type { Pod } from '@kruise/api/core/pod';
import type { Change } from '@kruise/client/informer';
import { parseTime } from '@kruise/values/time';
import type { Sources } from './sources.ts';

/**
 * Watches the Pods of a node and resolves once the existing Pods are handled. They are handled in creation order, so
 * that Pods that fit before a restart still fit.
 */
export async function watchPods(sources: Sources, handle: (change: Change<Pod>) => void): Promise<void> {
  const initialPods = new Map<string, Pod>();
  let isInitialList = true;
  const synced = sources.watchPods((change) => {
    const uid = change.object.metadata.uid ?? '';
    if (!isInitialList) handle(change);
    else if (change.type === 'deleted') initialPods.delete(uid);
    else initialPods.set(uid, change.object);
  });
  await synced;
  isInitialList = false;
  const createdAt = ({ metadata }: Pod) => parseTime(metadata.creationTimestamp ?? '1970-01-01T00:00:00Z');
  for (const pod of [...initialPods.values()].sort((a, b) => createdAt(a) - createdAt(b))) {
    handle({ type: 'added', object: pod, cause: 'initial' });
  }
}
