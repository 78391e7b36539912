/** Processes one object at a time: reads the object and its owners live, decides, and executes the step. */
import type { ObjectMeta } from '@kruise/api/meta/object-meta';
import { createClient, type Reference } from '@kruise/client/client';
import type { ControllerContext } from '@kruise/client/controller';
import type { DynamicKind } from '@kruise/client/dynamic-kind';
import type { OwnerReference } from '@kruise/machinery/owner-references';
import { isConflict, isNotFound } from '@kruise/machinery/status';
import { mapConcurrently } from '@kruise/values/map-concurrently';
import type { AbsentOwners } from './absent-owners.ts';
import { decide, doOwnersMatter, type Owned, orphanFinalizer, type Step, stateOf } from './decide.ts';
import type { Graph, Node } from './graph.ts';
import type { Monitors } from './monitors.ts';

/** The owner exists, but is not in the graph. No event will announce its deletion, so it is read again later. */
export class UnobservedOwner extends Error {
  override readonly name = 'UnseenOwner';
}

export type CollectorParts = {
  readonly graph: Graph;
  readonly monitors: Monitors;
  readonly absentOwners: AbsentOwners;
  /** Enqueues an object. */
  readonly enqueue: (uid: string) => void;
  /** Postpones an object or owner until the set of known kinds changes. */
  readonly postpone: (what: { readonly uid: string } | { readonly ownerUid: string }) => void;
};

/** Maximum number of attempts on conflict before the object is requeued. */
const maxAttempts = 5;
/** Maximum number of dependents of one owner that are orphaned concurrently. */
const maxConcurrentOrphans = 20;
/** Requeue delay of an object that cannot be decided before all monitors have synced. */
const incompleteSeconds = 1;

export type Collector = ReturnType<typeof createCollector>;

/** Creates the collector, which uses the permissions of the client. */
export function createCollector(
  { client: whole }: Pick<ControllerContext, 'client'>,
  parts: CollectorParts,
  signal: AbortSignal,
) {
  const { graph, monitors, absentOwners, enqueue, postpone } = parts;
  const client = createClient(whole.transport, { metadataOnly: true });

  /** Returns the metadata of an object by a live read; undefined if the object does not exist. */
  async function find(kind: DynamicKind, reference: Reference): Promise<ObjectMeta | undefined> {
    try {
      return (await client.get(kind, reference, { signal })).metadata;
    } catch (error) {
      if (isNotFound(error)) return undefined;
      throw error;
    }
  }

  /** Processes an object. Returns the requeue delay in seconds, if known. */
  async function processObject(uid: string): Promise<number | undefined> {
    const node = graph.get(uid);
    // An object that is already being deleted matters again when it is gone.
    if (!node || node.deletionState === 'going') return undefined;
    return retryOnConflict(async () => {
      const metadata = await find(node.kind, referenceTo(node));
      if (metadata?.uid !== uid) {
        graph.remove(uid);
        return undefined;
      }
      const owners = doOwnersMatter(metadata) ? await ownersOf(node, metadata) : [];
      if (!owners) return undefined;
      const step = decide({ metadata, owners, dependents: graph.dependentsOf(uid) });
      const isFinal = step.type === 'orphan' || step.type === 'release';
      if (isFinal && !monitors.isComplete()) return incompleteSeconds;
      await executeStep(node, metadata, step);
      return undefined;
    });
  }

  /** Returns the state of the object's owners; undefined if the state of any owner is unknown. */
  async function ownersOf(node: Node, { ownerReferences = [] }: ObjectMeta): Promise<readonly Owned[] | undefined> {
    const owners: Owned[] = [];
    for (const reference of ownerReferences) {
      if (absentOwners.has(reference, undefined) || absentOwners.has(reference, node.namespace)) {
        owners.push({ reference, state: 'dangling' });
        continue;
      }
      const place = locationOf(reference, node.namespace);
      if (!place) {
        if (!monitors.kindOf(reference)) postpone({ uid: node.uid });
        return undefined;
      }
      const state = stateOf(reference, await find(place.kind, place));
      if (state === 'dangling') absentOwners.add(reference, place.namespace);
      owners.push({ reference, state });
    }
    return owners;
  }

  /**
   * Returns where the owner should be; undefined if the reference is invalid: a cluster-scoped object cannot have a
   * namespaced owner.
   */
  function locationOf(reference: OwnerReference, namespace: string | undefined) {
    const kind = monitors.kindOf(reference);
    if (!kind) return undefined;
    const { name } = reference;
    if (kind.scope === 'Cluster') return { kind, name };
    return namespace === undefined ? undefined : { kind, name, namespace };
  }

  async function executeStep(node: Node, metadata: ObjectMeta, step: Step): Promise<void> {
    switch (step.type) {
      case 'nothing':
        return;
      case 'orphan':
        await mapConcurrently([...graph.referringTo(node.uid)], maxConcurrentOrphans, (each) => orphan(each, node.uid));
        return release(node, metadata, orphanFinalizer);
      case 'release':
        return release(node, metadata, step.finalizer);
      case 'unblock':
        await change(node, metadata, { ownerReferences: unblocked(metadata) });
        return;
      case 'disown':
        await change(node, metadata, { ownerReferences: without(metadata, step.uids) });
        return;
      case 'delete': {
        const latest = step.unblock ? await change(node, metadata, { ownerReferences: unblocked(metadata) }) : metadata;
        if (latest) await remove(node, latest, step.policy);
      }
    }
  }

  /** Removes the owner reference from a dependent that still has it. */
  function orphan(dependent: Node, ownerUid: string): Promise<void> {
    return retryOnConflict(async () => {
      const metadata = await find(dependent.kind, referenceTo(dependent));
      if (metadata?.uid !== dependent.uid) return;
      const left = without(metadata, [ownerUid]);
      if (left.length < (metadata.ownerReferences?.length ?? 0))
        await change(dependent, metadata, { ownerReferences: left });
    });
  }

  async function release(node: Node, metadata: ObjectMeta, finalizer: string): Promise<void> {
    await change(node, metadata, { finalizers: metadata.finalizers?.filter((each) => each !== finalizer) ?? [] });
  }

  /**
   * Changes lists in an object's metadata. The patch replaces the lists, so it uses the resourceVersion as a
   * precondition.
   */
  async function change(
    node: Node,
    { uid, resourceVersion }: ObjectMeta,
    changes: Pick<ObjectMeta, 'ownerReferences' | 'finalizers'>,
  ): Promise<ObjectMeta | undefined> {
    const patch = { metadata: { uid, resourceVersion, ...changes } };
    try {
      return (await client.patch(node.kind, referenceTo(node), patch, { type: 'merge', signal })).metadata;
    } catch (error) {
      if (isNotFound(error)) return undefined;
      throw error;
    }
  }

  async function remove(
    node: Node,
    { uid, resourceVersion }: ObjectMeta,
    propagationPolicy: 'Orphan' | 'Foreground' | 'Background',
  ): Promise<void> {
    const preconditions = { uid: uid ?? '', resourceVersion: resourceVersion ?? '' };
    try {
      await client.delete(node.kind, referenceTo(node), { propagationPolicy, preconditions, signal });
    } catch (error) {
      if (!isNotFound(error)) throw error;
    }
  }

  /**
   * Verifies by a live read that an owner exists that the graph has not observed, at every location its dependents
   * claim.
   */
  async function verify(ownerUid: string): Promise<void> {
    if (graph.get(ownerUid)) return;
    let isThere = false;
    for (const { reference, namespace, dependents } of claimedLocationsOf(ownerUid)) {
      const place = locationOf(reference, namespace);
      if (!place) {
        if (!monitors.kindOf(reference)) postpone({ ownerUid });
        continue;
      }
      if ((await find(place.kind, place))?.uid === ownerUid) {
        isThere = true;
        continue;
      }
      absentOwners.add(reference, place.namespace);
      for (const each of dependents) enqueue(each.uid);
    }
    if (isThere && !graph.get(ownerUid)) throw new UnobservedOwner(`${ownerUid} is there, but out of sight`);
  }

  /** Returns the locations that dependents claim for an owner, and the dependents of each. */
  function claimedLocationsOf(ownerUid: string) {
    const locations = new Map<
      string,
      { reference: OwnerReference; namespace: string | undefined; dependents: Node[] }
    >();
    for (const dependent of graph.referringTo(ownerUid)) {
      for (const reference of dependent.owners) {
        if (reference.uid !== ownerUid) continue;
        const namespace = monitors.kindOf(reference)?.scope === 'Cluster' ? undefined : dependent.namespace;
        const id = `${reference.apiVersion} ${reference.kind} ${namespace ?? ''}/${reference.name}`;
        const location = locations.get(id);
        if (location) location.dependents.push(dependent);
        else locations.set(id, { reference, namespace, dependents: [dependent] });
      }
    }
    return locations.values();
  }

  return { look: processObject, verify };
}

/** Retries on conflict, up to the maximum number of attempts. */
async function retryOnConflict<T>(attempt: () => Promise<T>): Promise<T> {
  for (let left = maxAttempts; ; left--) {
    try {
      return await attempt();
    } catch (error) {
      if (!isConflict(error) || left === 1) throw error;
    }
  }
}

function referenceTo({ name, namespace }: Node): Reference {
  return { name, ...(namespace === undefined ? {} : { namespace }) };
}

function without({ ownerReferences = [] }: ObjectMeta, uids: readonly string[]): readonly OwnerReference[] {
  return ownerReferences.filter(({ uid }) => !uids.includes(uid));
}

function unblocked({ ownerReferences = [] }: ObjectMeta): readonly OwnerReference[] {
  return ownerReferences.map((each) => (each.blockOwnerDeletion ? { ...each, blockOwnerDeletion: false } : each));
}
