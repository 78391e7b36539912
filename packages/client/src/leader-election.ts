/**
 * Leader election with a Lease: at most one of several processes leads at any time.
 *
 * Clocks are never compared, neither between processes nor two readings of one clock, which may be adjusted in between:
 * only timers count. The lease of another process has expired if this process has observed it unchanged for its
 * duration. The own lease counts from the start of its last renewal. A leader stops before another process can take
 * over, because it stops `renewDeadlineSeconds` after its last renewal, and others wait for `leaseDurationSeconds`.
 */
import { type Lease, type LeaseSpec, lease } from '@kruise/api/coordination/lease';
import { isAlreadyExists, isConflict, isNotFound } from '@kruise/machinery/status';
import { after, type CancelTimer, type Clock } from '@kruise/values/clock';
import { jitter, type Random } from '@kruise/values/random';
import { formatMicroTime, type Instant } from '@kruise/values/time';
import type { NewEvent } from './actions.ts';
import type { Client } from './client.ts';

/** Lease, identity and durations; the defaults are those of the Kubernetes components. */
export type LeaderElectionOptions = {
  /** Name of the Lease. */
  readonly name: string;
  readonly namespace: string;
  /** Unique identity of this process. */
  readonly identity: string;
  readonly leaseDurationSeconds?: number;
  readonly renewDeadlineSeconds?: number;
  readonly retryPeriodSeconds?: number;
  /** Records Events about the Lease when this process starts and stops leading. */
  readonly record?: (event: NewEvent) => void;
  /** Called when a new leader is observed. */
  readonly onNewLeader?: (identity: string) => void;
  readonly onError?: (error: unknown) => void;
};

/** Deadline of the next renewal: `expired` is aborted at the deadline unless `cancel` is called. */
type Reliance = { readonly overdue: AbortController; readonly cancel: CancelTimer };

/** Reason why leading ended: the signal was aborted, or the lease was lost. */
export type LeadershipEnd = 'stopped' | 'lost';

/**
 * Waits until this process acquires the lease, and runs `lead` until the signal is aborted or the lease is lost. The
 * signal of `lead` is aborted in both cases. The lease is released only after `lead` has returned, so that no other
 * process leads meanwhile. If `lead` throws, the lease is released and the error is rethrown.
 *
 * ```ts
 * await runAsLeader(client, clock, random, { namespace: 'kube-system', name: 'my-controller', identity }, run, signal);
 * ```
 */
export async function runAsLeader(
  client: Client,
  clock: Clock,
  random: Random,
  options: LeaderElectionOptions,
  lead: (signal: AbortSignal) => Promise<void>,
  signal: AbortSignal,
): Promise<LeadershipEnd> {
  const { namespace, name, identity, onError = () => {} } = options;
  const leaseDurationSeconds = options.leaseDurationSeconds ?? 15;
  const renewDeadlineMs = (options.renewDeadlineSeconds ?? 10) * 1000;
  const retryPeriodMs = (options.retryPeriodSeconds ?? 2) * 1000;
  if (leaseDurationSeconds * 1000 <= renewDeadlineMs || renewDeadlineMs <= 1.2 * retryPeriodMs) {
    throw new RangeError(
      'leaseDurationSeconds must be greater than renewDeadlineSeconds, and renewDeadlineSeconds greater than 1.2 * retryPeriodSeconds',
    );
  }
  const reference = { namespace, name };
  /** Last observed lease, and whether it has been unchanged for its duration. */
  let seen: Lease | undefined;
  let hasRunOut = false;
  let cancelRunningOut: CancelTimer = () => {};
  /** Set if the last observed lease was written by this process and so need not be read again. */
  let isOwn = false;
  let leader: string | undefined;
  const finished = new AbortController();

  const look = (found: Lease): void => {
    if (seen?.metadata.resourceVersion !== found.metadata.resourceVersion) {
      seen = found;
      hasRunOut = false;
      cancelRunningOut();
      const runOut = () => {
        hasRunOut = true;
      };
      cancelRunningOut = clock.setTimer((found.spec?.leaseDurationSeconds ?? 0) * 1000, runOut, finished.signal);
    }
    const holder = found.spec?.holderIdentity || undefined;
    if (holder !== undefined && holder !== leader) options.onNewLeader?.(holder);
    leader = holder;
  };

  /** Acquires or renews the lease. Returns false if another process holds it. */
  async function tryToHold(deadline: AbortSignal): Promise<boolean> {
    const now = clock.now();
    if (!isOwn) {
      try {
        look(await client.get(lease, reference, { signal: deadline }));
      } catch (error) {
        if (!isNotFound(error)) throw error;
        const spec = specAt(now, undefined, { identity, leaseDurationSeconds });
        look(await client.create(lease, { metadata: reference, spec }, { signal: deadline }));
        return true;
      }
    }
    deadline.throwIfAborted();
    if (isAnothers(seen?.spec, identity) && !hasRunOut) return false;
    const spec = specAt(now, seen?.spec, { identity, leaseDurationSeconds });
    look(await client.update(lease, { ...seen!, spec }, { signal: deadline }));
    return true;
  }

  /** Like `tryAcquireOrRenew`, but returns false on errors. */
  async function attempt(deadline: AbortSignal): Promise<boolean> {
    try {
      const isHeld = await orAborted(tryToHold(deadline), deadline);
      isOwn = isHeld === true;
      return isOwn;
    } catch (error) {
      // Another process may have written the lease, or the response to our own write was lost.
      isOwn = false;
      if (!deadline.aborted && !isOutdated(error)) onError(error);
      return false;
    }
  }

  /** Starts the renew deadline. It counts from before the write, because the response may be delayed. */
  function rely(overdue = new AbortController()): Reliance {
    return { overdue, cancel: clock.setTimer(renewDeadlineMs, () => overdue.abort()) };
  }

  /** Renews the lease. Resolves when the renew deadline has expired or another process holds the lease. */
  async function renew(held: Reliance, ended: AbortSignal): Promise<void> {
    const { overdue } = held;
    let { cancel } = held;
    const deadline = AbortSignal.any([overdue.signal, ended]);
    try {
      while (!deadline.aborted) {
        await after(clock, retryPeriodMs, deadline).catch(() => {});
        if (deadline.aborted) return;
        const renewed = rely(overdue);
        if (await attempt(deadline)) {
          cancel();
          cancel = renewed.cancel;
          continue;
        }
        renewed.cancel();
        if (isAnothers(seen?.spec, identity)) return;
      }
    } finally {
      cancel();
    }
  }

  /** Releases the lease, so that the next leader need not wait until it expires. */
  async function release(deadline: AbortSignal): Promise<void> {
    if (!isOwn) look(await client.get(lease, reference, { signal: deadline }));
    if (seen?.spec?.holderIdentity !== identity) return;
    const time = formatMicroTime(clock.now());
    const released = { holderIdentity: '', leaseDurationSeconds: 1, renewTime: time, acquireTime: time };
    await client.update(lease, { ...seen, spec: { ...seen.spec, ...released } }, { signal: deadline });
  }

  async function releaseInTime(): Promise<void> {
    const { overdue, cancel } = rely();
    await orAborted(release(overdue.signal), overdue.signal).catch(onError).finally(cancel);
  }

  let held: Reliance | undefined;
  while (!signal.aborted) {
    const reliance = rely();
    // A response after the deadline is too late to lead.
    if (await attempt(AbortSignal.any([signal, reliance.overdue.signal]))) {
      held = reliance;
      break;
    }
    reliance.cancel();
    await after(clock, jitter(random, retryPeriodMs, 1.2), signal).catch(() => {});
  }
  if (!held) {
    finished.abort();
    return 'stopped';
  }
  const tell = (message: string) =>
    options.record?.({
      about: seen!,
      type: 'Normal',
      reason: 'LeaderElection',
      message: `${identity} ${message}`,
    });
  tell('became leader');

  const over = new AbortController();
  const stop = () => over.abort(signal.reason);
  signal.addEventListener('abort', stop, { once: true });
  if (signal.aborted) stop();
  let isLost = false;
  // The lease is renewed until the work has ended, even after the stop signal: work in progress still requires
  // leadership.
  const kept = renew(held, finished.signal).then(() => {
    isLost = !finished.signal.aborted;
    over.abort();
  });
  try {
    await lead(over.signal);
  } finally {
    signal.removeEventListener('abort', stop);
    finished.abort();
    await kept;
    tell('stopped leading');
    if (!isLost) await releaseInTime();
  }
  return isLost && !signal.aborted ? 'lost' : 'stopped';
}

type Claim = { readonly identity: string; readonly leaseDurationSeconds: number };

function specAt(now: Instant, before: LeaseSpec | undefined, { identity, leaseDurationSeconds }: Claim): LeaseSpec {
  const time = formatMicroTime(now);
  const isRenewed = before?.holderIdentity === identity;
  return {
    ...before,
    holderIdentity: identity,
    leaseDurationSeconds,
    acquireTime: isRenewed && before.acquireTime ? before.acquireTime : time,
    renewTime: time,
    leaseTransitions: before ? (before.leaseTransitions ?? 0) + (isRenewed ? 0 : 1) : 0,
  };
}

function isAnothers(spec: LeaseSpec | undefined, identity: string): boolean {
  return !!spec?.holderIdentity && spec.holderIdentity !== identity;
}

function isOutdated(error: unknown): boolean {
  return isConflict(error) || isAlreadyExists(error) || isNotFound(error);
}

/**
 * Returns the result of a promise, or undefined once the signal is aborted: a hanging request must not prolong
 * leadership.
 */
function orAborted<T>(promise: Promise<T>, signal: AbortSignal): Promise<T | undefined> {
  return new Promise((resolve, reject) => {
    const stop = () => resolve(undefined);
    if (signal.aborted) stop();
    signal.addEventListener('abort', stop, { once: true });
    promise.then(resolve, reject).finally(() => signal.removeEventListener('abort', stop));
  });
}
