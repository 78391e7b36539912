/**
 * Children of a node of a field set while they are collected. Objects of one controller have the same fields in the
 * same order, so the sequence of children is cached as a trie, and each node is sorted and created only once. Equal
 * sets are then mostly the same object and take neither time nor memory.
 */
import type { FieldSet } from './field-set.ts';
import { type PathElement, sortPathElements } from './path-element.ts';

const self = '.';
const emptyNode: FieldSet = Object.freeze({});

/** The children collected so far; immutable. */
export class Children {
  readonly #before: Children | undefined;
  readonly #element: PathElement;
  readonly #node: FieldSet;
  // The most recent successor, which is found without a map lookup.
  #next: Children | undefined;
  #others: Map<PathElement, Map<FieldSet, Children>> | undefined;
  #member: FieldSet | undefined;
  #way: FieldSet | undefined;

  constructor(before?: Children, element: PathElement = '', node: FieldSet = emptyNode) {
    this.#before = before;
    this.#element = element;
    this.#node = node;
  }

  /** Returns these children and one more, which replaces a child with the same path element. */
  with(element: PathElement, node: FieldSet): Children {
    const next = this.#next;
    if (next !== undefined && next.#node === node && next.#element === element) return next;
    const known = this.#others?.get(element)?.get(node);
    return known ?? this.#remember(element, node);
  }

  #remember(element: PathElement, node: FieldSet): Children {
    const made = new Children(this, element, node);
    countOne();
    if (this.#next === undefined) {
      this.#next = made;
      return made;
    }
    this.#others ??= new Map();
    const alike = this.#others.get(element);
    if (alike) alike.set(node, made);
    else this.#others.set(element, new Map([[node, made]]));
    return made;
  }

  /** Returns the child of a path element. */
  get(element: PathElement): FieldSet | undefined {
    for (let each: Children = this; each.#before !== undefined; each = each.#before) {
      if (each.#element === element) return each.#node;
    }
    return undefined;
  }

  /**
   * Returns the node with these children; `member` reports whether the node itself is in the set. `undefined` if the node
   * has neither.
   */
  node(member: boolean): FieldSet | undefined {
    if (this.#before === undefined) return member ? emptyNode : undefined;
    if (member) return (this.#member ??= this.#make({ [self]: emptyNode }));
    return (this.#way ??= this.#make({}));
  }

  #make(node: Record<PathElement, FieldSet>): FieldSet {
    const nodes = new Map<PathElement, FieldSet>();
    for (let each: Children = this; each.#before !== undefined; each = each.#before) {
      if (!nodes.has(each.#element)) nodes.set(each.#element, each.#node);
    }
    for (const element of sortPathElements([...nodes.keys()])) node[element] = nodes.get(element)!;
    return node;
  }
}

/** Cache limit; the cache is cleared when it is reached, because input from clients is unbounded. */
const maxCachedNodes = 8192;
let cachedNodes = 0;
let none = new Children();

function countOne(): void {
  if (++cachedNodes < maxCachedNodes) return;
  cachedNodes = 0;
  none = new Children();
}

/** Returns an empty collection. */
export function noChildren(): Children {
  return none;
}
