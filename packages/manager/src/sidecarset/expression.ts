/**
 * Expressions that compute the resources of a sidecar: `max(cpu*50%, 50m)`. They have numbers and quantities, four
 * operations, `max` and `min`. Accepted inputs and error messages are those of OpenKruise, including malformed numbers
 * such as `5abc`, which count as 0.
 */
import { formatNumber } from '@kruise/values/go-syntax';
import { ParseError } from '@kruise/values/parse-error';
import {
  addQuantities,
  compareQuantities,
  formatQuantity,
  milliValue,
  negateQuantity,
  parseQuantity,
  type Quantity,
  type QuantityFamily,
  quantityOf,
  quantitySign,
  subtractQuantities,
} from '@kruise/values/quantity';

/** A plain number or a quantity. */
export type Value = number | Quantity;

export type Variables = { readonly [name: string]: Value };

/** Evaluates an expression. Throws `ParseError` if it is invalid or its value is negative. */
export function evaluate(expression: string, variables: Variables): Value {
  const value = evaluated(expression, variables);
  const isNegative = typeof value === 'number' ? value < 0 : quantitySign(value) < 0;
  if (isNegative) throw new ParseError(`calculation result is negative: ${printed(value)}`);
  return value;
}

function printed(value: Value): string {
  return typeof value === 'number' ? formatNumber(value) : formatQuantity(value);
}

/** Converts a number of units to a quantity, truncated to thousandths. */
export function toQuantity(value: Value): Quantity {
  return typeof value === 'number' ? milli(value * 1000, 'DecimalSI') : value;
}

function evaluated(expression: string, variables: Variables): Value {
  const tokens = tokensOf(expression);
  let token = tokens.next();

  const isAt = (kind: string) => token.kind === kind;
  const take = (): Token => {
    const taken = token;
    token = tokens.next();
    return taken;
  };
  const expect = (kind: string): void => {
    if (!isAt(kind)) throw new ParseError(`parse error: syntax error at line ${token.line}, col ${token.column}`);
    take();
  };

  const combined = (next: () => Value, operations: { readonly [symbol: string]: Operation }): Value => {
    let left = next();
    for (let operation = operations[token.kind]; operation; operation = operations[token.kind]) {
      take();
      left = operation(left, next());
    }
    return left;
  };
  const sum = (): Value => combined(product, { '+': add, '-': subtract });
  const product = (): Value => combined(factor, { '*': multiply, '/': divide });

  const factor = (): Value => {
    if (isAt('number')) return numberIn(take().text);
    if (isAt('quantity')) return parseQuantity(take().text);
    if (isAt('-')) {
      take();
      return negated(factor());
    }
    if (isAt('name')) {
      const { text } = take();
      return isAt('(') ? call(text) : variable(text.toLowerCase(), variables);
    }
    expect('(');
    const value = sum();
    expect(')');
    return value;
  };

  const call = (name: string): Value => {
    expect('(');
    const values = [sum()];
    if (isAt(',')) {
      take();
      values.push(sum());
    }
    expect(')');
    return choose(name, values);
  };

  const value = sum();
  expect('end');
  return value;
}

type Operation = (left: Value, right: Value) => Value;

function add(left: Value, right: Value): Value {
  if (typeof left === 'number' && typeof right === 'number') return left + right;
  return addQuantities(toQuantity(left), toQuantity(right));
}

function subtract(left: Value, right: Value): Value {
  if (typeof left === 'number' && typeof right === 'number') return left - right;
  return subtractQuantities(toQuantity(left), toQuantity(right));
}

function multiply(left: Value, right: Value): Value {
  if (typeof left === 'number') return typeof right === 'number' ? left * right : scaled(right, left);
  if (typeof right !== 'number') throw new ParseError('multiplication of two quantities');
  return scaled(left, right);
}

function divide(left: Value, right: Value): Value {
  if (typeof right !== 'number') throw new ParseError('division by quantity');
  if (right === 0) throw new ParseError('division by zero');
  return typeof left === 'number' ? left / right : milli(milliValue(left) / right, left.family);
}

function scaled(quantity: Quantity, by: number): Quantity {
  return milli(milliValue(quantity) * by, quantity.family);
}

function negated(value: Value): Value {
  return typeof value === 'number' ? -value : negateQuantity(value);
}

const milliScale = -3;
const minInt64 = -(2n ** 63n);

/**
 * Returns a quantity of thousandths, truncated to an integer. A value that overflows 64 bits becomes the smallest
 * 64-bit integer, as it does on processors.
 */
function milli(thousandths: number, family: QuantityFamily): Quantity {
  const isHeld = Math.abs(thousandths) < 2 ** 63;
  return quantityOf(isHeld ? BigInt(Math.trunc(thousandths)) : minInt64, family, milliScale);
}

/** Returns the maximum or minimum of two values; the first one if they are equal. */
function choose(name: string, values: readonly Value[]): Value {
  const sign = signs.get(name.toLowerCase());
  if (sign === undefined) throw new ParseError(`unknown function: ${name}`);
  const [left, right] = values;
  if (left === undefined || right === undefined) {
    throw new ParseError(`${name.toLowerCase()} function requires exactly 2 arguments, got ${values.length}`);
  }
  if (typeof left === 'number' && typeof right === 'number') return (left - right) * sign >= 0 ? left : right;
  const [a, b] = [toQuantity(left), toQuantity(right)];
  return compareQuantities(a, b) * sign >= 0 ? a : b;
}

const signs: ReadonlyMap<string, number> = new Map([
  ['max', 1],
  ['min', -1],
]);

function variable(name: string, variables: Variables): Value {
  const value = Object.hasOwn(variables, name) ? variables[name] : undefined;
  if (value === undefined) throw new ParseError(`undefined variable: ${name}`);
  return value;
}

/** Parses a number. A text that is not a number counts as 0. */
function numberIn(text: string): number {
  const [digits, divisor] = text.endsWith('%') ? [text.slice(0, -1), 100] : [text, 1];
  return decimal.test(digits) ? Number(digits) / divisor : 0;
}

const decimal = /^(?:\d+(?:\.\d*)?|\.\d+)(?:[eE][-+]?\d+)?$/;

type Token = { readonly kind: string; readonly text: string; readonly line: number; readonly column: number };

const space = /\s*/y;
const digits = /\d*(?:\.\d*)?(?:[eE][-+]?\d*)?(?:%\d*)?/y;
const unit = /(?![eE])\p{L}+/uy;
const name = /\p{L}[\p{L}\p{Nd}_]*/uy;
const quantity = /^[\d.eE+-]+(?:m|[kMGTP]|[KMGTP]i)$/;

/** Splits a text into tokens, each with the position of its end. */
function tokensOf(text: string): { next(): Token } {
  let position = 0;
  const read = (pattern: RegExp): string => {
    pattern.lastIndex = position;
    const found = pattern.exec(text)?.[0] ?? '';
    position += found.length;
    return found;
  };
  const token = (kind: string, found: string): Token => {
    const lines = text.slice(0, position).split('\n');
    return { kind, text: found, line: lines.length, column: lines.at(-1)!.length + 1 };
  };
  return {
    next() {
      read(space);
      const first = text[position];
      if (first === undefined) return token('end', '');
      if (/[\d.]/.test(first)) {
        const number = read(digits);
        const whole = /[eE]$/.test(number) ? number : number + read(unit);
        return token(quantity.test(whole) ? 'quantity' : 'number', whole);
      }
      const word = read(name);
      if (word) return token('name', word);
      position++;
      return token(first, first);
    },
  };
}
