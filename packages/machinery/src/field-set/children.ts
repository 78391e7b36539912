/**
 * The children of a node while they are gathered, one after the other. Objects that are made alike have the same fields
 * in the same order, so whoever gathers them goes where others went before: what follows on what is remembered, and a
 * node is sorted and made only once. Sets that say the same then mostly are the same, and take neither time nor room.
 */
import type { FieldSet } from './field-set.ts';
import { type PathElement, sortPathElements } from './path-element.ts';

const self = '.';
const emptyNode: FieldSet = Object.freeze({});

/** The children gathered so far; never changed. */
export class Children {
  readonly #before: Children | undefined;
  readonly #element: PathElement;
  readonly #node: FieldSet;
  // Mostly the same comes next, and is found without a map.
  #next: Children | undefined;
  #others: Map<PathElement, Map<FieldSet, Children>> | undefined;
  #member: FieldSet | undefined;
  #way: FieldSet | undefined;

  constructor(before?: Children, element: PathElement = '', node: FieldSet = emptyNode) {
    this.#before = before;
    this.#element = element;
    this.#node = node;
  }

  /** These children and one more, in place of the one with the same step, if there is one. */
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

  /** The child a step leads to. */
  get(element: PathElement): FieldSet | undefined {
    for (let each: Children = this; each.#before !== undefined; each = each.#before) {
      if (each.#element === element) return each.#node;
    }
    return undefined;
  }

  /** The node with these children, which is in the set itself or only on the way; `undefined` if it is neither. */
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

/** How many are remembered until all are forgotten: there is no end to what clients may send. */
const maxRemembered = 8192;
let remembered = 0;
let none = new Children();

function countOne(): void {
  if (++remembered < maxRemembered) return;
  remembered = 0;
  none = new Children();
}

/** No children yet. */
export function noChildren(): Children {
  return none;
}
