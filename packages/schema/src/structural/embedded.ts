/**
 * Embedded resources: objects that `x-kubernetes-embedded-resource` marks have their own apiVersion, kind and metadata,
 * which are read and validated like those of any object.
 */
import { validateDns1035Label } from '@kruise/values/names';
import { type Cause, required } from '../field-error.ts';
import { additionalOf, isObject, itemsOf, type JsonObject, type JsonSchema } from './json-schema.ts';
import { fault } from './report.ts';

/** Metadata rules of the API server. */
export type MetadataRules = {
  /** Returns the metadata as it is stored, with the paths of unknown fields, or the reason why it cannot be read. */
  readonly read: (metadata: unknown) => MetadataReading;
  /** Returns the errors of metadata that could be read. */
  readonly validate: (metadata: unknown, path: string) => readonly Cause[];
};

/** Result of reading metadata. */
export type MetadataReading =
  | { readonly metadata: unknown; readonly unknown: readonly string[] }
  | { readonly error: string };

/** Operations on the embedded resources of an object. */
export type EmbeddedObjects = {
  /** Returns the object with its embedded metadata read. Errors are of metadata that cannot be read. */
  readonly read: <T>(whole: T, unknown?: string[]) => { readonly object: T; readonly faults: Cause[] };
  readonly validate: (whole: unknown) => Cause[];
};

/**
 * Finds the embedded resources of a schema; undefined if there are none. `path` is the location of the value if it is
 * part of an object; then the value itself may be an embedded resource.
 */
export function embeddedObjects(schema: JsonSchema, rules: MetadataRules, path = ''): EmbeddedObjects | undefined {
  const visit = visitOf(schema, path === '');
  return (
    visit && {
      read<T>(whole: T, unknown?: string[]) {
        const faults: Cause[] = [];
        const read = visit(whole, path, (embedded, at) => readObject(embedded, at, rules, faults, unknown));
        // Objects are replaced by objects, so the type is kept.
        return { object: read as T, faults };
      },
      validate(whole) {
        const causes: Cause[] = [];
        visit(whole, path, (embedded, at) => {
          causes.push(...validateObject(embedded, at, rules));
          return embedded;
        });
        return causes;
      },
    }
  );
}

/** Replaces every embedded resource in a value by the result of `change`. */
type Visit = (value: unknown, path: string, change: Change) => unknown;
type Change = (embedded: JsonObject, path: string) => JsonObject;

function visitOf(schema: JsonSchema, isRoot = false): Visit | undefined {
  const isEmbedded = !isRoot && schema['x-kubernetes-embedded-resource'] === true;
  const itemSchema = itemsOf(schema);
  const items = itemSchema && visitOf(itemSchema);
  const properties = new Map<string, Visit>();
  for (const [name, property] of Object.entries(schema.properties ?? {})) {
    const visit = visitOf(property);
    if (visit) properties.set(name, visit);
  }
  const additionalSchema = additionalOf(schema);
  const additional = additionalSchema && visitOf(additionalSchema);
  if (!isEmbedded && !items && properties.size === 0 && !additional) return undefined;

  return (value, path, change) => {
    if (Array.isArray(value)) return items ? visitList(value, path, items, change) : value;
    if (!isObject(value)) return value;
    let object = isEmbedded ? change(value, path) : value;
    for (const name of Object.keys(object)) {
      const visit = properties.get(name) ?? additional;
      if (!visit) continue;
      const childPath = properties.has(name) ? (path === '' ? name : `${path}.${name}`) : `${path}[${name}]`;
      const changed = visit(object[name], childPath, change);
      if (changed !== object[name]) object = { ...object, [name]: changed };
    }
    return object;
  };
}

function visitList(list: readonly unknown[], path: string, visit: Visit, change: Change): readonly unknown[] {
  const changed = list.map((item, index) => visit(item, `${path}[${index}]`, change));
  return changed.every((item, index) => item === list[index]) ? list : changed;
}

function readObject(
  object: JsonObject,
  path: string,
  rules: MetadataRules,
  faults: Cause[],
  unknown?: string[],
): JsonObject {
  for (const name of ['apiVersion', 'kind']) {
    const value = object[name];
    if (value === undefined || typeof value === 'string') continue;
    faults.push(fault('FieldValueInvalid', `${path}.${name}`, value, 'must be a string'));
  }
  if (object['metadata'] === undefined) return object;
  const reading = rules.read(object['metadata']);
  if ('error' in reading) {
    faults.push(fault('FieldValueInvalid', `${path}.metadata`, object['metadata'], reading.error));
    return object;
  }
  unknown?.push(...reading.unknown.map((name) => `${path}.metadata.${name}`));
  return reading.metadata === object['metadata'] ? object : { ...object, metadata: reading.metadata };
}

function* validateObject(object: JsonObject, path: string, rules: MetadataRules): Generator<Cause> {
  const invalid = (name: string, detail: string) => fault('FieldValueInvalid', `${path}.${name}`, object[name], detail);
  const { apiVersion, kind, metadata } = object;

  if (apiVersion === undefined) yield required(`${path}.apiVersion`, 'must not be empty');
  else if (typeof apiVersion !== 'string') yield invalid('apiVersion', 'must be a string');
  else if (apiVersion === '') yield invalid('apiVersion', 'must not be empty');
  else if (apiVersion.split('/').length > 2) {
    yield invalid('apiVersion', `unexpected GroupVersion string: ${apiVersion}`);
  }

  if (kind === undefined) yield required(`${path}.kind`, 'must not be empty');
  else if (typeof kind !== 'string') yield invalid('kind', 'must be a string');
  else if (kind === '') yield invalid('kind', 'must not be empty');
  else {
    const faults = validateDns1035Label(kind.toLowerCase());
    if (faults.length > 0) yield invalid('kind', `may have mixed case, but should otherwise match: ${faults.join()}`);
  }

  if (metadata === undefined) return;
  const reading = rules.read(metadata);
  if ('error' in reading) yield invalid('metadata', reading.error);
  else yield* rules.validate(reading.metadata, `${path}.metadata`);
}
