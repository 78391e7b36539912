/**
 * Who owns whom, by uid: every object there is, and for each owner, there or not, what refers to it. It is kept by what
 * is observed and may lag behind; whoever acts on it asks the server first.
 *
 * Little is kept of an object, as there may be very many: where it is found, its owners, and whether it is going. In one
 * process the texts are those of the API server's own copy.
 */
import type { ObjectMeta } from '@kruise/api/meta/object-meta';
import type { DynamicKind } from '@kruise/client/dynamic-kind';
import { isSame } from '@kruise/machinery/json-value';
import type { OwnerReference } from '@kruise/machinery/owner-references';
import { groupOf } from '@kruise/schema/kind';
import { type Dependents, isOrphaning, isWaiting } from './decide.ts';

/** An object that was observed. */
export type Node = {
  readonly uid: string;
  readonly name: string;
  readonly namespace: string | undefined;
  kind: DynamicKind;
  owners: readonly OwnerReference[];
  /** What is known of its end: it is not deleted; it is, and waits for what it owns; it is, and that is that. */
  fate: 'none' | 'waiting' | 'orphaning' | 'going';
};

/** Who is told what has to be looked at. */
export type GraphListener = {
  /** An object may be garbage, or may go on with its own deletion. */
  suspect(uid: string): void;
  /** An owner is referred to that was not observed: perhaps it does not exist. */
  unseen(ownerUid: string): void;
  /** An owner that had dependents is gone. */
  gone(owner: Node): void;
  /** An object refers to an owner in another namespace, which can own nothing here. */
  misplaced(dependent: Node, reference: OwnerReference): void;
};

type DependentSet = { readonly nodes: Set<Node>; blocking: number };

export type Graph = ReturnType<typeof createGraph>;

const noOwners: readonly OwnerReference[] = [];

/** A graph of nothing. */
export function createGraph(listener: GraphListener) {
  const nodes = new Map<string, Node>();
  const dependents = new Map<string, DependentSet>();

  /** Takes note of an object as it is now. */
  function observe(kind: DynamicKind, metadata: ObjectMeta): void {
    const { uid, name = '', namespace } = metadata;
    if (!uid) return;
    const known = nodes.get(uid);
    const node: Node = known ?? { uid, name, namespace, kind, owners: noOwners, fate: 'none' };
    node.kind = kind;
    const before = node.fate;
    node.fate = fateOf(metadata);
    if (!known) {
      nodes.set(uid, node);
      recognise(node);
    }
    setOwners(node, metadata.ownerReferences ?? noOwners);
    if (node.fate === before) return;
    if (node.fate === 'waiting') for (const each of dependents.get(uid)?.nodes ?? []) listener.suspect(each.uid);
    if (node.fate === 'waiting' || node.fate === 'orphaning') listener.suspect(uid);
  }

  /** An owner that was only heard of so far is seen: those who refer to it by another name are mistaken. */
  function recognise(owner: Node): void {
    for (const dependent of dependents.get(owner.uid)?.nodes ?? []) {
      for (const reference of dependent.owners) {
        if (reference.uid === owner.uid && !isMeant(owner, reference, dependent)) mistake(owner, reference, dependent);
      }
    }
  }

  function mistake(owner: Node, reference: OwnerReference, dependent: Node): void {
    if (isElsewhere(owner, dependent)) listener.misplaced(dependent, reference);
    listener.suspect(dependent.uid);
  }

  function setOwners(node: Node, owners: readonly OwnerReference[]): void {
    const before = node.owners;
    if (before === owners || isSame(before, owners)) return;
    unlink(node);
    node.owners = owners;
    link(node);
    for (const reference of owners) {
      if (!before.some((each) => isSameOwner(each, reference))) refer(node, reference);
    }
    for (const { uid } of before) unblock(uid);
  }

  /** What follows from a reference that was not there before. */
  function refer(node: Node, reference: OwnerReference): void {
    const owner = nodes.get(reference.uid);
    if (!owner) listener.unseen(reference.uid);
    else if (!isMeant(owner, reference, node)) mistake(owner, reference, node);
    else if (owner.fate === 'waiting') listener.suspect(node.uid);
  }

  /** An owner that waits for its dependents is looked at when none of them keeps it any more. */
  function unblock(ownerUid: string): void {
    if (nodes.get(ownerUid)?.fate === 'waiting' && dependentsOf(ownerUid).blocking === 0) listener.suspect(ownerUid);
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

  /** Takes note that an object is gone. */
  function remove(uid: string): void {
    const node = nodes.get(uid);
    if (!node) return;
    nodes.delete(uid);
    unlink(node);
    for (const owner of node.owners) unblock(owner.uid);
    const left = dependents.get(uid);
    if (!left) return;
    listener.gone(node);
    for (const each of left.nodes) listener.suspect(each.uid);
  }

  /** Takes note of all objects of a kind: what else was known of it is gone. */
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
        for (const { fate } of set?.nodes ?? []) if (fate === 'waiting') return true;
        return false;
      },
      get isCircular() {
        return waitsForItself(uid);
      },
    };
  }

  /** Whether one that waits for its dependents waits in the end for itself. */
  function waitsForItself(start: string): boolean {
    const seen = new Set<string>();
    const left = [start];
    for (let uid = left.pop(); uid !== undefined; uid = left.pop()) {
      for (const node of dependents.get(uid)?.nodes ?? []) {
        if (node.fate !== 'waiting' || !isBlocking(node, uid)) continue;
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
    /** The objects that refer to an owner, there or not. */
    referringTo: (ownerUid: string): Iterable<Node> => dependents.get(ownerUid)?.nodes ?? [],
    get size() {
      return nodes.size;
    },
  };
}

function fateOf(metadata: ObjectMeta): Node['fate'] {
  if (!metadata.deletionTimestamp) return 'none';
  if (isOrphaning(metadata)) return 'orphaning';
  return isWaiting(metadata) ? 'waiting' : 'going';
}

/** Each owner once, however often it is referred to. */
function ownersOf({ owners }: Node): Iterable<string> {
  return owners.length < 2 ? owners.map(({ uid }) => uid) : new Set(owners.map(({ uid }) => uid));
}

/** Whether an owner waits for a dependent when it is deleted in the foreground. Nobody waits for itself. */
function isBlocking({ uid, owners }: Node, ownerUid: string): boolean {
  return uid !== ownerUid && owners.some((each) => each.uid === ownerUid && each.blockOwnerDeletion === true);
}

function isSameOwner(a: OwnerReference, b: OwnerReference): boolean {
  return a.uid === b.uid && a.name === b.name && a.kind === b.kind && a.apiVersion === b.apiVersion;
}

/** Whether a reference, besides the uid of an owner, has its kind and name, and can reach it. Any version will do. */
function isMeant(owner: Node, { apiVersion, kind, name }: OwnerReference, dependent: Node): boolean {
  const isSameKind = owner.kind.kind === kind && owner.kind.group === groupOf(apiVersion);
  return isSameKind && owner.name === name && !isElsewhere(owner, dependent);
}

function isElsewhere(owner: Node, dependent: Node): boolean {
  return owner.namespace !== undefined && owner.namespace !== dependent.namespace;
}
