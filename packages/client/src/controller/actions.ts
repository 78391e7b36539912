/**
 * Actions of a controller, as plain data: `decide` returns actions, tests compare them, and the controller runtime
 * executes them. Actions run one after the other unless `parallel` says otherwise.
 */
import type { DeleteOptions, PatchType } from '../api/client.ts';
import { type Key, type KubernetesObject, keyOf } from '../cache/object-key.ts';

/** A write, an Event or a side effect that a controller decided on. */
export type Action =
  | CreateAction
  | UpdateAction
  | PatchAction
  | ApplyAction
  | RemoveAction
  | RecordAction
  | EffectAction;

/** A step of a decision. A step starts when all actions of the step before have ended. */
export type Step = Action | ParallelActions | SequentialActions;

/** Actions that do not depend on each other and run concurrently, with a slow start (1, 2, 4 …). */
export type ParallelActions = {
  readonly type: 'parallel';
  readonly actions: readonly (Action | SequentialActions)[];
};

/**
 * Actions that run one after the other, usually several writes of one object. The sequence ends with the first action
 * that fails. It is not started while a later patch in it is in backoff.
 */
export type SequentialActions = { readonly type: 'sequence'; readonly actions: readonly Action[] };

/** A write to one object. */
export type ObjectAction = Exclude<Action, RecordAction | EffectAction>;

/** Options common to all writes. */
export type ActionOptions = {
  /** Events to record after the write succeeded or failed. */
  readonly outcomeEvents?: OutcomeEvents;
  /** The actions after this one run even if it fails, and the reconcile is not retried because of the failure. */
  readonly isOptional?: boolean;
  /** The actions after this one run even if it fails; the failure is reported and the reconcile is retried. */
  readonly isIndependent?: boolean;
  /** Precondition: a live read finds this object with the same uid, and the object is not terminating. */
  readonly confirm?: KubernetesObject;
  /** Precondition: a live read does not find this object: the name does not exist, or belongs to another uid. */
  readonly confirmGone?: KubernetesObject;
  /** Precondition: the server accepts these writes in a dry run. Detects a rejection before anything is written. */
  readonly dryRun?: DryRun;
  /** Id under which a failure is recorded; defaults to the object and the type of write. */
  readonly refusalId?: string;
};

/** Writes that are sent as a dry run before an action. */
export type DryRun = {
  /** Id under which the result is recorded. A rejection blocks every action that has a dry run with this id. */
  readonly id: string;
  /** Second id under which a rejection is recorded, used to move the object of the dry run behind other objects. */
  readonly ownId?: string;
  /** Writes to send; empty if the action waits for the dry run of another action with the same id. */
  readonly writes: readonly ObjectAction[];
  /** Events to record if the server rejects the dry run; defaults to the events of the action. */
  readonly outcomeEvents?: OutcomeEvents;
};

/** Creates an object. */
export type CreateAction = ActionOptions & { readonly type: 'create'; readonly object: KubernetesObject };

/** Replaces an object or one of its subresources. Fails with a conflict if the object changed since it was read. */
export type UpdateAction = ActionOptions & {
  readonly type: 'update';
  readonly object: KubernetesObject;
  readonly subresource?: string;
};

/** Patches an object. */
export type PatchAction = ActionOptions & {
  readonly type: 'patch';
  readonly object: KubernetesObject;
  readonly patch: unknown;
  readonly patchType: PatchType;
  readonly subresource?: string;
};

/** Server-side apply: the controller owns exactly the fields in `object`. */
export type ApplyAction = ActionOptions & { readonly type: 'apply'; readonly object: KubernetesObject };

/** Deletes an object. */
export type RemoveAction = ActionOptions & {
  readonly type: 'remove';
  readonly object: KubernetesObject;
  readonly options?: Omit<DeleteOptions, 'signal'>;
};

/** Records an Event. */
export type RecordAction = { readonly type: 'record'; readonly event: NewEvent };

/** Runs a side effect outside of the cluster, by its name in the `effects` of the controller. */
export type EffectAction = { readonly type: 'effect'; readonly name: string; readonly input: unknown };

/** An Event to record. */
export type NewEvent = {
  readonly about: KubernetesObject;
  /** Path of the field that the Event is about, for example `spec.containers{web}`. */
  readonly fieldPath?: string;
  readonly type: 'Normal' | 'Warning';
  /** Machine-readable reason in CamelCase. */
  readonly reason: string;
  /** Human-readable message. */
  readonly message: string;
};

/**
 * Events that report the outcome of a write to another object. The message may contain the placeholders `{name}`,
 * `{error}` and `{object}`. The object is serialized only when an Event is recorded, because most of thousands of
 * actions never record one.
 */
export type OutcomeEvents = {
  readonly about: KubernetesObject;
  readonly done?: { readonly reason: string; readonly message: string };
  /** The type defaults to `Warning`. */
  readonly failed?: { readonly type?: NewEvent['type']; readonly reason: string; readonly message: string };
};

/** Returns an action that creates an object: `parallel(pods.map(create))`. */
export function create(object: KubernetesObject): CreateAction {
  return { type: 'create', object };
}

/** Returns an action that replaces an object with a changed copy. */
export function update(object: KubernetesObject): UpdateAction {
  return { type: 'update', object };
}

/** Returns an action that sends a merge patch: `patch(pod, { metadata: { labels: { ready: 'yes' } } })`. */
export function patch(object: KubernetesObject, changes: unknown): PatchAction {
  return { type: 'patch', object, patch: changes, patchType: 'merge' };
}

/** Returns a server-side apply of the fields in `object`; fields of other managers are left alone. */
export function apply(object: KubernetesObject): ApplyAction {
  return { type: 'apply', object };
}

/** Returns an action that deletes exactly this object, not a later one with the same name. */
export function remove(object: KubernetesObject): RemoveAction {
  return { type: 'remove', object };
}

/** Returns an action that records an Event. */
export function record(event: NewEvent): RecordAction {
  return { type: 'record', event };
}

/**
 * Returns a side effect: `effect('register', { host, address })`. The effect may run more than once and must be
 * idempotent.
 */
export function effect(name: string, input: unknown): EffectAction {
  return { type: 'effect', name, input };
}

/**
 * Runs actions concurrently. With a slow start, few writes are tried where all would fail, for example when a quota is
 * exceeded. A failure starts no further actions.
 *
 * ```ts
 * const steps = [
 *   ...parallel(pods.map(remove)),
 *   record({ about: rollout, type: 'Normal', reason: 'ScaledDown', message: `Deleted ${pods.length} Pods` }),
 * ];
 * ```
 */
export function parallel(actions: readonly (Action | SequentialActions)[]): readonly Step[] {
  return actions.length <= 1 ? actions : [{ type: 'parallel', actions }];
}

/** Runs actions one after the other inside of `parallel`: `parallel(pods.flatMap((pod) => sequence(patchesOf(pod))))`. */
export function sequence(actions: readonly Action[]): readonly (Action | SequentialActions)[] {
  return actions.length <= 1 ? actions : [{ type: 'sequence', actions }];
}

/**
 * Runs the neighbours in a list of mixed writes concurrently if they have the same type and kind of object: of
 * `[create PVC, create PVC, create Pod]` first both PVCs, then the Pod. Other actions run in order. Consecutive patches
 * of one object are a sequence; a later patch of the same object waits for the patches before.
 */
export function parallelByKind(actions: readonly Action[]): readonly Step[] {
  const steps: Step[] = [];
  let group: Action[][] = [];
  const patched = new Set<Key>();
  const endGroup = () => {
    steps.push(...parallel(group.flatMap(sequence)));
    group = [];
    patched.clear();
  };
  for (const action of actions) {
    const neighbour = group.at(-1);
    const previous = neighbour?.at(-1);
    const isAlike = previous !== undefined && canRunBeside(previous, action);
    const key = action.type === 'patch' ? keyOf(action.object) : undefined;
    if (neighbour && isAlike && key !== undefined && key === keyOf((previous as ObjectAction).object)) {
      neighbour.push(action);
      continue;
    }
    if (previous && (!isAlike || (key !== undefined && patched.has(key)))) endGroup();
    group.push([action]);
    if (key !== undefined) patched.add(key);
  }
  endGroup();
  return steps;
}

function canRunBeside(a: Action, b: Action): boolean {
  if (a.type !== b.type || !('object' in a) || !('object' in b)) return false;
  // The result of a live read decides whether the following actions run at all.
  const isConcurrent = a.type === 'create' || a.type === 'remove' || (a.type === 'patch' && !a.confirm && !b.confirm);
  return isConcurrent && a.object.kind === b.object.kind && a.object.apiVersion === b.object.apiVersion;
}

/** Returns the actions of steps without their grouping. */
export function flattenSteps(steps: readonly Step[]): readonly Action[] {
  return steps.flatMap((step) =>
    step.type === 'parallel' || step.type === 'sequence' ? flattenSteps(step.actions) : [step],
  );
}

/** Adds Events that report the outcome of the action. */
export function withOutcomeEvents<A extends ObjectAction>(action: A, outcomeEvents: OutcomeEvents): A {
  return { ...action, outcomeEvents };
}

/** Marks an action whose failure is ignored. AlreadyExists and NotFound are no failures at all. */
export function asOptional<A extends ObjectAction>(action: A): A {
  return { ...action, isOptional: true };
}

/** Marks an action whose failure does not stop the actions after it. */
export function asIndependent<A extends ObjectAction>(action: A): A {
  return { ...action, isIndependent: true };
}

/** Runs the action only if a live read finds the object, because the cache may be stale. */
export function requireExists<A extends ObjectAction>(action: A, confirm: KubernetesObject): A {
  return { ...action, confirm };
}

/** Runs the action only if a live read does not find the object, because the cache may not contain it yet. */
export function requireGone<A extends ObjectAction>(action: A, confirmGone: KubernetesObject): A {
  return { ...action, confirmGone };
}

/** Runs the action only if the server accepts other writes in a dry run. */
export function afterDryRun<A extends ObjectAction>(action: A, dryRun: DryRun): A {
  return { ...action, dryRun };
}

/** Returns a patch that adds a finalizer, so that the object stays until the finalizer is removed. */
export function addFinalizer(object: KubernetesObject, finalizer: string): PatchAction {
  return patchFinalizers(object, [...(object.metadata.finalizers ?? []), finalizer]);
}

/** Returns a patch that removes a finalizer. */
export function removeFinalizer(object: KubernetesObject, finalizer: string): PatchAction {
  return patchFinalizers(
    object,
    (object.metadata.finalizers ?? []).filter((present) => present !== finalizer),
  );
}

/** Returns a copy of the object with the finalizer, for an update where patches are not allowed. */
export function withFinalizer<T extends KubernetesObject>(object: T, finalizer: string): T {
  return withFinalizers(object, [...(object.metadata.finalizers ?? []), finalizer]);
}

/** Returns a copy of the object without the finalizer, for an update where patches are not allowed. */
export function withoutFinalizer<T extends KubernetesObject>(object: T, finalizer: string): T {
  return withFinalizers(
    object,
    (object.metadata.finalizers ?? []).filter((present) => present !== finalizer),
  );
}

/** Reports whether an object has a finalizer. */
export function hasFinalizer({ metadata }: KubernetesObject, finalizer: string): boolean {
  return metadata.finalizers?.includes(finalizer) ?? false;
}

/** Reports whether an object is terminating. */
export function isBeingDeleted({ metadata }: KubernetesObject): boolean {
  return metadata.deletionTimestamp != null;
}

function withFinalizers<T extends KubernetesObject>(object: T, finalizers: readonly string[]): T {
  return { ...object, metadata: { ...object.metadata, finalizers } };
}

function patchFinalizers(object: KubernetesObject, finalizers: readonly string[]): PatchAction {
  // A merge patch replaces the whole list. The resourceVersion protects finalizers that other clients added meanwhile.
  return patch(object, { metadata: { resourceVersion: object.metadata.resourceVersion, finalizers } });
}
