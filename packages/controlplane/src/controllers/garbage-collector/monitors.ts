/**
 * Keeps the graph up to date: one reflector for each kind whose objects can be deleted, as kinds come and go. Over the
 * network no more than the metadata of objects is asked for, and nothing is kept of them but what the graph keeps.
 */
import { customResourceDefinition } from '@kruise/api/apiextensions/customresourcedefinition';
import { apiService } from '@kruise/api/apiregistration/apiservice';
import { createClient } from '@kruise/client/client';
import type { ControllerContext } from '@kruise/client/controller';
import { type Discovery, discover, preferredKinds } from '@kruise/client/discovery';
import type { DynamicKind } from '@kruise/client/dynamic-kind';
import { runReflector } from '@kruise/client/reflector';
import { isNotFound } from '@kruise/machinery/status';
import { apiVersionOf, groupOf, resourceOf } from '@kruise/schema/kind';
import { after } from '@kruise/values/clock';
import { linkedController } from '@kruise/values/linked-controller';
import type { Graph } from './graph.ts';

/** The kinds whose changes tell that other kinds may have come or gone. */
export const kindsOfKinds = [customResourceDefinition, apiService] as const;

export type Monitors = {
  /** The kind a reference names, in its version or, if that is not served, in another. */
  kindOf(reference: { readonly apiVersion: string; readonly kind: string }): DynamicKind | undefined;
  /** Whether all there is has been seen: before, something may have dependents that nobody knows of. */
  isComplete(): boolean;
  /** Resolves when everything has been seen, or that takes too long. */
  readonly complete: Promise<void>;
};

type Monitor = {
  readonly kind: DynamicKind;
  readonly stop: AbortController;
  isSynced: boolean;
  /** Whether it has been waited for long enough. */
  isOverdue: boolean;
};

/** What is served is asked again after so long, if nothing tells that it has changed. */
const refreshMs = 30_000;
const retryMs = 5000;
/** A kind that cannot be listed for so long is no longer waited for: others must not suffer from it. */
const patienceMs = 30_000;
/** Events are very many, own nothing and are owned by nothing; they go by themselves. */
const ignored = new Set(['events', 'events.events.k8s.io']);

/** Follows all kinds until the signal is aborted; `onKinds` is called whenever other kinds are known than before. */
export function startMonitors(
  { client, clock, random, caches, log }: ControllerContext,
  graph: Graph,
  onKinds: () => void,
  signal: AbortSignal,
): Monitors {
  const metadata = createClient(client.transport, { metadataOnly: true });
  const monitors = new Map<string, Monitor>();
  let kinds: readonly DynamicKind[] = [];
  let byName: ReadonlyMap<string, readonly DynamicKind[]> = new Map();
  let hasDiscovered = false;
  let { promise: changed, resolve: change } = Promise.withResolvers<void>();
  const { promise: complete, resolve: completed } = Promise.withResolvers<void>();

  const isComplete = () =>
    hasDiscovered && [...monitors.values()].every(({ isSynced, isOverdue }) => isSynced || isOverdue);
  const checkComplete = () => {
    if (isComplete()) completed();
  };

  function start(kind: DynamicKind): void {
    const stop = linkedController(signal);
    const { signal: ended } = stop;
    const monitor: Monitor = { kind, stop, isSynced: false, isOverdue: false };
    monitors.set(resourceOf(kind), monitor);
    const overdue = () => {
      monitor.isOverdue = true;
      checkComplete();
    };
    clock.setTimer(patienceMs, overdue, ended);
    const sink = {
      replace(objects: readonly Parameters<Graph['replace']>[1][number][]) {
        graph.replace(kind, objects);
        monitor.isSynced = true;
        checkComplete();
      },
      change(type: string, { metadata: each }: Parameters<Graph['replace']>[1][number]) {
        if (type === 'DELETED') graph.remove(each.uid ?? '');
        else graph.observe(kind, each);
      },
      progress() {},
    };
    const onError = (error: unknown) => {
      // A kind that went out of service is found out about by discovery.
      if (!isNotFound(error)) log.warn({ resource: resourceOf(kind), error }, 'objects cannot be followed for now');
    };
    void runReflector(metadata, clock, random, kind, { newest: true, onError }, sink, ended);
  }

  function follow(discovered: Discovery): void {
    // Who does not answer for a while may still have all its objects.
    const silent = new Set(discovered.failures.map(({ groupVersion }) => groupVersion));
    const kept = kinds.filter((kind) => silent.has(apiVersionOf(kind)));
    const known = new Set(kinds.map(idOf));
    kinds = [...discovered.kinds, ...kept];
    byName = Map.groupBy(kinds, ({ group, kind }) => nameOf(group, kind));
    const wanted = new Map(
      preferredKinds(kinds)
        .filter(isCollected)
        .map((kind) => [resourceOf(kind), kind]),
    );
    for (const [id, { kind, stop }] of monitors) {
      if (wanted.get(id)?.version === kind.version) continue;
      stop.abort();
      monitors.delete(id);
      if (!wanted.has(id)) graph.replace(kind, []);
    }
    for (const [id, kind] of wanted) if (!monitors.has(id)) start(kind);
    hasDiscovered = true;
    checkComplete();
    if (known.size !== kinds.length || kinds.some((kind) => !known.has(idOf(kind)))) onKinds();
  }

  async function refresh(): Promise<void> {
    while (!signal.aborted) {
      let waitMs = refreshMs;
      ({ promise: changed, resolve: change } = Promise.withResolvers<void>());
      try {
        follow(await discover(client, { signal }));
      } catch (error) {
        if (signal.aborted) return;
        log.warn({ error }, 'what is served cannot be found out for now');
        waitMs = retryMs;
      }
      const waited = linkedController(signal);
      await Promise.race([changed, after(clock, waitMs, waited.signal).catch(() => {})]);
      waited.abort();
    }
  }

  for (const kind of kindsOfKinds) caches.informer(kind).handle(() => change(), { signal });
  signal.addEventListener('abort', () => completed(), { once: true });
  void refresh();

  return {
    kindOf({ apiVersion, kind }) {
      const versions = byName.get(nameOf(groupOf(apiVersion), kind));
      return versions?.find((each) => apiVersionOf(each) === apiVersion) ?? versions?.[0];
    },
    isComplete,
    complete,
  };
}

function isCollected(kind: DynamicKind): boolean {
  const isDeletable = ['delete', 'list', 'watch'].every((verb) => kind.verbs.includes(verb));
  return isDeletable && !ignored.has(resourceOf(kind));
}

function nameOf(group: string, kind: string): string {
  return `${kind}.${group}`;
}

function idOf(kind: DynamicKind): string {
  return `${apiVersionOf(kind)} ${kind.plural} ${kind.kind}`;
}
