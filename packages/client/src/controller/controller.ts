/**
 * Controllers: `defineController` declares one, `runController` runs it. A controller declares its kind, the events
 * that enqueue a key, the caches it reads, and its decision. The runtime executes the decision, waits for its
 * expectations, and retries with backoff. All state between two reconciles is in the cluster, so a controller can be
 * killed at any point and continues after a restart.
 */
import { isSame } from '@kruise/machinery/json-value';
import { controllerOf } from '@kruise/machinery/owner-references';
import { codecOf } from '@kruise/schema/codec';
import { groupOf, type Kind, type ObjectOf } from '@kruise/schema/kind';
import type { Clock } from '@kruise/values/clock';
import type { Random } from '@kruise/values/random';
import type { Instant } from '@kruise/values/time';
import { backgroundClient, type Client } from '../api/client.ts';
import { type Caches, type Change, NotSyncedError } from '../cache/informer.ts';
import { type Key, type KubernetesObject, keyFor, keyOf } from '../cache/object-key.ts';
import type { Selection } from '../cache/reflector.ts';
import type { NewEvent, Step } from './actions.ts';
import type { ControllerMetrics, ReconcileResult } from './controller-metrics.ts';
import { type Effect, type ExecutionContext, execute, isNamespaceTerminating, type Outcome } from './execute.ts';
import { createExpectations, type Expectations } from './expectations.ts';
import type { Log } from './log.ts';
import { defaultRateLimiter, type RateLimiter } from './rate-limiter.ts';
import { createRefusals, isRefused, noRefusals, type Refusals, type RefusedWrites } from './refusals.ts';
import { createStuckKeys, type StuckKeyRegistry } from './stuck-keys.ts';
import { createWorkQueue, type Priority, type WorkQueue } from './work-queue.ts';

/** The decision of one reconcile: actions, status, Events and requeue. */
export type Decision<S = unknown> = {
  /** Actions in order; `parallel` groups those that run concurrently. */
  readonly actions: readonly Step[];
  /** Actions that run instead if an action failed before anything was written. */
  readonly fallbackActions?: readonly Step[];
  /** Desired status after the actions, or a function that derives the status from their outcome. */
  readonly status?: S | ((outcome: Outcome) => S);
  /** Events to record after all actions succeeded and the status was written, so that a retry does not repeat them. */
  readonly events?: readonly NewEvent[];
  /**
   * Requeues the key after this time even if no event arrives; 0 continues after the writes of this decision, and is a
   * retry with backoff if nothing was written.
   */
  readonly requeueAfterSeconds?: number;
  /** Minimum time until the next reconcile of the key: where a reconcile is expensive, several events are coalesced. */
  readonly minIntervalMs?: number;
};

/** Status type of an object. */
export type StatusOf<T> = T extends { readonly status?: infer S } ? S : unknown;

/** Definition of a controller: `K` is its kind, `O` the observed state. */
export type ControllerDefinition<K extends Kind, O> = {
  /** Name in logs, metrics and queues; defaults to the lower-case kind. */
  readonly name?: string;
  readonly for: K;
  /** Restricts the reconciled objects by namespace, label selector or field selector. */
  readonly selection?: Selection;
  /** Predicate: which events of the reconciled kind enqueue a key; defaults to all. */
  readonly predicate?: (change: Change<ObjectOf<K>>) => boolean;
  /** Kinds of the dependents that the controller creates. Their events enqueue their controller owner. */
  readonly owns?: readonly Kind[];
  /** Further watches with a mapper: `watch(node, keysOf)`. */
  readonly watches?: readonly Watch[];
  /** Kinds that are read or written without being watched. */
  readonly uses?: readonly Kind[];
  /** Reads the observed state from the caches. Returns undefined if there is nothing to reconcile. */
  readonly observe: (caches: Caches, key: Key) => O | undefined;
  /** Reads live data that the caches do not have, for example metrics. An error fails the reconcile. */
  readonly fetch?: (observed: O, client: Client, signal: AbortSignal) => Promise<O>;
  /** Pure function of the observed state, the time, and earlier rejections by the server. */
  readonly decide: (observed: O, now: Instant, refused: RefusedWrites) => Decision<StatusOf<ObjectOf<K>> | undefined>;
  /** Side effects outside of the cluster, by the name that `effect` actions use. */
  readonly effects?: { readonly [name: string]: Effect };
  /** Maximum number of concurrent reconciles. */
  readonly workers?: number;
  /** Keys that are enqueued at the start even if no such object exists, for work without an object. */
  readonly initialKeys?: readonly Key[];
  /** Resync period: enqueues all objects again after this time. */
  readonly resyncMs?: number;
  /** Minimum time between two reconciles of a key: events in between are coalesced. */
  readonly minIntervalMs?: number;
  /** Delay between an event and the reconcile, so that following events are coalesced with it. */
  readonly delayMs?: number;
  /** Source component of its Events; defaults to its name with the suffix `-controller`. */
  readonly component?: string;
  /** Backoff of failed keys; defaults to the rate limiter of Kubernetes. */
  readonly rateLimiter?: (clock: Clock) => RateLimiter;
  /** Field manager of its writes; defaults to its name. */
  readonly fieldManager?: string;
  /** Marks its writes as background work: a server in the same process handles other requests first. */
  readonly isBackground?: boolean;
};

/** A controller that can be passed to `runController` or to a manager. */
export type Controller = {
  readonly name: string;
  readonly for: Kind;
  readonly kinds: readonly Kind[];
  readonly watches: readonly Watch[];
  readonly uses: readonly Kind[];
  readonly effects: { readonly [name: string]: Effect };
  readonly workers: number;
  readonly initialKeys: readonly Key[];
  readonly minIntervalMs: number;
  readonly delayMs: number;
  readonly component: string;
  readonly fieldManager: string;
  readonly isBackground: boolean;
  readonly rateLimiter: (clock: Clock) => RateLimiter;
  /**
   * Observes and decides. Returns undefined if there is nothing to reconcile, and a promise only if the controller has
   * `fetch`.
   */
  evaluate(context: EvaluationContext, key: Key): Evaluation | undefined | Promise<Evaluation>;
};

/** Dependencies of `Controller.evaluate`. */
export type EvaluationContext = {
  readonly caches: Caches;
  readonly clock: Clock;
  readonly client: Client;
  readonly signal: AbortSignal;
  /** Record of earlier rejections by the server; empty by default. */
  readonly refusals?: Refusals;
};

/**
 * A component that a manager runs beside controllers, with the same caches and permissions, but without a work queue:
 * for example a dependency graph or a periodic task.
 */
export type Runnable = Pick<Controller, 'name' | 'watches' | 'uses' | 'component'> & {
  /** Runs until the signal is aborted; the promise resolves when the component has stopped. */
  run(context: ControllerContext, signal: AbortSignal): Promise<void>;
};

/** A decision and the object it is about, if that object exists. */
export type Evaluation = { readonly object: KubernetesObject | undefined; readonly decision: Decision };

/** A watch that maps the events of a kind to keys of the controller. */
export type Watch = {
  readonly kind: Kind;
  readonly selection: Selection | undefined;
  /** Enqueues the keys of each event until the signal is aborted. */
  start(caches: Caches, enqueue: (key: Key, priority: Priority) => void, signal: AbortSignal): void;
};

/**
 * Defines a controller.
 *
 * ```ts
 * export const greeter = defineController({
 *   for: namespace,
 *   observe: (caches, key) => caches.of(namespace).get(key),
 *   decide: (found) => ({ actions: [patch(found, { metadata: { labels: { greeted: 'yes' } } })] }),
 * });
 * ```
 */
export function defineController<K extends Kind, O>(definition: ControllerDefinition<K, O>): Controller {
  const { for: kind, selection, observe, decide } = definition;
  const name = definition.name ?? kind.kind.toLowerCase();
  const resync = definition.resyncMs === undefined ? {} : { resyncMs: definition.resyncMs };
  const { predicate } = definition;
  const own = watch(kind, (change) => (predicate && !predicate(change) ? [] : [keyOf(change.object)]), {
    ...(selection ? { selection } : {}),
    ...resync,
  });
  const owned = (definition.owns ?? []).map((child) => watch(child, (change) => ownersOf(kind, change)));
  const watches = [own, ...owned, ...(definition.watches ?? [])];
  const uses = definition.uses ?? [];
  return {
    name,
    for: kind,
    kinds: [...new Set([...watches.map((each) => each.kind), ...uses])],
    watches,
    uses,
    effects: definition.effects ?? {},
    workers: definition.workers ?? 5,
    initialKeys: definition.initialKeys ?? [],
    minIntervalMs: definition.minIntervalMs ?? 0,
    delayMs: definition.delayMs ?? 0,
    component: definition.component ?? `${name}-controller`,
    fieldManager: definition.fieldManager ?? name,
    isBackground: definition.isBackground ?? false,
    rateLimiter: definition.rateLimiter ?? defaultRateLimiter,
    evaluate({ caches, clock, client, signal, refusals }, key) {
      const observed = observe(caches, key);
      if (observed === undefined) return undefined;
      // This is the object that `observe` read, because nothing was awaited in between.
      const object = caches.of(kind, selection).get(key);
      const refused = refusals?.begin(key, object) ?? noRefusals;
      const evaluateWith = (known: O) => ({ object, decision: decide(known, clock.now(), refused) as Decision });
      return definition.fetch?.(observed, client, signal).then(evaluateWith) ?? evaluateWith(observed);
    },
  };
}

/** Options of a watch. */
export type WatchOptions = {
  /** Restricts the watched objects. */
  readonly selection?: Selection;
  /** Resync period: maps all objects again after this time. */
  readonly resyncMs?: number;
};

/**
 * Enqueues keys when objects of another kind change.
 *
 * ```ts
 * watch(node, (change, caches) => caches.of(daemonSet).list().map(keyOf))
 * ```
 */
export function watch<K extends Kind>(
  kind: K,
  keysOf: (change: Change<ObjectOf<K>>, caches: Caches) => readonly Key[],
  { selection, resyncMs }: WatchOptions = {},
): Watch {
  return {
    kind,
    selection,
    start(caches, enqueue, signal) {
      caches.informer(kind, selection).handle(
        (change) => {
          const priority = change.cause === 'event' ? 'change' : 'background';
          for (const key of keysOf(change, caches)) enqueue(key, priority);
        },
        { signal, ...(resyncMs === undefined ? {} : { resyncMs }) },
      );
    },
  };
}

/** Mapper of `owns`: returns the keys of the controller owners of a kind, before and after the event. */
export function ownersOf(
  kind: Kind,
  { object, previous }: { readonly object: KubernetesObject; readonly previous?: KubernetesObject | undefined },
): readonly Key[] {
  const now = ownerOf(kind, object);
  const before = previous === undefined ? undefined : ownerOf(kind, previous);
  return [now, before === now ? undefined : before].filter((key) => key !== undefined);
}

function ownerOf(kind: Kind, object: KubernetesObject): Key | undefined {
  const owner = controllerOf(object);
  // Only the group is compared: the owner reference may name another version of the same object.
  if (owner?.kind !== kind.kind || groupOf(owner.apiVersion) !== kind.group) return undefined;
  const { namespace } = object.metadata;
  return keyFor({ name: owner.name, ...(kind.scope === 'Namespaced' && namespace ? { namespace } : {}) });
}

/** Dependencies of a running controller. */
export type ControllerContext = {
  readonly client: Client;
  readonly clock: Clock;
  readonly random: Random;
  readonly caches: Caches;
  /** Records an Event asynchronously. */
  readonly record: (event: NewEvent) => void;
  readonly log: Log;
  readonly metrics?: ControllerMetrics;
  /** Registry for the function that lists the keys that have been retried for more than ten minutes. */
  readonly stuckKeys?: StuckKeyRegistry;
  /** Timeout of expectations: after this time the controller reconciles although its cache may be stale. */
  readonly expectationTimeoutMs?: number;
};

/** Resolves when all informers of a controller have synced, or the signal is aborted. */
export async function whenSynced(
  { watches, uses }: Pick<Controller, 'watches' | 'uses'>,
  caches: Caches,
  signal: AbortSignal,
): Promise<void> {
  const informers = [
    ...watches.map(({ kind, selection }) => caches.informer(kind, selection)),
    ...uses.map((kind) => caches.informer(kind)),
  ];
  const { promise: aborted, resolve } = Promise.withResolvers<void>();
  if (signal.aborted) return;
  signal.addEventListener('abort', () => resolve(), { once: true });
  await Promise.race([Promise.all(informers.map(({ synced }) => synced)), aborted]);
}

/** Interval at which unsatisfied expectations are checked if no event arrives. */
const expectationRecheckMs = 1000;

/**
 * Runs a controller until the signal is aborted. Then no new reconcile starts, running reconciles stop after their
 * current action, and the promise resolves when all of them have stopped.
 *
 * ```ts
 * await runController(greeter, { client, clock, random, caches, record, log }, signal);
 * ```
 */
export async function runController(
  controller: Controller,
  context: ControllerContext,
  signal: AbortSignal,
): Promise<void> {
  const { clock, caches, metrics } = context;
  // A mapper may read any cache, so no event is handled before all informers have synced.
  await whenSynced(controller, caches, signal);
  if (signal.aborted) return;

  const observer = metrics?.queueOf(controller.name, clock);
  const queue = createWorkQueue(clock, {
    rateLimiter: controller.rateLimiter(clock),
    ...(observer ? { observer } : {}),
  });
  signal.addEventListener('abort', () => queue.shutDown(), { once: true });
  const timeoutMs = context.expectationTimeoutMs;
  const expectations = createExpectations(clock, timeoutMs === undefined ? {} : { timeoutMs });
  const { delayMs } = controller;
  const enqueue = (key: Key, priority: Priority) =>
    delayMs > 0 ? queue.addAfter(key, delayMs, priority) : queue.add(key, priority);
  for (const each of controller.watches) {
    each.start(caches, enqueue, signal);
  }
  for (const key of controller.initialKeys) queue.add(key);
  const reconcileKey = createReconciler(controller, context, { queue, expectations, signal });
  const work = async () => {
    for (let key = await queue.get(); key !== undefined; key = await queue.get()) {
      if (!signal.aborted) await reconcileKey(key);
      queue.done(key);
    }
  };
  metrics?.workersOf(controller.name, controller.workers);
  await Promise.all(Array.from({ length: controller.workers }, work));
}

type Run = { readonly queue: WorkQueue; readonly expectations: Expectations; readonly signal: AbortSignal };

/** Returns the reconcile function of a controller, including requeues, backoff, metrics and logs. */
function createReconciler(controller: Controller, context: ControllerContext, { queue, expectations, signal }: Run) {
  const { clock, caches, log, metrics } = context;
  const refusals = createRefusals(clock);
  const stuckKeys = createStuckKeys(clock);
  metrics?.stuckKeysOf?.(controller.name, stuckKeys.list);
  context.stuckKeys?.add(controller.name, stuckKeys.list);
  const means: ExecutionContext = {
    client: controller.isBackground ? backgroundClient(context.client) : context.client,
    random: context.random,
    expectations,
    refusals,
    kinds: controller.kinds,
    cachesFor: (kind, object) => caches.informersFor(kind, object),
    record: context.record,
    effects: controller.effects,
    fieldManager: controller.fieldManager,
    signal,
  };

  /** Times of `elapsedMs`: if the wall clock is set back, keys must not stay throttled. */
  const throttledUntil = new Map<Key, number>();

  async function reconcile(key: Key): Promise<ReconcileResult> {
    const remainingMs = (throttledUntil.get(key) ?? 0) - clock.elapsedMs();
    if (remainingMs > 0) {
      queue.addAfter(key, remainingMs);
      return 'requeue_after';
    }
    const resolving = expectations.resolveUncertain(key);
    if (resolving) await resolving;
    const outstanding = expectations.unsatisfied(key);
    if (outstanding && !outstanding.isTimedOut) {
      queue.addAfter(key, expectationRecheckMs, 'background');
      return 'requeue_after';
    }
    if (outstanding) {
      log.warn({ controller: controller.name, key, ...outstanding }, 'expectations timed out; cache may be stale');
      metrics?.overdue?.(controller.name, key);
      expectations.forget(key);
    }
    const pending = controller.evaluate({ caches, clock, client: context.client, signal, refusals }, key);
    const evaluation = pending instanceof Promise ? await pending : pending;
    if (evaluation === undefined) {
      throttledUntil.delete(key);
      expectations.forget(key);
      refusals.forget(key);
      queue.forget(key);
      return 'success';
    }
    const { object, decision } = evaluation;
    const minIntervalMs = decision.minIntervalMs ?? controller.minIntervalMs;
    if (minIntervalMs > 0) throttledUntil.set(key, clock.elapsedMs() + minIntervalMs);
    const outcome = await executeDecision(key, decision);
    // A decision from a stale cache must not be reported in the status.
    const shouldWriteStatus = object && !outcome.isStale && !signal.aborted;
    const statusOutcome = shouldWriteStatus ? await writeStatus(key, object, decision, outcome) : outcome;
    const failures = [...outcome.failures, ...(statusOutcome === outcome ? [] : statusOutcome.failures)];
    const serious = failures.filter(({ error, isInBackoff }) => !isInBackoff && !isNamespaceTerminating(error));
    if (serious.length > 0) throw errorOf(serious);
    if (signal.aborted) return 'success';
    if (outcome.isStale || statusOutcome.isStale) {
      queue.addRateLimited(key);
      return 'requeue';
    }
    const hasWritesInBackoff = failures.some(({ isInBackoff }) => isInBackoff);
    if (!hasWritesInBackoff) for (const event of decision.events ?? []) context.record(event);
    const { requeueAfterSeconds } = decision;
    // A requeue without a delay continues after the writes of this reconcile. If nothing was written, the next reconcile
    // would be the same, and as neither waits for anything, the process would not get to anything else.
    const hasWritten = outcome.written.size > 0 || statusOutcome.written.size > 0;
    if (requeueAfterSeconds !== undefined && requeueAfterSeconds <= 0 && !hasWritten) {
      // Writes in backoff requeue the key themselves.
      if (hasWritesInBackoff) return 'success';
      queue.addRateLimited(key);
      return 'requeue';
    }
    if (!hasWritesInBackoff) queue.forget(key);
    if (requeueAfterSeconds === undefined) return 'success';
    queue.addAfter(key, requeueAfterSeconds * 1000);
    return 'requeue_after';
  }

  async function executeDecision(key: Key, { actions, fallbackActions }: Decision): Promise<Outcome> {
    const outcome = await execute(means, key, actions);
    const hasNoEffect = outcome.failures.length > 0 && outcome.written.size === 0 && !outcome.isStale;
    if (!fallbackActions || !hasNoEffect || signal.aborted) return outcome;
    const fallback = await execute(means, key, fallbackActions);
    return { ...fallback, failures: [...outcome.failures, ...fallback.failures] };
  }

  /** Writes the status if it differs from the present one. */
  async function writeStatus(
    key: Key,
    object: KubernetesObject,
    decision: Decision,
    outcome: Outcome,
  ): Promise<Outcome> {
    const { status: wanted } = decision;
    const status = typeof wanted === 'function' ? wanted(outcome) : wanted;
    // The objects returned by the writes are newer than the observed ones.
    const newest = outcome.written.get(object.metadata.uid ?? '') ?? object;
    const { status: present } = newest as { readonly status?: unknown };
    if (status === undefined || isSameStatus(controller.for, status, present)) return outcome;
    const subresource = controller.for.subresources.includes('status') ? { subresource: 'status' } : {};
    const changed = { ...newest, status };
    return execute(means, key, [{ type: 'update', object: changed, ...subresource }]);
  }

  type ReconcileEnding = { readonly isRetried: boolean; readonly failure: { readonly error: unknown } | undefined };

  function trackStuckKey(key: Key, { isRetried, failure }: ReconcileEnding): void {
    if (!isRetried) {
      stuckKeys.recovered(key);
      return;
    }
    const stuck = stuckKeys.retried(key, failure?.error);
    if (stuck) log.warn({ controller: controller.name, ...stuck }, 'key has been retried for more than ten minutes');
  }

  return async (key: Key): Promise<void> => {
    const startedAt = clock.elapsedMs();
    let result: ReconcileResult;
    let failure: { readonly error: unknown } | undefined;
    try {
      result = await reconcile(key);
    } catch (error) {
      if (error instanceof NotSyncedError) {
        void error.synced.then(() => queue.add(key));
        return;
      }
      result = 'error';
      failure = { error };
    }
    const retryMs = refusals.end(key);
    // A rejected write has its own backoff, which ends early only if the intent changes.
    if (retryMs !== undefined) queue.addAfter(key, retryMs);
    if (failure) {
      const { error } = failure;
      if (retryMs === undefined || !areRefusals(error)) queue.addRateLimited(key);
      else queue.retried();
      const retryAfterSeconds = retryMs === undefined ? {} : { retryAfterSeconds: retryMs / 1000 };
      log.error(
        { controller: controller.name, key, failures: queue.failures(key), ...retryAfterSeconds, error },
        'reconcile failed',
      );
    }
    trackStuckKey(key, { isRetried: failure !== undefined || retryMs !== undefined || result === 'requeue', failure });
    metrics?.reconciled(controller.name, result, clock.elapsedMs() - startedAt);
  };
}

/** Compares two statuses in their stored form, in which, for example, a count of 0 is equal to a missing count. */
function isSameStatus({ root }: Kind, a: unknown, b: unknown): boolean {
  if (isSame(a, b)) return true;
  const { stored } = codecOf<unknown>(root);
  const statusOf = (status: unknown) => (stored({ status }) as { readonly status?: unknown }).status;
  return isSame(statusOf(a), statusOf(b));
}

/** Reports whether the server rejected every failed write. */
function areRefusals(error: unknown): boolean {
  return error instanceof AggregateError ? error.errors.every(isRefused) : isRefused(error);
}

function errorOf(failures: Outcome['failures']): unknown {
  const errors = failures.map(({ error }) => error);
  return errors.length === 1 ? errors[0] : new AggregateError(errors, `${errors.length} actions failed`);
}
