/** Environments: names, functions and syntax that expressions may use. */
import type { Expression } from './ast.ts';
import type { Declarations } from './checker.ts';
import { type FunctionDeclaration, mergeFunctions } from './functions.ts';
import type { Runtime } from './interpreter.ts';
import type { Library, ObjectTypes } from './library.ts';
import type { Macro } from './macros.ts';
import type { Syntax } from './parser.ts';
import type { RegexFunction } from './regex.ts';
import type { Issues } from './source.ts';
import type { Type } from './types.ts';
import { EvaluationError } from './values.ts';

/** Checks a type-checked expression and reports errors. */
export type Validator = (expression: Expression, issues: Issues) => void;

/** An environment in which expressions are compiled. */
export type Environment = Declarations &
  Runtime & {
    readonly syntax: Syntax;
    readonly validators: readonly Validator[];
    /** Default cost limit of one evaluation. */
    readonly costLimit: number;
  };

/** Options of an environment. */
export type EnvironmentOptions = {
  readonly libraries: readonly Library[];
  /** Variables by name, which may be dotted. */
  readonly variables?: Readonly<Record<string, Type>>;
  /** Namespace in which names are resolved first. */
  readonly container?: string;
  readonly homogeneousLiterals?: boolean;
  readonly optionals?: boolean;
  readonly quotedFields?: boolean;
  readonly validators?: readonly Validator[];
  readonly costLimit?: number;
};

/** Creates an environment. This is expensive; `withVariables` shares everything but the variables. */
export function createEnvironment(options: EnvironmentOptions): Environment {
  const { libraries } = options;
  const functions = new Map<string, FunctionDeclaration>();
  const macros = new Map<string, Macro>();
  const types = new Map<string, Type>();
  const regexFunctions = new Map<string, RegexFunction>();
  const objects: ObjectTypes[] = [];
  for (const library of libraries) {
    for (const declaration of library.functions) {
      const known = functions.get(declaration.name);
      functions.set(declaration.name, known ? mergeFunctions(known, declaration) : declaration);
    }
    for (const [key, macro] of library.macros ?? []) macros.set(key, macro);
    for (const type of library.types ?? []) types.set(type.name, type);
    for (const [name, regex] of library.regexFunctions ?? []) regexFunctions.set(name, regex);
    if (library.objects) objects.push(library.objects);
  }
  const findObject = (name: string): Type | undefined => {
    for (const each of objects) {
      const found = each.find(name);
      if (found) return found;
    }
    return undefined;
  };
  const environment: Environment = {
    container: options.container ?? '',
    homogeneousLiterals: options.homogeneousLiterals ?? false,
    syntax: { macros, optionals: options.optionals ?? false, quotedFields: options.quotedFields ?? false },
    validators: options.validators ?? [],
    costLimit: options.costLimit ?? Number.POSITIVE_INFINITY,
    regexFunctions,
    variable: () => undefined,
    function: (name) => functions.get(name),
    namedType: (name) => types.get(name) ?? findObject(name),
    construct: (name, fields) => {
      const owner = objects.find((each) => each.find(name) !== undefined);
      return owner ? owner.construct(name, fields) : new EvaluationError(`unknown type: ${name}`);
    },
  };
  return withVariables(environment, options.variables ?? {});
}

/** Returns an environment with additional variables. */
export function withVariables(environment: Environment, variables: Readonly<Record<string, Type>>): Environment {
  const added = new Map(Object.entries(variables));
  if (added.size === 0) return environment;
  return { ...environment, variable: (name) => added.get(name) ?? environment.variable(name) };
}
