import { additionalOf, type JsonSchema, propertyOf } from './json-schema.ts';

/** The path of a field in a cause and the schema of the field, or an error. */
export type FieldPath = { readonly path: string; readonly schema: JsonSchema } | { readonly error: string };

const escapes: ReadonlyMap<string, string> = new Map([
  ['a', '\x07'],
  ['b', '\b'],
  ['f', '\f'],
  ['n', '\n'],
  ['r', '\r'],
  ['t', '\t'],
  ['v', '\v'],
  ["'", "'"],
  ['\\', '\\'],
]);

/**
 * Follows a path such as `.spec.ports` or `.labels['app']` through a schema.
 *
 * ```ts
 * const path = followFieldPath('.spec.replicas', schema);
 * ```
 */
export function followFieldPath(text: string, root: JsonSchema, { brackets = true } = {}): FieldPath {
  const tokens = text.match(/'(?:[^'\\]|\\.)*'|[.[\]]|[^.[\]]+/gs) ?? [];
  let path = '';
  let schema = root;
  let error: string | undefined;
  const step = (name: string): void => {
    if (schema.properties !== undefined) {
      const property = propertyOf(schema, name);
      if (!property) error = 'does not refer to a valid field';
      path = path === '' ? name : `${path}.${name}`;
      schema = property ?? {};
    } else if (additionalOf(schema)) {
      path = `${path}[${name}]`;
      schema = additionalOf(schema)!;
    } else error = 'does not refer to a valid field';
  };
  for (let index = 0; index < tokens.length && error === undefined; index++) {
    const token = tokens[index];
    const next = tokens[index + 1];
    if (token === '.') {
      if (next === undefined) error = 'unexpected end of JSON path';
      else step(next);
      index++;
    } else if (token !== '[') error = `expected [ or . but got: ${token}`;
    else if (!brackets) error = 'array notation is not allowed';
    else if (next === undefined) error = 'unexpected end of JSON path';
    else if (!/^'.*'$/s.test(next) || next.length < 2) error = `expected single quoted string but got ${next}`;
    else {
      const unknown = next
        .slice(1, -1)
        .match(/\\./gs)
        ?.find((escaped) => !escapes.has(escaped[1]!));
      if (unknown) error = `invalid string literal: invalid escape char ${unknown}`;
      else step(next.slice(1, -1).replace(/\\./gs, (escaped) => escapes.get(escaped[1]!)!));
      const closing = tokens[index + 2];
      if (error === undefined && closing === undefined) error = 'unexpected end of JSON path';
      else if (error === undefined && closing !== ']') error = `expected ] but got ${closing}`;
      index += 2;
    }
  }
  return error === undefined ? { path, schema } : { error };
}
