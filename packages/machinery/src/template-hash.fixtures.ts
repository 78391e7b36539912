/** Pod templates that are generated from the schema, so that no field is missing. */
import { type PodTemplateSpec, podTemplateSpec } from '@kruise/api/core/pod-template';
import { asField, type Node, type ObjectNode, resolve } from '@kruise/schema';

/** Returns a template with a value in every field. */
export function makeFullTemplate(): PodTemplateSpec {
  return sample(podTemplateSpec, valueFor) as PodTemplateSpec;
}

/** Returns a template in which every struct is present but empty; lists have one empty item. */
export function makeEmptyStructTemplate(): PodTemplateSpec {
  return sample(podTemplateSpec, () => undefined) as PodTemplateSpec;
}

type Scalar = (node: Node) => unknown;

function sample(unresolved: Node, scalar: Scalar): unknown {
  const node = resolve(unresolved);
  switch (node.type) {
    case 'object':
      return Object.fromEntries(membersOf(node, scalar));
    case 'list':
      return [sample(node.items, scalar) ?? valueFor(node.items)];
    case 'map':
      return { key: sample(node.values, scalar) ?? valueFor(node.values) };
    default:
      return scalar(node);
  }
}

function* membersOf(node: ObjectNode, scalar: Scalar): Generator<readonly [string, unknown]> {
  for (const [name, member] of Object.entries(node.fields)) {
    const field = asField(member);
    if (field.inline) yield* membersOf(resolve(field.node) as ObjectNode, scalar);
    else yield [name, sample(field.node, scalar)];
  }
}

function valueFor(unresolved: Node): unknown {
  const node = resolve(unresolved);
  switch (node.type) {
    case 'boolean':
      return true;
    case 'integer':
      return 7;
    case 'intOrString':
      return '25%';
    case 'quantity':
      return '1.5Gi';
    case 'time':
      return null;
    case 'any':
      return { 'f:a': {} };
    default:
      return 'text';
  }
}
