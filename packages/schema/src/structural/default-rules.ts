/**
 * Validates defaults: the schema itself must accept a default and must not prune any part of it. Kubernetes also
 * accepts defaults of any type for int-or-string; every object with such a default would then be rejected.
 */
import type { Cause } from '../field-error.ts';
import { unknownFields } from './conform.ts';
import { Correlation } from './correlate.ts';
import { embeddedObjects, type MetadataRules } from './embedded.ts';
import { isObjectField, itemsOf, type JsonSchema } from './json-schema.ts';
import { fault } from './report.ts';
import { ruleChecker } from './rules.ts';
import { validator } from './validate.ts';

/** Yields all errors of the defaults in a schema of whole objects. */
export function* validateDefaults(schema: JsonSchema, path: string, metadata: MetadataRules): Generator<Cause> {
  yield* validateNode({ ...schema, 'x-kubernetes-embedded-resource': true }, path, metadata, false);
}

function* validateNode(
  schema: JsonSchema,
  path: string,
  metadata: MetadataRules,
  isInMetadata: boolean,
): Generator<Cause> {
  const isResource = schema['x-kubernetes-embedded-resource'] === true;
  if (schema.default !== undefined && schema.default !== null) {
    yield* validateDefault(schema, `${path}.default`, metadata, isInMetadata && !isResource);
  }
  const items = itemsOf(schema);
  if (items) yield* validateNode(items, `${path}.items`, metadata, isInMetadata && !isResource);
  for (const [name, property] of Object.entries(schema.properties ?? {})) {
    const isInside = (isInMetadata && !isResource) || (isResource && isObjectField(name));
    yield* validateNode(property, `${path}.properties[${name}]`, metadata, isInside);
  }
}

function* validateDefault(
  schema: JsonSchema,
  path: string,
  metadata: MetadataRules,
  isInMetadata: boolean,
): Generator<Cause> {
  const value = schema.default;
  if (!isInMetadata && unknownFields(schema, value).length > 0) {
    yield fault('FieldValueInvalid', path, value, 'must not have unknown fields');
  }
  const embedded = embeddedObjects(schema, metadata, path);
  const unreadable = embedded?.read(value).faults ?? [];
  if (unreadable.length > 0) return yield* unreadable;
  const objectFaults = embedded?.validate(value) ?? [];
  if (objectFaults.length > 0) return yield* objectFaults;
  const causes = validator(schema)(value, { origin: path });
  if (causes.length > 0) return yield* causes;

  const checkRules = ruleChecker(schema, schema['x-kubernetes-embedded-resource'] === true);
  if (!checkRules) return;
  const violations = checkRules(value, { origin: path, correlation: new Correlation(value, value, schema) });
  yield* violations;
  // Rules with optionalOldSelf must accept the default also without an old value.
  if (violations.length === 0) yield* checkRules(value, { origin: path });
}
