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
import type { Client } from '../api/client.ts';
import type { NewEvent } from './actions.ts';

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
type RenewDeadline = { readonly expired: AbortController; readonly cancel: CancelTimer };

/** Reason why leading ended: the signal was aborted, or the lease was lost. */
export type LeadershipEnd = 'stopped' | 'lost';

/**
 * Waits until this process acquires the lease, and runs `lead` until the signal is aborted or the lease is lost. The
 * signal of `lead` is aborted in both cases. The lease is released only after `lead` has returned, so that no other
 * process leads meanwhile. If `lead` throws, the lease is released and the error is rethrown.
 *
 * ```ts
 * await runAsLeader(client, clock, random, { namespace: 'kube-system', name: 'my-controller', identity }, lead, signal);
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
  let observed: Lease | undefined;
  let hasExpired = false;
  let cancelExpiry: CancelTimer = () => {};
  /** Set if the last observed lease was written by this process and so need not be read again. */
  let isOwnVersion = false;
  let leader: string | undefined;
  const finished = new AbortController();

  const observeLease = (found: Lease): void => {
    if (observed?.metadata.resourceVersion !== found.metadata.resourceVersion) {
      observed = found;
      hasExpired = false;
      cancelExpiry();
      const expire = () => {
        hasExpired = true;
      };
      cancelExpiry = clock.setTimer((found.spec?.leaseDurationSeconds ?? 0) * 1000, expire, finished.signal);
    }
    const holder = found.spec?.holderIdentity || undefined;
    if (holder !== undefined && holder !== leader) options.onNewLeader?.(holder);
    leader = holder;
  };

  /** Acquires or renews the lease. Returns false if another process holds it. */
  async function tryAcquireOrRenew(deadline: AbortSignal): Promise<boolean> {
    const now = clock.now();
    if (!isOwnVersion) {
      try {
        observeLease(await client.get(lease, reference, { signal: deadline }));
      } catch (error) {
        if (!isNotFound(error)) throw error;
        const spec = specAt(now, undefined, { identity, leaseDurationSeconds });
        observeLease(await client.create(lease, { metadata: reference, spec }, { signal: deadline }));
        return true;
      }
    }
    deadline.throwIfAborted();
    if (isHeldByOther(observed?.spec, identity) && !hasExpired) return false;
    const spec = specAt(now, observed?.spec, { identity, leaseDurationSeconds });
    observeLease(await client.update(lease, { ...observed!, spec }, { signal: deadline }));
    return true;
  }

  /** Like `tryAcquireOrRenew`, but returns false on errors. */
  async function attempt(deadline: AbortSignal): Promise<boolean> {
    try {
      const isHeld = await untilAborted(tryAcquireOrRenew(deadline), deadline);
      isOwnVersion = isHeld === true;
      return isOwnVersion;
    } catch (error) {
      // Another process may have written the lease, or the response to our own write was lost.
      isOwnVersion = false;
      if (!deadline.aborted && !isOutdated(error)) onError(error);
      return false;
    }
  }

  /** Starts the renew deadline. It counts from before the write, because the response may be delayed. */
  function startRenewDeadline(expired = new AbortController()): RenewDeadline {
    return { expired, cancel: clock.setTimer(renewDeadlineMs, () => expired.abort()) };
  }

  /** Renews the lease. Resolves when the renew deadline has expired or another process holds the lease. */
  async function renew(acquired: RenewDeadline, ended: AbortSignal): Promise<void> {
    const { expired } = acquired;
    let { cancel } = acquired;
    const deadline = AbortSignal.any([expired.signal, ended]);
    try {
      while (!deadline.aborted) {
        await after(clock, retryPeriodMs, deadline).catch(() => {});
        if (deadline.aborted) return;
        const renewed = startRenewDeadline(expired);
        if (await attempt(deadline)) {
          cancel();
          cancel = renewed.cancel;
          continue;
        }
        renewed.cancel();
        if (isHeldByOther(observed?.spec, identity)) return;
      }
    } finally {
      cancel();
    }
  }

  /** Releases the lease, so that the next leader need not wait until it expires. */
  async function release(deadline: AbortSignal): Promise<void> {
    if (!isOwnVersion) observeLease(await client.get(lease, reference, { signal: deadline }));
    if (observed?.spec?.holderIdentity !== identity) return;
    const time = formatMicroTime(clock.now());
    const released = { holderIdentity: '', leaseDurationSeconds: 1, renewTime: time, acquireTime: time };
    await client.update(lease, { ...observed, spec: { ...observed.spec, ...released } }, { signal: deadline });
  }

  async function releaseWithDeadline(): Promise<void> {
    const { expired, cancel } = startRenewDeadline();
    await untilAborted(release(expired.signal), expired.signal).catch(onError).finally(cancel);
  }

  let acquired: RenewDeadline | undefined;
  while (!signal.aborted) {
    const renewDeadline = startRenewDeadline();
    // A response after the deadline is too late to lead.
    if (await attempt(AbortSignal.any([signal, renewDeadline.expired.signal]))) {
      acquired = renewDeadline;
      break;
    }
    renewDeadline.cancel();
    await after(clock, jitter(random, retryPeriodMs, 1.2), signal).catch(() => {});
  }
  if (!acquired) {
    finished.abort();
    return 'stopped';
  }
  const recordEvent = (message: string) =>
    options.record?.({
      about: observed!,
      type: 'Normal',
      reason: 'LeaderElection',
      message: `${identity} ${message}`,
    });
  recordEvent('became leader');

  const leadership = new AbortController();
  const stop = () => leadership.abort(signal.reason);
  signal.addEventListener('abort', stop, { once: true });
  if (signal.aborted) stop();
  let isLost = false;
  // The lease is renewed until the work has ended, even after the stop signal: work in progress still requires
  // leadership.
  const renewal = renew(acquired, finished.signal).then(() => {
    isLost = !finished.signal.aborted;
    leadership.abort();
  });
  try {
    await lead(leadership.signal);
  } finally {
    signal.removeEventListener('abort', stop);
    finished.abort();
    await renewal;
    recordEvent('stopped leading');
    if (!isLost) await releaseWithDeadline();
  }
  return isLost && !signal.aborted ? 'lost' : 'stopped';
}

type LeaseHolder = { readonly identity: string; readonly leaseDurationSeconds: number };

function specAt(
  now: Instant,
  before: LeaseSpec | undefined,
  { identity, leaseDurationSeconds }: LeaseHolder,
): LeaseSpec {
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

function isHeldByOther(spec: LeaseSpec | undefined, identity: string): boolean {
  return !!spec?.holderIdentity && spec.holderIdentity !== identity;
}

function isOutdated(error: unknown): boolean {
  return isConflict(error) || isAlreadyExists(error) || isNotFound(error);
}

/**
 * Returns the result of a promise, or undefined once the signal is aborted: a hanging request must not prolong
 * leadership.
 */
function untilAborted<T>(promise: Promise<T>, signal: AbortSignal): Promise<T | undefined> {
  return new Promise((resolve, reject) => {
    const stop = () => resolve(undefined);
    if (signal.aborted) stop();
    signal.addEventListener('abort', stop, { once: true });
    promise.then(resolve, reject).finally(() => signal.removeEventListener('abort', stop));
  });
}
