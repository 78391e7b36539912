/** Looks at one object at a time: asks the server what is true of it and of its owners, decides, and acts. */
import type { ObjectMeta } from '@kruise/api/meta/object-meta';
import { createClient, type Reference } from '@kruise/client/client';
import type { ControllerContext } from '@kruise/client/controller';
import type { DynamicKind } from '@kruise/client/dynamic-kind';
import type { OwnerReference } from '@kruise/machinery/owner-references';
import { isConflict, isNotFound } from '@kruise/machinery/status';
import { someAtATime } from '@kruise/values/some-at-a-time';
import type { AbsentOwners } from './absent-owners.ts';
import { decide, doOwnersMatter, type Owned, orphanFinalizer, type Step, stateOf } from './decide.ts';
import type { Graph, Node } from './graph.ts';
import type { Monitors } from './monitors.ts';

/** An owner is there, but has not come into sight. Nobody will tell when it goes, so it is asked for again, later. */
export class UnseenOwner extends Error {
  override readonly name = 'UnseenOwner';
}

export type CollectorParts = {
  readonly graph: Graph;
  readonly monitors: Monitors;
  readonly absentOwners: AbsentOwners;
  /** Has an object looked at. */
  readonly suspect: (uid: string) => void;
  /** Has an object, or an owner of one, looked at once more kinds are known. */
  readonly postpone: (what: { readonly uid: string } | { readonly ownerUid: string }) => void;
};

/** So often someone else may be faster before an object is put back in the queue. */
const maxAttempts = 5;
/** Dependents of one owner that are orphaned at a time. */
const orphansAtATime = 20;
/** How soon an object is looked at again that cannot be decided upon until everything is known. */
const incompleteSeconds = 1;

export type Collector = ReturnType<typeof createCollector>;

/** Collects garbage with the rights of a client. */
export function createCollector(
  { client: whole }: Pick<ControllerContext, 'client'>,
  parts: CollectorParts,
  signal: AbortSignal,
) {
  const { graph, monitors, absentOwners, suspect, postpone } = parts;
  const client = createClient(whole.transport, { metadataOnly: true });

  /** The metadata of an object, if there is one. */
  async function find(kind: DynamicKind, reference: Reference): Promise<ObjectMeta | undefined> {
    try {
      return (await client.get(kind, reference, { signal })).metadata;
    } catch (error) {
      if (isNotFound(error)) return undefined;
      throw error;
    }
  }

  /** Does what is to be done about an object. Returns after how many seconds to do so again, if that is known. */
  async function look(uid: string): Promise<number | undefined> {
    const node = graph.get(uid);
    // What goes by itself is of interest again when it is gone.
    if (!node || node.fate === 'going') return undefined;
    return untilAgreed(async () => {
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
      await carryOut(node, metadata, step);
      return undefined;
    });
  }

  /** How the owners of an object stand to it; undefined if that cannot be told of all of them. */
  async function ownersOf(node: Node, { ownerReferences = [] }: ObjectMeta): Promise<readonly Owned[] | undefined> {
    const owners: Owned[] = [];
    for (const reference of ownerReferences) {
      if (absentOwners.has(reference, undefined) || absentOwners.has(reference, node.namespace)) {
        owners.push({ reference, state: 'dangling' });
        continue;
      }
      const place = placeOf(reference, node.namespace);
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

  /** Where the owner should be; undefined if it can be nowhere: nobody without a namespace is owned from within one. */
  function placeOf(reference: OwnerReference, namespace: string | undefined) {
    const kind = monitors.kindOf(reference);
    if (!kind) return undefined;
    const { name } = reference;
    if (kind.scope === 'Cluster') return { kind, name };
    return namespace === undefined ? undefined : { kind, name, namespace };
  }

  async function carryOut(node: Node, metadata: ObjectMeta, step: Step): Promise<void> {
    switch (step.type) {
      case 'nothing':
        return;
      case 'orphan':
        await someAtATime([...graph.referringTo(node.uid)], orphansAtATime, (each) => orphan(each, node.uid));
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

  /** Takes a reference to an owner away from whoever still has it. */
  function orphan(dependent: Node, ownerUid: string): Promise<void> {
    return untilAgreed(async () => {
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

  /** Changes lists in an object's metadata, which are replaced whole: nobody else may have written meanwhile. */
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

  /** Finds out whether an owner exists that nobody has seen, wherever those who refer to it say it is. */
  async function verify(ownerUid: string): Promise<void> {
    if (graph.get(ownerUid)) return;
    let isThere = false;
    for (const { reference, namespace, dependents } of claimsOf(ownerUid)) {
      const place = placeOf(reference, namespace);
      if (!place) {
        if (!monitors.kindOf(reference)) postpone({ ownerUid });
        continue;
      }
      if ((await find(place.kind, place))?.uid === ownerUid) {
        isThere = true;
        continue;
      }
      absentOwners.add(reference, place.namespace);
      for (const each of dependents) suspect(each.uid);
    }
    if (isThere && !graph.get(ownerUid)) throw new UnseenOwner(`${ownerUid} is there, but out of sight`);
  }

  /** The places an owner is said to be at, and who says so. */
  function claimsOf(ownerUid: string) {
    const claims = new Map<string, { reference: OwnerReference; namespace: string | undefined; dependents: Node[] }>();
    for (const dependent of graph.referringTo(ownerUid)) {
      for (const reference of dependent.owners) {
        if (reference.uid !== ownerUid) continue;
        const namespace = monitors.kindOf(reference)?.scope === 'Cluster' ? undefined : dependent.namespace;
        const id = `${reference.apiVersion} ${reference.kind} ${namespace ?? ''}/${reference.name}`;
        const claim = claims.get(id);
        if (claim) claim.dependents.push(dependent);
        else claims.set(id, { reference, namespace, dependents: [dependent] });
      }
    }
    return claims.values();
  }

  return { look, verify };
}

/** Does something again for as long as others were faster, within reason. */
async function untilAgreed<T>(attempt: () => Promise<T>): Promise<T> {
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
