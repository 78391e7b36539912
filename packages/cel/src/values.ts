/**
 * The values expressions compute with.
 *
 * What JSON has stays what it is: strings, booleans, null, and whole numbers, which are CEL's `int`. An `int` is a
 * JavaScript number as long as that is exact and a bigint beyond, never both for one value, so `===` compares them.
 * Everything JSON has not has a class here.
 */
import type { ListValue, MapValue } from './collections.ts';
import type { Duration, Timestamp } from './time.ts';

/** A 64-bit signed integer: a number when safe, else a bigint. */
export type Int = number | bigint;

/** What evaluation yields, errors included: `false && error` is false, so errors travel as values. */
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

/** Why an expression has no value. */
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

/** A floating point number; the wrapper tells `1.0` from the integer `1`. */
export class Double {
  readonly value: number;

  constructor(value: number) {
    this.value = value;
  }
}

/** A type as a value: what `type(x)` and the identifier `int` yield. */
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

/** A value of an object or opaque type; libraries derive theirs from it. */
export abstract class ObjectValue {
  abstract readonly typeName: string;

  abstract equals(other: Value): boolean | EvaluationError;

  /** What a field holds: undefined when it is not set, an error when there can be no such field. */
  field(_name: string): Value | undefined {
    return undefined;
  }

  /** What selecting a field yields that is not set. */
  missingField(name: string): Value {
    return new EvaluationError(`no such key: ${name}`);
  }

  /** The length run-time costs count with. */
  get size(): number {
    return 1;
  }

  get isZero(): boolean {
    return false;
  }

  /** The value as JSON, for those who receive a result. */
  toJson(): unknown {
    return undefined;
  }
}

/** The error of an operation that is not defined for its operands. */
export const noSuchOverload = new EvaluationError('no such overload');

/** The error itself if `value` is one already, else "no such overload". */
export const orNoSuchOverload = (value: Value): EvaluationError =>
  value instanceof EvaluationError ? value : noSuchOverload;

/** The largest int. */
export const maxInt = 2n ** 63n - 1n;
/** The smallest int. */
export const minInt = -(2n ** 63n);
/** The largest uint. */
export const maxUint = 2n ** 64n - 1n;

/** The canonical form of an integer known to be in range. */
export const toInt = (value: bigint): Int =>
  value >= Number.MIN_SAFE_INTEGER && value <= Number.MAX_SAFE_INTEGER ? Number(value) : value;

/** Whether a value is an int. */
export const isInt = (value: unknown): value is Int => typeof value === 'number' || typeof value === 'bigint';
