import { asField, type Field, type Node, type ObjectNode, resolve } from '../language.ts';

/** A field as every codec uses it: inlined objects are flattened, and the presence rules are resolved. */
export type FieldPlan = {
  readonly name: string;
  readonly node: Exclude<Node, { type: 'lazy' }>;
  readonly pointer: boolean;
  /** The field is omitted when empty, unless its type cannot be empty. */
  readonly omitEmpty: boolean;
  /** The field is written even if it was not set. */
  readonly alwaysWritten: boolean;
  readonly field: Field;
};

/** Returns the JSON fields of an object, in Go's order. */
export function planFields(node: ObjectNode): readonly FieldPlan[] {
  return [...plansIn(node)];
}

function* plansIn(node: ObjectNode): Generator<FieldPlan> {
  for (const [name, member] of Object.entries(node.fields)) {
    const field = asField(member);
    const resolved = resolve(field.node);
    if (field.inline) yield* plansIn(resolved as ObjectNode);
    else yield planField(name, field);
  }
}

/** Resolves the presence rules of one field. */
export function planField(name: string, field: Field): FieldPlan {
  const node = resolve(field.node);
  const { pointer, omitEmpty } = field;
  return { name, node, pointer, omitEmpty, field, alwaysWritten: !omitEmpty || (!pointer && isStructure(node)) };
}

// Returns whether a node is a Go struct. A struct is never empty, so `omitempty` has no effect on it.
function isStructure({ type }: Node): boolean {
  switch (type) {
    case 'string':
    case 'boolean':
    case 'integer':
    case 'number':
    case 'bytes':
    case 'map':
    case 'list':
      return false;
    default:
      return true;
  }
}
