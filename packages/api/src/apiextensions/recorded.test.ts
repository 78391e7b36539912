import assert from 'node:assert/strict';
import { existsSync, readFileSync } from 'node:fs';
import { test } from 'node:test';
import { gunzipSync } from 'node:zlib';
import { codecOf } from '@kruise/schema/codec';
import type { Draft } from '@kruise/schema/draft';
import type { Cause } from '@kruise/schema/field-error';
import type { JsonSchema } from '@kruise/schema/structural';
import { defaultCustomResourceDefinition } from './customresourcedefinition.default.ts';
import { type CustomResourceDefinition, customResourceDefinition } from './customresourcedefinition.ts';
import {
  validateCustomResourceDefinition,
  validateCustomResourceDefinitionUpdate,
} from './customresourcedefinition.validate.ts';

/** A CRD in a test, without common fields. */
type DefinitionObject = { readonly spec: CustomResourceDefinition['spec']; readonly [part: string]: unknown };
type VersionObject = { readonly name: string; readonly [part: string]: unknown };

// Fields that a test omits do not matter to it.
const whole = (object: DefinitionObject) =>
  ({ apiVersion: 'apiextensions.k8s.io/v1', kind: 'CustomResourceDefinition', ...object }) as never;
const validateDefinition = (object: DefinitionObject) => [...validateCustomResourceDefinition(whole(object))];
const validateDefinitionUpdate = (object: DefinitionObject, old: DefinitionObject) => [
  ...validateCustomResourceDefinitionUpdate(whole(object), whole(old)),
];
const lines = (causes: readonly Cause[]) => causes.map(({ field, message }) => `${field}: ${message}`).sort();

const version = (openAPIV3Schema: JsonSchema, more: Partial<VersionObject> = {}): VersionObject => ({
  name: 'v1',
  served: true,
  storage: true,
  schema: { openAPIV3Schema },
  ...more,
});
const definition = (...versions: readonly VersionObject[]): DefinitionObject =>
  ({
    metadata: { name: 'ones.example.com', resourceVersion: '1' },
    spec: {
      group: 'example.com',
      scope: 'Namespaced',
      names: { plural: 'ones', singular: 'one', kind: 'One', listKind: 'OneList' },
      versions,
      conversion: { strategy: 'None' },
    },
    status: { storedVersions: ['v1'] },
  }) as never;
const field = (schema: JsonSchema): JsonSchema => ({ type: 'object', properties: { f: schema } });
const at = 'spec.validation.openAPIV3Schema.properties[f]';

const schemas: readonly { name: string; schema: JsonSchema; faults: readonly string[] }[] = [
  { name: 'a structural schema is valid', schema: field({ type: 'string' }), faults: [] },
  {
    name: 'the root must be an object',
    schema: { type: 'string' },
    faults: ['spec.validation.openAPIV3Schema.type: Invalid value: "string": must be object at the root'],
  },
  {
    name: 'every field needs a type',
    schema: field({}),
    faults: [`${at}.type: Required value: must not be empty for specified object fields`],
  },
  {
    name: 'an array needs items',
    schema: field({ type: 'array' }),
    faults: [`${at}.items: Required value: must be specified`],
  },
  {
    name: 'logical junctors cannot have types',
    schema: field({ type: 'string', anyOf: [{ type: 'string' }] }),
    faults: [`${at}.anyOf[0].type: Forbidden: must be empty to be structural`],
  },
  {
    name: 'x-kubernetes-int-or-string is the exception',
    schema: field({ 'x-kubernetes-int-or-string': true, anyOf: [{ type: 'integer' }, { type: 'string' }] }),
    faults: [],
  },
  {
    name: 'logical junctors at the root refer only to declared fields',
    schema: { type: 'object', anyOf: [{ properties: { g: { minLength: 1 } } }] },
    faults: [
      'spec.validation.openAPIV3Schema.properties[g]: Required value: because it is defined in spec.validation.openAPIV3Schema.anyOf[0].properties[g]',
    ],
  },
  {
    name: 'only the name of metadata can be restricted',
    schema: {
      type: 'object',
      properties: { metadata: { type: 'object', properties: { labels: { type: 'object' } } } },
    },
    faults: [
      'spec.validation.openAPIV3Schema.properties[metadata]: Forbidden: must not specify anything other than name and generateName, but metadata is implicitly specified',
    ],
  },
  {
    name: 'a default must be valid',
    schema: field({ type: 'integer', minimum: 3, default: 1 }),
    faults: [`${at}.default: Invalid value: 1:  in body should be greater than or equal to 3`],
  },
  {
    name: 'a default has no unknown fields',
    schema: field({ type: 'object', default: { x: 1 }, properties: { y: { type: 'integer' } } }),
    faults: [`${at}.default: Invalid value: map[string]interface {}{"x":1}: must not have unknown fields`],
  },
  {
    name: 'a default must satisfy the rules',
    schema: field({ type: 'integer', default: 1, 'x-kubernetes-validations': [{ rule: 'self > 1' }] }),
    faults: [`${at}.default: Invalid value: "integer": failed rule: self > 1`],
  },
  {
    name: 'a pattern must be a regular expression',
    schema: field({ type: 'string', pattern: '(' }),
    faults: [
      `${at}.pattern: Invalid value: "(": must be a valid regular expression, but isn't: error parsing regexp: missing closing ): \`(\``,
    ],
  },
  {
    name: 'the keys of a map-like list are required or have defaults',
    schema: field({
      type: 'array',
      items: { type: 'object', properties: { k: { type: 'string' } } },
      'x-kubernetes-list-type': 'map',
      'x-kubernetes-list-map-keys': ['k'],
    }),
    faults: [
      `${at}.items.properties[k].default: Required value: this property is in x-kubernetes-list-map-keys, so it must have a default or be a required property`,
    ],
  },
  {
    name: 'a rule must compile',
    schema: field({ type: 'integer', 'x-kubernetes-validations': [{ rule: 'self.size() > 1' }] }),
    faults: [
      `${at}.x-kubernetes-validations[0].rule: Invalid value: apiextensions.ValidationRule{Rule:"self.size() > 1", Message:"", MessageExpression:"", Reason:(*apiextensions.FieldValueErrorReason)(nil), FieldPath:"", OptionalOldSelf:(*bool)(nil)}: compilation failed: ERROR: <input>:1:10: found no matching overload for 'size' applied to 'int.()'\n | self.size() > 1\n | .........^`,
    ],
  },
  {
    name: 'a transition rule needs a correlatable path',
    schema: field({
      type: 'array',
      maxItems: 5,
      items: { type: 'string', maxLength: 5, 'x-kubernetes-validations': [{ rule: 'self == oldSelf' }] },
    }),
    faults: [
      `${at}.items.x-kubernetes-validations[0].rule: Invalid value: "self == oldSelf": oldSelf cannot be used on the uncorrelatable portion of the schema within ${at}`,
    ],
  },
];
for (const { name, schema, faults } of schemas) {
  test(name, () => assert.deepEqual(lines(validateDefinition(definition(version(schema)))), faults));
}

test('a rule that may exceed the cost limit is refused, with a hint', () => {
  const schema = field({
    type: 'array',
    items: { type: 'string' },
    'x-kubernetes-validations': [{ rule: 'self.all(x, self.all(y, x == y))' }],
  });
  const faults = lines(validateDefinition(definition(version(schema))));
  assert.equal(faults.length, 3);
  assert.match(
    faults.join(),
    /estimated rule cost exceeds budget by factor of more than 100x \(try simplifying the rule/,
  );
});

test('errors of versions that differ have the path of the version', () => {
  const versions = [version({ type: 'object' }), version({}, { name: 'v2', storage: false })];
  assert.deepEqual(lines(validateDefinition(definition(...versions))), [
    'spec.versions[1].schema.openAPIV3Schema.type: Required value: must not be empty at the root',
  ]);
});

test('group and plural are immutable, and kind and scope once the CRD is established', () => {
  const old = definition(version({ type: 'object' }));
  const changed = { ...old, spec: { ...old.spec, group: 'other.com', scope: 'Cluster' } };
  const established = {
    ...old,
    status: { ...(old['status'] as object), conditions: [{ type: 'Established', status: 'True' }] },
  };
  const group = 'spec.group: Invalid value: "other.com": field is immutable';
  const scope = 'spec.scope: Invalid value: "Cluster": field is immutable';
  assert.deepEqual(lines(validateDefinitionUpdate(changed, old)), [group]);
  assert.deepEqual(lines(validateDefinitionUpdate(changed, established)), [group, scope]);
});

test('a stored version cannot be removed', () => {
  const { status: _, ...rest } = definition(version({ type: 'object' }, { name: 'v2' }));
  const faults = lines(validateDefinition({ ...rest, status: { storedVersions: ['v1', 'v2'] } }));
  assert.match(faults[0]!, /^status\.storedVersions\[0\]: Invalid value: "v1": missing from spec\.versions; v1 was/);
});

test('an excessively nested schema is refused without recursion', () => {
  let deep: JsonSchema = { type: 'string' };
  for (let level = 0; level < 5000; level++) deep = { type: 'object', properties: { f: deep } };
  assert.deepEqual(lines(validateDefinition(definition(version(deep)))), [
    'spec.validation.openAPIV3Schema: Forbidden: must not be nested more than 200 levels deep',
  ]);
});

test('patterns that would compile for too long are refused', () => {
  const schema = field({ type: 'string', pattern: '((((a{1,1000}){1,1000}){1,1000}){1,1000})' });
  assert.match(lines(validateDefinition(definition(version(schema))))[0]!, /must be a valid regular expression/);
});

type Recorded = {
  readonly cases: { readonly [name: string]: { readonly answers: readonly { readonly body: unknown }[] } };
};
type Case = { readonly name: string; readonly steps: readonly { readonly body: DefinitionObject }[] };

const shared = new URL('../../../../../shared/', import.meta.url);
const recording = new URL('reference/differential-seed-1.json.gz', shared);

test('CRDs get the answers of a Kubernetes server', async (context) => {
  if (!existsSync(recording))
    return context.diagnostic('not compared: the recorded answers are not beside this project');
  const { cases: recorded }: Recorded = JSON.parse(gunzipSync(readFileSync(recording)).toString());
  const kit: unknown = await import(new URL('check/lib/kit.mjs', shared).href);
  const { cases } = (await import(new URL('check/cases/crds.mjs', shared).href)) as {
    cases: (input: { kit: unknown }) => Iterable<Case>;
  };
  let compared = 0;
  for (const { name, steps } of cases({ kit })) {
    // The server itself checks general name rules.
    if (!name.startsWith('refused: ') || name.endsWith('bad group')) continue;
    const sent: DefinitionObject = JSON.parse(JSON.stringify(steps[0]!.body).replaceAll('{ns}', 'ns'));
    const body = recorded[`crds/${name}`]!.answers[0]!.body as { details?: { causes?: readonly Cause[] } };
    const expected = new Set(lines(body.details?.causes ?? []).map((line) => line.replaceAll('{ns}', 'ns')));
    const found = new Set(lines(validateDefinition(defaulted(sent))));
    assert.deepEqual([...found].map((line) => asRecorded(line, expected)).sort(), [...expected].sort(), name);
    compared++;
  }
  assert.ok(compared > 90);
});

/** Returns an object as the server has it before validation. */
function defaulted(sent: DefinitionObject): DefinitionObject {
  const draft = codecOf(customResourceDefinition.root).fromJson(sent) as Draft<CustomResourceDefinition>;
  defaultCustomResourceDefinition(draft);
  const stored = (draft.spec.versions ?? []).filter(({ storage }) => storage).map(({ name }) => name);
  return { ...draft, status: { storedVersions: stored.slice(0, 1) } } as never;
}

/**
 * Replaces values by the placeholders of the recording, which stand for values printed as a whole and generated names.
 */
function asRecorded(line: string, expected: ReadonlySet<string>): string {
  const plain = line.replace(/selfType\d+/g, 'selfType<n>');
  const alike = [...expected].find((each) => {
    const [head = '', tail] = each.split('<value>');
    return tail !== undefined && plain.startsWith(head) && plain.endsWith(tail);
  });
  return alike ?? plain;
}
