/**
 * Estimates the cost of an expression before its evaluation.
 *
 * Sizes come from literals, from the result sizes of functions, and from the declared limits of JSON values
 * (`maxLength`, `maxItems`, `maxProperties`). To find the limits, every node that can be traced to a variable keeps its
 * path: in `self.items.all(i, i.name …)`, the path of `i.name` is `self.items.@items.name`.
 */
import { accumulatorName, type Call, type Comprehension, type Expression, type Select } from './ast.ts';
import { addRanges, fixed, multiplyRanges, unite, unknownSize } from './costs.ts';
import type { CallEstimate, FunctionDeclaration, Operand, Range } from './functions.ts';
import { codePointCount } from './type-names.ts';
import { errorType, isOptional, type Type, unwrapOptional } from './types.ts';

/** Parts of an environment that the estimate needs. */
export type EstimateContext = {
  variable(name: string): Type | undefined;
  function(name: string): FunctionDeclaration | undefined;
};

/** Returns the minimum and maximum cost of an expression. */
export function estimateCost(expression: Expression, context: EstimateContext): Range {
  return new Estimator(context).cost(expression);
}

type Path = readonly string[];

/** Sizes of the keys and values of a list or map. */
type EntrySizes = { readonly container: 'list' | 'map'; readonly key: Range; readonly value: Range };

type Local = { readonly path: Path; readonly size: Range | undefined; readonly entrySizes: EntrySizes | undefined };

const maximum = 2n ** 64n - 1n;
const nothing = fixed(0);
const selection = fixed(1);

class Estimator {
  readonly #context: EstimateContext;
  readonly #paths = new Map<Expression, Path>();
  readonly #sizes = new Map<Expression, Range>();
  readonly #entrySizes = new Map<Expression, EntrySizes>();
  readonly #locals = new Map<string, Local[]>();

  constructor(context: EstimateContext) {
    this.#context = context;
  }

  cost(expression: Expression): Range {
    switch (expression.kind) {
      case 'literal':
        return nothing;
      case 'identifier':
        this.#paths.set(expression, this.#local(expression.name)?.path ?? [expression.name]);
        return selection;
      case 'select':
        return this.#select(expression);
      case 'call':
        return this.#call(expression);
      case 'list': {
        const costs = expression.elements.map((element) => this.cost(element));
        const value = uniteAll(expression.elements.map((element) => this.#sizeOrUnknown(element)));
        this.#entrySizes.set(expression, { container: 'list', key: fixed(1), value });
        return sum([...costs, fixed(10)]);
      }
      case 'map': {
        const costs = expression.entries.flatMap(({ key, value }) => [this.cost(key), this.cost(value)]);
        const key = uniteAll(expression.entries.map((entry) => this.#sizeOrUnknown(entry.key)));
        const value = uniteAll(expression.entries.map((entry) => this.#sizeOrUnknown(entry.value)));
        this.#entrySizes.set(expression, { container: 'map', key, value });
        return sum([...costs, fixed(30)]);
      }
      case 'object':
        return sum([...expression.fields.map(({ value }) => this.cost(value)), fixed(40)]);
      case 'comprehension':
        return isBinding(expression) ? this.#binding(expression) : this.#comprehension(expression);
    }
  }

  #select(select: Select): Range {
    // A qualified name is a variable like any other.
    if (select.resolved) {
      const cost = this.cost(select.resolved);
      this.#paths.set(select, this.#paths.get(select.resolved)!);
      return cost;
    }
    const operand = this.cost(select.operand);
    if (select.isPresenceTest) return operand;
    this.#paths.set(select, [...this.#path(select.operand), select.field]);
    const kind = select.operand.type?.kind;
    const isCharged = kind === 'map' || kind === 'object' || kind === 'parameter';
    return isCharged ? addRanges(operand, selection) : operand;
  }

  #call(call: Call): Range {
    if (call.function === 'dyn' && call.args.length === 1) {
      const cost = this.cost(call.args[0]!);
      this.#copySizes(call, call.args[0]!);
      return addRanges(fixed(1), cost);
    }
    const argCosts = call.args.map((arg) => this.cost(arg));
    if (!call.overloads || call.overloads.length === 0) return nothing;
    const target = call.target && { cost: this.cost(call.target), operand: this.#operand(call.target) };
    const args = call.args.map((arg) => this.#operand(arg));

    let cost: Range | undefined;
    let size: Range | undefined;
    for (const overload of call.overloads) {
      const estimate = this.#overload(call, overload, target?.operand, args, argCosts);
      cost = cost ? unite(cost, estimate.cost) : estimate.cost;
      if (estimate.resultSize) size = size ? unite(size, estimate.resultSize) : estimate.resultSize;
      const [collection] = call.args;
      if (collection && (overload === 'index_list' || overload === 'index_map')) {
        size = this.#entrySizesOf(collection)?.value;
        this.#paths.set(call, [...this.#path(collection), overload === 'index_list' ? '@items' : '@values']);
      }
      size ??= this.#size(call);
    }
    if (size) this.#sizes.set(call, size);
    return addRanges(target?.cost ?? nothing, cost!);
  }

  #overload(
    call: Call,
    overload: string,
    target: Operand | undefined,
    args: readonly Operand[],
    argCosts: readonly Range[],
  ): CallEstimate {
    switch (overload) {
      case 'logical_and':
      case 'logical_or':
        return { cost: { min: argCosts[0]!.min, max: addRanges(argCosts[0]!, argCosts[1]!).max } };
      case 'conditional':
        return this.#conditional(call, args, argCosts);
      case 'add_list':
      case 'add_string':
      case 'add_bytes': {
        const [left, right] = call.args.map((arg) => this.#entrySizesOf(arg));
        if (left && right) this.#entrySizes.set(call, uniteEntries(left, right));
      }
    }
    const declaration = this.#context.function(call.function);
    const shape = { overload, target, args };
    const specific = declaration?.overloads.find(({ id }) => id === overload)?.cost;
    const estimate =
      declaration?.cost?.estimate?.(shape) ?? specific?.estimate?.(shape) ?? ({ cost: fixed(1) } as CallEstimate);
    return { ...estimate, cost: sum([estimate.cost, ...argCosts]) };
  }

  #conditional(call: Call, args: readonly Operand[], [condition, whenTrue, whenFalse]: readonly Range[]): CallEstimate {
    const sizes = call.args.slice(1).map((branch) => this.#entrySizesOf(branch));
    if (sizes[0] && sizes[1]) this.#entrySizes.set(call, uniteEntries(sizes[0], sizes[1]));
    const [first, second] = args.slice(1).map((operand) => operand.computedSize ?? unknownSize);
    return { cost: addRanges(condition!, unite(whenTrue!, whenFalse!)), resultSize: unite(first!, second!) };
  }

  #binding(fold: Comprehension): Range {
    const cost = addRanges(this.cost(fold.range), this.cost(fold.initial));
    this.#push(fold.accumulator, this.#localOf(fold.initial));
    const result = this.cost(fold.result);
    this.#pop(fold.accumulator);
    this.#copySizes(fold, fold.result);
    return addRanges(cost, result);
  }

  #comprehension(fold: Comprehension): Range {
    const before = addRanges(this.cost(fold.range), this.cost(fold.initial));
    this.#push(fold.accumulator, this.#localOf(fold.initial));
    if (fold.secondVariable === undefined) {
      this.#push(fold.variable, this.#iteration(fold.range, 'single'));
    } else {
      this.#push(fold.variable, this.#iteration(fold.range, 'key'));
      this.#push(fold.secondVariable, this.#iteration(fold.range, 'value'));
    }
    const condition = this.cost(fold.condition);
    const step = this.cost(fold.step);
    this.#pop(fold.variable);
    if (fold.secondVariable !== undefined) this.#pop(fold.secondVariable);
    const result = this.cost(fold.result);
    this.#pop(fold.accumulator);

    const turns = this.#sizeOrUnknown(fold.range);
    if (fold.initial.kind === 'literal') {
      this.#setSize(fold, this.#size(fold.initial));
    } else if (fold.initial.kind === 'list' || fold.initial.kind === 'map') {
      this.#sizes.set(fold, turns);
      const entries = this.#entrySizesOf(fold.step);
      if (entries) this.#entrySizes.set(fold, entries);
    }
    return sum([before, result, multiplyRanges(turns, addRanges(step, condition))]);
  }

  /** Returns a variable that iterates over the elements of a range. */
  #iteration(range: Expression, role: 'single' | 'key' | 'value'): Local {
    const entries = this.#entrySizesOf(range);
    const isList = (entries?.container ?? range.type?.kind) === 'list';
    const isKey = role === 'key' || (role === 'single' && !isList);
    const step = isKey ? (isList ? '@indices' : '@keys') : isList ? '@items' : '@values';
    return {
      path: [...this.#path(range), step],
      size: isKey ? entries?.key : entries?.value,
      entrySizes: undefined,
    };
  }

  #localOf(expression: Expression): Local {
    return {
      path: this.#path(expression),
      entrySizes: this.#entrySizesOf(expression),
      size: this.#size(expression),
    };
  }

  #local(name: string): Local | undefined {
    return this.#locals.get(name)?.at(-1);
  }

  #push(name: string, local: Local): void {
    const stack = this.#locals.get(name);
    if (stack) stack.push(local);
    else this.#locals.set(name, [local]);
  }

  #pop(name: string): void {
    this.#locals.get(name)?.pop();
  }

  #path(expression: Expression): Path {
    const local = expression.kind === 'identifier' ? this.#local(expression.name) : undefined;
    return local?.path ?? this.#paths.get(expression) ?? [];
  }

  #operand(expression: Expression): Operand {
    const path = this.#path(expression);
    // The content of an accumulator is not part of any variable.
    const known = path[0] === accumulatorName || path[0] === '__result__' ? [] : path;
    return this.#describe(expression, expression.type ?? errorType, known, this.#size(expression));
  }

  #describe(expression: Expression | undefined, type: Type, path: Path, computedSize: Range | undefined): Operand {
    const describe = this.#describe.bind(this);
    const declared = this.#declaredSize.bind(this);
    return {
      expression,
      type,
      computedSize,
      size: computedSize ?? declared(path) ?? unknownSize,
      get element() {
        const [parameter] = type.parameters;
        if (!parameter) return undefined;
        return describe(undefined, parameter, path.length === 0 ? [] : [...path, '@items'], undefined);
      },
    };
  }

  /** Returns the declared size of the value at a path. */
  #declaredSize(path: Path): Range | undefined {
    const [variable, ...steps] = path;
    // Kubernetes ignores the root of a path: a path that starts at no variable is followed from the whole value.
    const declared =
      variable === undefined ? undefined : (this.#context.variable(variable) ?? this.#context.variable('self'));
    let type: Type | undefined = declared && unwrapOptional(declared);
    // A variable with a bare CEL type has no declared sizes.
    if (!type?.json) return undefined;
    for (const step of steps) {
      if (step === '@items' || step === '@values') {
        type = type.kind === 'list' ? type.parameters[0] : type.kind === 'map' ? type.parameters[1] : undefined;
      } else if (step === '@keys') {
        type = type.kind === 'map' ? type.parameters[0] : undefined;
      } else {
        type = type.kind === 'object' ? type.field?.(step)?.type : undefined;
      }
      if (!type) return undefined;
    }
    return { min: 0n, max: BigInt(type.json?.maxElements ?? 0) };
  }

  #setSize(expression: Expression, size: Range | undefined): void {
    if (size) this.#sizes.set(expression, size);
  }

  #sizeOrUnknown(expression: Expression): Range {
    return this.#size(expression) ?? unknownSize;
  }

  #size(expression: Expression): Range | undefined {
    const known = this.#sizes.get(expression) ?? literalSize(expression);
    if (known) return known;
    const declared = this.#declaredSize(this.#path(expression));
    if (declared) {
      this.#sizes.set(expression, declared);
      return declared;
    }
    if (expression.type && isScalar(expression.type)) return fixed(1);
    return expression.kind === 'identifier' ? this.#local(expression.name)?.size : undefined;
  }

  #entrySizesOf(expression: Expression): EntrySizes | undefined {
    const known = this.#entrySizes.get(expression);
    if (known) return known;
    return expression.kind === 'identifier' ? this.#local(expression.name)?.entrySizes : undefined;
  }

  #copySizes(to: Expression, from: Expression): void {
    this.#setSize(to, this.#size(from));
    const entries = this.#entrySizesOf(from);
    if (entries) this.#entrySizes.set(to, entries);
  }
}

/** Returns whether a comprehension is the expansion of `cel.bind` or `optMap`: a loop over an empty list. */
function isBinding({ range, condition, accumulator }: Comprehension): boolean {
  return (
    range.kind === 'list' &&
    range.elements.length === 0 &&
    condition.kind === 'literal' &&
    condition.value === false &&
    accumulator !== '__result__'
  );
}

function literalSize(expression: Expression): Range | undefined {
  switch (expression.kind) {
    case 'list':
      return fixed(expression.elements.length);
    case 'map':
      return fixed(expression.entries.length);
    case 'literal': {
      const { value } = expression;
      if (typeof value === 'string') return fixed(codePointCount(value));
      return fixed(value instanceof Uint8Array ? value.length : 1);
    }
    default:
      return undefined;
  }
}

function isScalar(type: Type): boolean {
  switch (type.kind) {
    case 'bool':
    case 'double':
    case 'duration':
    case 'int':
    case 'timestamp':
    case 'uint':
      return true;
    default:
      return isOptional(type) && isScalar(type.parameters[0]!);
  }
}

const sum = (ranges: readonly Range[]): Range => ranges.reduce(addRanges, nothing);

/** Returns the range that covers all ranges; zero if there are none. */
const uniteAll = (ranges: readonly Range[]): Range =>
  ranges.length === 0 ? nothing : ranges.reduce(unite, { min: maximum, max: 0n });

const uniteEntries = (a: EntrySizes, b: EntrySizes): EntrySizes => ({
  container: a.container,
  key: unite(a.key, b.key),
  value: unite(a.value, b.value),
});
