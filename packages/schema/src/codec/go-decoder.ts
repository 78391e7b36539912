/**
 * Decodes step by step like Kubernetes' Go decoder: the same errors, messages and order of unknown and duplicate
 * fields. It is slow and used only when there is an error to report.
 *
 * Go has two kinds of errors. A value of the wrong type is recorded and decoding continues; the first record is the
 * final error. Types with a custom decoder (times, quantities, schemas within schemas) stop decoding immediately, and
 * so take precedence over errors that were recorded before.
 */

import { decodeBase64, encodeBase64 } from '@kruise/values/base64';
import { parseDuration } from '@kruise/values/duration';
import { quote } from '@kruise/values/go-syntax';
import { ParseError } from '@kruise/values/parse-error';
import { canonicalQuantity } from '@kruise/values/quantity';
import { parseMicroTime, parseTime } from '@kruise/values/time';
import { JsonMembers, JsonNumber, type JsonToken, plainValue, setOwn } from '../json-document.ts';
import {
  type EitherNode,
  type IntegerNode,
  type ListNode,
  type MapNode,
  type Node,
  type ObjectNode,
  resolve,
} from '../language.ts';
import { type FieldPlan, planFields } from './field-plan.ts';
import { goTypeOf, structureName } from './go-type.ts';

/** The outcome: a plain value for the canonicalizer or the error, and the errors of strict decoding. */
export type Decoded = {
  readonly value: unknown;
  readonly error?: string;
  /** Unique, in the order of the text. */
  readonly strictErrors: readonly StrictError[];
};

/** A field that strict decoding rejects. */
export type StrictError = { readonly reason: 'unknown' | 'duplicate'; readonly path: string };

/** `unknown field "spec.foo"`. */
export function strictErrorText({ reason, path }: StrictError): string {
  return `${reason} field ${quote(path)}`;
}

/** Decodes a token of a JSON text, or a plain JSON value, into a kind's schema. */
export function decodeAsGo(node: ObjectNode, token: JsonToken): Decoded {
  const state = newState();
  try {
    const value = decode(node, token, undefined, state);
    const error = state.note;
    return { value, strictErrors: [...state.strictErrors.values()], ...(error === undefined ? {} : { error }) };
  } catch (stop) {
    if (!(stop instanceof Stop)) throw stop;
    return { value: undefined, error: describe(stop.fault, state), strictErrors: [] };
  }
}

/** Go stops listing errors at this number. */
const maxStrictErrors = 100;

/** A type mismatch, or an error with its own message. */
type Fault = { readonly got: string; readonly type: string } | string;

type State = {
  /** Message of the first type mismatch. */
  note: string | undefined;
  noteFault: Fault | undefined;
  readonly strictErrors: Map<string, StrictError>;
  /** Names of the fields on the path, without list indexes and map keys. */
  readonly fields: string[];
  /** Go struct that contains the last of the fields. */
  structure: string | undefined;
  /** The path, as strict errors print it. */
  path: string;
};

/** Thrown to stop decoding immediately. */
class Stop extends Error {
  readonly fault: Fault;
  constructor(fault: Fault) {
    super('decoding stopped');
    this.fault = fault;
  }
}

function newState(): State {
  return { note: undefined, noteFault: undefined, strictErrors: new Map(), fields: [], structure: undefined, path: '' };
}

function describe(fault: Fault, { structure, fields }: State): string {
  if (typeof fault === 'string') return fault;
  const target = structure === undefined ? 'value' : `struct field ${structure}.${fields.join('.')}`;
  return `json: cannot unmarshal ${fault.got} into Go ${target} of type ${fault.type}`;
}

/** Records an error and continues. */
function note(fault: Fault, state: State): undefined {
  if (state.noteFault !== undefined) return;
  state.noteFault = fault;
  state.note = describe(fault, state);
}

function recordStrictError(reason: StrictError['reason'], key: string, state: State): void {
  if (state.strictErrors.size >= maxStrictErrors) return;
  const path = join(state.path, key);
  state.strictErrors.set(`${reason} ${path}`, { reason, path });
}

function join(path: string, key: string): string {
  return path === '' ? key : `${path}.${key}`;
}

/** Returns Go's name of a JSON value's type. */
function jsonTypeOf(token: JsonToken): 'null' | 'bool' | 'string' | 'number' | 'array' | 'object' {
  if (token === null || token === undefined) return 'null';
  if (typeof token === 'string') return 'string';
  if (typeof token === 'boolean') return 'bool';
  if (typeof token === 'number' || typeof token === 'bigint' || token instanceof JsonNumber) return 'number';
  return Array.isArray(token) ? 'array' : 'object';
}

function literalOf(token: JsonToken): string {
  return token instanceof JsonNumber ? token.literal : String(token);
}

function membersOf(token: JsonToken): readonly (readonly [string, JsonToken])[] {
  return token instanceof JsonMembers ? token.entries : Object.entries(token as object);
}

/**
 * Decodes into a location that may already have a value: a duplicate key is decoded over the previous value, which
 * merges objects and maps.
 */
function decode(unresolved: Node, token: JsonToken, previous: unknown, state: State): unknown {
  const node = resolve(unresolved);
  const kind = jsonTypeOf(token);
  const wrong = () => note({ got: kind, type: goTypeOf(node) }, state);
  switch (node.type) {
    case 'string':
      return kind === 'string' ? token : kind === 'null' ? previous : wrong();
    case 'boolean':
      return kind === 'bool' ? token : kind === 'null' ? previous : wrong();
    case 'integer':
      return kind === 'number' ? decodeInteger(node, literalOf(token), state) : kind === 'null' ? previous : wrong();
    case 'number':
      if (kind !== 'number') return kind === 'null' ? previous : wrong();
      if (Number.isFinite(Number(literalOf(token)))) return plainValue(token);
      return note({ got: `number ${literalOf(token)}`, type: goTypeOf(node) }, state);
    case 'bytes':
      return kind === 'null' ? null : decodeBytes(token, kind, state);
    case 'time':
    case 'microTime':
    case 'duration':
      return decodeText(node.type, token, kind);
    case 'quantity':
      return decodeQuantity(token, kind);
    case 'intOrString':
      return decodeIntOrString(token, kind);
    case 'any':
      return plainValue(token) ?? previous;
    case 'either':
      return decodeEither(node, token, kind);
    case 'list':
      return kind === 'array'
        ? decodeList(node, token as JsonToken[], previous, state)
        : kind === 'null'
          ? null
          : wrong();
    case 'map':
      return kind === 'object' ? decodeMap(node, token, previous, state) : kind === 'null' ? null : wrong();
    case 'object':
      return kind === 'object' ? decodeObject(node, token, previous, state) : kind === 'null' ? previous : wrong();
  }
}

const integer = /^-?[0-9]+$/;

function isInteger(literal: string, bits: number): boolean {
  return integer.test(literal) && literal.length < 30 && BigInt.asIntN(bits, BigInt(literal)) === BigInt(literal);
}

function decodeInteger({ format }: IntegerNode, literal: string, state: State): unknown {
  if (isInteger(literal, format === 'int32' ? 32 : 64)) return plainValue(new JsonNumber(literal));
  return note({ got: `number ${literal}`, type: format }, state);
}

function decodeBytes(token: JsonToken, kind: string, state: State): unknown {
  if (typeof token === 'string') {
    try {
      decodeBase64(token);
      return token;
    } catch (error) {
      return note(messageOf(error), state);
    }
  }
  if (!Array.isArray(token)) return note({ got: kind, type: '[]uint8' }, state);
  // Go also accepts a list of numbers as bytes.
  const bytes = token.map((item) => {
    const itemKind = jsonTypeOf(item);
    if (itemKind === 'null') return 0;
    const literal = literalOf(item);
    if (itemKind === 'number' && integer.test(literal) && Number(literal) >= 0 && Number(literal) < 256) {
      return Number(literal);
    }
    return note({ got: itemKind === 'number' ? `number ${literal}` : itemKind, type: 'uint8' }, state) ?? 0;
  });
  return encodeBase64(Uint8Array.from(bytes));
}

/** Returns the message of a value's own parser. */
function messageOf(error: unknown): string {
  if (error instanceof ParseError) return error.message;
  throw error;
}

function stopOnError(parse: () => unknown): void {
  try {
    parse();
  } catch (error) {
    throw new Stop(messageOf(error));
  }
}

const textParsers = { time: parseTime, microTime: parseMicroTime, duration: parseDuration };

function decodeText(type: keyof typeof textParsers, token: JsonToken, kind: string): unknown {
  if (kind === 'null' && type !== 'duration') return null;
  if (kind !== 'string' && kind !== 'null') throw new Stop({ got: kind, type: 'string' });
  stopOnError(() => textParsers[type]((token as string | null) ?? ''));
  return token;
}

function decodeQuantity(token: JsonToken, kind: string): unknown {
  if (kind === 'null') return null;
  const isScalar = kind === 'string' || kind === 'number';
  // The literal, because 1e3 and 1000 are written differently; for other values any text that is not a quantity.
  const text = isScalar ? literalOf(token).trim() : kind;
  stopOnError(() => canonicalQuantity(text));
  return text;
}

function decodeIntOrString(token: JsonToken, kind: string): unknown {
  if (kind === 'string') return token;
  if (kind === 'null') return 0;
  if (kind !== 'number') throw new Stop({ got: kind, type: 'int32' });
  const literal = literalOf(token);
  if (!isInteger(literal, 32)) throw new Stop({ got: `number ${literal}`, type: 'int32' });
  return Number(literal);
}

/**
 * A schema within a schema has its own decoder: strict checks do not apply to its content, and its errors have the path
 * of the outermost such schema.
 */
function decodeEither({ object, or }: EitherNode, token: JsonToken, kind: string): unknown {
  if (kind === 'object') return decodeApart(object, token);
  if (kind === 'array' && or === 'list') return decodeApart({ type: 'list', items: object }, token);
  if (kind === 'array' && or === 'strings') return decodeApart({ type: 'list', items: { type: 'string' } }, token);
  if (or !== 'boolean') return null;
  if (kind !== 'bool') throw new Stop('boolean or JSON schema expected');
  return token;
}

function decodeApart(node: Node, token: JsonToken): unknown {
  const state = newState();
  const value = decode(node, token, undefined, state);
  if (state.noteFault !== undefined) throw new Stop(state.noteFault);
  return value;
}

function decodeList(node: ListNode, token: readonly JsonToken[], previous: unknown, state: State): unknown {
  const { path } = state;
  const before = Array.isArray(previous) ? previous : [];
  const items = token.map((item, index) => {
    state.path = `${path}[${index}]`;
    return decode(node.items, item, before[index], state) ?? null;
  });
  state.path = path;
  return items;
}

function decodeMap(node: MapNode, token: JsonToken, previous: unknown, state: State): unknown {
  const { path } = state;
  const map: Record<string, unknown> = { ...(previous as object | undefined) };
  const seen = new Set<string>();
  for (const [key, value] of membersOf(token)) {
    if (seen.has(key)) recordStrictError('duplicate', key, state);
    seen.add(key);
    state.path = join(path, key);
    setOwn(map, key, decode(node.values, value, undefined, state) ?? null);
    state.path = path;
  }
  return map;
}

const plansOf = new WeakMap<ObjectNode, ReadonlyMap<string, FieldPlan>>();

function plansByName(node: ObjectNode): ReadonlyMap<string, FieldPlan> {
  let plans = plansOf.get(node);
  if (!plans) {
    plans = new Map(planFields(node).map((plan) => [plan.name, plan]));
    plansOf.set(node, plans);
  }
  return plans;
}

function decodeObject(node: ObjectNode, token: JsonToken, previous: unknown, state: State): unknown {
  const { path, structure } = state;
  const plans = plansByName(node);
  const object: Record<string, unknown> = { ...(previous as object | undefined) };
  const seen = new Set<string>();
  for (const [key, value] of membersOf(token)) {
    const plan = plans.get(key);
    if (plan === undefined) {
      recordStrictError('unknown', key, state);
      continue;
    }
    if (seen.has(key)) recordStrictError('duplicate', key, state);
    seen.add(key);
    state.fields.push(key);
    state.structure = structureName(node);
    state.path = join(path, key);
    const isNull = jsonTypeOf(value) === 'null';
    object[key] = plan.pointer && isNull ? null : decode(plan.node, value, object[key] ?? undefined, state);
    state.fields.pop();
    state.structure = structure;
    state.path = path;
  }
  return object;
}
