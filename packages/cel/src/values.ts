/**
 * Values of expressions.
 *
 * JSON values keep their JavaScript form: strings, booleans, null, and whole numbers, which are CEL's `int`. An `int`
 * is a JavaScript number if that is exact and a bigint otherwise, never both for one value, so `===` compares ints.
 * Every other value has a class here.
 */
import type { ListValue, MapValue } from './collections.ts';
import type { Duration, Timestamp } from './time.ts';

/** A 64-bit signed integer: a number if safe, otherwise a bigint. */
export type Int = number | bigint;

/** Result of an evaluation, including errors: `false && error` is false, so errors are values. */
export type Value =
  | null
  | boolean
  | string
  | Int
  | Uint
  | Double
  | Uint8Array
  | Timestamp
  | Duration
  | TypeValue
  | Optional
  | ListValue
  | MapValue
  | ObjectValue
  | EvaluationError;

/** Error of an evaluation. */
export class EvaluationError {
  readonly message: string;

  constructor(message: string) {
    this.message = message;
  }
}

/** A 64-bit unsigned integer. */
export class Uint {
  readonly value: bigint;

  constructor(value: bigint) {
    this.value = value;
  }
}

/** A floating point number; the wrapper distinguishes `1.0` from the integer `1`. */
export class Double {
  readonly value: number;

  constructor(value: number) {
    this.value = value;
  }
}

/** A type as a value: the result of `type(x)` and the identifier `int`. */
export class TypeValue {
  readonly name: string;

  constructor(name: string) {
    this.name = name;
  }
}

/** A value that may be absent. */
export class Optional {
  readonly value: Value | undefined;

  constructor(value: Value | undefined) {
    this.value = value;
  }

  get hasValue(): boolean {
    return this.value !== undefined;
  }
}

/** `optional.none()`. */
export const none = new Optional(undefined);

/** Base class of values of object and opaque types in libraries. */
export abstract class ObjectValue {
  abstract readonly typeName: string;

  abstract equals(other: Value): boolean | EvaluationError;

  /** Returns the value of a field: undefined if it is not set, an error if it does not exist. */
  field(_name: string): Value | undefined {
    return undefined;
  }

  /** Returns the result of selecting a field that is not set. */
  missingField(name: string): Value {
    return new EvaluationError(`no such key: ${name}`);
  }

  /** Returns the length for run-time costs. */
  get size(): number {
    return 1;
  }

  get isZero(): boolean {
    return false;
  }

  /** Returns the value as JSON. */
  toJson(): unknown {
    return undefined;
  }
}

/** Error of an operation that is not defined for its operands. */
export const noSuchOverload = new EvaluationError('no such overload');

/** Returns the error itself if `value` is an error, otherwise "no such overload". */
export const orNoSuchOverload = (value: Value): EvaluationError =>
  value instanceof EvaluationError ? value : noSuchOverload;

/** The largest int. */
export const maxInt = 2n ** 63n - 1n;
/** The smallest int. */
export const minInt = -(2n ** 63n);
/** The largest uint. */
export const maxUint = 2n ** 64n - 1n;

/** Returns the canonical form of an integer in range. */
export const toInt = (value: bigint): Int =>
  value >= Number.MIN_SAFE_INTEGER && value <= Number.MAX_SAFE_INTEGER ? Number(value) : value;

/** Returns whether a value is an int. */
export const isInt = (value: unknown): value is Int => typeof value === 'number' || typeof value === 'bigint';
