/**
 * Monitors: maintain the graph with one reflector per deletable kind, as kinds are added and removed. Only metadata is
 * requested over the network, and only the graph keeps data.
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

/** Kinds whose changes indicate that other kinds may have been added or removed. */
export const discoveryKinds = [customResourceDefinition, apiService] as const;

export type Monitors = {
  /** Returns the kind of a reference in its version or, if that version is not served, in another. */
  kindOf(reference: { readonly apiVersion: string; readonly kind: string }): DynamicKind | undefined;
  /** Reports whether all kinds have synced; before that, an object may have unknown dependents. */
  isComplete(): boolean;
  /** Resolves when all kinds have synced, or after a timeout. */
  readonly complete: Promise<void>;
};

type Monitor = {
  readonly kind: DynamicKind;
  readonly stop: AbortController;
  isSynced: boolean;
  /** The sync timeout of the monitor has passed. */
  isOverdue: boolean;
};

/** Interval of discovery without change notifications. */
const refreshMs = 30_000;
const retryMs = 5000;
/** Sync timeout of a kind: a kind that cannot be listed must not block the others. */
const syncTimeoutMs = 30_000;
/** Events are very many, have no owners or dependents, and expire by TTL. */
const ignored = new Set(['events', 'events.events.k8s.io']);

/**
 * Starts monitors for all kinds until the signal is aborted. Calls `onKinds` whenever the set of known kinds changes.
 */
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
    clock.setTimer(syncTimeoutMs, overdue, ended);
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
      // Discovery handles a kind that is no longer served.
      if (!isNotFound(error))
        log.warn({ resource: resourceOf(kind), error }, 'failed to list and watch objects; will retry');
    };
    void runReflector(metadata, clock, random, kind, { newest: true, onError }, sink, ended);
  }

  function follow(discovered: Discovery): void {
    // An API group that does not respond may still have all its objects.
    const unavailableGroups = new Set(discovered.failures.map(({ groupVersion }) => groupVersion));
    const kept = kinds.filter((kind) => unavailableGroups.has(apiVersionOf(kind)));
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
        log.warn({ error }, 'discovery failed; will retry');
        waitMs = retryMs;
      }
      const waited = linkedController(signal);
      await Promise.race([changed, after(clock, waitMs, waited.signal).catch(() => {})]);
      waited.abort();
    }
  }

  for (const kind of discoveryKinds) caches.informer(kind).handle(() => change(), { signal });
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
