/** Libraries: functions, macros and types that an environment may include. */
import type { FunctionDeclaration } from './functions.ts';
import type { Macros } from './macros.ts';
import type { RegexFunction } from './regex.ts';
import type { Type } from './types.ts';
import type { Value } from './values.ts';

/** Contents of a library. */
export type Library = {
  readonly functions: readonly FunctionDeclaration[];
  readonly macros?: Macros;
  /** Types that expressions can name. */
  readonly types?: readonly Type[];
  readonly regexFunctions?: ReadonlyMap<string, RegexFunction>;
  /** Types by name, and the construction of their values with `Name{…}`. */
  readonly objects?: ObjectTypes;
};

/** Object types that expressions can construct. */
export type ObjectTypes = {
  find(name: string): Type | undefined;
  construct(name: string, fields: ReadonlyMap<string, Value>): Value;
};
