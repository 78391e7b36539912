/**
 * Attributes: variables with selections. `self.spec.containers[0].name` is one attribute with four qualifiers.
 *
 * Each qualifier costs 1 and the attribute itself 1 more, unless it is a branch of a conditional, which is resolved
 * without that charge. After an optional qualifier (`a.?b`), the following ones are optional, too.
 */
import { JsonList, JsonObject, ListValue, MapValue } from './collections.ts';
import { isNumber } from './equality.ts';
import { formatValue } from './format-value.ts';
import type { Evaluate, Frame } from './frame.ts';
import { typeNameOf } from './type-names.ts';
import {
  Double,
  EvaluationError,
  isInt,
  none,
  ObjectValue,
  Optional,
  orNoSuchOverload,
  Uint,
  type Value,
} from './values.ts';

/** One step of a selection. */
export type Qualifier = {
  readonly isOptional: boolean;
  /** Returns the selected value, or an error if it does not exist. */
  select(frame: Frame, from: Value): Value;
  /** Returns the selected value, or undefined if it does not exist. */
  selectIfPresent(frame: Frame, from: Value): Value | undefined;
};

/** A value that can be qualified further. */
export type Attribute = {
  qualify(qualifier: Qualifier): void;
  /** Returns the value at the cost of a branch of a conditional. */
  readonly resolve: Evaluate;
  /** Returns the value at the full cost. */
  readonly evaluate: Evaluate;
};

/** Creates an attribute that starts from a variable or from the result of an expression. */
export function attribute(root: Evaluate): Attribute {
  const qualifiers: Qualifier[] = [];
  const resolve: Evaluate = (frame) => {
    const value = root(frame);
    return qualifiers.length === 0 ? value : applyQualifiers(frame, value, qualifiers);
  };
  return {
    qualify: (qualifier) => void qualifiers.push(qualifier),
    resolve,
    evaluate: (frame) => {
      const value = resolve(frame);
      frame.charge(1);
      return value;
    },
  };
}

/** Creates `condition ? whenTrue : whenFalse`, which has no cost of its own. */
export function conditional(condition: Evaluate, whenTrue: Attribute, whenFalse: Attribute): Attribute {
  const resolve: Evaluate = (frame) => {
    const chosen = condition(frame);
    if (chosen === true) return whenTrue.resolve(frame);
    if (chosen === false) return whenFalse.resolve(frame);
    return orNoSuchOverload(chosen);
  };
  return {
    qualify: (qualifier) => {
      whenTrue.qualify(qualifier);
      whenFalse.qualify(qualifier);
    },
    resolve,
    evaluate: resolve,
  };
}

/** Creates `has(…)`: whether the last qualifier finds a value. It costs only its qualifiers. */
export function presence(operand: Attribute, field: Qualifier): Attribute {
  operand.qualify({
    isOptional: false,
    select: (frame, from) => {
      const found = field.selectIfPresent(frame, from);
      frame.charge(1);
      return found instanceof EvaluationError ? found : found !== undefined;
    },
    selectIfPresent: (frame, from) => {
      const found = field.selectIfPresent(frame, from);
      if (found === undefined || found instanceof EvaluationError) return found;
      frame.charge(1);
      return null;
    },
  });
  const resolve: Evaluate = (frame) => {
    const value = operand.resolve(frame);
    return value instanceof Optional ? value.hasValue : value;
  };
  return { qualify: operand.qualify, resolve, evaluate: resolve };
}

function applyQualifiers(frame: Frame, value: Value, qualifiers: readonly Qualifier[]): Value {
  let isOptional = value instanceof Optional;
  if (value instanceof Optional) {
    if (value.value === undefined) return value;
    value = value.value;
  }
  for (const qualifier of qualifiers) {
    if (value instanceof EvaluationError) return value;
    isOptional ||= qualifier.isOptional;
    if (isOptional) {
      const found = qualifier.selectIfPresent(frame, value);
      if (found === undefined) return none;
      value = found;
    } else {
      value = qualifier.select(frame, value);
    }
  }
  return isOptional && !(value instanceof EvaluationError) ? new Optional(value) : value;
}

/** Creates a qualifier with a constant key. `property` is its name in JSON objects that declare it. */
export function constantQualifier(
  key: Value,
  options: { isOptional: boolean; isCharged: boolean; property?: string | undefined },
): Qualifier {
  const { isOptional, isCharged, property } = options;
  const find =
    property === undefined
      ? (from: Value) => lookUp(from, key)
      : (from: Value) => (from instanceof JsonObject ? from.property(property) : lookUp(from, key));
  return {
    isOptional,
    select: (frame, from) => {
      const found = orMissing(find(from), from, key);
      if (isCharged) frame.charge(1);
      return found;
    },
    selectIfPresent: (frame, from) => {
      const found = findIfPossible(find, from);
      if (isCharged && found !== undefined && !(found instanceof EvaluationError)) frame.charge(1);
      return found;
    },
  };
}

/** Creates a qualifier with a computed key. */
export function computedQualifier(key: Evaluate, options: { isOptional: boolean }): Qualifier {
  return {
    isOptional: options.isOptional,
    select: (frame, from) => {
      const index = key(frame);
      const found = index instanceof EvaluationError ? index : select(from, index);
      frame.charge(1);
      return found;
    },
    selectIfPresent: (frame, from) => {
      const index = key(frame);
      if (index instanceof EvaluationError) return index;
      const found = findIfPossible((value) => lookUp(value, index), from);
      if (found !== undefined && !(found instanceof EvaluationError)) frame.charge(1);
      return found;
    },
  };
}

function select(from: Value, index: Value): Value {
  const isKey = typeof index === 'string' || typeof index === 'boolean' || isNumber(index);
  return isKey
    ? orMissing(lookUp(from, index), from, index)
    : new EvaluationError(`invalid qualifier type: ${typeNameOf(index)}`);
}

/** A value without fields or elements has nothing present. */
function findIfPossible(find: (from: Value) => Value | undefined, from: Value): Value | undefined {
  const isContainer = from instanceof MapValue || from instanceof ListValue || from instanceof ObjectValue;
  return isContainer ? find(from) : undefined;
}

/** Returns the element at a key or index: undefined if it does not exist, an error if it cannot exist. */
function lookUp(from: Value, key: Value): Value | undefined {
  if (from instanceof MapValue) return from.find(key);
  if (from instanceof ListValue) {
    const index = listIndex(from, key);
    if (index instanceof EvaluationError) return index;
    return index >= 0 && index < from.size ? from.at(index) : undefined;
  }
  if (from instanceof ObjectValue && typeof key === 'string') return from.field(key);
  return undefined;
}

function listIndex(list: ListValue, key: Value): number | EvaluationError {
  if (isInt(key)) return Number(key);
  if (list instanceof JsonList && list.isDeclared && (key instanceof Uint || key instanceof Double)) {
    return new EvaluationError(`unsupported index: ${formatValue(key)}`);
  }
  if (key instanceof Uint) return Number(key.value);
  if (key instanceof Double) {
    return Number.isInteger(key.value)
      ? key.value
      : new EvaluationError(`unsupported index value ${formatValue(key)} in list`);
  }
  return new EvaluationError(`unsupported index type '${typeNameOf(key)}' in list`);
}

function orMissing(found: Value | undefined, from: Value, key: Value): Value {
  if (found !== undefined) return found;
  if (from instanceof ObjectValue && typeof key === 'string') return from.missingField(key);
  const what = from instanceof ListValue ? 'index out of bounds' : 'no such key';
  return new EvaluationError(`${what}: ${formatValue(key)}`);
}
