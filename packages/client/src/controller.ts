/**
 * Controllers: what one is (`defineController`) and the one shell that runs them all (`runController`). A controller
 * says what it is for, what wakes it, where it looks and what it decides; the shell does what was decided, waits until
 * the caches show it, and tries again what failed. Nothing is remembered between two passes but in the cluster, so a
 * controller can be killed at any point and goes on from there when it is started again.
 */
import { isSame } from '@kruise/machinery/json-value';
import { controllerOf } from '@kruise/machinery/owner-references';
import { codecOf } from '@kruise/schema/codec';
import { groupOf, type Kind, type ObjectOf } from '@kruise/schema/kind';
import type { Clock } from '@kruise/values/clock';
import type { Random } from '@kruise/values/random';
import type { Instant } from '@kruise/values/time';
import type { Action, NewEvent } from './actions.ts';
import { type Client, inBackground } from './client.ts';
import type { ControllerMetrics, ReconcileResult } from './controller-metrics.ts';
import { type Effect, execute, isNamespaceTerminating, type Means, type Outcome } from './execute.ts';
import { createExpectations, type Expectations } from './expectations.ts';
import { type Caches, type Change, NotSyncedError } from './informer.ts';
import type { Log } from './log.ts';
import { type Key, type KubernetesObject, keyFor, keyOf } from './object-key.ts';
import { defaultRateLimiter, type RateLimiter } from './rate-limiter.ts';
import type { Selection } from './reflector.ts';
import { createRefusals, isRefused, noRefusals, type Refusals, type RefusedWrites } from './refusals.ts';
import { createStuckKeys, type StuckKeyRegistry } from './stuck-keys.ts';
import { createWorkQueue, type Priority, type WorkQueue } from './work-queue.ts';

/** What a controller has made up its mind to do. */
export type Decision<S = unknown> = {
  readonly actions: readonly Action[];
  /** What to do where nothing came of the actions: one failed, and nothing was written before. */
  readonly fallbackActions?: readonly Action[];
  /** The status the object is to have once the actions are done; or what it is to have given how they went. */
  readonly status?: S | ((outcome: Outcome) => S);
  /** Events to record once all of it is done and the status is written: news that must not be told twice. */
  readonly events?: readonly NewEvent[];
  /** When to look again though nothing happens. */
  readonly requeueAfterSeconds?: number;
  /** How long to leave it alone whatever happens: where a look costs much, changes in a row are better seen together. */
  readonly minIntervalMs?: number;
};

/** The type of a kind's status. */
export type StatusOf<T> = T extends { readonly status?: infer S } ? S : unknown;

/** What a controller is made of: `K` is the kind it is for, `O` what it looks at. */
export type ControllerDefinition<K extends Kind, O> = {
  /** Names it in logs, metrics and queues; by default after its kind. */
  readonly name?: string;
  readonly for: K;
  /** Only these objects of its kind. */
  readonly selection?: Selection;
  /** Which changes of its own kind matter; all of them by default. */
  readonly predicate?: (change: Change<ObjectOf<K>>) => boolean;
  /** The kinds it makes objects of, as their controller: their changes wake their owner. */
  readonly owns?: readonly Kind[];
  /** What else wakes it: `watch(node, keysOf)`. */
  readonly watches?: readonly Watch[];
  /** Kinds it reads or writes without being woken by them. */
  readonly uses?: readonly Kind[];
  /** Gathers what the decision depends on from the caches. Nothing is to be done where it returns undefined. */
  readonly observe: (caches: Caches, key: Key) => O | undefined;
  /** Asks for what the caches cannot tell, before the decision: metrics, say. What it throws ends the pass. */
  readonly fetch?: (observed: O, client: Client, signal: AbortSignal) => Promise<O>;
  /** Decides by the observed state, the time, and earlier refusals of the server; by nothing else. */
  readonly decide: (observed: O, now: Instant, refused: RefusedWrites) => Decision<StatusOf<ObjectOf<K>> | undefined>;
  /** What it does outside the cluster, by the names that `effect` actions give. */
  readonly effects?: { readonly [name: string]: Effect };
  /** Keys worked on at a time. */
  readonly workers?: number;
  /** Keys that are looked at from the start, whether there is such an object or not: for work that has none. */
  readonly initialKeys?: readonly Key[];
  /** Looks at everything again after so long. */
  readonly resyncMs?: number;
  /** A key is left alone for so long after each look, so that many changes in a row are seen together. */
  readonly minIntervalMs?: number;
  /** A change is looked at so long after it happened, together with those that follow it. */
  readonly delayMs?: number;
  /** Who its events are from; by default its name with `-controller`. */
  readonly component?: string;
  /** How long a failed key waits; by default as in Kubernetes. */
  readonly rateLimiter?: (clock: Clock) => RateLimiter;
  /** Whose the fields are that it writes; by default its name. */
  readonly fieldManager?: string;
  /** Nobody waits for what it writes: in one process with the server, others go first. */
  readonly isBackground?: boolean;
};

/** A controller, ready to be run. */
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
  /** Observes and decides; undefined where there is nothing to decide about. Waits only if it has to inquire. */
  consider(context: ConsideringContext, key: Key): Considered | undefined | Promise<Considered>;
};

/** What it takes to come to a decision. */
export type ConsideringContext = {
  readonly caches: Caches;
  readonly clock: Clock;
  readonly client: Client;
  readonly signal: AbortSignal;
  /** Record of earlier refusals of the server; empty by default. */
  readonly refusals?: Refusals;
};

/**
 * What runs beside controllers, with the same caches and rights, but in a way of its own: it keeps a graph, say, or acts
 * by the clock rather than by keys.
 */
export type Runnable = Pick<Controller, 'name' | 'watches' | 'uses' | 'component'> & {
  /** Works until the signal is aborted, and resolves when it has come to a stop. */
  run(context: ControllerContext, signal: AbortSignal): Promise<void>;
};

/** A decision, and the object it is about, if that is there. */
export type Considered = { readonly object: KubernetesObject | undefined; readonly decision: Decision };

/** A kind whose changes wake keys of another. */
export type Watch = {
  readonly kind: Kind;
  readonly selection: Selection | undefined;
  /** Calls back with the keys each change wakes, until the signal is aborted. */
  follow(caches: Caches, wake: (key: Key, priority: Priority) => void, signal: AbortSignal): void;
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
  const own = watch(kind, (change) => (predicate && !predicate(change) ? [] : [keyOf(asObject(change.object))]), {
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
    consider({ caches, clock, client, signal, refusals }, key) {
      const observed = observe(caches, key);
      if (observed === undefined) return undefined;
      // An object of a kind has what every object has. It is the one that was just observed: nothing has been awaited.
      const object = caches.of(kind, selection).get(key) as KubernetesObject | undefined;
      const refused = refusals?.begin(key, object) ?? noRefusals;
      const conclude = (known: O) => ({ object, decision: decide(known, clock.now(), refused) as Decision });
      return definition.fetch?.(observed, client, signal).then(conclude) ?? conclude(observed);
    },
  };
}

/** What is watched of a kind. */
export type WatchSettings = {
  /** Only these objects. */
  readonly selection?: Selection;
  /** Looks at everything again after so long. */
  readonly resyncMs?: number;
};

/**
 * Wakes keys when objects of another kind change.
 *
 * ```ts
 * watch(node, (change, caches) => caches.of(daemonSet).list().map(keyOf))
 * ```
 */
export function watch<K extends Kind>(
  kind: K,
  keysOf: (change: Change<ObjectOf<K>>, caches: Caches) => readonly Key[],
  { selection, resyncMs }: WatchSettings = {},
): Watch {
  return {
    kind,
    selection,
    follow(caches, wake, signal) {
      caches.informer(kind, selection).handle(
        (change) => {
          const priority = change.cause === 'event' ? 'change' : 'background';
          for (const key of keysOf(change, caches)) wake(key, priority);
        },
        { signal, ...(resyncMs === undefined ? {} : { resyncMs }) },
      );
    },
  };
}

function asObject(object: unknown): KubernetesObject {
  return object as KubernetesObject;
}

/** The keys of the owners an object has, or had before the change, of a kind: what `owns` wakes. */
export function ownersOf(kind: Kind, { object, previous }: Change<unknown>): readonly Key[] {
  const now = ownerOf(kind, asObject(object));
  const before = previous === undefined ? undefined : ownerOf(kind, asObject(previous));
  return [now, before === now ? undefined : before].filter((key) => key !== undefined);
}

function ownerOf(kind: Kind, object: KubernetesObject): Key | undefined {
  const owner = controllerOf(object);
  // Any version of the owner's kind is the same object.
  if (owner?.kind !== kind.kind || groupOf(owner.apiVersion) !== kind.group) return undefined;
  const { namespace } = object.metadata;
  return keyFor({ name: owner.name, ...(kind.scope === 'Namespaced' && namespace ? { namespace } : {}) });
}

/** What controllers run with. */
export type ControllerContext = {
  readonly client: Client;
  readonly clock: Clock;
  readonly random: Random;
  readonly caches: Caches;
  /** Records an event, without waiting. */
  readonly record: (event: NewEvent) => void;
  readonly log: Log;
  readonly metrics?: ControllerMetrics;
  /** Registry for the function that lists the keys that have been retried for more than ten minutes. */
  readonly stuckKeys?: StuckKeyRegistry;
  /** How long a write may stay out of sight before the controller goes on without having seen it. */
  readonly expectationTimeoutMs?: number;
};

/** Resolves once all that a controller reads is known, or the signal is aborted. */
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

/** If nothing else does, this wakes a key whose writes are not in sight yet. */
const lookAgainMs = 1000;

/**
 * Runs a controller until the signal is aborted. Then nothing new is begun: what is under way stops after the action it
 * is at, and the promise resolves when all of it has.
 */
export async function runController(
  controller: Controller,
  context: ControllerContext,
  signal: AbortSignal,
): Promise<void> {
  const { clock, caches, metrics } = context;
  // Whoever maps a change to keys may look anything up, so nothing is told before everything is known.
  await whenSynced(controller, caches, signal);
  if (signal.aborted) return;

  const observer = metrics?.queueOf(controller.name, clock);
  const queue = createWorkQueue(clock, {
    rateLimiter: controller.rateLimiter(clock),
    ...(observer ? { observer } : {}),
  });
  signal.addEventListener('abort', () => queue.close(), { once: true });
  const timeoutMs = context.expectationTimeoutMs;
  const expectations = createExpectations(clock, timeoutMs === undefined ? {} : { timeoutMs });
  const { delayMs } = controller;
  const wake = (key: Key, priority: Priority) =>
    delayMs > 0 ? queue.addAfter(key, delayMs, priority) : queue.add(key, priority);
  for (const each of controller.watches) {
    each.follow(caches, wake, signal);
  }
  for (const key of controller.initialKeys) queue.add(key);
  const pass = passOf(controller, context, { queue, expectations, signal });
  const work = async () => {
    for (let key = await queue.take(); key !== undefined; key = await queue.take()) {
      if (!signal.aborted) await pass(key);
      queue.done(key);
    }
  };
  metrics?.workersOf(controller.name, controller.workers);
  await Promise.all(Array.from({ length: controller.workers }, work));
}

type Run = { readonly queue: WorkQueue; readonly expectations: Expectations; readonly signal: AbortSignal };

/** One look at a key and what follows from it, with every way it can end. */
function passOf(controller: Controller, context: ControllerContext, { queue, expectations, signal }: Run) {
  const { clock, caches, log, metrics } = context;
  const refusals = createRefusals(clock);
  const stuckKeys = createStuckKeys(clock);
  metrics?.stuckKeysOf?.(controller.name, stuckKeys.list);
  context.stuckKeys?.add(controller.name, stuckKeys.list);
  const means: Means = {
    client: controller.isBackground ? inBackground(context.client) : context.client,
    random: context.random,
    expectations,
    refusals,
    kinds: controller.kinds,
    witnessesOf: (kind, object) => caches.seeing(kind, object),
    record: context.record,
    effects: controller.effects,
    fieldManager: controller.fieldManager,
    signal,
  };

  /** By `elapsedMs`: a clock that is put back must not keep them resting. */
  const restsUntil = new Map<Key, number>();

  async function reconcile(key: Key): Promise<ReconcileResult> {
    const remainingMs = (restsUntil.get(key) ?? 0) - clock.elapsedMs();
    if (remainingMs > 0) {
      queue.addAfter(key, remainingMs);
      return 'requeue_after';
    }
    const settling = expectations.settle(key);
    if (settling) await settling;
    const outstanding = expectations.outstanding(key);
    if (outstanding && !outstanding.isOverdue) {
      queue.addAfter(key, lookAgainMs, 'background');
      return 'requeue_after';
    }
    if (outstanding) {
      log.warn({ controller: controller.name, key, ...outstanding }, 'writes have not come into sight; going on');
      metrics?.overdue?.(controller.name, key);
      expectations.forget(key);
    }
    const pending = controller.consider({ caches, clock, client: context.client, signal, refusals }, key);
    const considered = pending instanceof Promise ? await pending : pending;
    if (considered === undefined) {
      restsUntil.delete(key);
      expectations.forget(key);
      refusals.forget(key);
      queue.forget(key);
      return 'success';
    }
    const { object, decision } = considered;
    const minIntervalMs = decision.minIntervalMs ?? controller.minIntervalMs;
    if (minIntervalMs > 0) restsUntil.set(key, clock.elapsedMs() + minIntervalMs);
    const outcome = await carryOut(key, decision);
    // What was decided by what is out of date is no report of anything.
    const isToBeReported = object && !outcome.isStale && !signal.aborted;
    const reported = isToBeReported ? await report(key, object, decision, outcome) : outcome;
    const failures = [...outcome.failures, ...(reported === outcome ? [] : reported.failures)];
    const serious = failures.filter(({ error, isHeld }) => !isHeld && !isNamespaceTerminating(error));
    if (serious.length > 0) throw errorOf(serious);
    if (signal.aborted) return 'success';
    if (outcome.isStale || reported.isStale) {
      queue.addRateLimited(key);
      return 'requeue';
    }
    const isHeldBack = failures.some(({ isHeld }) => isHeld);
    if (!isHeldBack) {
      queue.forget(key);
      for (const event of decision.events ?? []) context.record(event);
    }
    if (decision.requeueAfterSeconds === undefined) return 'success';
    queue.addAfter(key, decision.requeueAfterSeconds * 1000);
    return 'requeue_after';
  }

  async function carryOut(key: Key, { actions, fallbackActions }: Decision): Promise<Outcome> {
    const outcome = await execute(means, key, actions);
    const isInVain = outcome.failures.length > 0 && outcome.written.size === 0 && !outcome.isStale;
    if (!fallbackActions || !isInVain || signal.aborted) return outcome;
    const instead = await execute(means, key, fallbackActions);
    return { ...instead, failures: [...outcome.failures, ...instead.failures] };
  }

  /** Writes the status, if it is another than the object has. */
  async function report(key: Key, object: KubernetesObject, decision: Decision, outcome: Outcome): Promise<Outcome> {
    const { status: wanted } = decision;
    const status = typeof wanted === 'function' ? wanted(outcome) : wanted;
    // What the actions made of the object is newer than what was observed.
    const newest = outcome.written.get(object.metadata.uid ?? '') ?? object;
    const { status: present } = newest as { readonly status?: unknown };
    if (status === undefined || isSameStatus(controller.for, status, present)) return outcome;
    const subresource = controller.for.subresources.includes('status') ? { subresource: 'status' } : {};
    // An object with another status is an object of the same kind.
    const changed = { ...newest, status } as KubernetesObject;
    return execute(means, key, [{ type: 'update', object: changed, ...subresource }]);
  }

  type Ending = { readonly isRetried: boolean; readonly failure: { readonly error: unknown } | undefined };

  function noteStuck(key: Key, { isRetried, failure }: Ending): void {
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
    // A refused write has its own backoff, which only a change of intent ends early.
    if (retryMs !== undefined) queue.addAfter(key, retryMs);
    if (failure) {
      const { error } = failure;
      if (retryMs === undefined || !areRefusals(error)) queue.addRateLimited(key);
      else queue.retried();
      const retryAfterSeconds = retryMs === undefined ? {} : { retryAfterSeconds: retryMs / 1000 };
      log.error(
        { controller: controller.name, key, failures: queue.failures(key), ...retryAfterSeconds, error },
        'a pass failed',
      );
    }
    noteStuck(key, { isRetried: failure !== undefined || retryMs !== undefined || result === 'requeue', failure });
    metrics?.reconciled(controller.name, result, clock.elapsedMs() - startedAt);
  };
}

/** Whether two statuses are the same once they are stored: there a count of 0, say, is as good as none. */
function isSameStatus({ root }: Kind, a: unknown, b: unknown): boolean {
  if (isSame(a, b)) return true;
  const { stored } = codecOf<unknown>(root);
  const statusOf = (status: unknown) => (stored({ status }) as { readonly status?: unknown }).status;
  return isSame(statusOf(a), statusOf(b));
}

/** Reports whether the server refused every write that failed. */
function areRefusals(error: unknown): boolean {
  return error instanceof AggregateError ? error.errors.every(isRefused) : isRefused(error);
}

function errorOf(failures: Outcome['failures']): unknown {
  const errors = failures.map(({ error }) => error);
  return errors.length === 1 ? errors[0] : new AggregateError(errors, `${errors.length} actions failed`);
}
