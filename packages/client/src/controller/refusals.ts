/**
 * Rejected and failed writes by the key they were made for. Such a write is in backoff, which doubles with each
 * failure, regardless of other events of the key: neither watch events nor other successful writes of the controller
 * shorten the backoff. A change of intent ends it: another generation, a deletion, or another spec of the reconciled
 * object.
 *
 * The record contains only responses. Losing it with the process costs one request for each write that is still
 * rejected.
 */
import { isSame } from '@kruise/machinery/json-value';
import { isBadRequest, StatusError } from '@kruise/machinery/status';
import type { Clock } from '@kruise/values/clock';
import { type Key, type KubernetesObject, keyOf } from '../cache/object-key.ts';
import type { ObjectAction } from './actions.ts';

/** A failed write and its backoff. */
export type Refusal = {
  readonly error: unknown;
  /** Number of consecutive failures. */
  readonly attempts: number;
  /** Remaining backoff; 0 if the write may be retried. */
  readonly retryInMs: number;
};

/** Failed writes of a key, as input of a decision. */
export type RefusedWrites = {
  /** Returns the last failure under an id; undefined if there is none. */
  find(id: string): Refusal | undefined;
  /** Reports whether any failure is on record. */
  hasAny(): boolean;
  /** Reports whether the dry run of this id was accepted since the last change of intent. */
  isDryRunAccepted(id: string): boolean;
};

/** No failed writes and all dry runs accepted: for decisions that are not executed. */
export const noRefusals: RefusedWrites = {
  find: () => undefined,
  hasAny: () => false,
  isDryRunAccepted: () => true,
};

/** Record of the failed writes of one controller. */
export type Refusals = {
  /** Starts a reconcile. Clears the record of the key if the intent of the object has changed. */
  begin(owner: Key, object: KubernetesObject | undefined): RefusedWrites;
  /** Returns the last failure under an id, in backoff or not; undefined if there is none. */
  find(owner: Key, id: string): Refusal | undefined;
  /** Returns the failure of a write that is in backoff; undefined if the write may be sent. */
  inBackoff(owner: Key, id: string): Refusal | undefined;
  /** Records a failure and starts the next backoff. Failures without a response of the server are not recorded. */
  refuse(owner: Key, id: string, error: unknown): void;
  /** Removes the failures of a write that succeeded. */
  accept(owner: Key, id: string): void;
  /** Records that a dry run was accepted. */
  acceptDryRun(owner: Key, id: string): void;
  /**
   * Ends a reconcile. Returns the time until the first backoff of the key ends; undefined if no write is in backoff. A
   * backoff that has ended during the reconcile counts, with 0: the write may have been left out because of it.
   */
  end(owner: Key): number | undefined;
  forget(owner: Key): void;
};

/** Initial and maximum backoff. */
type Backoff = { readonly initialMs: number; readonly maxMs: number };

/** Rejected by validation, policy, webhook, quota or authorization: the same request will hardly succeed soon. */
const refused: Backoff = { initialMs: 1000, maxMs: 300_000 };
/** A deletion is mostly rejected by a disruption budget, which recovers when Pods become ready. */
const refusedDeletion: Backoff = { initialMs: 1000, maxMs: 30_000 };
/**
 * A PodUnavailableBudget is exhausted until other Pods are available again, which takes seconds in a healthy rollout.
 */
const exhaustedBudget: Backoff = { initialMs: 1000, maxMs: 5000 };
/** The server or a webhook failed, or there were too many requests. */
const failed: Backoff = { initialMs: 5, maxMs: 30_000 };

/** A workload with thousands of Pods may have as many rejected writes; beyond this limit the oldest are dropped. */
const maxWrites = 1000;

type Write = { readonly error: unknown; readonly attempts: number; readonly retryAt: number };

type Entry = {
  readonly intent: KubernetesObject | undefined;
  readonly writes: Map<string, Write>;
  readonly dryRuns: Set<string>;
};

/** Creates an empty record. */
export function createRefusals(clock: Clock): Refusals {
  const entries = new Map<Key, Entry>();
  /** Objects that are being reconciled, and the start of the reconcile, by key. */
  const reconciled = new Map<Key, { readonly object: KubernetesObject | undefined; readonly since: number }>();

  const entryOf = (owner: Key): Entry => {
    let entry = entries.get(owner);
    if (!entry) {
      entry = { intent: reconciled.get(owner)?.object, writes: new Map(), dryRuns: new Set() };
      entries.set(owner, entry);
    }
    return entry;
  };
  const find = (owner: Key, id: string): Refusal | undefined => {
    const write = entries.get(owner)?.writes.get(id);
    if (!write) return undefined;
    const { error, attempts, retryAt } = write;
    return { error, attempts, retryInMs: Math.max(0, retryAt - clock.elapsedMs()) };
  };

  return {
    begin(owner, object) {
      reconciled.set(owner, { object, since: clock.elapsedMs() });
      const entry = entries.get(owner);
      if (entry && !isSameIntent(entry.intent, object)) entries.delete(owner);
      return {
        find: (id) => find(owner, id),
        hasAny: () => (entries.get(owner)?.writes.size ?? 0) > 0,
        isDryRunAccepted: (id) => entries.get(owner)?.dryRuns.has(id) ?? false,
      };
    },
    find,
    inBackoff(owner, id) {
      const found = find(owner, id);
      return found && found.retryInMs > 0 ? found : undefined;
    },
    refuse(owner, id, error) {
      const backoff = backoffFor(id, error);
      if (!backoff) return;
      const { writes } = entryOf(owner);
      const now = clock.elapsedMs();
      const before = writes.get(id);
      const isInRow = before !== undefined && now <= before.retryAt + backoff.maxMs;
      const attempts = isInRow ? before.attempts + 1 : 1;
      const delayMs = Math.min(backoff.maxMs, backoff.initialMs * 2 ** (attempts - 1));
      // Insertion order is the order of age, so the entry moves to the end.
      writes.delete(id);
      writes.set(id, { error, attempts, retryAt: now + delayMs });
      const [oldest] = writes.keys();
      if (writes.size > maxWrites && oldest !== undefined) writes.delete(oldest);
    },
    accept(owner, id) {
      entries.get(owner)?.writes.delete(id);
    },
    acceptDryRun(owner, id) {
      const { dryRuns } = entryOf(owner);
      dryRuns.add(id);
      const [oldest] = dryRuns;
      if (dryRuns.size > maxWrites && oldest !== undefined) dryRuns.delete(oldest);
    },
    end(owner) {
      const now = clock.elapsedMs();
      const { since = now } = reconciled.get(owner) ?? {};
      reconciled.delete(owner);
      let next = Number.POSITIVE_INFINITY;
      for (const { retryAt } of entries.get(owner)?.writes.values() ?? []) {
        if (retryAt > since) next = Math.min(next, Math.max(0, retryAt - now));
      }
      return next === Number.POSITIVE_INFINITY ? undefined : next;
    },
    forget(owner) {
      entries.delete(owner);
      reconciled.delete(owner);
    },
  };
}

/**
 * Returns the id of a write. A repeated write has the same id in the next reconcile, although its content may differ.
 */
export function refusalIdOf(action: ObjectAction): string {
  if (action.refusalId !== undefined) return action.refusalId;
  const { type, object } = action;
  const { name, generateName, namespace } = object.metadata;
  // Names from `generateName` differ each time.
  const isGenerated = type === 'create' && generateName !== undefined;
  const which = isGenerated ? `${namespace ?? ''}/${generateName}*` : name === undefined ? '' : keyOf(object);
  const part = 'subresource' in action && action.subresource ? `/${action.subresource}` : '';
  return `${type} ${object.apiVersion} ${object.kind} ${which}${part}`;
}

/**
 * Reports whether the server rejected a request: a client error other than a conflict or too many requests.
 *
 * ```ts
 * await client.create(pod, web).catch((error) => {
 *   if (!isRefused(error)) throw error;
 * });
 * ```
 */
export function isRefused(error: unknown): boolean {
  return error instanceof StatusError && error.code >= 400 && error.code < 500 && ![409, 429].includes(error.code);
}

/** Reports whether validation rejected an object, as opposed to a policy, a webhook or missing permissions. */
export function isRefusedByValidation(error: unknown): boolean {
  return error instanceof StatusError && error.code === 422 && (error.status.details?.causes?.length ?? 0) > 0;
}

/**
 * Reports whether a failed dry run is inconclusive: a webhook does not support dry runs; the object to be replaced has
 * the name; or the quota is exceeded, and the object to be replaced will release its share. The server distinguishes a
 * quota from other reasons for Forbidden by its message only.
 */
export function isInconclusive(error: unknown, { type }: ObjectAction): boolean {
  if (isBadRequest(error)) return true;
  if (type !== 'create' || !(error instanceof StatusError)) return false;
  return error.reason === 'AlreadyExists' || (error.code === 403 && error.message.includes('exceeded quota'));
}

function backoffFor(id: string, error: unknown): Backoff | undefined {
  if (!(error instanceof StatusError)) return undefined;
  if (!isRefused(error)) return failed;
  // The response of a webhook contains the reason in its message only.
  if (error.message.includes('podunavailablebudget.policy.kruise.io')) return exhaustedBudget;
  return id.startsWith('remove ') ? refusedDeletion : refused;
}

/** Reports whether two versions of an object have the same intent. Kinds without a generation are compared by field. */
function isSameIntent(a: KubernetesObject | undefined, b: KubernetesObject | undefined): boolean {
  if (a === b) return true;
  if (!a || !b || a.metadata.uid !== b.metadata.uid) return false;
  if ((a.metadata.deletionTimestamp == null) !== (b.metadata.deletionTimestamp == null)) return false;
  const { generation } = b.metadata;
  if (generation !== undefined && generation !== 0) return a.metadata.generation === generation;
  return isSame(specOf(a), specOf(b));
}

function specOf(object: KubernetesObject): object {
  const { metadata: _, status: __, ...rest } = object as KubernetesObject & { readonly status?: unknown };
  return rest;
}
