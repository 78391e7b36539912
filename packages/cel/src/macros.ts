/** Macros: calls that are expanded by the parser, because their arguments are names or are evaluated several times. */
import {
  accumulatorName,
  type Call,
  type Comprehension,
  type Expression,
  type Identifier,
  type ListLiteral,
  type Literal,
  type MapLiteral,
} from './ast.ts';
import type { Value } from './values.ts';

/** Error of a macro with invalid arguments. */
export type MacroFault = { readonly offset: number; readonly fault: string };

/**
 * Expands a call. `offset` is the position of the call, `target` the receiver of a method. Returns undefined if the
 * call is an ordinary function.
 */
export type Macro = (
  offset: number,
  target: Expression | undefined,
  args: readonly Expression[],
) => Expression | MacroFault | undefined;

/** Macros by name, number of arguments (`*` for any) and call style; see `macroKey`. */
export type Macros = ReadonlyMap<string, Macro>;

/** Returns the key of a macro. */
export const macroKey = (name: string, argumentCount: number | '*', isMember: boolean): string =>
  `${name}:${argumentCount}:${isMember}`;

/** Returns whether a macro rejected its arguments. */
export const isFault = (result: Expression | MacroFault): result is MacroFault => 'fault' in result;

/** Creates nodes at the position of the macro call. */
export const nodes = {
  literal: (offset: number, value: Value): Literal => ({ kind: 'literal', offset, value }),
  identifier: (offset: number, name: string): Identifier => ({ kind: 'identifier', offset, name }),
  call: (offset: number, name: string, ...args: Expression[]): Call => ({
    kind: 'call',
    offset,
    function: name,
    target: undefined,
    args,
  }),
  method: (offset: number, target: Expression, name: string, ...args: Expression[]): Call => ({
    kind: 'call',
    offset,
    function: name,
    target,
    args,
  }),
  list: (offset: number, ...elements: Expression[]): ListLiteral => ({
    kind: 'list',
    offset,
    elements,
    optional: new Set(),
  }),
  map: (offset: number): MapLiteral => ({ kind: 'map', offset, entries: [] }),
  accumulator: (offset: number): Identifier => ({ kind: 'identifier', offset, name: accumulatorName }),
};

const accumulatorTaken = 'iteration variable overwrites accumulator variable';
const isAccumulator = (name: string): boolean => name === accumulatorName || name === '__result__';

/** Quantifier of a predicate: all, at least one, or exactly one. */
type Quantifier = 'all' | 'exists' | 'exists one';

type Loop = { range: Expression; variable: string; secondVariable: string | undefined };

function quantify(quantifier: Quantifier, offset: number, loop: Loop, predicate: Expression): Comprehension {
  const { literal, call, accumulator } = nodes;
  const common = { kind: 'comprehension', offset, ...loop, accumulator: accumulatorName } as const;
  switch (quantifier) {
    case 'all':
      return {
        ...common,
        initial: literal(offset, true),
        condition: call(offset, '@not_strictly_false', accumulator(offset)),
        step: call(offset, '_&&_', accumulator(offset), predicate),
        result: accumulator(offset),
      };
    case 'exists':
      return {
        ...common,
        initial: literal(offset, false),
        condition: call(offset, '@not_strictly_false', call(offset, '!_', accumulator(offset))),
        step: call(offset, '_||_', accumulator(offset), predicate),
        result: accumulator(offset),
      };
    case 'exists one': {
      const counted = call(offset, '_+_', accumulator(offset), literal(offset, 1));
      return {
        ...common,
        initial: literal(offset, 0),
        condition: literal(offset, true),
        step: call(offset, '_?_:_', predicate, counted, accumulator(offset)),
        result: call(offset, '_==_', accumulator(offset), literal(offset, 1)),
      };
    }
  }
}

function collect(
  offset: number,
  loop: Loop,
  parts: { into: Expression; filter: Expression | undefined; step: Expression },
): Comprehension {
  const { call, literal, accumulator } = nodes;
  const { into, filter, step } = parts;
  return {
    kind: 'comprehension',
    offset,
    ...loop,
    accumulator: accumulatorName,
    initial: into,
    condition: literal(offset, true),
    step: filter ? call(offset, '_?_:_', filter, step, accumulator(offset)) : step,
    result: accumulator(offset),
  };
}

/** Returns the loop of a one-variable macro. */
function singleLoop(range: Expression | undefined, name: Expression, notAName: string): Loop | MacroFault {
  if (name.kind !== 'identifier') return { offset: name.offset, fault: notAName };
  if (isAccumulator(name.name)) return { offset: name.offset, fault: accumulatorTaken };
  return { range: range!, variable: name.name, secondVariable: undefined };
}

/** Returns the loop of a two-variable macro. */
function doubleLoop(range: Expression | undefined, first: Expression, second: Expression): Loop | MacroFault {
  for (const name of [first, second]) {
    if (name.kind !== 'identifier') return { offset: name.offset, fault: 'argument must be a simple name' };
  }
  // Both are identifiers, as the loop above has checked.
  const [variable, secondVariable] = [(first as Identifier).name, (second as Identifier).name];
  if (variable === secondVariable) return { offset: second.offset, fault: `duplicate variable name: ${variable}` };
  if (isAccumulator(variable)) return { offset: first.offset, fault: accumulatorTaken };
  if (isAccumulator(secondVariable)) return { offset: second.offset, fault: accumulatorTaken };
  return { range: range!, variable, secondVariable };
}

const isLoop = (loop: Loop | MacroFault): loop is Loop => !('fault' in loop);

const has: Macro = (offset, _target, [argument]) => {
  if (argument?.kind !== 'select') return { offset: argument!.offset, fault: 'invalid argument to has() macro' };
  return { kind: 'select', offset, operand: argument.operand, field: argument.field, isPresenceTest: true };
};

const quantifier =
  (kind: Quantifier): Macro =>
  (offset, target, [name, predicate]) => {
    const loop = singleLoop(target, name!, 'argument must be a simple name');
    return isLoop(loop) ? quantify(kind, offset, loop, predicate!) : loop;
  };

const quantifier2 =
  (kind: Quantifier): Macro =>
  (offset, target, [first, second, predicate]) => {
    const loop = doubleLoop(target, first!, second!);
    return isLoop(loop) ? quantify(kind, offset, loop, predicate!) : loop;
  };

const append = (offset: number, element: Expression): Call =>
  nodes.call(offset, '_+_', nodes.accumulator(offset), nodes.list(offset, element));

const map: Macro = (offset, target, args) => {
  const loop = singleLoop(target, args[0]!, 'argument is not an identifier');
  if (!isLoop(loop)) return loop;
  const filter = args.length === 3 ? args[1] : undefined;
  return collect(offset, loop, { into: nodes.list(offset), filter, step: append(offset, args.at(-1)!) });
};

const filter: Macro = (offset, target, [name, predicate]) => {
  const loop = singleLoop(target, name!, 'argument is not an identifier');
  if (!isLoop(loop)) return loop;
  return collect(offset, loop, { into: nodes.list(offset), filter: predicate, step: append(offset, name!) });
};

const transformList: Macro = (offset, target, args) => {
  const loop = doubleLoop(target, args[0]!, args[1]!);
  if (!isLoop(loop)) return loop;
  const filter = args.length === 4 ? args[2] : undefined;
  return collect(offset, loop, { into: nodes.list(offset), filter, step: append(offset, args.at(-1)!) });
};

const transformMap: Macro = (offset, target, args) => {
  const loop = doubleLoop(target, args[0]!, args[1]!);
  if (!isLoop(loop)) return loop;
  const filter = args.length === 4 ? args[2] : undefined;
  const key = nodes.identifier(offset, loop.variable);
  const step = nodes.call(offset, 'cel.@mapInsert', nodes.accumulator(offset), key, args.at(-1)!);
  return collect(offset, loop, { into: nodes.map(offset), filter, step });
};

const transformMapEntry: Macro = (offset, target, args) => {
  const loop = doubleLoop(target, args[0]!, args[1]!);
  if (!isLoop(loop)) return loop;
  const filter = args.length === 4 ? args[2] : undefined;
  const step = nodes.call(offset, 'cel.@mapInsert', nodes.accumulator(offset), args.at(-1)!);
  return collect(offset, loop, { into: nodes.map(offset), filter, step });
};

/** Creates a loop without iterations: it only names a value while `result` is evaluated. */
export function bind(offset: number, name: string, value: Expression, result: Expression): Comprehension {
  return {
    kind: 'comprehension',
    offset,
    range: nodes.list(offset),
    variable: '#unused',
    secondVariable: undefined,
    accumulator: name,
    initial: value,
    condition: nodes.literal(offset, false),
    step: nodes.identifier(offset, name),
    result,
  };
}

const celBind: Macro = (offset, target, [name, value, result]) => {
  if (target?.kind !== 'identifier' || target.name !== 'cel') return undefined;
  if (name!.kind !== 'identifier') {
    return { offset: name!.offset, fault: 'cel.bind() variable names must be simple identifiers' };
  }
  return bind(offset, name!.name, value!, result!);
};

const optionalMap =
  (macro: string, wrap: (offset: number, mapped: Expression) => Expression): Macro =>
  (offset, target, [name, mapping]) => {
    if (name!.kind !== 'identifier') {
      return { offset: name!.offset, fault: `${macro}() variable name must be a simple identifier` };
    }
    const value = nodes.method(offset, copy(target!), 'value');
    return nodes.call(
      offset,
      '_?_:_',
      nodes.method(offset, target!, 'hasValue'),
      wrap(offset, bind(offset, name!.name, value, mapping!)),
      nodes.call(offset, 'optional.none'),
    );
  };

/** Copies a tree: the checker annotates nodes, so a node must not have two parents. */
function copy(expression: Expression): Expression {
  switch (expression.kind) {
    case 'literal':
    case 'identifier':
      return { ...expression };
    case 'select':
      return { ...expression, operand: copy(expression.operand) };
    case 'call':
      return { ...expression, target: expression.target && copy(expression.target), args: expression.args.map(copy) };
    case 'list':
      return { ...expression, elements: expression.elements.map(copy) };
    case 'map':
      return {
        ...expression,
        entries: expression.entries.map((entry) => ({ ...entry, key: copy(entry.key), value: copy(entry.value) })),
      };
    case 'object':
      return { ...expression, fields: expression.fields.map((field) => ({ ...field, value: copy(field.value) })) };
    case 'comprehension':
      return {
        ...expression,
        range: copy(expression.range),
        initial: copy(expression.initial),
        condition: copy(expression.condition),
        step: copy(expression.step),
        result: copy(expression.result),
      };
  }
}

/** Standard macros of CEL. */
export const standardMacros: Macros = new Map([
  [macroKey('has', 1, false), has],
  [macroKey('all', 2, true), quantifier('all')],
  [macroKey('exists', 2, true), quantifier('exists')],
  [macroKey('exists_one', 2, true), quantifier('exists one')],
  [macroKey('map', 2, true), map],
  [macroKey('map', 3, true), map],
  [macroKey('filter', 2, true), filter],
]);

/** Comprehensions over key and value, or index and element. */
export const twoVariableMacros: Macros = new Map([
  [macroKey('all', 3, true), quantifier2('all')],
  [macroKey('exists', 3, true), quantifier2('exists')],
  [macroKey('exists_one', 3, true), quantifier2('exists one')],
  [macroKey('existsOne', 3, true), quantifier2('exists one')],
  [macroKey('transformList', 3, true), transformList],
  [macroKey('transformList', 4, true), transformList],
  [macroKey('transformMap', 3, true), transformMap],
  [macroKey('transformMap', 4, true), transformMap],
  [macroKey('transformMapEntry', 3, true), transformMapEntry],
  [macroKey('transformMapEntry', 4, true), transformMapEntry],
]);

/** `optMap` and `optFlatMap`. */
export const optionalMacros: Macros = new Map([
  [macroKey('optMap', 2, true), optionalMap('optMap', (offset, mapped) => nodes.call(offset, 'optional.of', mapped))],
  [macroKey('optFlatMap', 2, true), optionalMap('optFlatMap', (_offset, mapped) => mapped)],
]);

/** `cel.bind`. */
export const bindingMacros: Macros = new Map([[macroKey('bind', 3, true), celBind]]);
