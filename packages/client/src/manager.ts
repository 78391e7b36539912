/**
 * Runs controllers together: one client, one set of caches, one event recorder, one lease. Caches are filled on every
 * replica, for whoever reads them there; only the leader's controllers run.
 */
import { after, type Clock } from '@kruise/values/clock';
import type { Random } from '@kruise/values/random';
import type { Client } from './client.ts';
import { type Controller, type ControllerContext, type Runnable, runController } from './controller.ts';
import type { ControllerMetrics } from './controller-metrics.ts';
import { createEventRecorder, type EventRecorder } from './event-recorder.ts';
import { type Caches, type CachesOptions, createCaches } from './informer.ts';
import { type LeaderElectionOptions, runAsLeader } from './leader-election.ts';
import { type Log, silentLog } from './log.ts';
import type { StuckKeyRegistry } from './stuck-keys.ts';

/** What controllers are run with. */
export type RunOptions = {
  readonly client: Client;
  /** The client a controller writes with, where each has rights of its own; `client` by default. */
  readonly clientFor?: (controller: Controller | Runnable) => Client;
  readonly clock: Clock;
  readonly random: Random;
  /** Runs the controllers on one replica only; on this one, always, where it is left out. */
  readonly leaderElection?: LeaderElectionOptions;
  /** Caches that exist already, to be shared with others; else they are made. */
  readonly caches?: Caches;
  readonly cacheOptions?: CachesOptions;
  readonly log?: Log;
  readonly metrics?: ControllerMetrics;
  /** Registry for the functions that list keys that have been retried for more than ten minutes. */
  readonly stuckKeys?: StuckKeyRegistry;
  readonly expectationTimeoutMs?: number;
  /** Puts something around a controller, or in its place, before it runs: an observer, say, or a fault in a test. */
  readonly adapt?: (controller: Controller | Runnable) => Controller | Runnable;
  /** How long controllers may take to stop before they are left behind. */
  readonly gracePeriodMs?: number;
  /** Called once the controllers run, with what they read. */
  readonly onRunning?: (caches: Caches) => void;
};

const defaultGracePeriodMs = 30_000;

/** How long a process that stops waits for its last events to be written: they are only for people to read. */
const lastWordsMs = 5000;

/** The lease was lost: another leads now, and this process had better start anew. */
export class LeadershipLostError extends Error {
  override readonly name = 'LeadershipLostError';

  constructor() {
    super('leader election lost');
  }
}

/**
 * Runs controllers again whenever they lose their Lease, for processes that have other work to do and so cannot exit
 * with the Lease. `run` creates new controllers, since the state of the old ones may predate another leader's writes.
 */
export async function standByWhenLost(run: () => Promise<void>, onLost: (error: Error) => void): Promise<void> {
  for (;;) {
    try {
      return await run();
    } catch (error) {
      if (!(error instanceof LeadershipLostError)) throw error;
      onLost(error);
    }
  }
}

/**
 * Runs controllers until the signal is aborted: starts the informers they need, waits until they are filled, and runs
 * every controller. Resolves when all have come to a stop; throws `LeadershipLostError` if the lease was lost.
 *
 * ```ts
 * await runControllers([broadcastJobController], { client, clock: systemClock, random: systemRandom }, signal);
 * ```
 */
export async function runControllers(
  controllers: readonly (Controller | Runnable)[],
  options: RunOptions,
  signal: AbortSignal,
): Promise<void> {
  const { client, clock, random, leaderElection, metrics, stuckKeys, log = silentLog } = options;
  // What serves the controllers outlives them, so that they can stop in good order.
  const served = new AbortController();
  const onError = (error: unknown) => log.warn({ error }, 'something failed in the background, and is tried again');
  // Who was killed after a write and is started anew must not decide by a time before it.
  const caches =
    options.caches ??
    createCaches(client, clock, random, { newest: true, onError, ...options.cacheOptions }, served.signal);
  const fill = () => {
    for (const { watches, uses } of controllers) {
      for (const { kind, selection } of watches) caches.informer(kind, selection);
      for (const kind of uses) caches.informer(kind);
    }
  };

  const start = async (controller: Controller | Runnable, leading: AbortSignal): Promise<void> => {
    const { component } = controller;
    const own = options.clientFor?.(controller) ?? client;
    const onEventError = (error: unknown) => log.warn({ component, error }, 'an event could not be written');
    const recorder = createEventRecorder(own, clock, random, { component, onError: onEventError }, served.signal);
    const { expectationTimeoutMs } = options;
    const context: ControllerContext = {
      client: own,
      clock,
      random,
      caches,
      log,
      record: recorder.record,
      ...(metrics ? { metrics } : {}),
      ...(stuckKeys ? { stuckKeys } : {}),
      ...(expectationTimeoutMs === undefined ? {} : { expectationTimeoutMs }),
    };
    const adapted = options.adapt?.(controller) ?? controller;
    await ('run' in adapted ? adapted.run(context, leading) : runController(adapted, context, leading));
    await lastWordsOf(recorder);
  };

  const runAll = async (leading: AbortSignal): Promise<void> => {
    fill();
    void caches.synced().then(() => leading.aborted || options.onRunning?.(caches));
    const stopped = Promise.all(controllers.map((controller) => start(controller, leading)));
    await Promise.race([stopped, tooLate(leading, served.signal)]);
  };

  /** Resolves if controllers that were to stop have not done so for too long. */
  const tooLate = (leading: AbortSignal, over: AbortSignal): Promise<void> =>
    new Promise((resolve) => {
      const wait = () => clock.setTimer(options.gracePeriodMs ?? defaultGracePeriodMs, resolve, over);
      if (leading.aborted) wait();
      else leading.addEventListener('abort', wait, { once: true });
    });

  const lastWordsOf = async (recorder: EventRecorder): Promise<void> => {
    const over = new AbortController();
    const giveUp = after(clock, lastWordsMs, over.signal).catch(() => {});
    await Promise.race([recorder.flush(), giveUp]);
    over.abort();
  };

  const runInTurn = async (election: LeaderElectionOptions): Promise<void> => {
    const { identity, name } = election;
    const recorder = createEventRecorder(client, clock, random, { component: identity, onError }, served.signal);
    metrics?.leading(name, false);
    const lead = async (leading: AbortSignal) => {
      metrics?.leading(name, true);
      // A watch may lag behind, and nobody knows what the last leader wrote: what it did must not be done again.
      caches.refresh();
      await runAll(leading).finally(() => metrics?.leading(name, false));
    };
    // Who stands by keeps its caches full, to take over at once; who leads from the first need not list twice.
    const onNewLeader = (leader: string) => {
      if (leader !== identity) fill();
      election.onNewLeader?.(leader);
    };
    const end = await runAsLeader(
      client,
      clock,
      random,
      { record: recorder.record, onError, ...election, onNewLeader },
      lead,
      signal,
    );
    if (end === 'lost') throw new LeadershipLostError();
    await lastWordsOf(recorder);
  };

  try {
    await (leaderElection === undefined ? runAll(signal) : runInTurn(leaderElection));
  } finally {
    served.abort();
  }
}
