/**
 * Translation between CRI's protobuf messages and the plain objects of the interface: enums by name, wrappers
 * unwrapped, 64-bit integers as numbers except for times. The field plan of each message type is computed once.
 */
import { create, type DescEnum, type DescField, type DescMessage, ScalarType } from '@bufbuild/protobuf';

type Fields = { [name: string]: unknown };
type Convert = (value: unknown) => unknown;
/** A field of a message with its conversion. */
type FieldPlan = {
  readonly name: string;
  readonly plainName: string;
  /** Message fields may be absent; all other fields have a value. */
  readonly isOptional: boolean;
  readonly convert: Convert;
};

export type Translator = {
  toPlain(description: DescMessage, message: unknown): unknown;
  toMessage(description: DescMessage, plain: unknown): unknown;
};

/** Wrapper messages of one optional value, and the name of its field. */
const wrappers: { readonly [name: string]: string } = {
  'runtime.v1.Int64Value': 'value',
  'runtime.v1.UInt64Value': 'value',
  'runtime.v1.ContainerStateValue': 'state',
  'runtime.v1.PodSandboxStateValue': 'state',
};
const times: ReadonlySet<string> = new Set(['createdAt', 'startedAt', 'finishedAt', 'timestamp']);
const irregularNames: { readonly [name: string]: string } = { CDIDevices: 'cdiDevices' };
/** The runtime's default signal is represented as absent. */
const defaultSignal = 'RUNTIME_DEFAULT';

export function createTranslator(): Translator {
  const plainPlans = new Map<DescMessage, readonly FieldPlan[]>();
  const messagePlans = new Map<DescMessage, readonly FieldPlan[]>();

  function planOf(
    plans: Map<DescMessage, readonly FieldPlan[]>,
    description: DescMessage,
    converter: (field: DescField, plainName: string) => Convert,
  ): readonly FieldPlan[] {
    let plan = plans.get(description);
    if (!plan) {
      plan = description.fields.map((field) => {
        const plainName =
          irregularNames[field.localName] ?? field.localName[0]?.toLowerCase() + field.localName.slice(1);
        const isOptional = field.fieldKind === 'message';
        return { name: field.localName, plainName, isOptional, convert: converter(field, plainName) };
      });
      plans.set(description, plan);
    }
    return plan;
  }

  function toPlain(description: DescMessage, message: unknown): Fields {
    const source = message as Fields;
    const plain: Fields = {};
    for (const { name, plainName, isOptional, convert } of planOf(plainPlans, description, plainConverter)) {
      const value = source[name];
      if (!isOptional || value !== undefined) plain[plainName] = convert(value);
    }
    return plain;
  }

  function toMessage(description: DescMessage, plain: unknown): unknown {
    const source = plain as Fields;
    const fields: Fields = {};
    for (const { name, plainName, convert } of planOf(messagePlans, description, messageConverter)) {
      const value = source[plainName];
      if (value !== undefined) fields[name] = convert(value);
    }
    return create(description, fields);
  }

  function plainConverter(field: DescField, plainName: string): Convert {
    switch (field.fieldKind) {
      case 'message':
        return plainMessage(field.message);
      case 'enum':
        return (value) => enumName(field.enum, value as number);
      case 'map':
        return (value) => value;
      case 'list': {
        if (field.listKind === 'scalar') return (value) => (value as unknown[]).map(plainNumber);
        const convert: Convert =
          field.listKind === 'message' ? plainMessage(field.message) : (value) => enumName(field.enum, value as number);
        return (value) => (value as unknown[]).map(convert);
      }
      default:
        return times.has(plainName) ? (value) => value : plainNumber;
    }
  }

  function plainMessage(description: DescMessage): Convert {
    const wrapped = wrappers[description.typeName];
    if (wrapped === undefined) return (value) => toPlain(description, value);
    return (value) => toPlain(description, value)[wrapped];
  }

  function messageConverter(field: DescField): Convert {
    switch (field.fieldKind) {
      case 'message':
        return wireMessage(field.message);
      case 'enum':
        return (value) => enumNumber(field.enum, value as string);
      case 'map':
        return (value) => value;
      case 'list': {
        if (field.listKind === 'scalar') return (value) => (value as unknown[]).map(wireScalar(field.scalar));
        const convert: Convert =
          field.listKind === 'message'
            ? wireMessage(field.message)
            : (value) => enumNumber(field.enum, value as string);
        return (value) => (value as unknown[]).map(convert);
      }
      default:
        return wireScalar(field.scalar);
    }
  }

  function wireMessage(description: DescMessage): Convert {
    const wrapped = wrappers[description.typeName];
    if (wrapped === undefined) return (value) => toMessage(description, value);
    return (value) => toMessage(description, { [wrapped]: value });
  }

  return { toPlain, toMessage };
}

function plainNumber(value: unknown): unknown {
  return typeof value === 'bigint' ? Number(value) : value;
}

function wireScalar(type: ScalarType): Convert {
  const isWide = type === ScalarType.INT64 || type === ScalarType.UINT64;
  return isWide ? (value) => BigInt(value as number | bigint) : (value) => value;
}

function enumName(description: DescEnum, value: number): string {
  const name = description.value[value]?.name ?? '';
  return name === defaultSignal ? '' : name;
}

function enumNumber(description: DescEnum, name: string): number {
  const found = description.values.find((value) => value.name === (name === '' ? defaultSignal : name));
  if (!found) throw new RangeError(`${name} is not a ${description.name}`);
  return found.number;
}
