/**
 * Conformance cases of the CEL specification in the plain environment. Excluded cases are listed at the end with a
 * reason; an excluded case that passes is a failure, too.
 */
import assert from 'node:assert/strict';
import { test } from 'node:test';
import { tests as suite } from '@bufbuild/cel-spec/testdata/conformance.js';
import { check } from './checker.ts';
import { ArrayList, EntryMap } from './collections.ts';
import { type Environment, withVariables } from './environment.ts';
import { plainEnvironment } from './environments.ts';
import { equal } from './equality.ts';
import { formatValue } from './format-value.ts';
import { Frame } from './frame.ts';
import { type FunctionDeclaration, mergeFunctions } from './functions.ts';
import { InstantiationError, interpret } from './interpreter.ts';
import { parse } from './parser.ts';
import { Issues } from './source.ts';
import { parseDuration, parseTimestamp } from './time.ts';
import {
  anyType,
  boolType,
  bytesType,
  doubleType,
  durationType,
  dynType,
  formatType,
  intType,
  listType,
  mapType,
  nullType,
  objectType,
  opaqueType,
  stringType,
  type Type,
  timestampType,
  typeOf,
  typeParameter,
  typeType,
  uintType,
} from './types.ts';
import { Double, EvaluationError, TypeValue, toInt, Uint, type Value } from './values.ts';

type Json = { readonly [key: string]: unknown };

type Case = {
  readonly name: string;
  readonly expr: string;
  readonly container?: string;
  readonly disableCheck?: boolean;
  readonly checkOnly?: boolean;
  readonly typeEnv?: readonly Json[];
  readonly bindings?: Readonly<Record<string, { readonly value: Json }>>;
  readonly value?: Json;
  readonly evalError?: Json;
  readonly typedResult?: { readonly result?: Json; readonly deducedType?: Json };
  /** Type that cel-go infers. */
  readonly type?: string | undefined;
};

type Suite = {
  readonly name: string;
  readonly suites?: readonly Suite[];
  readonly tests?: readonly { readonly original: Case; readonly type?: string }[];
};

/** Thrown for cases that need protobuf messages. */
class NeedsMessages extends Error {}

function readValue(json: Json): Value {
  const [[kind, held] = ['nullValue', null]] = Object.entries(json);
  switch (kind) {
    case 'nullValue':
      return null;
    case 'boolValue':
    case 'stringValue':
      return held as string | boolean;
    case 'int64Value':
      return toInt(BigInt(held as string));
    case 'uint64Value':
      return new Uint(BigInt(held as string));
    case 'doubleValue':
      return new Double(Number(held));
    case 'bytesValue':
      return Uint8Array.from(Buffer.from(held as string, 'base64'));
    case 'typeValue':
      return new TypeValue(held as string);
    case 'listValue':
      return new ArrayList(((held as Json)['values'] as Json[] | undefined)?.map(readValue) ?? []);
    case 'mapValue': {
      const map = new EntryMap();
      for (const entry of ((held as Json)['entries'] as Json[] | undefined) ?? []) {
        map.set(readValue(entry['key'] as Json), readValue(entry['value'] as Json));
      }
      return map;
    }
    case 'objectValue':
      return readMessage(held as Json);
    default:
      throw new NeedsMessages(kind);
  }
}

function readMessage(message: Json): Value {
  const type = String(message['@type']).replace('type.googleapis.com/', '');
  const value = message['value'];
  switch (type) {
    case 'google.protobuf.Timestamp':
      return parseTimestamp(value as string)!;
    case 'google.protobuf.Duration':
      return parseDuration(value as string)!;
    default:
      throw new NeedsMessages(type);
  }
}

const primitives: Readonly<Record<string, Type>> = {
  BOOL: boolType,
  INT64: intType,
  UINT64: uintType,
  DOUBLE: doubleType,
  STRING: stringType,
  BYTES: bytesType,
};
const wellKnown: Readonly<Record<string, Type>> = { ANY: anyType, TIMESTAMP: timestampType, DURATION: durationType };

function readType(json: Json): Type {
  const [[kind, held] = ['dyn', {}]] = Object.entries(json) as [string, Json][];
  const nested = (name: string): Type => readType((held[name] as Json | undefined) ?? { dyn: {} });
  switch (kind) {
    case 'dyn':
      return dynType;
    case 'null':
      return nullType;
    case 'primitive':
      return primitives[held as unknown as string]!;
    case 'wellKnown':
      return wellKnown[held as unknown as string]!;
    case 'listType':
      return listType(nested('elemType'));
    case 'mapType':
      return mapType(nested('keyType'), nested('valueType'));
    case 'typeParam':
      return typeParameter(held as unknown as string);
    case 'type':
      return Object.keys(held).length === 0 ? typeType : typeOf(readType(held));
    case 'messageType': {
      const name = held as unknown as string;
      return [timestampType, durationType].find((type) => type.name === name) ?? objectType(name);
    }
    case 'abstractType':
      return opaqueType(
        held['name'] as string,
        ...((held['parameterTypes'] as Json[] | undefined) ?? []).map(readType),
      );
    default:
      throw new NeedsMessages(kind);
  }
}

function environmentOf({ container, typeEnv = [] }: Case): Environment {
  const base = plainEnvironment({ container: container ?? '' });
  const variables = new Map<string, Type>();
  const functions = new Map<string, FunctionDeclaration>();
  for (const declaration of typeEnv) {
    const name = declaration['name'] as string;
    const { ident, function: declared } = declaration as Record<string, Json | undefined>;
    if (ident) variables.set(name, readType(ident['type'] as Json));
    if (declared) {
      const overloads = (declared['overloads'] as Json[]).map((overload) => ({
        id: overload['overloadId'] as string,
        isMember: (overload['isInstanceFunction'] as boolean | undefined) ?? false,
        parameters: ((overload['params'] as Json[] | undefined) ?? []).map(readType),
        result: readType(overload['resultType'] as Json),
      }));
      functions.set(name, { name, overloads });
    }
  }
  const environment: Environment = {
    ...base,
    function: (name) => {
      const [known, added] = [base.function(name), functions.get(name)];
      return known && added ? mergeFunctions(known, added) : (known ?? added);
    },
  };
  return withVariables(environment, Object.fromEntries(variables));
}

/** Returns the error of a case; undefined if it passes. */
function fault(original: Case): string | undefined {
  try {
    return run(original);
  } catch (error) {
    if (error instanceof NeedsMessages) return `needs messages: ${error.message}`;
    throw error;
  }
}

function run(original: Case): string | undefined {
  const environment = environmentOf(original);
  const issues = new Issues(original.expr);
  const expression = parse(original.expr, environment.syntax, issues);
  if (!expression) return original.evalError ? undefined : issues.toString();
  const type = check(expression, environment, issues);
  const isChecked = !original.disableCheck;
  if (isChecked && !issues.isEmpty) return original.evalError ? undefined : issues.toString();

  if (isChecked && original.type !== undefined && formatType(type) !== original.type) {
    return `has type ${formatType(type)} instead of ${original.type}`;
  }
  const deduced = original.typedResult?.deducedType;
  if (deduced && formatType(type) !== formatType(readType(deduced))) return `deduced ${formatType(type)}`;
  if (original.checkOnly) return undefined;

  const bindings = Object.fromEntries(
    Object.entries(original.bindings ?? {}).map(([name, { value }]) => [name, readValue(value)]),
  );
  const result = evaluate(() => interpret(expression, environment)(new Frame(bindings, Number.POSITIVE_INFINITY)));
  if (original.evalError) return result instanceof EvaluationError ? undefined : `no error but ${formatValue(result)}`;
  const expected = readValue(original.value ?? original.typedResult?.result ?? { boolValue: true });
  return isSame(expected, result) ? undefined : `${formatValue(result)} instead of ${formatValue(expected)}`;
}

function evaluate(run: () => Value): Value {
  try {
    return run();
  } catch (error) {
    if (error instanceof InstantiationError) return new EvaluationError(error.message);
    throw error;
  }
}

function isSame(expected: Value, actual: Value): boolean {
  if (expected instanceof Double && Number.isNaN(expected.value)) {
    return actual instanceof Double && Number.isNaN(actual.value);
  }
  return equal(expected, actual) === true;
}

function* cases({ name, suites = [], tests = [] }: Suite, path: readonly string[] = []): Generator<[string, Case]> {
  for (const { original, type } of tests) {
    yield [[...path, name, original.name].join('/'), { ...original, type }];
  }
  for (const inner of suites) yield* cases(inner, path.length === 0 && name === 'conformance' ? [] : [...path, name]);
}

/** Cases that need protobuf messages, which this implementation lacks: Kubernetes uses JSON instead. */
const needsMessages = (original: Case): boolean =>
  /TestAllTypes|TestRequired|GlobalEnum|google\.protobuf\.(?!Timestamp|Duration)|Value\{|"(messageType|wrapper|enumValue)"/.test(
    JSON.stringify(original),
  );

const laterStrings = 'the strings extension has since changed; Kubernetes 1.33 has the form before';
const lenientPresence = 'asking for a field of what has none is false, not an error, in Kubernetes';
const repeatedKeys = 'the reference implementation lets the last of repeated keys win';
const nullJoins = 'the reference implementation takes null for the more general type';

const excluded: ReadonlyMap<string, string> = new Map([
  ['fields/qualified_identifier_resolution/map_value_repeat_key', repeatedKeys],
  ['fields/qualified_identifier_resolution/map_value_repeat_key_heterogeneous', repeatedKeys],
  ['optionals/optionals/map_null_entry_no_such_key', lenientPresence],
  ['optionals/optionals/map_present_key_invalid_field', lenientPresence],
  ['type_deductions/legacy_nullable_types/null_assignable_to_abstract_parameter_candidate', nullJoins],
  ['string_ext/last_index_of/empty_string', laterStrings],
  ['string_ext/value_errors/indexof_out_of_range', laterStrings],
  ['string_ext/value_errors/lastindexof_out_of_range', laterStrings],
  ...[
    'scientific notation formatting clause',
    'default precision for scientific notation',
    'NaN support for scientific notation',
    'positive infinity support for scientific notation',
    'negative infinity support for scientific notation',
    'NaN support for decimal',
    'positive infinity support for decimal',
    'negative infinity support for decimal',
    'positive infinity support for fixed-point',
    'negative infinity support for fixed-point',
    'list support for string',
    'map support for string',
    'map support (all key types)',
    'dyntype support for scientific notation',
    'dyntype NaN/infinity support',
    'dyntype support for lists',
    'dyntype support for maps',
    'scientific notation formatting clause in a string variable',
  ].map((name) => [`string_ext/format/${name}`, laterStrings] as const),
]);

const all = [...cases(suite as unknown as Suite)];

test('all conformance cases without messages pass', () => {
  const tried = all.filter(
    ([path, original]) => !needsMessages(original) && !excluded.has(path) && !path.startsWith('block_ext/'),
  );
  const faults = tried.flatMap(([path, original]) => {
    const found = fault(original);
    return found === undefined ? [] : [`${path}: ${original.expr}: ${found}`];
  });
  assert.deepEqual(faults, []);
  assert.equal(tried.length, 1599);
});

test('the listed cases fail, as in cel-go of Kubernetes 1.33', () => {
  const passing = all.filter(([path, original]) => excluded.has(path) && fault(original) === undefined);
  assert.deepEqual(
    passing.map(([path]) => path),
    [],
  );
});

test('all listed cases exist', () => {
  const known = new Set(all.map(([path]) => path));
  assert.deepEqual(
    [...excluded.keys()].filter((path) => !known.has(path)),
    [],
  );
});

// `cel.block` is generated by an optimizer and not written by users.
test('cel.block is not supported', () => {
  const blocks = all.filter(([path]) => path.startsWith('block_ext/'));
  assert.ok(blocks.length > 0);
  assert.deepEqual(
    blocks.filter(([, original]) => fault(original) === undefined),
    [],
  );
});

test('cases with messages pass only if they expect an error', () => {
  const passing = all.filter(
    ([path, original]) => needsMessages(original) && !path.startsWith('block_ext/') && fault(original) === undefined,
  );
  const unexpected = passing.filter(([, original]) => !original.evalError);
  assert.deepEqual(
    unexpected.map(([path, original]) => `${path}: ${original.expr}`),
    [],
  );
});
