/**
 * Leader election with a Lease: of many processes one leads, and only while it can show that it does.
 *
 * No two clocks are ever compared, nor two times of one clock, which may be put right in between: only timers count.
 * Whether another's lease has run out is judged by how long this process has seen it unchanged; whether one's own has,
 * by when one began to write it. A leader gives up before anyone else may take over, since it stops
 * `renewDeadlineSeconds` after its last renewal and others wait for `leaseDurationSeconds`.
 */
import { type Lease, type LeaseSpec, lease } from '@kruise/api/coordination/lease';
import { isAlreadyExists, isConflict, isNotFound } from '@kruise/machinery/status';
import { after, type CancelTimer, type Clock } from '@kruise/values/clock';
import { jitter, type Random } from '@kruise/values/random';
import { formatMicroTime, type Instant } from '@kruise/values/time';
import type { NewEvent } from './actions.ts';
import type { Client } from './client.ts';

/** What is led by, and by whom; the durations are those of Kubernetes' own components. */
export type LeaderElectionOptions = {
  /** The Lease that is led by. */
  readonly name: string;
  readonly namespace: string;
  /** Who this process is; no other may have the same. */
  readonly identity: string;
  readonly leaseDurationSeconds?: number;
  readonly renewDeadlineSeconds?: number;
  readonly retryPeriodSeconds?: number;
  /** Tells, about the Lease, who begins and ceases to lead. */
  readonly record?: (event: NewEvent) => void;
  /** Told whenever another leads than before. */
  readonly onNewLeader?: (identity: string) => void;
  readonly onError?: (error: unknown) => void;
};

/** For how long a lease that is held may be relied on; `cancel` keeps the signal from being aborted. */
type Reliance = { readonly overdue: AbortController; readonly cancel: CancelTimer };

/** How leading came to its end: because it was to, or because the lease could not be kept. */
export type LeadershipEnd = 'stopped' | 'lost';

/**
 * Waits until this process leads, and leads until the signal is aborted or the lease is lost. `lead` is given a signal
 * that is aborted in either case; the lease is released only once `lead` has come to its end, so that no other leads
 * meanwhile. An error of `lead` is thrown, the lease released.
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
    throw new RangeError('the lease must outlast the deadline to renew it, and that more than one try');
  }
  const reference = { namespace, name };
  /** The lease as it was seen last, and whether it has been that for as long as it lasts. */
  let seen: Lease | undefined;
  let hasRunOut = false;
  let cancelRunningOut: CancelTimer = () => {};
  /** Whether what was seen last is what this process wrote, so that it need not be read again. */
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

  /** Takes the lease, or keeps it; false if another has it. */
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

  /** As above, but a failure is only a failure to hold it. */
  async function attempt(deadline: AbortSignal): Promise<boolean> {
    try {
      const isHeld = await orAborted(tryToHold(deadline), deadline);
      isOwn = isHeld === true;
      return isOwn;
    } catch (error) {
      // Another may have written, or this process without learning of it.
      isOwn = false;
      if (!deadline.aborted && !isOutdated(error)) onError(error);
      return false;
    }
  }

  /** Relies on a lease from now on: from before it is written, since the answer may be late. */
  function rely(overdue = new AbortController()): Reliance {
    return { overdue, cancel: clock.setTimer(renewDeadlineMs, () => overdue.abort()) };
  }

  /** Renews until that has failed for too long; resolves when the lease is not to be relied on any more. */
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

  /** Gives the lease up, so that another need not wait until it has run out. */
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
    // An answer that takes longer comes too late to lead by.
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
  // Until the work has come to its end, though it is to: whoever is still at work still leads.
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

/** What a promise gives, or nothing once the signal is aborted: a request that hangs must not keep a leader in office. */
function orAborted<T>(promise: Promise<T>, signal: AbortSignal): Promise<T | undefined> {
  return new Promise((resolve, reject) => {
    const stop = () => resolve(undefined);
    if (signal.aborted) stop();
    signal.addEventListener('abort', stop, { once: true });
    promise.then(resolve, reject).finally(() => signal.removeEventListener('abort', stop));
  });
}
