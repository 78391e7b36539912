import { type Field, type Node, type ObjectNode, resolve } from '../language.ts';

/**
 * Returns the Go type of a node's values, as error messages print it: `v1.PodSpec`, `map[string]string`, `[]v1.Volume`.
 */
export function goTypeOf(unresolved: Node): string {
  const node = resolve(unresolved);
  if (node.goType !== undefined) return node.goType;
  switch (node.type) {
    case 'string':
      return 'string';
    case 'boolean':
      return 'bool';
    case 'integer':
      return node.format;
    case 'number':
      return 'float64';
    case 'bytes':
      return '[]uint8';
    case 'time':
      return 'v1.Time';
    case 'microTime':
      return 'v1.MicroTime';
    case 'duration':
      return 'v1.Duration';
    case 'quantity':
      return 'resource.Quantity';
    case 'intOrString':
      return 'intstr.IntOrString';
    case 'map':
      return `map[string]${goTypeOf(node.values)}`;
    case 'list':
      return `[]${goTypeOf(node.items)}`;
    case 'object':
      return (node.name ?? '').split('.').slice(-2).join('.');
    case 'any':
      return anyTypes[node.form];
    case 'either':
      return eitherTypes[node.or];
  }
}

const anyTypes = {
  rawExtension: 'runtime.RawExtension',
  json: 'v1.JSON',
  fieldsV1: 'v1.FieldsV1',
  preserved: 'interface {}',
};

const eitherTypes = {
  list: 'v1.JSONSchemaPropsOrArray',
  boolean: 'v1.JSONSchemaPropsOrBool',
  strings: 'v1.JSONSchemaPropsOrStringArray',
};

/** Returns the name of an object's Go struct: `PodSpec`. */
export function structureName({ name = '' }: ObjectNode): string {
  return name.slice(name.lastIndexOf('.') + 1);
}

/** Words that Go writes in capitals at the start of a field name. */
const initialisms: ReadonlySet<string> = new Set(
  'api aws csi dns fc fs gce gmsa grpc http ip iqn iscsi nfs os pd rbd se ssl tcp tty uid'.split(' '),
);

/** Returns the name of a field in its Go struct: `FSGroup` for `fsGroup`. An embedded struct has its own name. */
export function goFieldName(name: string, field: Field): string {
  if (field.goName !== undefined) return field.goName;
  const node = resolve(field.node);
  if (node.type === 'object' && (field.inline || name === 'metadata')) return structureName(node);
  const [word = ''] = /^[a-z]+/.exec(name) ?? [];
  const length = initialisms.has(word) ? word.length : 1;
  return name.slice(0, length).toUpperCase() + name.slice(length);
}
