/**
 * Expressions with the recorded results of cel-go 0.23.2 with the libraries of Kubernetes 1.33.4: types, values,
 * errors, messages, costs and estimates. See `../testdata/`.
 */
import assert from 'node:assert/strict';
import { readFileSync } from 'node:fs';
import { test } from 'node:test';
import { ListValue, MapValue } from './collections.ts';
import { compile } from './compile.ts';
import { kubernetesEnvironment } from './environments.ts';
import { formatDouble } from './format-value.ts';
import {
  jsonBool,
  jsonInt,
  jsonIntOrString,
  jsonList,
  jsonMap,
  jsonNumber,
  jsonObject,
  jsonString,
  nullable,
} from './json-types.ts';
import { FormatValue } from './library/formats.ts';
import { ApplyObject, JsonPatchValue } from './library/mutation.ts';
import { CidrValue, IpValue } from './library/network.ts';
import { QuantityValue } from './library/quantity.ts';
import { SemverValue } from './library/semver.ts';
import { UrlValue } from './library/url.ts';
import { Duration, formatDuration, formatTimestamp, Timestamp } from './time.ts';
import { dynType, formatType, type Type } from './types.ts';
import { Double, EvaluationError, isInt, type ObjectValue, Optional, TypeValue, Uint, type Value } from './values.ts';

type Schema = {
  readonly type?: string;
  readonly format?: string;
  readonly nullable?: boolean;
  readonly enum?: readonly unknown[];
  readonly default?: unknown;
  readonly required?: readonly string[];
  readonly properties?: Readonly<Record<string, Schema>>;
  readonly additionalProperties?: Schema;
  readonly items?: Schema;
  readonly maxLength?: number;
  readonly maxItems?: number;
  readonly maxProperties?: number;
  readonly 'x-kubernetes-int-or-string'?: boolean;
  readonly 'x-kubernetes-list-type'?: 'atomic' | 'set' | 'map';
  readonly 'x-kubernetes-list-map-keys'?: readonly string[];
};

function typeOf(schema: Schema, name: string): Type {
  const type = plainTypeOf(schema, name);
  return schema.nullable ? nullable(type) : type;
}

function plainTypeOf(schema: Schema, name: string): Type {
  if (schema['x-kubernetes-int-or-string']) return jsonIntOrString;
  switch (schema.type) {
    case 'array':
      return jsonList(typeOf(schema.items!, `${name}.@idx`), {
        maxItems: schema.maxItems,
        listType: schema['x-kubernetes-list-type'],
        mapKeys: schema['x-kubernetes-list-map-keys'],
      });
    case 'object': {
      if (schema.additionalProperties) return jsonMap(typeOf(schema.additionalProperties, `${name}.@elem`), schema);
      const properties = Object.entries(schema.properties ?? {}).map(([property, inner]) => {
        const isRequired = schema.required?.includes(property) ?? false;
        const hasDefault = inner.default !== undefined;
        return [property, { type: typeOf(inner, `${name}.${property}`), isRequired, hasDefault }] as const;
      });
      return jsonObject(name, Object.fromEntries(properties));
    }
    case 'string':
      return jsonString(schema);
    case 'integer':
      return jsonInt;
    case 'number':
      return jsonNumber;
    default:
      return jsonBool;
  }
}

const labels: readonly (readonly [abstract new (...args: never[]) => ObjectValue, string])[] = [
  [QuantityValue, 'quantity'],
  [IpValue, 'ip'],
  [CidrValue, 'cidr'],
  [UrlValue, 'url'],
  [SemverValue, 'semver'],
  [FormatValue, 'format'],
];

/** Formats a value in the notation of the recording. */
function show(value: Value): string {
  if (value === null) return 'null';
  if (typeof value === 'string') {
    const escapes = /[<>&\u2028\u2029]/g;
    return JSON.stringify(value).replace(escapes, (unit) => `\\u${unit.charCodeAt(0).toString(16).padStart(4, '0')}`);
  }
  if (isInt(value) || typeof value === 'boolean') return String(value);
  if (value instanceof Uint) return `${value.value}u`;
  if (value instanceof Double) return `double(${formatDouble(value.value)})`;
  if (value instanceof Uint8Array) return `bytes(${Buffer.from(value).toString('hex')})`;
  if (value instanceof Timestamp) return `timestamp(${formatTimestamp(value)})`;
  if (value instanceof Duration) return `duration(${formatDuration(value)})`;
  if (value instanceof TypeValue) return `type(${value.name})`;
  if (value instanceof Optional) return value.value === undefined ? 'none' : `optional(${show(value.value)})`;
  if (value instanceof ListValue) return `[${[...value].map(show).join(',')}]`;
  if (value instanceof MapValue) {
    return `{${[...value.entries()]
      .map((entry) => entry.map(show).join(':'))
      .toSorted()
      .join(',')}}`;
  }
  if (value instanceof EvaluationError) return `error(${value.message})`;
  if (value instanceof ApplyObject) return `${value.typeName}${JSON.stringify(value.toJson())}`;
  if (value instanceof JsonPatchValue) {
    const held = value.value === undefined ? '' : `,value:${show(value.value)}`;
    return `JSONPatch{op:${value.op},path:${value.path},from:${value.from}${held}}`;
  }
  const label = labels.find(([kind]) => value instanceof kind)?.[1];
  return label ? `${label}(${value.toJson()})` : value.typeName;
}

type Recorded = {
  readonly expr: string;
  readonly mutation?: true;
  readonly limit?: number;
  readonly [result: string]: unknown;
};

const read = (name: string): string => readFileSync(new URL(`../testdata/${name}`, import.meta.url), 'utf8');

const inputs = JSON.parse(read('reference-inputs.json')) as { schema: Schema; [variable: string]: unknown };
const recorded = read('reference.jsonl')
  .trimEnd()
  .split('\n')
  .map((line) => JSON.parse(line) as Recorded);

const self = typeOf(inputs.schema, 'selfType');
const withObject = kubernetesEnvironment({ variables: { self, oldSelf: self, dynVar: dynType } });
const withMutation = kubernetesEnvironment({ variables: { dynVar: dynType }, mutation: true });

function outcome({ expr, mutation, limit }: Recorded): Record<string, unknown> {
  const given = { expr, ...(mutation && { mutation }), ...(limit !== undefined && { limit }) };
  const program = compile(mutation ? withMutation : withObject, expr);
  if (!program.ok) return { ...given, [program.stage === 'text' ? 'issues' : 'constant']: program.message };
  const result = program.evaluate(inputs, limit === undefined ? {} : { costLimit: limit });
  return {
    ...given,
    type: formatType(program.type),
    estimate: [program.estimatedCost.min, program.estimatedCost.max].map(String),
    cost: result.cost,
    ...('error' in result ? { error: result.error } : { value: show(result.value) }),
  };
}

test('all results and costs equal those of cel-go', () => {
  assert.ok(recorded.length > 1900);
  const different = recorded.flatMap((expected) => {
    const actual = outcome(expected);
    return JSON.stringify(actual) === JSON.stringify(expected) ? [] : [{ actual, expected }];
  });
  assert.deepEqual(
    different.map(({ actual }) => actual),
    different.map(({ expected }) => expected),
  );
});
