/**
 * Executes the steps of a decision in order. The actions of a `parallel` step run concurrently with a slow start
 * (1, 2, 4 …), so that few writes are tried where all would fail, for example when a quota is exceeded.
 */
import { generateName } from '@kruise/machinery/generated-names';
import { isAlreadyExists, isConflict, isNotFound, StatusError } from '@kruise/machinery/status';
import type { Kind } from '@kruise/schema/kind';
import { apiVersionOf } from '@kruise/schema/kind';
import { errorText } from '@kruise/values/error-text';
import { stringify } from '@kruise/values/go-json';
import type { Random } from '@kruise/values/random';
import type { Client, Reference } from '../api/client.ts';
import { TransportError } from '../api/http/transport-error.ts';
import { type Key, type KubernetesObject, keyOf, referenceOf } from '../cache/object-key.ts';
import type { Action, DryRun, EffectAction, NewEvent, ObjectAction, Step } from './actions.ts';
import type { Expectations, ObservedCache } from './expectations.ts';
import { isInconclusive, type Refusals, refusalIdOf } from './refusals.ts';

/** Outcome of the actions of a reconcile. */
export type Outcome = {
  /** Failed actions. Later actions are skipped unless the failed action is optional or independent. */
  readonly failures: readonly Failure[];
  /** The decision was made from a stale cache: another client wrote meanwhile. The key has to be reconciled again. */
  readonly isStale: boolean;
  /** Objects returned by the writes, by uid: newer than any cache. */
  readonly written: ReadonlyMap<string, KubernetesObject>;
};

/** An action that failed. */
export type Failure = {
  readonly action: Action;
  readonly error: unknown;
  /** Set if the action was not sent: it failed before with this error, and its backoff is not over. */
  readonly isInBackoff?: boolean;
};

/** Dependencies of the execution of actions. */
export type ExecutionContext = {
  readonly client: Client;
  readonly random: Random;
  readonly expectations: Expectations;
  /** Record of failed writes that are in backoff. */
  readonly refusals: Refusals;
  /** Kinds that the controller watches or uses. */
  readonly kinds: readonly Kind[];
  /** Returns the caches that will observe a write. */
  readonly cachesFor: (kind: Kind, object: KubernetesObject) => readonly ObservedCache[];
  readonly record: (event: NewEvent) => void;
  /** Side effects by name. */
  readonly effects: { readonly [name: string]: Effect };
  readonly fieldManager: string;
  readonly signal: AbortSignal;
};

/** A side effect, for example outside of the cluster. It may run again after it succeeded, so it must be idempotent. */
export type Effect = (
  input: unknown,
  signal: AbortSignal,
  execution: Pick<ExecutionContext, 'client' | 'record'>,
) => Promise<void>;

/**
 * Executes steps on behalf of an owner. If the signal is aborted, the remaining actions are skipped.
 *
 * ```ts
 * const { failures, isStale } = await execute(execution, keyOf(rollout), parallel(pods.map(remove)));
 * if (isStale || failures.length > 0) queue.add(keyOf(rollout));
 * ```
 */
export async function execute(execution: ExecutionContext, owner: Key, steps: readonly Step[]): Promise<Outcome> {
  const { refusals } = execution;
  const failures: Failure[] = [];
  const written = new Map<string, KubernetesObject>();
  let isStale = false;
  let isBlocked = false;

  /** Actions that start with a dry run, by the id of the dry run. */
  const dryRuns = new Map<string, Promise<boolean>>();

  /** Executes one action; returns true if dependent actions may run. */
  const attempt = async (action: ObjectAction): Promise<boolean> => {
    const { dryRun } = action;
    if (dryRun?.writes.length === 0) await dryRuns.get(dryRun.id);
    const attempted = send(action);
    if (dryRun && dryRun.writes.length > 0) dryRuns.set(dryRun.id, attempted);
    return attempted;
  };

  const send = async (action: ObjectAction): Promise<boolean> => {
    const id = refusalIdOf(action);
    const { dryRun } = action;
    const inBackoff = refusals.inBackoff(owner, id) ?? (dryRun && refusals.inBackoff(owner, dryRun.id));
    if (inBackoff) {
      isBlocked ||= !action.isOptional && !action.isIndependent;
      if (!action.isOptional) failures.push({ action, error: inBackoff.error, isInBackoff: true });
      return action.isOptional === true;
    }
    let isDryRun = dryRun !== undefined;
    try {
      if (dryRun) {
        await dryRunWrites(execution, owner, dryRun);
        // The rejections of this very object are cleared only after the write succeeds, because a dry run is no proof.
        if (dryRun.id !== dryRun.ownId) refusals.accept(owner, dryRun.id);
        isDryRun = false;
      }
      const result = await perform(execution, owner, action);
      refusals.accept(owner, id);
      if (result?.metadata.uid) written.set(result.metadata.uid, result);
      recordOutcomeEvents(execution, action, result);
      return true;
    } catch (error) {
      isBlocked ||= !action.isOptional && !action.isIndependent;
      if (isOutdated(error, action)) {
        isStale ||= !action.isOptional;
      } else {
        if (!action.isOptional) failures.push({ action, error });
        if (!isNamespaceTerminating(error)) {
          const refused = isDryRun ? dryRun : undefined;
          // The event of a rejected dry run is recorded once, regardless of how often the dry run is repeated.
          const isKnown = refused !== undefined && refusals.find(owner, refused.id) !== undefined;
          const { outcomeEvents = action.outcomeEvents } = refused ?? {};
          if (!isKnown && outcomeEvents) recordOutcomeEvents(execution, { ...action, outcomeEvents }, undefined, error);
          const ids = refused ? new Set([refused.id, refused.ownId ?? refused.id]) : [id];
          for (const each of ids) refusals.refuse(owner, each, error);
        }
      }
      return action.isOptional === true;
    }
  };

  const attemptEffect = async (action: EffectAction): Promise<boolean> => {
    try {
      const run = execution.effects[action.name];
      if (!run) throw new TypeError(`effect ${action.name} is not defined; add it to the effects of the controller`);
      await run(action.input, execution.signal, execution);
      return true;
    } catch (error) {
      failures.push({ action, error });
      isBlocked = true;
      return false;
    }
  };
  /**
   * Finds a later patch of a sequence that is in backoff. A sequence is not started if its end would be blocked:
   * the next reconcile would undo, for example, a readiness gate that was closed for a patch that is not sent, and
   * close it again.
   */
  const findActionInBackoff = (actions: readonly Action[]): Failure | undefined => {
    for (const action of actions.slice(1)) {
      if (action.type !== 'patch' || action.isOptional) continue;
      const inBackoff = refusals.inBackoff(owner, refusalIdOf(action));
      if (inBackoff) return { action, error: inBackoff.error, isInBackoff: true };
    }
    return undefined;
  };

  const runSequence = async (actions: readonly Action[]): Promise<void> => {
    const inBackoff = findActionInBackoff(actions);
    if (inBackoff) {
      failures.push(inBackoff);
      isBlocked ||= !(inBackoff.action as ObjectAction).isIndependent;
      return;
    }
    for (const [index, action] of actions.entries()) {
      if (index > 0 && execution.signal.aborted) return;
      if (action.type === 'record') execution.record(action.event);
      else if (!(await (action.type === 'effect' ? attemptEffect(action) : attempt(action)))) return;
    }
  };

  const isStopped = () => execution.signal.aborted || isBlocked;
  for (const step of steps) {
    if (isStopped()) break;
    const members = step.type === 'parallel' ? step.actions : [step];
    const sequences = members.map((member) => (member.type === 'sequence' ? member.actions : [member]));
    await runWithSlowStart(sequences, runSequence, isStopped);
  }
  return { failures, isStale, written };
}

/** Further requests would only queue in the server, which rejects them beyond some hundred. */
const maxConcurrentWrites = 256;

/** Slow start: processes the items with one worker at first, and adds one for each item that has ended. */
async function runWithSlowStart<T>(
  items: readonly T[],
  run: (item: T) => Promise<void>,
  isStopped: () => boolean,
): Promise<void> {
  let next = 0;
  let workers = 0;
  async function runWorker(): Promise<void> {
    const spawned: Promise<void>[] = [];
    workers++;
    while (next < items.length && !isStopped()) {
      await run(items[next++]!);
      if (next < items.length && workers < maxConcurrentWrites && !isStopped()) spawned.push(runWorker());
    }
    await Promise.all(spawned);
  }
  await runWorker();
}

/** Sends writes as a dry run. Throws the error of the first one that the server rejects. */
async function dryRunWrites(execution: ExecutionContext, owner: Key, { id, writes }: DryRun): Promise<void> {
  for (const action of writes) {
    try {
      await write(execution, kindOf(execution, action.object), action, { dryRun: true });
    } catch (error) {
      if (!isInconclusive(error, action)) throw error;
    }
  }
  execution.refusals.acceptDryRun(owner, id);
}

/**
 * Executes one write and records its expectations. Returns the object in the version that the server stored, if it
 * still exists.
 */
async function perform(
  execution: ExecutionContext,
  owner: Key,
  action: ObjectAction,
): Promise<KubernetesObject | undefined> {
  if (action.confirm) await confirm(execution, action.confirm);
  if (action.confirmGone) await confirmGone(execution, action.confirmGone);
  const { expectations } = execution;
  const kind = kindOf(execution, action.object);
  const namedAction = action.type === 'create' ? { ...action, object: withName(execution, action.object) } : action;
  const { object } = namedAction;
  try {
    const written = await write(execution, kind, namedAction);
    for (const cache of execution.cachesFor(kind, written ?? object)) {
      if (written && isFinalVersion(written)) expectations.expectGone(owner, cache, written);
      else if (written) expectations.expectVersion(owner, cache, written);
      else expectations.expectDeletion(owner, cache, object);
    }
    return written;
  } catch (error) {
    if (isUncertain(error)) {
      for (const cache of execution.cachesFor(kind, object)) expectations.uncertainWrite(owner, cache, object);
    }
    throw error;
  }
}

/**
 * Reports whether a write removed the object: it was terminating and lost its last finalizer. Its version is an old one
 * then.
 */
function isFinalVersion({ metadata }: KubernetesObject): boolean {
  const { deletionTimestamp, deletionGracePeriodSeconds, finalizers } = metadata;
  return deletionTimestamp != null && !deletionGracePeriodSeconds && !finalizers?.length;
}

/** Generates the name on the client side: if the response is lost, the object can still be read by name. */
function withName({ random }: ExecutionContext, object: KubernetesObject): KubernetesObject {
  const { name, generateName: base } = object.metadata;
  if (name || !base) return object;
  return { ...object, metadata: { ...object.metadata, name: generateName(random, base) } };
}

/** Sends a write; returns the stored object. */
async function write(
  { client, fieldManager }: ExecutionContext,
  kind: Kind,
  action: ObjectAction,
  { dryRun = false }: { readonly dryRun?: boolean } = {},
): Promise<KubernetesObject | undefined> {
  const { object } = action;
  const common = { fieldManager, ...(dryRun ? { dryRun } : {}) };
  const reference = referenceTo(object);
  switch (action.type) {
    case 'create':
      return await client.create(kind, object, common);
    case 'update': {
      const { subresource } = action;
      const options = { ...common, ...(subresource ? { subresource } : {}) };
      return await client.update(kind, object, options);
    }
    case 'patch': {
      const { patchType: type, subresource } = action;
      const options = { type, ...common, ...(subresource ? { subresource } : {}) };
      return await client.patch(kind, reference, withUid(action.patch, object, type), options);
    }
    case 'apply':
      return await client.apply(kind, object, { ...common, force: true });
    case 'remove': {
      const { uid } = object.metadata;
      const { preconditions, ...options } = action.options ?? {};
      try {
        await client.delete(kind, reference, {
          ...options,
          ...(dryRun ? { dryRun } : {}),
          preconditions: { ...(uid === undefined ? {} : { uid }), ...preconditions },
        });
      } catch (error) {
        // If the name exists again, it belongs to another object.
        const isGone = isNotFound(error) || (isConflict(error) && preconditions?.resourceVersion === undefined);
        if (!isGone) throw error;
      }
      return undefined;
    }
  }
}

/** Reports whether a failed write may have been executed: the response was lost, or the server failed. */
function isUncertain(error: unknown): boolean {
  if (error instanceof StatusError) return (error.status.code ?? 0) >= 500;
  return !(error instanceof TransportError) || error.wasSent;
}

/** Adds the uid as a precondition, so that the patch does not change a later object with the same name. */
function withUid(patch: unknown, { metadata: { uid } }: KubernetesObject, type: string): unknown {
  if (type === 'json' || uid === undefined) return patch;
  const { metadata, ...rest } = patch as { readonly metadata?: object };
  return { metadata: { uid, ...metadata }, ...rest };
}

/** Throws `OutdatedError` if a live read does not find the object or finds it terminating. */
async function confirm(execution: ExecutionContext, object: KubernetesObject): Promise<void> {
  const found = await execution.client.get(kindOf(execution, object), referenceTo(object));
  if (found.metadata.uid !== object.metadata.uid || found.metadata.deletionTimestamp != null) {
    throw new OutdatedError(`${object.kind} ${keyOf(object)} was replaced or is terminating`);
  }
}

/** Throws `OutdatedError` if a live read finds the object. */
async function confirmGone(execution: ExecutionContext, object: KubernetesObject): Promise<void> {
  const { uid } = object.metadata;
  let found: KubernetesObject;
  try {
    found = await execution.client.get(kindOf(execution, object), referenceTo(object));
  } catch (error) {
    if (isNotFound(error)) return;
    throw error;
  }
  if (uid === undefined || found.metadata.uid === uid) {
    throw new OutdatedError(`${object.kind} ${keyOf(object)} still exists`);
  }
}

class OutdatedError extends Error {
  override readonly name = 'OutdatedError';
}

/** Reports whether an error only means that the cache is stale. */
function isOutdated(error: unknown, { type }: ObjectAction): boolean {
  if (isConflict(error) || error instanceof OutdatedError) return true;
  return type === 'create' ? isAlreadyExists(error) : isNotFound(error);
}

/** Reports whether a create failed because its namespace is terminating. */
export function isNamespaceTerminating(error: unknown): boolean {
  return (
    error instanceof StatusError &&
    (error.status.details?.causes?.some(({ reason }) => reason === 'NamespaceTerminating') ?? false)
  );
}

function kindOf({ kinds }: ExecutionContext, { apiVersion, kind }: KubernetesObject): Kind {
  const found = kinds.find((each) => each.kind === kind && apiVersionOf(each) === apiVersion);
  if (!found)
    throw new TypeError(
      `${apiVersion} ${kind} is not declared by the controller; add the kind to owns, watches or uses`,
    );
  return found;
}

function referenceTo(object: KubernetesObject): Reference {
  return referenceOf(keyOf(object));
}

function recordOutcomeEvents(
  execution: ExecutionContext,
  action: ObjectAction,
  result?: KubernetesObject,
  error?: unknown,
): void {
  const { about, done, failed } = action.outcomeEvents ?? {};
  const event = error === undefined ? done && { type: 'Normal' as const, ...done } : failed;
  if (!about || !event) return;
  const placeholders: { readonly [placeholder: string]: () => string } = {
    '{name}': () => (result ?? action.object).metadata.name ?? '',
    '{error}': () => errorText(error),
    '{object}': () => stringify(action.object),
  };
  const message = event.message.replace(/\{(?:name|error|object)\}/g, (placeholder) => placeholders[placeholder]!());
  execution.record({ about, type: event.type ?? 'Warning', reason: event.reason, message });
}
