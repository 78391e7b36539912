/** Extensions for mutating admission policies: `Object{…}`, `JSONPatch{…}` and `jsonpatch.escapeKey`. */
import { isDeepStrictEqual } from 'node:util';
import { scale, stringFactor, traversal } from '../costs.ts';
import { equal } from '../equality.ts';
import { formatValue } from '../format-value.ts';
import { overload } from '../functions.ts';
import { toJson } from '../json-values.ts';
import type { Library } from '../library.ts';
import { dynType, objectType, stringType, type Type } from '../types.ts';
import { EvaluationError, ObjectValue, type Value } from '../values.ts';

/** An object of an apply configuration: fields by name, with any types. */
export class ApplyObject extends ObjectValue {
  readonly typeName: string;
  readonly fields: ReadonlyMap<string, Value>;

  constructor(typeName: string, fields: ReadonlyMap<string, Value>) {
    super();
    this.typeName = typeName;
    this.fields = fields;
  }

  equals(other: Value): boolean {
    return (
      other instanceof ApplyObject &&
      this.typeName === other.typeName &&
      isDeepStrictEqual(this.toJson(), other.toJson())
    );
  }

  override field(name: string): Value | undefined {
    return this.fields.get(name);
  }

  override missingField(): Value {
    return null;
  }

  override get isZero(): boolean {
    return this.fields.size === 0;
  }

  override toJson(): unknown {
    return Object.fromEntries([...this.fields].map(([name, value]) => [name, toJson(value)]));
  }
}

const patchFields = ['op', 'path', 'from', 'value'] as const;
type PatchField = (typeof patchFields)[number];

const isPatchField = (name: string): name is PatchField => (patchFields as readonly string[]).includes(name);

/** One operation of a JSON patch. */
export class JsonPatchValue extends ObjectValue {
  readonly typeName = 'JSONPatch';
  readonly op: string;
  readonly path: string;
  readonly from: string;
  readonly value: Value | undefined;

  constructor(fields: ReadonlyMap<string, Value>) {
    super();
    const text = (name: PatchField) => (fields.get(name) as string | undefined) ?? '';
    this.op = text('op');
    this.path = text('path');
    this.from = text('from');
    this.value = fields.get('value');
  }

  equals(other: Value): boolean | EvaluationError {
    if (!(other instanceof JsonPatchValue)) return false;
    if (this.op !== other.op || this.path !== other.path || this.from !== other.from) return false;
    if (this.value === undefined || other.value === undefined) return this.value === other.value;
    return equal(this.value, other.value);
  }

  override field(name: string): Value | undefined {
    if (!isPatchField(name)) return new EvaluationError(`unsupported indexer: ${name}`);
    return this[name] === '' && name !== 'value' ? undefined : this[name];
  }

  override missingField(name: string): Value {
    return name === 'value' ? null : '';
  }

  override toJson(): unknown {
    const { op, path, from, value } = this;
    return { op, path, ...(from !== '' && { from }), ...(value !== undefined && { value: toJson(value) }) };
  }
}

const anyField = (property: string) => ({ type: dynType, property });
const applyType = (name: string): Type => objectType(name, anyField);

const patchType = objectType('JSONPatch', { op: stringType, path: stringType, from: stringType, value: dynType });

function constructPatch(fields: ReadonlyMap<string, Value>): Value {
  for (const [name, value] of fields) {
    if (name !== 'value' && typeof value !== 'string') {
      return new EvaluationError(`unexpected type ${formatValue(value)} for JSONPatchType '${name}' field`);
    }
  }
  return new JsonPatchValue(fields);
}

/** Types are named by their path: `Object.spec.template`. */
const isApplyName = (name: string): boolean => name === 'Object' || name.startsWith('Object.');

/** The mutation library. */
export const mutationLibrary: Library = {
  functions: [
    {
      name: 'jsonpatch.escapeKey',
      overloads: [
        overload('string_jsonpatch_escapeKey_string', [stringType], stringType, (key) =>
          (key as string).replaceAll('~', '~0').replaceAll('/', '~1'),
        ),
      ],
      cost: {
        actual: traversal(0),
        estimate: ({ args }) => ({ cost: scale(args[0]!.size, stringFactor), resultSize: args[0]!.size }),
      },
    },
  ],
  objects: {
    find: (name) => (name === patchType.name ? patchType : isApplyName(name) ? applyType(name) : undefined),
    construct: (name, fields) => (name === patchType.name ? constructPatch(fields) : new ApplyObject(name, fields)),
  },
};

/** Returns the names of types in an apply configuration that do not match their path. */
export function misnamedObjects(value: ApplyObject): string[] {
  return misnamed(value, value.typeName);
}

function misnamed(value: Value, expected: string): string[] {
  if (!(value instanceof ApplyObject)) return [];
  const own =
    value.typeName === expected
      ? []
      : [
          `unexpected type name "${value.typeName}", expected "${expected}", which matches field name path from root Object type`,
        ];
  return [...own, ...[...value.fields].flatMap(([name, field]) => misnamed(field, `${expected}.${name}`))];
}
