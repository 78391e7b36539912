/**
 * Does what a controller decided, in order. Creations, removals or patches of one kind that follow each other go out
 * beside each other, first one, then two, then four: where all would fail, as with a quota used up, few are tried.
 * Patches of one object that follow each other go out one after the other, beside those of others.
 */
import { generateName } from '@kruise/machinery/generated-names';
import { isAlreadyExists, isConflict, isNotFound, StatusError } from '@kruise/machinery/status';
import type { Kind } from '@kruise/schema/kind';
import { apiVersionOf } from '@kruise/schema/kind';
import { stringify } from '@kruise/values/go-json';
import type { Random } from '@kruise/values/random';
import type { Action, DryRun, EffectAction, NewEvent, ObjectAction } from './actions.ts';
import type { Client, Reference } from './client.ts';
import type { Expectations, Witness } from './expectations.ts';
import { TransportError } from './http/transport-error.ts';
import { type Key, type KubernetesObject, keyOf, referenceOf } from './object-key.ts';
import { isInconclusive, type Refusals, refusalIdOf } from './refusals.ts';

/** How it went. */
export type Outcome = {
  /** What failed, and why. What comes after a failure is not tried, unless that was of no concern to it. */
  readonly failures: readonly Failure[];
  /** What was decided no longer fits the world: someone else wrote. Deciding again will do. */
  readonly isStale: boolean;
  /** What the server answered to what was done, by uid: newer than any cache. */
  readonly written: ReadonlyMap<string, KubernetesObject>;
};

/** An action that failed. */
export type Failure = {
  readonly action: Action;
  readonly error: unknown;
  /** Set if the action was not sent: it failed before, with this error, and its backoff is not over. */
  readonly isHeld?: boolean;
};

/** What it takes to do something. */
export type Means = {
  readonly client: Client;
  readonly random: Random;
  readonly expectations: Expectations;
  /** Record of failed writes that are held back for a while. */
  readonly refusals: Refusals;
  /** The kinds the controller has to do with. */
  readonly kinds: readonly Kind[];
  /** The caches that are to see a write. */
  readonly witnessesOf: (kind: Kind, object: KubernetesObject) => readonly Witness[];
  readonly record: (event: NewEvent) => void;
  /** What can be done outside the cluster, by name. */
  readonly effects: { readonly [name: string]: Effect };
  readonly fieldManager: string;
  readonly signal: AbortSignal;
};

/**
 * Does something that no other action can: something outside the cluster, say. It may be called again for what it has
 * done already, and must not mind.
 */
export type Effect = (input: unknown, signal: AbortSignal, means: Pick<Means, 'client' | 'record'>) => Promise<void>;

/** Does actions on behalf of an owner; stops between two of them when the signal is aborted. */
export async function execute(means: Means, owner: Key, actions: readonly Action[]): Promise<Outcome> {
  const { refusals } = means;
  const failures: Failure[] = [];
  const written = new Map<string, KubernetesObject>();
  let isStale = false;
  let isBlocked = false;

  /** Actions that begin with a dry run, by its id. */
  const tried = new Map<string, Promise<boolean>>();

  /** Does one thing; says whether what depends on it may be done. */
  const attempt = async (action: ObjectAction): Promise<boolean> => {
    const { dryRun } = action;
    if (dryRun?.writes.length === 0) await tried.get(dryRun.id);
    const attempted = send(action);
    if (dryRun && dryRun.writes.length > 0) tried.set(dryRun.id, attempted);
    return attempted;
  };

  const send = async (action: ObjectAction): Promise<boolean> => {
    const id = refusalIdOf(action);
    const { dryRun } = action;
    const held = refusals.held(owner, id) ?? (dryRun && refusals.held(owner, dryRun.id));
    if (held) {
      isBlocked ||= !action.isOptional && !action.isIndependent;
      if (!action.isOptional) failures.push({ action, error: held.error, isHeld: true });
      return action.isOptional === true;
    }
    let isDryRun = dryRun !== undefined;
    try {
      if (dryRun) {
        await tryOut(means, owner, dryRun);
        // The refusals of this very object are dropped only after the write succeeds: a dry run is no proof.
        if (dryRun.id !== dryRun.ownId) refusals.accept(owner, dryRun.id);
        isDryRun = false;
      }
      const result = await perform(means, owner, action);
      refusals.accept(owner, id);
      if (result?.metadata.uid) written.set(result.metadata.uid, result);
      announce(means, action, result);
      return true;
    } catch (error) {
      isBlocked ||= !action.isOptional && !action.isIndependent;
      if (isOutdated(error, action)) {
        isStale ||= !action.isOptional;
      } else {
        if (!action.isOptional) failures.push({ action, error });
        if (!isNamespaceTerminating(error)) {
          const refused = isDryRun ? dryRun : undefined;
          // The event of a refused dry run is recorded once, however often the dry run is repeated.
          const isKnown = refused !== undefined && refusals.find(owner, refused.id) !== undefined;
          const { announcement = action.announcement } = refused ?? {};
          if (!isKnown && announcement) announce(means, { ...action, announcement }, undefined, error);
          const ids = refused ? new Set([refused.id, refused.ownId ?? refused.id]) : [id];
          for (const each of ids) refusals.refuse(owner, each, error);
        }
      }
      return action.isOptional === true;
    }
  };

  const attemptEffect = async (action: EffectAction): Promise<boolean> => {
    try {
      const run = means.effects[action.name];
      if (!run) throw new TypeError(`the controller has no effect ${action.name}`);
      await run(action.input, means.signal, means);
      return true;
    } catch (error) {
      failures.push({ action, error });
      isBlocked = true;
      return false;
    }
  };
  /**
   * Finds a later write of the same object that is in backoff. Nothing is begun whose end would be held back: a Pod whose
   * gate is closed for a patch that is not sent would be opened by the next reconcile, and closed again.
   */
  const heldStep = (steps: readonly Action[]): Failure | undefined => {
    for (const action of steps.slice(1)) {
      if (action.type !== 'patch' || action.isOptional) continue;
      const held = refusals.held(owner, refusalIdOf(action));
      if (held) return { action, error: held.error, isHeld: true };
    }
    return undefined;
  };

  const go = async (steps: readonly Action[]): Promise<void> => {
    const held = heldStep(steps);
    if (held) {
      failures.push(held);
      isBlocked ||= !(held.action as ObjectAction).isIndependent;
      return;
    }
    for (const [index, action] of steps.entries()) {
      if (index > 0 && means.signal.aborted) return;
      if (action.type === 'record') means.record(action.event);
      else if (!(await (action.type === 'effect' ? attemptEffect(action) : attempt(action)))) return;
    }
  };

  const isOver = () => means.signal.aborted || isBlocked;
  for (const batch of batchesOf(actions)) {
    if (isOver()) break;
    await sendOut(batch, go, isOver);
  }
  return { failures, isStale, written };
}

/** More at once would only wait in the server, and beyond some hundred it would be sent away. */
const mostAtOnce = 256;

/** Has all done beside each other: at first one, and one more at once for each that went well. */
async function sendOut<T>(batch: readonly T[], go: (each: T) => Promise<void>, isOver: () => boolean): Promise<void> {
  let next = 0;
  let atOnce = 0;
  async function takeTurns(): Promise<void> {
    const joined: Promise<void>[] = [];
    atOnce++;
    while (next < batch.length && !isOver()) {
      await go(batch[next++]!);
      if (next < batch.length && atOnce < mostAtOnce && !isOver()) joined.push(takeTurns());
    }
    await Promise.all(joined);
  }
  await takeTurns();
}

/** Actions that may go out together, each with what is to follow it at once. */
function* batchesOf(actions: readonly Action[]): Generator<readonly (readonly Action[])[]> {
  let batch: Action[][] = [];
  const patched = new Set<Key>();
  for (const action of actions) {
    const steps = batch.at(-1);
    const previous = steps?.at(-1);
    const isAlike = previous === undefined || areAlike(previous, action);
    const key = action.type === 'patch' ? keyOf(action.object) : undefined;
    if (steps && isAlike && key !== undefined && key === keyOf((previous as ObjectAction).object)) {
      steps.push(action);
      continue;
    }
    const isRepeated = key !== undefined && patched.has(key);
    if (!isAlike || isRepeated) {
      yield batch;
      batch = [];
      patched.clear();
    }
    batch.push([action]);
    if (key !== undefined) patched.add(key);
  }
  if (batch.length > 0) yield batch;
}

function areAlike(a: Action, b: Action): boolean {
  if (a.type !== b.type || !('object' in a) || !('object' in b)) return false;
  // What waits for an answer about another object decides whether the others are to go out at all.
  const isBatched = a.type === 'create' || a.type === 'remove' || (a.type === 'patch' && !a.confirm && !b.confirm);
  return isBatched && a.object.kind === b.object.kind && a.object.apiVersion === b.object.apiVersion;
}

/** Sends writes as a dry run. Throws the error of the first that the server refuses. */
async function tryOut(means: Means, owner: Key, { id, writes }: DryRun): Promise<void> {
  for (const action of writes) {
    try {
      await write(means, kindOf(means, action.object), action, { dryRun: true });
    } catch (error) {
      if (!isInconclusive(error, action)) throw error;
    }
  }
  means.refusals.acceptDryRun(owner, id);
}

/** Does one thing; returns the object as the server has it now, if it still has it. */
async function perform(means: Means, owner: Key, action: ObjectAction): Promise<KubernetesObject | undefined> {
  if (action.confirm) await confirm(means, action.confirm);
  if (action.confirmGone) await confirmGone(means, action.confirmGone);
  const { expectations } = means;
  const kind = kindOf(means, action.object);
  const named = action.type === 'create' ? { ...action, object: withName(means, action.object) } : action;
  const { object } = named;
  try {
    const written = await write(means, kind, named);
    for (const witness of means.witnessesOf(kind, written ?? object)) {
      if (written && isLastWord(written)) expectations.expectEnd(owner, witness, written);
      else if (written) expectations.expectVersion(owner, witness, written);
      else expectations.expectDeletion(owner, witness, object);
    }
    return written;
  } catch (error) {
    if (isUncertain(error)) {
      for (const witness of means.witnessesOf(kind, object)) expectations.doubt(owner, witness, object);
    }
    throw error;
  }
}

/** Whether a write was the end of an object: nothing kept it but what the write took away. Its version is an old one then. */
function isLastWord({ metadata }: KubernetesObject): boolean {
  const { deletionTimestamp, deletionGracePeriodSeconds, finalizers } = metadata;
  return deletionTimestamp != null && !deletionGracePeriodSeconds && !finalizers?.length;
}

/** An object that has its name before it is sent: should no answer come, it can be asked for. */
function withName({ random }: Means, object: KubernetesObject): KubernetesObject {
  const { name, generateName: base } = object.metadata;
  if (name || !base) return object;
  return { ...object, metadata: { ...object.metadata, name: generateName(random, base) } };
}

/** Asks the server for it; returns what it answers, which of a write is the object as written. */
async function write(
  { client, fieldManager }: Means,
  kind: Kind,
  action: ObjectAction,
  { dryRun = false }: { readonly dryRun?: boolean } = {},
): Promise<KubernetesObject | undefined> {
  const { object } = action;
  const common = { fieldManager, ...(dryRun ? { dryRun } : {}) };
  const reference = referenceTo(object);
  switch (action.type) {
    case 'create':
      return (await client.create(kind, object, common)) as KubernetesObject;
    case 'update': {
      const { subresource } = action;
      const options = { ...common, ...(subresource ? { subresource } : {}) };
      return (await client.update(kind, object, options)) as KubernetesObject;
    }
    case 'patch': {
      const { patchType: type, subresource } = action;
      const options = { type, ...common, ...(subresource ? { subresource } : {}) };
      return (await client.patch(kind, reference, withUid(action.patch, object, type), options)) as KubernetesObject;
    }
    case 'apply':
      return (await client.apply(kind, object, { ...common, force: true })) as KubernetesObject;
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
        // Whatever is there now under its name, this object is not.
        const isGone = isNotFound(error) || (isConflict(error) && preconditions?.resourceVersion === undefined);
        if (!isGone) throw error;
      }
      return undefined;
    }
  }
}

/** Whether what failed may have been done all the same: the answer was lost, or the server failed at some point. */
function isUncertain(error: unknown): boolean {
  if (error instanceof StatusError) return (error.status.code ?? 0) >= 500;
  return !(error instanceof TransportError) || error.wasSent;
}

/** A patch that cannot hit a later object of the same name. */
function withUid(patch: unknown, { metadata: { uid } }: KubernetesObject, type: string): unknown {
  if (type === 'json' || uid === undefined) return patch;
  const { metadata, ...rest } = patch as { readonly metadata?: object };
  return { metadata: { uid, ...metadata }, ...rest };
}

/** Throws what makes the decision a stale one if an object is not there any more, or on its way out. */
async function confirm(means: Means, object: KubernetesObject): Promise<void> {
  // Every object has metadata.
  const found = (await means.client.get(kindOf(means, object), referenceTo(object))) as KubernetesObject;
  if (found.metadata.uid !== object.metadata.uid || found.metadata.deletionTimestamp != null) {
    throw new OutdatedError(`${object.kind} ${keyOf(object)} is not what it was`);
  }
}

/** Throws what makes the decision a stale one if an object is there after all. */
async function confirmGone(means: Means, object: KubernetesObject): Promise<void> {
  const { uid } = object.metadata;
  let found: KubernetesObject;
  try {
    // Every object has metadata.
    found = (await means.client.get(kindOf(means, object), referenceTo(object))) as KubernetesObject;
  } catch (error) {
    if (isNotFound(error)) return;
    throw error;
  }
  if (uid === undefined || found.metadata.uid === uid) {
    throw new OutdatedError(`${object.kind} ${keyOf(object)} is there`);
  }
}

class OutdatedError extends Error {
  override readonly name = 'OutdatedError';
}

/** Whether an error says no more than that the caches lag behind. */
function isOutdated(error: unknown, { type }: ObjectAction): boolean {
  if (isConflict(error) || error instanceof OutdatedError) return true;
  return type === 'create' ? isAlreadyExists(error) : isNotFound(error);
}

/** Whether a namespace takes in nothing more, because it is going. */
export function isNamespaceTerminating(error: unknown): boolean {
  return (
    error instanceof StatusError &&
    (error.status.details?.causes?.some(({ reason }) => reason === 'NamespaceTerminating') ?? false)
  );
}

function kindOf({ kinds }: Means, { apiVersion, kind }: KubernetesObject): Kind {
  const found = kinds.find((each) => each.kind === kind && apiVersionOf(each) === apiVersion);
  if (!found) throw new TypeError(`the controller does not say that it writes ${apiVersion} ${kind}`);
  return found;
}

function referenceTo(object: KubernetesObject): Reference {
  return referenceOf(keyOf(object));
}

function announce(means: Means, action: ObjectAction, result?: KubernetesObject, error?: unknown): void {
  const { about, done, failed } = action.announcement ?? {};
  const told = error === undefined ? done && { type: 'Normal' as const, ...done } : failed;
  if (!about || !told) return;
  const words: { readonly [word: string]: () => string } = {
    '{name}': () => (result ?? action.object).metadata.name ?? '',
    '{error}': () => (error instanceof Error ? error.message : String(error)),
    '{object}': () => stringify(action.object),
  };
  const message = told.message.replace(/\{(?:name|error|object)\}/g, (word) => words[word]!());
  means.record({ about, type: told.type ?? 'Warning', reason: told.reason, message });
}
