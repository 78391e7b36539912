/**
 * Builds objects: values are first placed at the position of their field, then assembled in Go's order, with Go's
 * values for absent fields.
 */
import { type Node, type ObjectNode, resolve } from '../language.ts';
import { type FieldPlan, planFields } from './field-plan.ts';

/** Fields of an object by position. */
export type ObjectShape = {
  readonly plans: readonly FieldPlan[];
  readonly names: readonly string[];
  readonly positions: ReadonlyMap<string, number>;
  /** Factories of the values of absent fields; undefined if the field is omitted. */
  readonly absent: readonly ((() => unknown) | undefined)[];
};

const shapes = new WeakMap<ObjectNode, ObjectShape>();

/** Returns the shape of an object's schema. Memoized. */
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

/** Returns the values of an object by position, up to a key or all of them. */
export function place(shape: ObjectShape, object: object, end?: string): unknown[] {
  return placeInto(emptyPlaces(shape), shape, object, end);
}

/** Places the values of an object into an existing array of empty places. */
export function placeInto(placed: unknown[], { positions }: ObjectShape, object: object, end?: string): unknown[] {
  for (const key in object) {
    if (key === end) break;
    const position = positions.get(key);
    if (position !== undefined) placed[position] = (object as Readonly<Record<string, unknown>>)[key];
  }
  return placed;
}

/** Returns the empty places of an object. */
export function emptyPlaces({ names }: ObjectShape): unknown[] {
  return new Array<unknown>(names.length).fill(undefined);
}

/** Returns the object with these values at these positions. */
export function assemble({ names, absent }: ObjectShape, placed: readonly unknown[]): Record<string, unknown> {
  const object: Record<string, unknown> = {};
  for (let position = 0; position < names.length; position++) {
    const value = placed[position] ?? absent[position]?.();
    if (value !== undefined) object[names[position]!] = value;
  }
  return object;
}

/**
 * Returns a factory of the value that is written for an absent field; undefined if the field is omitted. Every call
 * creates a new value.
 */
export function absentValueOf({ alwaysWritten, pointer, node }: FieldPlan): () => unknown {
  if (!alwaysWritten) return () => undefined;
  return pointer ? () => null : () => zeroOf(node);
}

/** Returns Go's zero value of a node, as JSON. */
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
