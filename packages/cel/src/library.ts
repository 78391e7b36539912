/** A library: functions, macros and types that an environment can have or not. */
import type { FunctionDeclaration } from './functions.ts';
import type { Macros } from './macros.ts';
import type { RegexFunction } from './regex.ts';
import type { Type } from './types.ts';
import type { Value } from './values.ts';

/** What a library adds to an environment. */
export type Library = {
  readonly functions: readonly FunctionDeclaration[];
  readonly macros?: Macros;
  /** Types that can be named in expressions. */
  readonly types?: readonly Type[];
  readonly regexFunctions?: ReadonlyMap<string, RegexFunction>;
  /** Types found by name, and how `Name{…}` makes their values. */
  readonly objects?: ObjectTypes;
};

/** Object types that expressions can make values of. */
export type ObjectTypes = {
  find(name: string): Type | undefined;
  construct(name: string, fields: ReadonlyMap<string, Value>): Value;
};
