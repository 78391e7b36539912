/**
 * How an object is put together: its values are first placed, each at the position of its field, and then assembled in
 * Go's order, with what Go writes for those that are absent.
 */
import { type Node, type ObjectNode, resolve } from '../language.ts';
import { type FieldPlan, planFields } from './field-plan.ts';

/** The fields of an object by position. */
export type ObjectShape = {
  readonly plans: readonly FieldPlan[];
  readonly names: readonly string[];
  readonly positions: ReadonlyMap<string, number>;
  /** What stands for an absent field, where something does. */
  readonly absent: readonly ((() => unknown) | undefined)[];
};

const shapes = new WeakMap<ObjectNode, ObjectShape>();

/** The shape of an object's schema; the same one each time. */
export function shapeOf(node: ObjectNode): ObjectShape {
  let shape = shapes.get(node);
  if (!shape) {
    const plans = planFields(node);
    const names = plans.map(({ name }) => name);
    const positions = new Map(names.map((name, position) => [name, position]));
    shape = {
      plans,
      names,
      positions,
      absent: plans.map((plan) => (plan.alwaysWritten ? absentValueOf(plan) : undefined)),
    };
    shapes.set(node, shape);
  }
  return shape;
}

/** The values of an object by position, as far as a key, or all of them. */
export function place(shape: ObjectShape, object: object, end?: string): unknown[] {
  return placeInto(emptyPlaces(shape), shape, object, end);
}

/** The same in places that are empty. */
export function placeInto(placed: unknown[], { positions }: ObjectShape, object: object, end?: string): unknown[] {
  for (const key in object) {
    if (key === end) break;
    const position = positions.get(key);
    if (position !== undefined) placed[position] = (object as Readonly<Record<string, unknown>>)[key];
  }
  return placed;
}

/** The positions of an object, nothing at any of them yet. */
export function emptyPlaces({ names }: ObjectShape): unknown[] {
  return new Array<unknown>(names.length).fill(undefined);
}

/** The object that has these values at these positions. */
export function assemble({ names, absent }: ObjectShape, placed: readonly unknown[]): Record<string, unknown> {
  const object: Record<string, unknown> = {};
  for (let position = 0; position < names.length; position++) {
    const value = placed[position] ?? absent[position]?.();
    if (value !== undefined) object[names[position]!] = value;
  }
  return object;
}

/** What is written for a field that was not given; undefined, if nothing is. Made anew each time. */
export function absentValueOf({ alwaysWritten, pointer, node }: FieldPlan): () => unknown {
  if (!alwaysWritten) return () => undefined;
  return pointer ? () => null : () => zeroOf(node);
}

/** What a value of a node is where none was given: Go's zero value, written as JSON. */
export function zeroOf(node: Node): unknown {
  const resolved = resolve(node);
  switch (resolved.type) {
    case 'string':
      return '';
    case 'boolean':
      return false;
    case 'integer':
    case 'number':
    case 'intOrString':
      return 0;
    case 'duration':
      return '0s';
    case 'quantity':
      return '0';
    case 'object':
      return assemble(shapeOf(resolved), []);
    default:
      return null;
  }
}
