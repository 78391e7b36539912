/**
 * Sets of field paths in the format of `managedFields`: a tree whose keys are path elements.
 *
 * ```json
 * { "f:spec": { "f:containers": { "k:{\"name\":\"a\"}": { ".": {}, "f:image": {} } } } }
 * ```
 *
 * A path is in the set if its node is empty or has the key `.`; other nodes are only parents. The tree is the wire
 * format, so an unchanged set is never decoded or encoded: operations visit only the differences and share the rest. To
 * make this possible, all sets are canonical: each path element has exactly one text, elements are in the order of Go
 * with `.` first, and nodes without a path are removed. `readFieldSet` converts any tree to this form.
 */
import { isObject, type JsonObject } from '../json-value.ts';
import { noChildren } from './children.ts';
import {
  comparePathElements,
  isCanonicalElement,
  type PathElement,
  PathElementError,
  readPathElement,
} from './path-element.ts';

/** A canonical set of field paths. At the root, an empty tree is the empty set. */
export type FieldSet = { readonly [element: PathElement]: FieldSet };

/** The empty set; below the root the same tree is a leaf. */
export const emptySet: FieldSet = noChildren().node(true)!;

const self = '.';
type Tree = Record<PathElement, FieldSet>;

/** Reports whether a set is empty. */
export function isEmpty(set: FieldSet): boolean {
  for (const _ in set) return false;
  return true;
}

/** Reports whether the path of a node is in the set. */
export function isMember(node: FieldSet): boolean {
  for (const first in node) return first === self;
  return true;
}

/** Returns the set of these paths. */
export function fieldSetOf(...paths: readonly (readonly PathElement[])[]): FieldSet {
  return unionAll(paths.filter((path) => path.length > 0).map(chain));
}

function chain(path: readonly PathElement[]): FieldSet {
  return path.reduceRight<FieldSet>((child, element) => ({ [element]: child }), emptySet);
}

/**
 * Reports whether a path is in a set.
 *
 * ```ts
 * hasPath(readFieldSet({ 'f:spec': { 'f:replicas': {} } }), fieldPath('spec', 'replicas')); // true
 * ```
 */
export function hasPath(set: FieldSet, path: readonly PathElement[]): boolean {
  let node: FieldSet | undefined = set;
  for (const element of path) {
    node = node[element];
    if (!node) return false;
  }
  return path.length > 0 && isMember(node);
}

/** Iterates over the paths of a set: parents before their children, siblings before their descendants. */
export function* pathsOf(set: FieldSet, prefix: readonly PathElement[] = []): Generator<readonly PathElement[]> {
  for (const element in set) {
    if (element !== self && isMember(set[element]!)) yield [...prefix, element];
  }
  for (const element in set) {
    if (element !== self) yield* pathsOf(set[element]!, [...prefix, element]);
  }
}

/** Returns the union of two sets. */
export function union(a: FieldSet, b: FieldSet): FieldSet {
  if (a === b || isEmpty(b)) return a;
  return isEmpty(a) ? b : (unite(a, b) ?? emptySet);
}

/** Returns the union of several sets. It merges halves, so that many small sets do not copy all earlier ones. */
export function unionAll(sets: readonly FieldSet[]): FieldSet {
  if (sets.length <= 2) return union(sets[0] ?? emptySet, sets[1] ?? emptySet);
  const half = sets.length >> 1;
  return union(unionAll(sets.slice(0, half)), unionAll(sets.slice(half)));
}

function unite(a: FieldSet, b: FieldSet): FieldSet {
  const changed = new Map<PathElement, FieldSet>();
  const added: PathElement[] = [];
  for (const element in b) {
    const [ours, theirs] = [a[element], b[element]!];
    if (!ours) added.push(element);
    else if (ours !== theirs && element !== self) {
      const both = uniteNodes(ours, theirs);
      if (both !== ours) changed.set(element, both);
    }
  }
  if (added.length === 0 && changed.size === 0) return a;
  const node: Tree = {};
  let next = 0;
  for (const element in a) {
    while (next < added.length && isBefore(added[next]!, element)) node[added[next]!] = b[added[next++]!]!;
    node[element] = changed.get(element) ?? a[element]!;
  }
  for (; next < added.length; next++) node[added[next]!] = b[added[next]!]!;
  return node;
}

function uniteNodes(a: FieldSet, b: FieldSet): FieldSet {
  if (isEmpty(a) || isEmpty(b)) return withSelf(isEmpty(a) ? b : a);
  return unite(a, b);
}

function withSelf(node: FieldSet): FieldSet {
  return isMember(node) ? node : { [self]: emptySet, ...node };
}

function isBefore(a: PathElement, b: PathElement): boolean {
  if (a === self || b === self) return a === self && b !== self;
  return comparePathElements(a, b) < 0;
}

/** Returns the paths of `a` that are not in `b`. Descendants of paths in `b` stay. */
export function difference(a: FieldSet, b: FieldSet): FieldSet {
  return subtract(a, b, subtractNode) ?? emptySet;
}

/** Returns the paths of `a` that are neither in `b` nor below a path of `b`. */
export function recursiveDifference(a: FieldSet, b: FieldSet): FieldSet {
  return subtract(a, b, subtractNodeAndBelow) ?? emptySet;
}

type Subtract = (a: FieldSet, b: FieldSet) => FieldSet | undefined;

/** Visits only the paths of `b`, so that the cost depends on the smaller set. */
function subtract(a: FieldSet, b: FieldSet, inner: Subtract): FieldSet | undefined {
  let changed: Map<PathElement, FieldSet | undefined> | undefined;
  for (const element in b) {
    const ours = element === self ? undefined : a[element];
    if (!ours) continue;
    const rest = inner(ours, b[element]!);
    if (rest === ours) continue;
    changed ??= new Map();
    changed.set(element, rest);
  }
  if (!changed) return a;
  const node: Tree = {};
  for (const element in a) {
    const rest = changed.has(element) ? changed.get(element) : a[element];
    if (rest) node[element] = rest;
  }
  return isEmpty(node) ? undefined : node;
}

function subtractNode(a: FieldSet, b: FieldSet): FieldSet | undefined {
  const rest = isEmpty(a) || isEmpty(b) ? a : subtract(a, b, subtractNode);
  if (!rest || !isMember(a)) return rest;
  return isMember(b) ? withoutSelf(rest) : onlySelf(rest) ? emptySet : rest;
}

function subtractNodeAndBelow(a: FieldSet, b: FieldSet): FieldSet | undefined {
  if (isMember(b)) return undefined;
  const rest = isEmpty(a) ? a : subtract(a, b, subtractNodeAndBelow);
  return rest && onlySelf(rest) ? emptySet : rest;
}

function onlySelf(node: FieldSet): boolean {
  for (const element in node) if (element !== self) return false;
  return true;
}

function withoutSelf(node: FieldSet): FieldSet | undefined {
  if (onlySelf(node)) return undefined;
  const { [self]: _, ...children } = node;
  return children;
}

/** Returns the intersection of two sets. */
export function intersection(a: FieldSet, b: FieldSet): FieldSet {
  const node: Tree = {};
  for (const element in b) {
    const ours = element === self ? undefined : a[element];
    const both = ours && intersectNodes(ours, b[element]!);
    if (both) node[element] = both;
  }
  return isEmpty(node) ? emptySet : node;
}

function intersectNodes(a: FieldSet, b: FieldSet): FieldSet | undefined {
  if (a === b) return a;
  const children = isEmpty(a) || isEmpty(b) ? emptySet : intersection(a, b);
  const member = isMember(a) && isMember(b);
  if (isEmpty(children)) return member ? emptySet : undefined;
  return member ? withSelf(children) : children;
}

/** Returns the leaves: paths without descendants in the set. */
export function leavesOf(set: FieldSet): FieldSet {
  const node: Tree = {};
  for (const element in set) {
    if (element !== self) node[element] = leavesOf(set[element]!);
  }
  return isEmpty(node) ? emptySet : node;
}

// Sets are immutable, so a canonical set stays canonical.
const canonicalSets = new WeakSet<object>();

/** Marks a set as canonical, for callers that built it from canonical sets. */
export function markCanonical(set: FieldSet): FieldSet {
  canonicalSets.add(set);
  return set;
}

/**
 * Returns the canonical form of the `fieldsV1` of a client or of the store. Throws `PathElementError` if it is invalid.
 */
export function readFieldSet(fieldsV1: unknown): FieldSet {
  if (fieldsV1 === undefined || fieldsV1 === null) return emptySet;
  if (!isObject(fieldsV1)) throw new PathElementError('expected a map of fields');
  if (canonicalSets.has(fieldsV1)) return fieldsV1 as FieldSet;
  if (isCanonicalRoot(fieldsV1)) return markCanonical(fieldsV1);
  const { children } = readNode(fieldsV1);
  return markCanonical(nodeOf(children, false) ?? emptySet);
}

function isCanonicalRoot(tree: JsonObject): tree is FieldSet {
  for (const first in tree) return first !== self && isCanonicalNode(tree);
  return true;
}

/** Reports whether a node that is not empty is canonical, as everything written by a server is. */
function isCanonicalNode(node: JsonObject): boolean {
  let last: PathElement | undefined;
  for (const element in node) {
    const below = node[element];
    if (!isObject(below)) return false;
    if (element === self ? !isEmpty(below as FieldSet) : !isCanonicalElement(element)) return false;
    if (last !== undefined && !isBefore(last, element)) return false;
    if (!isEmpty(below as FieldSet) && !isCanonicalNode(below)) return false;
    last = element;
  }
  return last !== self;
}

function nodeOf(children: ReadonlyMap<PathElement, FieldSet>, member: boolean): FieldSet | undefined {
  let gathered = noChildren();
  for (const [element, child] of children) gathered = gathered.with(element, child);
  return gathered.node(member);
}

type ReadNode = { readonly children: ReadonlyMap<PathElement, FieldSet>; readonly member: boolean };

function readNode(tree: JsonObject): ReadNode {
  const children = new Map<PathElement, FieldSet>();
  let member = false;
  for (const name of Object.keys(tree)) {
    if (name === self) {
      member = true;
      continue;
    }
    const element = readPathElement(name);
    if (element === undefined) continue;
    const below = tree[name];
    if (below !== null && !isObject(below)) throw new PathElementError(`expected a map of fields below ${name}`);
    const inner = readNode(below ?? {});
    const node = nodeOf(inner.children, inner.member || inner.children.size === 0)!;
    const known = children.get(element);
    children.set(element, known ? uniteNodes(known, node) : node);
  }
  return { children, member };
}
