import { asField, type Field, type Node, type ObjectNode, resolve } from '../language.ts';

/** A field as every codec sees it: inlined objects dissolved, and the rules of presence worked out. */
export type FieldPlan = {
  readonly name: string;
  readonly node: Exclude<Node, { type: 'lazy' }>;
  readonly pointer: boolean;
  /** Left out when empty, unless it is of a kind that cannot be empty. */
  readonly omitEmpty: boolean;
  /** Written even where nothing was given. */
  readonly alwaysWritten: boolean;
  readonly field: Field;
};

/** The fields of an object as JSON has them, in Go's order. */
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

/** The presence of one field. */
export function planField(name: string, field: Field): FieldPlan {
  const node = resolve(field.node);
  const { pointer, omitEmpty } = field;
  return { name, node, pointer, omitEmpty, field, alwaysWritten: !omitEmpty || (!pointer && isStructure(node)) };
}

// What Go holds in a structure is never empty, so a tag to omit it when empty has no effect.
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
