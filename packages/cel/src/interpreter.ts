/**
 * Compiles a checked expression to closures.
 *
 * Constants are computed once, at compile time: literals, lists and maps of constants, conversions of constants, sets
 * for `in`, regular expressions. Folded parts cost nothing at run time, as in cel-go, whose costs (see `frame.ts`) are
 * matched exactly.
 */
import type {
  Call,
  Comprehension,
  Expression,
  Identifier,
  ListLiteral,
  MapLiteral,
  ObjectLiteral,
  Select,
} from './ast.ts';
import {
  type Attribute,
  attribute,
  computedQualifier,
  conditional,
  constantQualifier,
  presence,
  type Qualifier,
} from './attributes.ts';
import {
  charged,
  constantMembership,
  costOf,
  firstPresent,
  guard,
  invocation,
  logical,
  type RunTimeCost,
} from './calls.ts';
import { ArrayList, EntryMap, type ListValue } from './collections.ts';
import { equal } from './equality.ts';
import { foldOne, foldTwo, growable, settled } from './folds.ts';
import { formatValue } from './format-value.ts';
import type { Evaluate, Frame } from './frame.ts';
import { accepts, type FunctionDeclaration, type Implementation, noOverload, type Overload } from './functions.ts';
import { read } from './json-values.ts';
import type { RegexFunction } from './regex.ts';
import { dynType, isOptional, type Type } from './types.ts';
import { EvaluationError, isInt, Optional, orNoSuchOverload, type Value } from './values.ts';

/** Parts of an environment that the interpreter needs. */
export type Runtime = {
  variable(name: string): Type | undefined;
  function(name: string): FunctionDeclaration | undefined;
  /** Constructs the object `name{…}`. */
  construct(name: string, fields: ReadonlyMap<string, Value>): Value;
  /** Functions whose second argument is a pattern that is compiled once. */
  readonly regexFunctions: ReadonlyMap<string, RegexFunction>;
};

/** Thrown for a constant that cannot be computed, such as `int('x')`. */
export class InstantiationError extends Error {}

/** Compiles a checked expression. Throws `InstantiationError`. */
export function interpret(expression: Expression, runtime: Runtime): Evaluate {
  return evaluation(new Compiler(runtime).plan(expression));
}

/** A compiled node before its parent has decided how to use it. */
type Plan =
  | { readonly kind: 'constant'; readonly value: Value }
  | { readonly kind: 'attribute'; readonly attribute: Attribute }
  | { readonly kind: 'other'; readonly evaluate: Evaluate };

const other = (evaluate: Evaluate): Plan => ({ kind: 'other', evaluate });
const constant = (value: Value): Plan => ({ kind: 'constant', value });

function evaluation(plan: Plan): Evaluate {
  switch (plan.kind) {
    case 'constant': {
      const { value } = plan;
      return () => value;
    }
    case 'attribute':
      return plan.attribute.evaluate;
    case 'other':
      return plan.evaluate;
  }
}

const asAttribute = (plan: Plan): Attribute =>
  plan.kind === 'attribute' ? plan.attribute : attribute(evaluation(plan));

const conversions: ReadonlySet<string> = new Set(
  'bool bytes double duration dyn int string timestamp type uint'.split(' '),
);

/** Slot of a name while its loop runs. Accumulators are initialized on first use. */
type Local = { readonly slot: number; readonly initial: Evaluate | undefined };

class Compiler {
  readonly #runtime: Runtime;
  readonly #variables = new Map<string, number>();
  #scope: readonly (readonly [string, Local])[] = [];
  #slots = 0;

  constructor(runtime: Runtime) {
    this.#runtime = runtime;
  }

  plan(expression: Expression): Plan {
    switch (expression.kind) {
      case 'literal':
        return constant(expression.value);
      case 'identifier':
        return this.#identifier(expression);
      case 'select':
        return this.#select(expression);
      case 'call':
        return this.#call(expression);
      case 'list':
        return this.#list(expression);
      case 'map':
        return this.#map(expression);
      case 'object':
        return this.#object(expression);
      case 'comprehension':
        return this.#comprehension(expression);
    }
  }

  #evaluation(expression: Expression): Evaluate {
    return evaluation(this.plan(expression));
  }

  #identifier(identifier: Identifier): Plan {
    if (identifier.constant !== undefined) return constant(identifier.constant);
    const { name } = identifier;
    const local = identifier.isRooted ? undefined : this.#scope.findLast(([known]) => known === name)?.[1];
    return { kind: 'attribute', attribute: attribute(local ? loadLocal(local) : this.#loadVariable(name)) };
  }

  #loadVariable(name: string): Evaluate {
    const slot = this.#variables.get(name) ?? this.#variables.size;
    this.#variables.set(name, slot);
    const type = this.#runtime.variable(name) ?? dynType;
    const absent = new EvaluationError(`no such attribute(s): ${name}`);
    return ({ variables, bindings }) => {
      const known = variables[slot];
      if (known !== undefined) return known;
      const bound = Object.hasOwn(bindings, name) ? bindings[name] : undefined;
      const isAbsent = bound === undefined && !isOptional(type);
      return (variables[slot] = isAbsent ? absent : read(bound, type));
    };
  }

  #select(select: Select): Plan {
    if (select.resolved) return this.#identifier(select.resolved);
    const operand = asAttribute(this.plan(select.operand));
    const type = select.operand.type;
    const property = type?.kind === 'object' ? type.field?.(select.field)?.property : undefined;
    const isCharged = !select.isPresenceTest;
    const qualifier = constantQualifier(select.field, { isOptional: false, isCharged, property });
    if (select.isPresenceTest) return { kind: 'attribute', attribute: presence(operand, qualifier) };
    operand.qualify(qualifier);
    return { kind: 'attribute', attribute: operand };
  }

  #index(call: Call, isOptional: boolean): Plan {
    const operand = asAttribute(this.plan(call.args[0]!));
    const index = this.plan(call.args[1]!);
    operand.qualify(indexQualifier(index, isOptional));
    return { kind: 'attribute', attribute: operand };
  }

  #call(call: Call): Plan {
    switch (call.function) {
      case '_&&_':
        return other(logical(this.#evaluation(call.args[0]!), this.#evaluation(call.args[1]!), false));
      case '_||_':
        return other(logical(this.#evaluation(call.args[0]!), this.#evaluation(call.args[1]!), true));
      case '_?_:_': {
        const [condition, whenTrue, whenFalse] = call.args.map((arg) => this.plan(arg)) as [Plan, Plan, Plan];
        const chosen = conditional(evaluation(condition), asAttribute(whenTrue), asAttribute(whenFalse));
        return { kind: 'attribute', attribute: chosen };
      }
      case '_[_]':
        return this.#index(call, false);
      case '_[?_]':
      case '_?._':
        return this.#index(call, true);
    }
    const plans = (call.target ? [call.target, ...call.args] : call.args).map((operand) => this.plan(operand));
    switch (call.function) {
      case '_==_':
        return other(this.#equality(call.function, plans, (result) => result));
      case '_!=_':
        return other(this.#equality(call.function, plans, (result) => result !== true));
      case 'or':
        return other(firstPresent(evaluation(plans[0]!), evaluation(plans[1]!), (optional) => optional));
      case 'orValue':
        return other(firstPresent(evaluation(plans[0]!), evaluation(plans[1]!), (optional) => optional.value!));
    }
    return this.#functionCall(call, plans);
  }

  #equality(name: string, plans: readonly Plan[], finish: (result: boolean | EvaluationError) => Value): Evaluate {
    const [left, right] = plans.map(evaluation) as [Evaluate, Evaluate];
    const cost = this.#cost(name, name === '_==_' ? 'equals' : 'not_equals');
    return (frame) => {
      const a = left(frame);
      const b = right(frame);
      const isError = a instanceof EvaluationError || b instanceof EvaluationError;
      const result = isError ? orNoSuchOverload(a instanceof EvaluationError ? a : b) : finish(equal(a, b));
      frame.charge(isScalar(a) && isScalar(b) ? 1 : costOf(cost, [a, b], result));
      return result;
    };
  }

  #functionCall(call: Call, plans: readonly Plan[]): Plan {
    const declaration = this.#runtime.function(call.function);
    if (!declaration) return this.#unknown(call);
    const candidates = call.overloads ?? [];
    const single = candidates.length === 1 ? declaration.overloads.find(({ id }) => id === candidates[0]) : undefined;
    const overload = single?.id ?? '';

    if (call.function === '@in' && overload === 'in_list' && plans[1]!.kind === 'constant') {
      const list = plans[1]!.value as ListValue;
      if (list.size === 0) return constant(false);
      const membership = constantMembership(evaluation(plans[0]!), list);
      if (membership) return other(membership);
    }
    const isMember = call.target !== undefined;
    const implementation = this.#implementation(declaration, single, isMember, plans);
    const cost = this.#cost(declaration.name, overload);
    const stopsAtErrors = implementation.stopsAtErrors ?? plans.length > 2;
    const evaluate = invocation(plans.map(evaluation), implementation.call, cost, {
      stopsAtErrors,
      takesErrors: single?.takesErrors ?? false,
    });
    if (conversions.has(call.function) && plans.length === 1 && plans[0]!.kind === 'constant') {
      const value = implementation.call(plans[0]!.value);
      if (value instanceof EvaluationError) throw new InstantiationError(value.message);
      return constant(value);
    }
    return other(evaluate);
  }

  /** Only an unchecked expression can call an unknown function. */
  #unknown(call: Call): Plan {
    const error = new EvaluationError(`no such overload: ${call.function}`);
    return other(() => error);
  }

  #implementation(
    declaration: FunctionDeclaration,
    single: Overload | undefined,
    isMember: boolean,
    plans: readonly Plan[],
  ): { call: Implementation; stopsAtErrors?: boolean } {
    const { name } = declaration;
    const pattern = plans[1];
    const regex = this.#runtime.regexFunctions.get(name);
    if (regex && pattern?.kind === 'constant' && typeof pattern.value === 'string') {
      const compiled = regex(pattern.value);
      if (compiled instanceof EvaluationError) throw new InstantiationError(compiled.message);
      return { call: compiled, stopsAtErrors: true };
    }
    if (declaration.call) return { call: declaration.call };
    if (single?.call) {
      const { call, parameters, takesErrors, stopsAtErrors } = single;
      const guarded = takesErrors ? call : guard(name, parameters, call);
      return { call: guarded, ...(stopsAtErrors && { stopsAtErrors }) };
    }
    const overloads = declaration.overloads.filter((each) => each.call && each.isMember === isMember);
    return {
      call: (...args) => {
        const found = overloads.find(
          ({ parameters }) =>
            parameters.length === args.length &&
            parameters.every((parameter, index) => accepts(parameter, args[index]!)),
        );
        return found ? found.call!(...args) : noOverload(name, args);
      },
      stopsAtErrors: true,
    };
  }

  #cost(name: string, overload: string): RunTimeCost {
    const declaration = this.#runtime.function(name);
    const general = declaration?.cost?.actual;
    const specific = declaration?.overloads.find(({ id }) => id === overload)?.cost?.actual;
    const actual = general ?? specific;
    return actual ? { actual, overload } : undefined;
  }

  #list(list: ListLiteral): Plan {
    const plans = list.elements.map((element) => this.plan(element));
    if (plans.every((plan) => plan.kind === 'constant'))
      return constant(new ArrayList(plans.map((plan) => plan.value)));
    const elements = plans.map(evaluation);
    const { optional } = list;
    const build = (frame: Frame): Value => {
      const values: Value[] = [];
      for (let index = 0; index < elements.length; index++) {
        const value = elements[index]!(frame);
        if (value instanceof EvaluationError) return value;
        if (!optional.has(index)) {
          values.push(value);
        } else if (!(value instanceof Optional)) {
          return new EvaluationError(
            `cannot initialize optional list element from non-optional value ${formatValue(value)}`,
          );
        } else if (value.value !== undefined) {
          values.push(value.value);
        }
      }
      return new ArrayList(values);
    };
    return other(charged(build, 10));
  }

  #map(map: MapLiteral): Plan {
    const plans = map.entries.map((entry) => ({
      key: this.plan(entry.key),
      value: this.plan(entry.value),
      isOptional: entry.isOptional,
    }));
    const entries = plans.map(({ key, value, isOptional }) => ({
      key: evaluation(key),
      value: evaluation(value),
      isOptional,
    }));
    const build = (frame: Frame): Value => {
      const built = new EntryMap();
      for (const entry of entries) {
        const key = entry.key(frame);
        if (key instanceof EvaluationError) return key;
        const value = entry.value(frame);
        if (value instanceof EvaluationError) return value;
        const held = entry.isOptional ? unwrapEntry(formatValue(key), value) : value;
        if (held instanceof EvaluationError) return held;
        if (held === undefined) {
          built.remove(key);
          continue;
        }
        const fault = built.set(key, held);
        if (fault) return fault;
      }
      return built;
    };
    const isConstant = plans.every(({ key, value }) => key.kind === 'constant' && value.kind === 'constant');
    // Constants need no frame, and the list contains nothing else.
    return isConstant ? constant(build(undefined as never)) : other(charged(build, 30));
  }

  #object(object: ObjectLiteral): Plan {
    const fields = object.fields.map(({ name, value, isOptional }) => ({
      name,
      value: this.#evaluation(value),
      isOptional,
    }));
    const { typeName } = object;
    const build = (frame: Frame): Value => {
      const values = new Map<string, Value>();
      for (const field of fields) {
        const value = field.value(frame);
        if (value instanceof EvaluationError) return value;
        const held = field.isOptional ? unwrapEntry(field.name, value) : value;
        if (held instanceof EvaluationError) return held;
        if (held === undefined) values.delete(field.name);
        else values.set(field.name, held);
      }
      return this.#runtime.construct(typeName, values);
    };
    return other(charged(build, 40));
  }

  #comprehension(fold: Comprehension): Plan {
    const initial = this.#evaluation(fold.initial);
    const range = this.#evaluation(fold.range);
    const accumulator = this.#slots++;
    const first = this.#slots++;
    const second = this.#slots++;
    const outer = this.#scope;
    const growing: Evaluate = (frame) => growable(initial(frame));
    const inner = [...outer, [fold.accumulator, { slot: accumulator, initial: growing }]] as const;
    this.#scope = [
      ...inner,
      [fold.variable, { slot: first, initial: undefined }],
      ...(fold.secondVariable === undefined
        ? []
        : [[fold.secondVariable, { slot: second, initial: undefined }] as const]),
    ];
    const condition = this.#evaluation(fold.condition);
    const step = this.#evaluation(fold.step);
    this.#scope = inner;
    const result = this.#evaluation(fold.result);
    this.#scope = outer;

    const slots = { accumulator, first, second };
    const turn = { condition, step };
    const iterate = fold.secondVariable === undefined ? foldOne : foldTwo;
    return other((frame) => {
      const over = range(frame);
      if (over instanceof EvaluationError) return over;
      frame.locals[accumulator] = undefined;
      const fault = iterate(frame, over, slots, turn);
      return fault ?? settled(result(frame));
    });
  }
}

function loadLocal({ slot, initial }: Local): Evaluate {
  if (!initial) return ({ locals }) => locals[slot]!;
  return (frame) => {
    const known = frame.locals[slot];
    return known === undefined ? (frame.locals[slot] = initial(frame)) : known;
  };
}

function indexQualifier(index: Plan, isOptional: boolean): Qualifier {
  if (index.kind === 'constant') return constantQualifier(index.value, { isOptional, isCharged: true });
  return computedQualifier(index.kind === 'attribute' ? index.attribute.resolve : index.evaluate, { isOptional });
}

const isScalar = (value: Value): boolean => isInt(value) || typeof value === 'boolean';

function unwrapEntry(name: string, value: Value): Value | undefined {
  if (value instanceof Optional) return value.value;
  return new EvaluationError(
    `cannot initialize optional entry '${name}' from non-optional value ${formatValue(value)}`,
  );
}
