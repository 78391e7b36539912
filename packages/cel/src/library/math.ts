/** The math extension. Kubernetes does not include it. */
import type { Expression } from '../ast.ts';
import type { ListValue } from '../collections.ts';
import { compare, isNumber } from '../equality.ts';
import { type FunctionDeclaration, type Implementation, overload } from '../functions.ts';
import type { Library } from '../library.ts';
import { type Macro, macroKey, nodes } from '../macros.ts';
import { boolType, doubleType, dynType, intType, listType, type Type, uintType } from '../types.ts';
import { Double, EvaluationError, type Int, isInt, minInt, toInt, Uint, type Value } from '../values.ts';

const numbers: readonly (readonly [string, Type])[] = [
  ['double', doubleType],
  ['int', intType],
  ['uint', uintType],
];

/** `math.least` and `math.greatest` are macros, because functions cannot take any number of arguments. */
function extremeMacro(name: string, functionName: string): Macro {
  return (offset, target, args) => {
    if (target?.kind !== 'identifier' || target.name !== 'math') return undefined;
    const [first] = args;
    if (!first) return { offset: target.offset, fault: `${name}() requires at least one argument` };
    if (args.length === 1) {
      const isList = first.kind === 'list' && first.elements.length > 0 && first.elements.every(maybeNumber);
      if (!isList && !maybeNumber(first)) {
        return { offset: first.offset, fault: `${name}() invalid single argument value` };
      }
      return nodes.call(offset, functionName, first);
    }
    const wrong = args.find((arg) => !maybeNumber(arg));
    if (wrong) return { offset: wrong.offset, fault: `${name}() simple literal arguments must be numeric` };
    return args.length === 2
      ? nodes.call(offset, functionName, ...args)
      : nodes.call(offset, functionName, nodes.list(offset, ...args));
  };
}

function maybeNumber(expression: Expression): boolean {
  if (expression.kind === 'literal') return isNumber(expression.value);
  return expression.kind !== 'list' && expression.kind !== 'map' && expression.kind !== 'object';
}

const same: Implementation = (value) => value!;

function extreme(name: string, worse: number): FunctionDeclaration {
  const suffixed = (error: EvaluationError) =>
    error.message.includes(name) ? error : new EvaluationError(`${error.message}: ${name}`);
  const ofTwo: Implementation = (a, b) => {
    const order = compare(a!, b!);
    if (order instanceof EvaluationError) return suffixed(order);
    return order === worse ? b! : a!;
  };
  const ofList: Implementation = (list) => {
    const [first, ...rest] = list as ListValue;
    if (first === undefined) return new EvaluationError(`${name}(list) argument must not be empty`);
    const result = rest.reduce<Value>((best, value) => ofTwo(best, value), first);
    return isNumber(result) ? result : new EvaluationError(`no such overload: ${name}`);
  };
  const id = name.replace('.', '_');
  const pairs = numbers.flatMap(([left, leftType]) =>
    numbers.map(([right, rightType]) =>
      overload(`${id}_${left}_${right}`, [leftType, rightType], left === right ? leftType : dynType, ofTwo),
    ),
  );
  return {
    name,
    overloads: [
      ...numbers.map(([number, type]) => overload(`${id}_${number}`, [type], type, same)),
      ...pairs,
      ...numbers.map(([number, type]) => overload(`${id}_list_${number}`, [listType(type)], type, ofList)),
    ],
  };
}

const onDouble = (name: string, apply: (value: number) => number): FunctionDeclaration => ({
  name: `math.${name}`,
  overloads: [
    overload(`math_${name}_double`, [doubleType], doubleType, (value) => new Double(apply((value as Double).value))),
  ],
});

const testDouble = (name: string, holds: (value: number) => boolean): FunctionDeclaration => ({
  name: `math.${name}`,
  overloads: [overload(`math_${name}_double`, [doubleType], boolType, (value) => holds((value as Double).value))],
});

/** Rounds half away from zero; JavaScript rounds half up. */
const roundHalfAway = (value: number): number => Math.sign(value) * Math.floor(Math.abs(value) + 0.5);

const big = (value: Value): bigint => BigInt(value as Int);
const signed = (value: bigint): Int => toInt(BigInt.asIntN(64, value));
const unsigned = (value: bigint): Uint => new Uint(BigInt.asUintN(64, value));

const bitwise = (name: string, apply: (a: bigint, b: bigint) => bigint): FunctionDeclaration => ({
  name: `math.${name}`,
  overloads: [
    overload(`math_${name}_int_int`, [intType, intType], intType, (a, b) => signed(apply(big(a!), big(b!)))),
    overload(`math_${name}_uint_uint`, [uintType, uintType], uintType, (a, b) =>
      unsigned(apply((a as Uint).value, (b as Uint).value)),
    ),
  ],
});

function shift(name: string, apply: (bits: bigint, by: bigint) => bigint): FunctionDeclaration {
  const shifted = (bits: bigint, by: Value, finish: (bits: bigint) => Value): Value => {
    if ((by as Int) < 0) return new EvaluationError(`math.${name}() negative offset: ${by}`);
    return finish((by as Int) >= 64 ? 0n : apply(bits, big(by)));
  };
  return {
    name: `math.${name}`,
    overloads: [
      overload(`math_${name}_int_int`, [intType, intType], intType, (value, by) =>
        shifted(BigInt.asUintN(64, big(value!)), by!, signed),
      ),
      overload(`math_${name}_uint_int`, [uintType, intType], uintType, (value, by) =>
        shifted((value as Uint).value, by!, unsigned),
      ),
    ],
  };
}

/** The math library. */
export const mathLibrary: Library = {
  macros: new Map([
    [macroKey('least', '*', true), extremeMacro('math.least', 'math.@min')],
    [macroKey('greatest', '*', true), extremeMacro('math.greatest', 'math.@max')],
  ]),
  functions: [
    extreme('math.@min', 1),
    extreme('math.@max', -1),
    onDouble('ceil', Math.ceil),
    onDouble('floor', Math.floor),
    onDouble('round', roundHalfAway),
    onDouble('trunc', Math.trunc),
    onDouble('sqrt', Math.sqrt),
    testDouble('isInf', (value) => Math.abs(value) === Number.POSITIVE_INFINITY),
    testDouble('isNaN', Number.isNaN),
    testDouble('isFinite', Number.isFinite),
    {
      name: 'math.abs',
      overloads: [
        overload('math_abs_double', [doubleType], doubleType, (value) => new Double(Math.abs((value as Double).value))),
        overload('math_abs_int', [intType], intType, (value) => {
          if (value === minInt) return new EvaluationError('integer overflow');
          return isInt(value) && value < 0 ? toInt(-big(value)) : value!;
        }),
        overload('math_abs_uint', [uintType], uintType, same),
      ],
    },
    {
      name: 'math.sign',
      overloads: [
        overload(
          'math_sign_double',
          [doubleType],
          doubleType,
          (value) => new Double(Math.sign((value as Double).value) + 0),
        ),
        overload('math_sign_int', [intType], intType, (value) => ((value as Int) < 0 ? -1 : value === 0 ? 0 : 1)),
        overload('math_sign_uint', [uintType], uintType, (value) => new Uint((value as Uint).value === 0n ? 0n : 1n)),
      ],
    },
    bitwise('bitAnd', (a, b) => a & b),
    bitwise('bitOr', (a, b) => a | b),
    bitwise('bitXor', (a, b) => a ^ b),
    {
      name: 'math.bitNot',
      overloads: [
        overload('math_bitNot_int_int', [intType], intType, (value) => signed(~big(value!))),
        overload('math_bitNot_uint_uint', [uintType], uintType, (value) => unsigned(~(value as Uint).value)),
      ],
    },
    shift('bitShiftLeft', (bits, by) => bits << by),
    shift('bitShiftRight', (bits, by) => bits >> by),
  ],
};
