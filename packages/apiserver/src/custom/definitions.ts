/**
 * CustomResourceDefinition lifecycle. Names are accepted for one definition after the other, so that each sees the
 * names accepted before. A definition is prepared for serving before its Established condition is visible. A deleted
 * definition stays until its objects are gone.
 */
import { isConflict, isNotFound } from '@kruise/machinery/status';
import type { Draft } from '@kruise/schema/draft';
import type { Core } from '../core.ts';
import { tracker } from '../handlers/tracking.ts';
import { update } from '../handlers/update.ts';
import type { Cached, KubeObject } from '../object.ts';
import type { Resource } from '../resource.ts';
import { asDefinition, cleanupFinalizer, type Definition, hasCondition, isServing } from './definition.ts';
import { deleteInstances } from './instances.ts';
import { internalOptions, internalRequest } from './own-request.ts';
import type { CustomServing } from './serving.ts';
import { reconcileStatus, type Terminating, terminating, withDefinitionCondition } from './status.ts';

/** Retry delay after a failure. */
const retryMs = 1000;

/** Serves all existing definitions and watches for changes. Resolves once the established definitions are served. */
export async function followDefinitions(
  core: Core,
  serving: CustomServing,
  onError: (error: unknown) => void,
): Promise<void> {
  const resource = core.resources.find('apiextensions.k8s.io', 'v1', 'customresourcedefinitions')!;
  const { cache, prefix } = resource.storage;
  const waiting = new Set<string>();
  const ending = new Map<string, AbortController>();
  let isWorking = false;

  function received({ object }: Cached, isGone: boolean): Promise<void> | undefined {
    const definition = asDefinition(object);
    const name = definition.metadata.name!;
    let served: Promise<void> | undefined;
    if (isGone) {
      ending.get(name)?.abort();
      serving.withdraw(name);
    } else {
      if (isServing(definition)) served = serving.serve(definition);
      enqueue(name);
    }
    // Names that other definitions wait for may have become free.
    for (const other of ofGroup(definition)) if (!hasCondition(other, 'NamesAccepted')) enqueue(other.metadata.name!);
    return served;
  }

  function ofGroup({ metadata, spec }: Definition): readonly Definition[] {
    return cache
      .list({ keyPrefix: prefix })
      .map(({ object }) => asDefinition(object))
      .filter((other) => other.spec.group === spec.group && other.metadata.name !== metadata.name);
  }

  /** Errors caused by the shutdown of the server are ignored. */
  function report(error: unknown): void {
    if (!core.signal.aborted) onError(error);
  }

  function enqueue(name: string): void {
    waiting.add(name);
    if (!isWorking) void work();
  }

  async function work(): Promise<void> {
    isWorking = true;
    // Definitions that arrive together are processed together.
    await Promise.resolve();
    while (waiting.size > 0 && !core.signal.aborted) {
      const names = [...waiting];
      waiting.clear();
      const reconciled = new Map<string, Definition>();
      await Promise.all(names.map((name) => attempt(name, () => reconcileDefinition(name, reconciled))));
      // The next definition must see the names that are already accepted.
      await core.feed.waitForCurrent().catch(report);
    }
    isWorking = false;
  }

  async function attempt(name: string, act: () => Promise<void>): Promise<void> {
    try {
      await act();
    } catch (error) {
      // On conflict, the other write has already enqueued the definition.
      if (isConflict(error) || isNotFound(error)) return;
      report(error);
      core.clock.setTimer(retryMs, () => enqueue(name), core.signal);
    }
  }

  const current = (name: string): KubeObject | undefined => cache.get(`${prefix}${name}`)?.object;

  /**
   * Processes one definition. `settled` holds the results for other definitions in this batch, which are not yet
   * stored.
   */
  async function reconcileDefinition(name: string, reconciled: Map<string, Definition>): Promise<void> {
    const object = current(name);
    if (!object) return;
    const definition = asDefinition(object);
    const { metadata } = definition;
    const others = ofGroup(definition).map((other) => reconciled.get(other.metadata.name!) ?? other);
    const status = reconcileStatus(definition, others, core.clock.now());
    if (status && status !== definition.status) {
      reconciled.set(name, { ...definition, status });
      await serving.prepare(definition);
      await write(object, { ...object, status });
    } else if (metadata.deletionTimestamp && metadata.finalizers?.includes(cleanupFinalizer) && !ending.has(name)) {
      const over = new AbortController();
      ending.set(name, over);
      void attempt(name, () => finalizeDefinition(name, over.signal)).finally(() => ending.delete(name));
    }
  }

  /** Deletes the objects of a terminating definition, then removes its finalizer. */
  async function finalizeDefinition(name: string, over: AbortSignal): Promise<void> {
    const signal = AbortSignal.any([over, core.signal]);
    await writeCondition(
      name,
      terminating('True', 'InstanceDeletionInProgress', 'CustomResource deletion is in progress'),
    );
    const stored = serving.stored(name);
    const object = current(name);
    if (!object) return;
    const outcome =
      stored && hasCondition(asDefinition(object), 'Established')
        ? await deleteInstances(core, stored, signal, (reason, message) =>
            writeCondition(name, terminating('True', reason, message)),
          )
        : withoutInstances(asDefinition(object));
    const last = current(name);
    if (!last || signal.aborted) return;
    const { finalizers, ...metadata } = last.metadata;
    const kept = (finalizers ?? []).filter((finalizer) => finalizer !== cleanupFinalizer);
    const status = withDefinitionCondition(asDefinition(last).status, outcome, core.clock.now());
    await write(last, { ...last, metadata: kept.length === 0 ? metadata : { ...metadata, finalizers: kept }, status });
  }

  async function writeCondition(name: string, condition: Terminating): Promise<void> {
    const object = current(name);
    if (!object) return;
    const { status } = asDefinition(object);
    const updated = withDefinitionCondition(status, condition, core.clock.now());
    if (updated !== status) await write(object, { ...object, status: updated });
  }

  async function write(seen: KubeObject, wanted: KubeObject): Promise<void> {
    await writeStatus(core, resource, seen, wanted);
    await core.feed.waitForCurrent();
  }

  const { items } = cache.listAndWatch(
    { keyPrefix: prefix },
    {
      signal: core.signal,
      receive: ({ type, cached }) => void received(cached, type === 'DELETED')?.catch(report),
      end: () => {},
    },
  );
  await Promise.all(items.map((cached) => received(cached, false)));
}

function withoutInstances(definition: Definition): Terminating {
  return hasCondition(definition, 'Established')
    ? terminating('False', 'OverlappingBuiltInResource', 'instances overlap with built-in resources in storage')
    : terminating('False', 'NeverEstablished', 'resource was never established');
}

/** Writes the status of a definition, on condition that the definition has not changed. */
async function writeStatus(core: Core, resource: Resource, seen: KubeObject, wanted: KubeObject): Promise<void> {
  const subresource = resource.subresources.get('status');
  if (subresource?.type !== 'part') throw new Error('definitions have no status');
  const part = { name: 'status', strategy: subresource.strategy };
  const context = internalRequest(core, resource, 'update', seen, part.name);
  const track = tracker(context, resource, internalOptions, part);
  await update(core, context, resource, {
    subresource: part.name,
    strategy: part.strategy,
    options: internalOptions,
    change: (live) =>
      // managedFields come from the live object; the resourceVersion is that of the cached one.
      track.changed(live, {
        ...wanted,
        metadata: { ...wanted.metadata, managedFields: live.metadata.managedFields },
      } as Draft<KubeObject>),
  });
}
