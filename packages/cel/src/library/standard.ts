/** Standard functions and operators of CEL. */

import { undefinedFor } from '../arithmetic.ts';
import { multiplyRanges, onePass, regexCost, regexEstimate, scale, stringFactor } from '../costs.ts';
import {
  type CallShape,
  type Cost,
  type FunctionDeclaration,
  type Implementation,
  method,
  overload,
} from '../functions.ts';
import type { Library } from '../library.ts';
import { standardMacros } from '../macros.ts';
import { compileRegex, type RegexFunction } from '../regex.ts';
import { sizeOf } from '../type-names.ts';
import {
  boolType,
  bytesType,
  doubleType,
  durationType,
  intType,
  listType,
  mapType,
  nullType,
  stringType,
  timestampType,
  typeParameter,
  typeType,
  uintType,
} from '../types.ts';
import { EvaluationError, orNoSuchOverload } from '../values.ts';
import { conversions } from './conversions.ts';
import { operators } from './operators.ts';
import { times } from './times.ts';

const a = typeParameter('A');
const b = typeParameter('B');
const listOfA = listType(a);
const mapOfAB = mapType(a, b);

const containment: Cost = {
  actual: ([text, part]) => Math.ceil(sizeOf(text!) * stringFactor) * Math.ceil(sizeOf(part!) * stringFactor),
  estimate: ({ target, args }) => ({
    cost: multiplyRanges(scale(target!.size, stringFactor), scale(args[0]!.size, stringFactor)),
  }),
};

const matching: Cost = {
  actual: ([text, pattern]) => regexCost(sizeOf(text!), sizeOf(pattern!)),
  estimate: ({ target, args }: CallShape) => ({ cost: regexEstimate(target!.size, args[0]!.size) }),
};

/**
 * Returns a test of one string against another. The caller has checked the arguments only if their types were known.
 */
const stringTest =
  (test: (text: string, other: string) => boolean): Implementation =>
  (text, other) => {
    if (typeof text !== 'string') return orNoSuchOverload(text!);
    return typeof other === 'string' ? test(text, other) : orNoSuchOverload(other!);
  };

const matches: Implementation = (text, pattern) => {
  if (typeof text !== 'string') return undefinedFor('matches', text!);
  if (typeof pattern !== 'string') return orNoSuchOverload(pattern!);
  const regex = compileRegex(pattern);
  return regex instanceof EvaluationError ? regex : regex.test(text);
};

const strings: readonly FunctionDeclaration[] = [
  {
    name: 'contains',
    overloads: [method('contains_string', [stringType, stringType], boolType, undefined, { cost: containment })],
    call: stringTest((text, part) => text.includes(part)),
  },
  {
    name: 'endsWith',
    overloads: [method('ends_with_string', [stringType, stringType], boolType, undefined, { cost: onePass() })],
    call: stringTest((text, suffix) => text.endsWith(suffix)),
  },
  {
    name: 'startsWith',
    overloads: [method('starts_with_string', [stringType, stringType], boolType, undefined, { cost: onePass() })],
    call: stringTest((text, prefix) => text.startsWith(prefix)),
  },
  {
    name: 'matches',
    overloads: [
      overload('matches', [stringType, stringType], boolType),
      method('matches_string', [stringType, stringType], boolType, undefined, { cost: matching }),
    ],
    call: matches,
  },
];

const regexFunctions: ReadonlyMap<string, RegexFunction> = new Map([
  [
    'matches',
    (pattern: string): Implementation | EvaluationError => {
      const regex = compileRegex(pattern);
      if (regex instanceof EvaluationError) return regex;
      return (text) => (typeof text === 'string' ? regex.test(text) : orNoSuchOverload(text!));
    },
  ],
]);

/** The standard library. */
export const standardLibrary: Library = {
  functions: [...operators, ...conversions, ...strings, ...times],
  macros: standardMacros,
  types: [
    boolType,
    bytesType,
    doubleType,
    durationType,
    intType,
    listOfA,
    mapOfAB,
    nullType,
    stringType,
    timestampType,
    typeType,
    uintType,
  ],
  regexFunctions,
};
