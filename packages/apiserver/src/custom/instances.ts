import { isNotFound } from '@kruise/machinery/status';
import type { Admission } from '../admission/admission.ts';
import type { Core } from '../core.ts';
import { deleteOne } from '../handlers/delete.ts';
import type { Resource } from '../resource.ts';
import { ownRequest } from './own-request.ts';
import { type Terminating, terminating } from './status.ts';

/** How long the objects of a definition may take to go before that is remarked on. */
const patienceMs = 60_000;

/** The objects go with their definition, whatever admission would say. */
const nobodyAsked: Admission = { mutate: async ({ object }) => object, validate: async () => {} };

/**
 * Deletes all objects of a definition and waits until they are gone, which finalizers of their own may delay. `tell` is
 * told where that takes long. Resolves to what is to be said of the definition then.
 */
export async function deleteInstances(
  core: Core,
  resource: Resource,
  signal: AbortSignal,
  tell: (reason: string, message: string) => Promise<void>,
): Promise<Terminating> {
  const { cache, prefix } = resource.storage;
  const unasked = { ...core, admission: nobodyAsked };
  for (const { object } of cache.list({ keyPrefix: prefix })) {
    signal.throwIfAborted();
    await deleteOne(unasked, ownRequest(core, resource, 'delete', object), resource, object.metadata.name!, {
      dryRun: false,
    }).catch(ignoreMissing);
  }
  await core.feed.caughtUp();
  while (cache.size > 0 && !signal.aborted) {
    if (await isEmptied(core, resource, signal)) break;
    await tell(
      'InstanceDeletionCheck',
      'could not confirm zero CustomResources remaining: timed out waiting for the condition',
    );
  }
  return terminating('False', 'InstanceDeletionCompleted', 'removed all instances');
}

/** Resolves to whether the last object went before patience did. */
function isEmptied(core: Core, { storage }: Resource, signal: AbortSignal): Promise<boolean> {
  const { cache, prefix } = storage;
  return new Promise((resolve) => {
    const over = new AbortController();
    const settle = (emptied: boolean) => {
      over.abort();
      resolve(emptied);
    };
    const ended = AbortSignal.any([signal, over.signal]);
    signal.addEventListener('abort', () => settle(false), { once: true, signal: over.signal });
    core.clock.setTimer(patienceMs, () => settle(false), ended);
    const receive = () => {
      if (cache.size === 0) settle(true);
    };
    cache.listAndWatch({ keyPrefix: prefix }, { signal: ended, receive, end: () => settle(cache.size === 0) });
    receive();
  });
}

function ignoreMissing(error: unknown): void {
  if (!isNotFound(error)) throw error;
}
