/**
 * What a controller can decide to do, as plain data: `decide` returns it, tests compare it, and the shell does it.
 */
import type { DeleteOptions, PatchType } from './client.ts';
import type { KubernetesObject } from './object-key.ts';

/** Something to be done. */
export type Action =
  | CreateAction
  | UpdateAction
  | PatchAction
  | ApplyAction
  | RemoveAction
  | RecordAction
  | EffectAction;

/** Something to be done with an object. */
export type ObjectAction = Exclude<Action, RecordAction | EffectAction>;

/** What can be said of any action on an object. */
export type Details = {
  /** Events to record of it once it is done, or has failed. */
  readonly announcement?: Announcement;
  /** Whatever becomes of it, what comes after it is done: its failure is told, and forgotten. */
  readonly isOptional?: boolean;
  /** What comes after it is done though it fails; its failure is told, and has all of it tried again. */
  readonly isIndependent?: boolean;
  /** Is done only if this object, asked for anew, is there with its uid and not being deleted. */
  readonly confirm?: KubernetesObject;
  /** Is done only if this object, asked for anew, is not there: none of its name, or one with another uid. */
  readonly confirmGone?: KubernetesObject;
  /** Requires that the server accepts these writes in a dry run: a refusal is known before anything is done. */
  readonly dryRun?: DryRun;
  /** Id under which a failure is recorded; by default the object and the kind of write. */
  readonly refusalId?: string;
};

/** Writes that are sent as a dry run before an action. */
export type DryRun = {
  /** Id under which the answer is recorded. A refusal holds back every action with a dry run of this id. */
  readonly id: string;
  /** Second id under which a refusal is recorded, if the object of the dry run is to go after others. */
  readonly ownId?: string;
  /** Writes to send; empty if the action waits for the dry run of another action with this id. */
  readonly writes: readonly ObjectAction[];
  /** Events to record if the server refuses the dry run; by default those of the action. */
  readonly announcement?: Announcement;
};

/** Makes an object. */
export type CreateAction = Details & { readonly type: 'create'; readonly object: KubernetesObject };

/** Writes the whole object, or with a subresource a part of it; fails if someone else wrote since it was read. */
export type UpdateAction = Details & {
  readonly type: 'update';
  readonly object: KubernetesObject;
  readonly subresource?: string;
};

/** Changes some fields of an object. */
export type PatchAction = Details & {
  readonly type: 'patch';
  readonly object: KubernetesObject;
  readonly patch: unknown;
  readonly patchType: PatchType;
  readonly subresource?: string;
};

/** Server-side apply: these fields, and only these, are the controller's. */
export type ApplyAction = Details & { readonly type: 'apply'; readonly object: KubernetesObject };

/** Deletes an object. */
export type RemoveAction = Details & {
  readonly type: 'remove';
  readonly object: KubernetesObject;
  readonly options?: Omit<DeleteOptions, 'signal'>;
};

/** Tells something about an object. */
export type RecordAction = { readonly type: 'record'; readonly event: NewEvent };

/** Something outside the cluster, done by the function of that name among the controller's `effects`. */
export type EffectAction = { readonly type: 'effect'; readonly name: string; readonly input: unknown };

/** Something worth telling about an object. */
export type NewEvent = {
  readonly about: KubernetesObject;
  /** The part of the object it is about: `spec.containers{web}`. */
  readonly fieldPath?: string;
  readonly type: 'Normal' | 'Warning';
  /** A word in CamelCase for programs. */
  readonly reason: string;
  /** A sentence for people. */
  readonly message: string;
};

/**
 * Events about an object that tell how an action on another went. `{name}`, `{error}` and `{object}` stand for what they
 * say; the object is written out only if there is an event, as thousands of actions may never come to one.
 */
export type Announcement = {
  readonly about: KubernetesObject;
  readonly done?: { readonly reason: string; readonly message: string };
  /** A warning, unless said otherwise. */
  readonly failed?: { readonly type?: NewEvent['type']; readonly reason: string; readonly message: string };
};

/** Makes an object. */
export function create(object: KubernetesObject): CreateAction {
  return { type: 'create', object };
}

/** Writes an object in place of the one it was made from. */
export function update(object: KubernetesObject): UpdateAction {
  return { type: 'update', object };
}

/** Changes some fields of an object: `patch(pod, { metadata: { labels: { ready: 'yes' } } })`. A merge patch. */
export function patch(object: KubernetesObject, changes: unknown): PatchAction {
  return { type: 'patch', object, patch: changes, patchType: 'merge' };
}

/** Says which fields of an object the controller wants, and leaves the others to whom they belong. */
export function apply(object: KubernetesObject): ApplyAction {
  return { type: 'apply', object };
}

/** Deletes this very object, not a later one of its name: `pods.map(remove)`. */
export function remove(object: KubernetesObject): RemoveAction {
  return { type: 'remove', object };
}

/** Tells something about an object. */
export function record(event: NewEvent): RecordAction {
  return { type: 'record', event };
}

/** Does something outside the cluster: `effect('register', { host, address })`. It may be done more than once. */
export function effect(name: string, input: unknown): EffectAction {
  return { type: 'effect', name, input };
}

/** The action, and what is told of how it went. */
export function announced<A extends ObjectAction>(action: A, announcement: Announcement): A {
  return { ...action, announcement };
}

/** The action, whose failure does no harm: what is there already, or gone already, is none at all. */
export function optional<A extends ObjectAction>(action: A): A {
  return { ...action, isOptional: true };
}

/** The action, whose failure keeps no other from being done: `copies.map(create).map(independent)`. */
export function independent<A extends ObjectAction>(action: A): A {
  return { ...action, isIndependent: true };
}

/** The action, done only if an object is really there: what a cache says may be out of date. */
export function confirmed<A extends ObjectAction>(action: A, confirm: KubernetesObject): A {
  return { ...action, confirm };
}

/** The action, done only if an object is really not there: a cache may not have it yet. */
export function confirmedGone<A extends ObjectAction>(action: A, confirmGone: KubernetesObject): A {
  return { ...action, confirmGone };
}

/** Returns the action, to be done only if the server accepts other writes in a dry run. */
export function afterDryRun<A extends ObjectAction>(action: A, dryRun: DryRun): A {
  return { ...action, dryRun };
}

/** Keeps an object from vanishing before the finalizer is taken away again. */
export function addFinalizer(object: KubernetesObject, finalizer: string): PatchAction {
  return patchFinalizers(object, [...(object.metadata.finalizers ?? []), finalizer]);
}

/** Lets an object go, as far as one finalizer is concerned. */
export function removeFinalizer(object: KubernetesObject, finalizer: string): PatchAction {
  return patchFinalizers(
    object,
    (object.metadata.finalizers ?? []).filter((present) => present !== finalizer),
  );
}

/** The object with a finalizer more, to be written whole where patches are not allowed. */
export function withFinalizer<T extends KubernetesObject>(object: T, finalizer: string): T {
  return withFinalizers(object, [...(object.metadata.finalizers ?? []), finalizer]);
}

/** The object without a finalizer, to be written whole where patches are not allowed. */
export function withoutFinalizer<T extends KubernetesObject>(object: T, finalizer: string): T {
  return withFinalizers(
    object,
    (object.metadata.finalizers ?? []).filter((present) => present !== finalizer),
  );
}

/** Whether an object has a finalizer. */
export function hasFinalizer({ metadata }: KubernetesObject, finalizer: string): boolean {
  return metadata.finalizers?.includes(finalizer) ?? false;
}

/** Whether an object is on its way out. */
export function isBeingDeleted({ metadata }: KubernetesObject): boolean {
  return metadata.deletionTimestamp != null;
}

function withFinalizers<T extends KubernetesObject>(object: T, finalizers: readonly string[]): T {
  return { ...object, metadata: { ...object.metadata, finalizers } };
}

function patchFinalizers(object: KubernetesObject, finalizers: readonly string[]): PatchAction {
  // A list is replaced as a whole: the version makes sure that no one else's finalizer is lost.
  return patch(object, { metadata: { resourceVersion: object.metadata.resourceVersion, finalizers } });
}
