import { isNotFound } from '@kruise/machinery/status';
import type { Admission } from '../admission/admission.ts';
import type { Core } from '../core.ts';
import { deleteOne } from '../handlers/delete.ts';
import type { Resource } from '../resource.ts';
import { internalRequest } from './own-request.ts';
import { type Terminating, terminating } from './status.ts';

/** Time after which a slow deletion of a definition's objects is reported in the status. */
const slowDeletionMs = 60_000;

/** Admission that allows everything: the objects are deleted with their definition. */
const allowAllAdmission: Admission = { mutate: async ({ object }) => object, validate: async () => {} };

/**
 * Deletes all objects of a definition and waits until they are gone, which their finalizers may delay. Reports a
 * condition if that takes long. Resolves to the final Terminating condition.
 */
export async function deleteInstances(
  core: Core,
  resource: Resource,
  signal: AbortSignal,
  reportProgress: (reason: string, message: string) => Promise<void>,
): Promise<Terminating> {
  const { cache, prefix } = resource.storage;
  const coreWithoutAdmission = { ...core, admission: allowAllAdmission };
  for (const { object } of cache.list({ keyPrefix: prefix })) {
    signal.throwIfAborted();
    await deleteOne(
      coreWithoutAdmission,
      internalRequest(core, resource, 'delete', object),
      resource,
      object.metadata.name!,
      {
        dryRun: false,
      },
    ).catch(ignoreMissing);
  }
  await core.feed.waitForCurrent();
  while (cache.size > 0 && !signal.aborted) {
    if (await waitUntilEmpty(core, resource, signal)) break;
    await reportProgress(
      'InstanceDeletionCheck',
      'could not confirm zero CustomResources remaining: timed out waiting for the condition',
    );
  }
  return terminating('False', 'InstanceDeletionCompleted', 'removed all instances');
}

/** Resolves to whether the last object was deleted before the timeout. */
function waitUntilEmpty(core: Core, { storage }: Resource, signal: AbortSignal): Promise<boolean> {
  const { cache, prefix } = storage;
  return new Promise((resolve) => {
    const finished = new AbortController();
    const finish = (isEmpty: boolean) => {
      finished.abort();
      resolve(isEmpty);
    };
    const ended = AbortSignal.any([signal, finished.signal]);
    signal.addEventListener('abort', () => finish(false), { once: true, signal: finished.signal });
    core.clock.setTimer(slowDeletionMs, () => finish(false), ended);
    const receive = () => {
      if (cache.size === 0) finish(true);
    };
    cache.listAndWatch({ keyPrefix: prefix }, { signal: ended, receive, end: () => finish(cache.size === 0) });
    receive();
  });
}

function ignoreMissing(error: unknown): void {
  if (!isNotFound(error)) throw error;
}
