/**
 * Dependency graph by UID: all observed objects and, for each owner, observed or not, its dependents. Watch events
 * maintain the graph, so it may be stale; every action is preceded by a live read.
 *
 * The graph keeps little per object, as there may be very many: its location, its owners, and its deletion state. In a
 * single process, the strings are shared with the API server's copy.
 */
import type { ObjectMeta } from '@kruise/api/meta/object-meta';
import type { DynamicKind } from '@kruise/client/dynamic-kind';
import { isSame } from '@kruise/machinery/json-value';
import type { OwnerReference } from '@kruise/machinery/owner-references';
import { groupOf } from '@kruise/schema/kind';
import { type Dependents, isOrphaning, isWaiting } from './decide.ts';

/** An observed object. */
export type Node = {
  readonly uid: string;
  readonly name: string;
  readonly namespace: string | undefined;
  kind: DynamicKind;
  owners: readonly OwnerReference[];
  /**
   * Deletion state: not deleted; waiting for its dependents; orphaning its dependents; or terminating without further
   * work.
   */
  deletionState: 'none' | 'waiting' | 'orphaning' | 'going';
};

/** Listener for objects that need processing. */
export type GraphListener = {
  /** An object may be garbage, or its own deletion may continue. */
  enqueue(uid: string): void;
  /** A reference points to an owner that was not observed and may not exist. */
  unobserved(ownerUid: string): void;
  /** An owner with dependents was deleted. */
  deleted(owner: Node): void;
  /** An object refers to an owner in another namespace, which is not allowed. */
  invalidReference(dependent: Node, reference: OwnerReference): void;
};

type DependentSet = { readonly nodes: Set<Node>; blocking: number };

export type Graph = ReturnType<typeof createGraph>;

const noOwners: readonly OwnerReference[] = [];

/** Creates an empty graph. */
export function createGraph(listener: GraphListener) {
  const nodes = new Map<string, Node>();
  const dependents = new Map<string, DependentSet>();

  /** Records the current state of an object. */
  function observe(kind: DynamicKind, metadata: ObjectMeta): void {
    const { uid, name = '', namespace } = metadata;
    if (!uid) return;
    const known = nodes.get(uid);
    const node: Node = known ?? { uid, name, namespace, kind, owners: noOwners, deletionState: 'none' };
    node.kind = kind;
    const before = node.deletionState;
    node.deletionState = deletionStateOf(metadata);
    if (!known) {
      nodes.set(uid, node);
      markObserved(node);
    }
    setOwners(node, metadata.ownerReferences ?? noOwners);
    if (node.deletionState === before) return;
    if (node.deletionState === 'waiting')
      for (const each of dependents.get(uid)?.nodes ?? []) listener.enqueue(each.uid);
    if (node.deletionState === 'waiting' || node.deletionState === 'orphaning') listener.enqueue(uid);
  }

  /**
   * Marks an owner as observed that was only referenced so far. Dependents that refer to it by another name have
   * invalid references.
   */
  function markObserved(owner: Node): void {
    for (const dependent of dependents.get(owner.uid)?.nodes ?? []) {
      for (const reference of dependent.owners) {
        if (reference.uid === owner.uid && !matchesReference(owner, reference, dependent))
          mismatch(owner, reference, dependent);
      }
    }
  }

  function mismatch(owner: Node, reference: OwnerReference, dependent: Node): void {
    if (isElsewhere(owner, dependent)) listener.invalidReference(dependent, reference);
    listener.enqueue(dependent.uid);
  }

  function setOwners(node: Node, owners: readonly OwnerReference[]): void {
    const before = node.owners;
    if (before === owners || isSame(before, owners)) return;
    unlink(node);
    node.owners = owners;
    link(node);
    for (const reference of owners) {
      if (!before.some((each) => isSameOwner(each, reference))) addReference(node, reference);
    }
    for (const { uid } of before) unblock(uid);
  }

  /** Handles an added owner reference. */
  function addReference(node: Node, reference: OwnerReference): void {
    const owner = nodes.get(reference.uid);
    if (!owner) listener.unobserved(reference.uid);
    else if (!matchesReference(owner, reference, node)) mismatch(owner, reference, node);
    else if (owner.deletionState === 'waiting') listener.enqueue(node.uid);
  }

  /** Enqueues a waiting owner when no dependent blocks its deletion any more. */
  function unblock(ownerUid: string): void {
    if (nodes.get(ownerUid)?.deletionState === 'waiting' && dependentsOf(ownerUid).blocking === 0)
      listener.enqueue(ownerUid);
  }

  function link(node: Node): void {
    for (const uid of ownersOf(node)) {
      let set = dependents.get(uid);
      if (!set) dependents.set(uid, (set = { nodes: new Set(), blocking: 0 }));
      set.nodes.add(node);
      if (isBlocking(node, uid)) set.blocking++;
    }
  }

  function unlink(node: Node): void {
    for (const uid of ownersOf(node)) {
      const set = dependents.get(uid);
      if (!set?.nodes.delete(node)) continue;
      if (isBlocking(node, uid)) set.blocking--;
      if (set.nodes.size === 0) dependents.delete(uid);
    }
  }

  /** Records the deletion of an object. */
  function remove(uid: string): void {
    const node = nodes.get(uid);
    if (!node) return;
    nodes.delete(uid);
    unlink(node);
    for (const owner of node.owners) unblock(owner.uid);
    const left = dependents.get(uid);
    if (!left) return;
    listener.deleted(node);
    for (const each of left.nodes) listener.enqueue(each.uid);
  }

  /** Replaces all objects of a kind: objects that are not in the list were deleted. */
  function replace(kind: DynamicKind, objects: readonly { readonly metadata: ObjectMeta }[]): void {
    const present = new Set(objects.map(({ metadata }) => metadata.uid));
    for (const node of nodes.values()) {
      const isOfKind = node.kind.plural === kind.plural && node.kind.group === kind.group;
      if (isOfKind && !present.has(node.uid)) remove(node.uid);
    }
    for (const { metadata } of objects) observe(kind, metadata);
  }

  function dependentsOf(uid: string): Dependents {
    const set = dependents.get(uid);
    return {
      count: set?.nodes.size ?? 0,
      blocking: set?.blocking ?? 0,
      get isOneWaiting() {
        for (const { deletionState } of set?.nodes ?? []) if (deletionState === 'waiting') return true;
        return false;
      },
      get isCircular() {
        return waitsForItself(uid);
      },
    };
  }

  /** Reports whether an object that waits for its dependents waits, indirectly, for itself. */
  function waitsForItself(start: string): boolean {
    const seen = new Set<string>();
    const left = [start];
    for (let uid = left.pop(); uid !== undefined; uid = left.pop()) {
      for (const node of dependents.get(uid)?.nodes ?? []) {
        if (node.deletionState !== 'waiting' || !isBlocking(node, uid)) continue;
        if (node.uid === start) return true;
        if (seen.has(node.uid)) continue;
        seen.add(node.uid);
        left.push(node.uid);
      }
    }
    return false;
  }

  return {
    observe,
    remove,
    replace,
    dependentsOf,
    get: (uid: string): Node | undefined => nodes.get(uid),
    /** Objects that refer to an owner, observed or not. */
    referringTo: (ownerUid: string): Iterable<Node> => dependents.get(ownerUid)?.nodes ?? [],
    get size() {
      return nodes.size;
    },
  };
}

function deletionStateOf(metadata: ObjectMeta): Node['deletionState'] {
  if (!metadata.deletionTimestamp) return 'none';
  if (isOrphaning(metadata)) return 'orphaning';
  return isWaiting(metadata) ? 'waiting' : 'going';
}

/** Yields each owner once, even if it is referenced several times. */
function ownersOf({ owners }: Node): Iterable<string> {
  return owners.length < 2 ? owners.map(({ uid }) => uid) : new Set(owners.map(({ uid }) => uid));
}

/** Reports whether a dependent blocks the foreground deletion of an owner. An object does not block itself. */
function isBlocking({ uid, owners }: Node, ownerUid: string): boolean {
  return uid !== ownerUid && owners.some((each) => each.uid === ownerUid && each.blockOwnerDeletion === true);
}

function isSameOwner(a: OwnerReference, b: OwnerReference): boolean {
  return a.uid === b.uid && a.name === b.name && a.kind === b.kind && a.apiVersion === b.apiVersion;
}

/**
 * Reports whether a reference matches the owner in group, kind and name, and may refer to its namespace. Versions are
 * ignored.
 */
function matchesReference(owner: Node, { apiVersion, kind, name }: OwnerReference, dependent: Node): boolean {
  const isSameKind = owner.kind.kind === kind && owner.kind.group === groupOf(apiVersion);
  return isSameKind && owner.name === name && !isElsewhere(owner, dependent);
}

function isElsewhere(owner: Node, dependent: Node): boolean {
  return owner.namespace !== undefined && owner.namespace !== dependent.namespace;
}
