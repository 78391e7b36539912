/**
 * Leader election with a Lease: of many processes one leads, and only while it can show that it does.
 *
 * No two clocks are ever compared. Whether another's lease has run out is judged by how long this process has seen it
 * unchanged; whether one's own has, by when one began to write it. A leader gives up before anyone else may take over,
 * since it stops `renewDeadlineSeconds` after its last renewal and others wait for `leaseDurationSeconds`.
 */
import { type Lease, type LeaseSpec, lease } from '@kruise/api/coordination/lease';
import { isAlreadyExists, isConflict, isNotFound } from '@kruise/machinery/status';
import { after, type Clock } from '@kruise/values/clock';
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

/** What is known of a lease: its last state, and since when it has been that. */
type Sighting = { readonly lease: Lease; readonly since: Instant };

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
  let seen: Sighting | undefined;
  /** Whether what was seen last is what this process wrote, so that it need not be read again. */
  let isOwn = false;
  let leader: string | undefined;

  const look = (found: Lease): void => {
    if (seen?.lease.metadata.resourceVersion !== found.metadata.resourceVersion) {
      seen = { lease: found, since: clock.now() };
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
    const { lease: found, since } = seen!;
    if (isHeldByAnother(found.spec, identity, clock.now() - since)) return false;
    const spec = specAt(now, found.spec, { identity, leaseDurationSeconds });
    look(await client.update(lease, { ...found, spec }, { signal: deadline }));
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

  /** Renews until that has failed for too long; resolves when the lease is not to be relied on any more. */
  async function renew(heldSince: Instant, ended: AbortSignal): Promise<void> {
    let renewedAt = heldSince;
    const overdue = new AbortController();
    let cancel = () => {};
    const extend = () => {
      cancel();
      cancel = clock.setTimer(renewedAt + renewDeadlineMs - clock.now(), () => overdue.abort());
    };
    extend();
    const deadline = AbortSignal.any([overdue.signal, ended]);
    try {
      while (!deadline.aborted) {
        await after(clock, retryPeriodMs, deadline).catch(() => {});
        if (deadline.aborted) return;
        const begun = clock.now();
        if (await attempt(deadline)) {
          renewedAt = begun;
          extend();
        } else if (isHeldByAnother(seen?.lease.spec, identity, 0)) {
          return;
        }
      }
    } finally {
      cancel();
    }
  }

  /** Gives the lease up, so that another need not wait until it has run out. */
  async function release(deadline: AbortSignal): Promise<void> {
    if (!isOwn) look(await client.get(lease, reference, { signal: deadline }));
    const { lease: found } = seen!;
    if (found.spec?.holderIdentity !== identity) return;
    const time = formatMicroTime(clock.now());
    const released = { holderIdentity: '', leaseDurationSeconds: 1, renewTime: time, acquireTime: time };
    await client.update(lease, { ...found, spec: { ...found.spec, ...released } }, { signal: deadline });
  }

  /** Runs something that may take as long as a leader has to renew its lease. */
  async function inTime<T>(ended: AbortSignal, run: (deadline: AbortSignal) => Promise<T>): Promise<T | undefined> {
    const late = new AbortController();
    const cancel = clock.setTimer(renewDeadlineMs, () => late.abort(), ended);
    const deadline = AbortSignal.any([ended, late.signal]);
    try {
      return await orAborted(run(deadline), deadline);
    } finally {
      cancel();
    }
  }

  let heldSince: Instant | undefined;
  while (!signal.aborted) {
    const begun = clock.now();
    // An answer that takes longer comes too late to lead by.
    if (await inTime(signal, attempt)) {
      heldSince = begun;
      break;
    }
    await after(clock, jitter(random, retryPeriodMs, 1.2), signal).catch(() => {});
  }
  if (heldSince === undefined) return 'stopped';
  const tell = (message: string) =>
    options.record?.({
      about: seen!.lease,
      type: 'Normal',
      reason: 'LeaderElection',
      message: `${identity} ${message}`,
    });
  tell('became leader');

  const over = new AbortController();
  const finished = new AbortController();
  const stop = () => over.abort(signal.reason);
  signal.addEventListener('abort', stop, { once: true });
  if (signal.aborted) stop();
  let isLost = false;
  // Until the work has come to its end, though it is to: whoever is still at work still leads.
  const kept = renew(heldSince, finished.signal).then(() => {
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
    if (!isLost) await inTime(new AbortController().signal, release).catch(onError);
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

/** Whether someone else has a lease that may still be good, having been seen unchanged for so long. */
function isHeldByAnother(spec: LeaseSpec | undefined, identity: string, unchangedMs: number): boolean {
  if (!spec?.holderIdentity || spec.holderIdentity === identity) return false;
  return unchangedMs < (spec.leaseDurationSeconds ?? 0) * 1000;
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
