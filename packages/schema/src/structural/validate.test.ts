import assert from 'node:assert/strict';
import { test } from 'node:test';
import { Ajv } from 'ajv';
import fc from 'fast-check';
import type { JsonSchema } from './json-schema.ts';
import { validator } from './validate.ts';

const names = ['a', 'b', 'c'];
const count = fc.nat({ max: 3 });
const values = fc.letrec((tie) => ({
  value: fc.oneof(
    { depthSize: 'small' },
    fc.constantFrom('', 'a', 'ab', 'abc', '\u{1f600}'),
    fc.integer({ min: -2, max: 5 }),
    fc.constantFrom(0.5, 1.5, true, false, null),
    fc.array(tie('value'), { maxLength: 3 }),
    fc.dictionary(fc.constantFrom(...names), tie('value'), { maxKeys: 3 }),
  ),
})).value;

/** Constraints with the same meaning in Kubernetes and JSON Schema: no formats, integer limits, enums of one type. */
const limits: fc.Arbitrary<JsonSchema> = fc.record(
  {
    minLength: count,
    maxLength: count,
    pattern: fc.constantFrom('^a', 'b$', '^[a-c]*$'),
    minimum: fc.integer({ min: -1, max: 3 }),
    maximum: fc.integer({ min: -1, max: 3 }),
    multipleOf: fc.constantFrom(1, 2),
    minItems: count,
    maxItems: count,
    minProperties: count,
    maxProperties: count,
    required: fc.uniqueArray(fc.constantFrom(...names)),
    enum: fc.uniqueArray(fc.constantFrom('', 'a', 'ab'), { minLength: 1 }),
  },
  { requiredKeys: [] },
);
const types = fc.constantFrom('string', 'integer', 'number', 'boolean', 'array', 'object');

function schemasOf(depth: number): fc.Arbitrary<JsonSchema> {
  if (depth === 0) return fc.record({ type: types });
  const part = schemasOf(depth - 1);
  const some = fc.array(limits, { minLength: 1, maxLength: 2 });
  const shape = fc.record(
    {
      type: types,
      items: part,
      properties: fc.dictionary(fc.constantFrom(...names), part, { maxKeys: 3 }),
      additionalProperties: fc.oneof(fc.boolean(), part),
      allOf: some,
      anyOf: some,
      oneOf: some,
      not: limits,
    },
    { requiredKeys: [] },
  );
  return fc.tuple(limits, shape).map(([limit, whole]) => ({ ...limit, ...whole }));
}
const schemas = schemasOf(2);

test('plain JSON Schema validates like another validator', () => {
  const ajv = new Ajv({ strict: false, logger: false });
  fc.assert(
    fc.property(schemas, fc.array(values, { minLength: 1, maxLength: 5 }), (schema, samples) => {
      const other = ajv.compile(schema);
      const validate = validator(schema);
      for (const sample of samples) {
        // Kubernetes checks only the type and the enum of a null.
        if (hasNull(sample)) continue;
        assert.equal(validate(sample).length === 0, other(sample), JSON.stringify({ schema, sample }));
      }
    }),
    { numRuns: 150 },
  );
});

test('the fast check and the reporting check agree', () => {
  fc.assert(
    fc.property(schemas, values, (schema, sample) => {
      if (sample === null) return;
      // A repeated alternative in oneOf never validates, so the errors of both are counted.
      const [cause] = validator({ oneOf: [schema, schema] })(sample);
      const isValid = validator(schema)(sample).length === 0;
      assert.match(cause!.message, isValid ? /Found 2 valid alternatives$/ : /Found none valid$/);
    }),
    { numRuns: 300 },
  );
});

function hasNull(value: unknown): boolean {
  if (value === null) return true;
  return typeof value === 'object' && Object.values(value as object).some(hasNull);
}
