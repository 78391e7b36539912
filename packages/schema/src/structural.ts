/**
 * Custom resources: what a schema written by users does to the objects of its kind. The parts are in `structural/`;
 * this is how the API server uses them, once for each version of a definition.
 *
 * ```ts
 * const structural = structuralSchema(version.schema.openAPIV3Schema, { metadata });
 * const pruned: string[] = [];
 * const { object } = structural.read(sent, pruned); // defaults set, unknown fields gone
 * const causes = structural.validate(object);
 * ```
 */
import type { Cause, CauseReason } from './field-error.ts';
import { completer, conformer } from './structural/conform.ts';
import { Correlation } from './structural/correlate.ts';
import { embeddedObjects, type MetadataRules } from './structural/embedded.ts';
import type { JsonObject, JsonSchema } from './structural/json-schema.ts';
import { duplicateFinder } from './structural/list-types.ts';
import { fault } from './structural/report.ts';
import { type CheckRulesOptions, ruleChecker } from './structural/rules.ts';
import { validator } from './structural/validate.ts';

export type { MetadataReading, MetadataRules } from './structural/embedded.ts';
export type { JsonObject, JsonSchema } from './structural/json-schema.ts';

/** What a schema does to the objects of its kind. */
export type Structural = {
  /**
   * Gives an object that was sent or stored the form of its version: unknown fields pruned (their paths added to
   * `pruned`), nulls dropped, defaults set, embedded metadata read. An object of that form is returned as it is.
   * Faults mean that the object cannot be read.
   */
  readonly read: (object: JsonObject, pruned?: string[]) => Reading;
  /**
   * Sets the defaults of an object that was read before and changed since, and leaves the rest as it is: what it should
   * not have, such as a null, is for validation to tell.
   */
  readonly complete: (object: JsonObject) => JsonObject;
  /**
   * Every fault of an object that is to be created. `earlier` are those that others have found: rules are not checked
   * on an object that is plainly wrong, in whatever respect.
   */
  readonly validate: (object: JsonObject, earlier?: readonly Cause[]) => Cause[];
  /**
   * Every fault of an object that is to replace `old`. Faults of what does not change are forgiven; of rules that it
   * goes on breaking, texts are added to `warnings`.
   */
  readonly validateUpdate: (
    object: JsonObject,
    old: JsonObject,
    warnings?: string[],
    earlier?: readonly Cause[],
  ) => Cause[];
  /** The same where only the status is to be replaced, and only that is looked at. */
  readonly validateStatusUpdate: (object: JsonObject, old: JsonObject, warnings?: string[]) => Cause[];
};

/** What became of an object that was read. */
export type Reading = { readonly object: JsonObject; readonly faults: readonly Cause[] };

/** Compiles a schema that is known to be valid. Little is done before the first object comes. */
export function structuralSchema(schema: JsonSchema, { metadata }: { readonly metadata: MetadataRules }): Structural {
  const conform = conformer(schema);
  const complete = completer(schema);
  const embedded = embeddedObjects(schema, metadata);
  const findDuplicates = duplicateFinder(schema);
  const validateValue = validator(schema);
  const checkRules = ruleChecker(schema, true);
  const statusSchema = schema.properties?.['status'];
  const validateStatus = statusSchema && validator(statusSchema);

  /** A list that had an item twice may go on having it. */
  const findNewDuplicates = (object: JsonObject, old: JsonObject): Cause[] => {
    const causes = findDuplicates(object);
    return causes.length > 0 && findDuplicates(old).length > 0 ? [] : causes;
  };

  const withRules = (
    causes: Cause[],
    object: JsonObject,
    options: CheckRulesOptions,
    earlier: readonly Cause[] = [],
  ): Cause[] => {
    if (!checkRules) return causes;
    const isBlocking = ({ reason }: Cause) => blocking.has(reason);
    if (!causes.some(isBlocking) && !earlier.some(isBlocking)) return [...causes, ...checkRules(object, options)];
    return [...causes, fault('FieldValueInvalid', '<nil>', null, rulesNotChecked)];
  };

  return {
    read(object, pruned) {
      try {
        const read = embedded?.read(object, pruned) ?? { object, faults: [] };
        return read.faults.length > 0 ? read : { object: conform(read.object, pruned), faults: [] };
      } catch (error) {
        return { object, faults: [tooDeep(error)] };
      }
    },
    complete,
    validate: guarded((object, earlier: readonly Cause[] = []) => {
      const causes = [...validateValue(object), ...(embedded?.validate(object) ?? []), ...findDuplicates(object)];
      return withRules(causes, object, {}, earlier);
    }),
    validateUpdate: guarded((object, old: JsonObject, warnings: string[] = [], earlier: readonly Cause[] = []) => {
      const correlation = new Correlation(object, old, schema);
      const causes = validateValue(object, { correlation });
      causes.push(...(embedded?.validate(object) ?? []), ...findNewDuplicates(object, old));
      return withRules(causes, object, { correlation, warnings }, earlier);
    }),
    validateStatusUpdate: guarded((object, old: JsonObject, warnings: string[] = []) => {
      const correlation = new Correlation(object, old, schema);
      const options = { origin: 'status', correlation: correlation.property('status') };
      const causes = validateStatus && 'status' in object ? validateStatus(object['status'], options) : [];
      return withRules([...causes, ...findNewDuplicates(object, old)], object, { correlation, warnings });
    }),
  };
}

/**
 * What JSON may nest is more than the stack may hold. Only where a schema says little can an object be that deep, and
 * no object of use is: it is refused, once the stack says so, rather than every walk kept from the stack.
 */
function guarded<A extends readonly unknown[]>(validate: (object: JsonObject, ...rest: A) => Cause[]) {
  return (object: JsonObject, ...rest: A): Cause[] => {
    try {
      return validate(object, ...rest);
    } catch (error) {
      return [tooDeep(error)];
    }
  };
}

function tooDeep(error: unknown): Cause {
  if (!(error instanceof RangeError)) throw error;
  return fault('FieldValueInvalid', '<nil>', '', 'must not be nested so deeply');
}

/** Faults after which rules are not evaluated: an object this wrong is not what its rules were written for. */
const blocking: ReadonlySet<CauseReason> = new Set([
  'FieldValueNotSupported',
  'FieldValueRequired',
  'FieldValueTooLong',
  'FieldValueTooMany',
  'FieldValueTypeInvalid',
]);
const rulesNotChecked =
  'some validation rules were not checked because the object was invalid; correct the existing errors to complete validation';
