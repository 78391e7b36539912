/**
 * Custom resources: applies a schema written by users to the objects of its kind. The parts are in `structural/`; this
 * file is the interface for the API server, used once per version of a CRD.
 *
 * ```ts
 * const structural = structuralSchema(schema, { metadata });
 * const pruned: string[] = [];
 * const { object } = structural.read({ spec: {} }, pruned); // defaults set, unknown fields pruned
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

/** Operations of a schema on the objects of its kind. */
export type Structural = {
  /**
   * Converts a received or stored object to the form of its version: prunes unknown fields (their paths are added to
   * `pruned`), drops nulls, sets defaults and reads embedded metadata. An object that already conforms is returned
   * itself. Errors mean that the object cannot be read.
   */
  readonly read: (object: JsonObject, pruned?: string[]) => Reading;
  /**
   * Sets the defaults of an object that was changed after it was read, and leaves the rest unchanged: validation
   * reports what is not allowed, such as a null.
   */
  readonly complete: (object: JsonObject) => JsonObject;
  /**
   * Returns all errors of an object that is created. `earlier` are errors from other validation: CEL rules are not
   * evaluated on an object that is invalid in any respect.
   */
  readonly validate: (object: JsonObject, earlier?: readonly Cause[]) => Cause[];
  /**
   * Returns all errors of an object that replaces `old`. Errors in unchanged values are ignored; CEL rules that are
   * still violated add texts to `warnings`.
   */
  readonly validateUpdate: (
    object: JsonObject,
    old: JsonObject,
    warnings?: string[],
    earlier?: readonly Cause[],
  ) => Cause[];
  /** Returns all errors of an update of the status subresource, which validates only the status. */
  readonly validateStatusUpdate: (object: JsonObject, old: JsonObject, warnings?: string[]) => Cause[];
};

/** Result of reading an object. */
export type Reading = { readonly object: JsonObject; readonly faults: readonly Cause[] };

/** Compiles a valid schema. Most of the work is deferred until the first object. */
export function structuralSchema(schema: JsonSchema, { metadata }: { readonly metadata: MetadataRules }): Structural {
  const conform = conformer(schema);
  const complete = completer(schema);
  const embedded = embeddedObjects(schema, metadata);
  const findDuplicates = duplicateFinder(schema);
  const validateValue = validator(schema);
  const checkRules = ruleChecker(schema, true);
  const statusSchema = schema.properties?.['status'];
  const validateStatus = statusSchema && validator(statusSchema);

  /** A list with a duplicate item may keep it in an update. */
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
 * Converts a stack overflow to a validation error. JSON can nest deeper than the stack allows. Only schemas with few
 * constraints accept such objects, and none of them is useful.
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

/** Errors after which CEL rules are not evaluated: the rules were not written for such objects. */
const blocking: ReadonlySet<CauseReason> = new Set([
  'FieldValueNotSupported',
  'FieldValueRequired',
  'FieldValueTooLong',
  'FieldValueTooMany',
  'FieldValueTypeInvalid',
]);
const rulesNotChecked =
  'some validation rules were not checked because the object was invalid; correct the existing errors to complete validation';
