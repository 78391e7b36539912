/** `find` and `findAll` of Kubernetes. */
import type { RE2JS } from 're2js';
import { ArrayList } from '../collections.ts';
import { regexCost, regexEstimate } from '../costs.ts';
import { type CallShape, type Cost, type Implementation, method } from '../functions.ts';
import type { Library } from '../library.ts';
import { compileRegex, findMatches, type RegexFunction } from '../regex.ts';
import { sizeOf } from '../type-names.ts';
import { intType, listType, stringType } from '../types.ts';
import { EvaluationError, type Value } from '../values.ts';

const cost: Cost = {
  actual: ([text, pattern]) => regexCost(sizeOf(text!), sizeOf(pattern!)),
  // In the worst case, every character is a separate match.
  estimate: ({ target, args }: CallShape) => ({
    cost: regexEstimate(target!.size, args[0]!.size),
    resultSize: { min: 0n, max: target!.size.max },
  }),
};

const findFirst = (regex: RE2JS, text: Value): Value => findMatches(regex, text as string, 1).next().value ?? '';

/** A negative limit means no limit. */
const findEvery = (regex: RE2JS, text: Value, limit: Value | undefined): Value => {
  const most = limit === undefined || Number(limit) < 0 ? undefined : Number(limit);
  return new ArrayList([...findMatches(regex, text as string, most)]);
};

const compiling =
  (find: (regex: RE2JS, text: Value, limit: Value | undefined) => Value): Implementation =>
  (text, pattern, limit) => {
    const regex = compileRegex(pattern as string);
    return regex instanceof EvaluationError
      ? new EvaluationError(`Illegal regex: ${regex.message}`)
      : find(regex, text!, limit);
  };

const compiled =
  (find: (regex: RE2JS, text: Value, limit: Value | undefined) => Value): RegexFunction =>
  (pattern) => {
    const regex = compileRegex(pattern);
    if (regex instanceof EvaluationError) return regex;
    return (text, _pattern, limit) =>
      typeof text === 'string' ? find(regex, text, limit) : new EvaluationError('no such overload');
  };

/** The regex library: `find` and `findAll`. */
export const regexLibrary: Library = {
  functions: [
    {
      name: 'find',
      overloads: [method('string_find_string', [stringType, stringType], stringType, compiling(findFirst))],
      cost,
    },
    {
      name: 'findAll',
      overloads: [
        method('string_find_all_string', [stringType, stringType], listType(stringType), compiling(findEvery)),
        method(
          'string_find_all_string_int',
          [stringType, stringType, intType],
          listType(stringType),
          compiling(findEvery),
        ),
      ],
      cost,
    },
  ],
  regexFunctions: new Map([
    ['find', compiled(findFirst)],
    ['findAll', compiled(findEvery)],
  ]),
};
