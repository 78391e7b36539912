/**
 * Type checker: infers the type of every node and finds the matching overloads of each call, or reports errors. Results
 * are written into the tree.
 */
import {
  type Call,
  type Comprehension,
  type Expression,
  type Identifier,
  type ListLiteral,
  type MapLiteral,
  type ObjectLiteral,
  qualifiedName,
  type Select,
} from './ast.ts';
import type { FunctionDeclaration, Overload } from './functions.ts';
import type { Issues } from './source.ts';
import {
  boolType,
  bytesType,
  doubleType,
  dynType,
  errorType,
  formatSignature,
  formatType,
  intType,
  isDyn,
  isOptional,
  isSameType,
  listType,
  mapType,
  nullType,
  optionalType,
  stringType,
  type Type,
  typeOf,
  typeParameter,
  uintType,
  unwrapOptional,
} from './types.ts';
import { mostGeneral, Substitutions } from './unification.ts';
import { Double, TypeValue, Uint, type Value } from './values.ts';

/** Declarations of names. */
export type Declarations = {
  readonly container: string;
  variable(name: string): Type | undefined;
  function(name: string): FunctionDeclaration | undefined;
  /** Returns a type by name: `int`, or one that `Name{…}` constructs. */
  namedType(name: string): Type | undefined;
  /** True if list and map literals must have elements of one type. */
  readonly homogeneousLiterals: boolean;
};

/** Checks an expression. The type is `error` wherever an error was reported. */
export function check(expression: Expression, declarations: Declarations, issues: Issues): Type {
  const checker = new Checker(declarations, issues);
  checker.check(expression);
  checker.settle();
  return expression.type!;
}

/** Returns the candidates of a name inside a container, innermost first: `a.b` and `x` give `a.b.x`, `a.x`, `x`. */
function candidateNames(container: string, name: string): string[] {
  if (name.startsWith('.')) return [name.slice(1)];
  const names: string[] = [];
  for (let prefix = container; prefix !== ''; prefix = prefix.slice(0, Math.max(0, prefix.lastIndexOf('.')))) {
    names.push(`${prefix}.${name}`);
  }
  names.push(name);
  return names;
}

type Scope = { readonly variables: ReadonlyMap<string, Type>; readonly outer: Scope | undefined };

class Checker {
  readonly #declarations: Declarations;
  readonly #issues: Issues;
  readonly #types = new Substitutions();
  /** Nodes whose types may still contain a type parameter. */
  readonly #open: { type?: Type }[] = [];
  #scope: Scope | undefined;
  #freshCount = 0;

  constructor(declarations: Declarations, issues: Issues) {
    this.#declarations = declarations;
    this.#issues = issues;
  }

  check(expression: Expression): Type {
    const type = this.#infer(expression);
    expression.type = type;
    if (type.kind === 'parameter' || type.parameters.length > 0) this.#open.push(expression);
    return type;
  }

  /** Replaces unresolved type parameters by `dyn` at the end. */
  settle(): void {
    for (const node of this.#open) node.type = this.#types.substitute(node.type!, 'dyn');
  }

  #infer(expression: Expression): Type {
    switch (expression.kind) {
      case 'literal':
        return literalType(expression.value);
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

  #identifier(identifier: Identifier): Type {
    const type = this.#lookUp(identifier, identifier.name);
    if (type) return type;
    this.#undeclared(identifier.offset, identifier.name);
    return errorType;
  }

  /** Resolves a name and writes the result into the node. */
  #lookUp(node: Identifier, name: string): Type | undefined {
    for (const candidate of candidateNames(this.#declarations.container, name)) {
      const variable = this.#variable(candidate, name);
      if (variable) {
        node.name = candidate;
        node.isRooted = name.startsWith('.');
        return variable;
      }
      const named = this.#declarations.namedType(candidate);
      if (named) {
        node.name = candidate;
        node.constant = new TypeValue(named.name);
        return typeOf(named);
      }
    }
    return undefined;
  }

  #variable(candidate: string, name: string): Type | undefined {
    // A leading dot resolves a name in the outermost scope, skipping loop variables.
    if (!name.startsWith('.')) {
      for (let scope = this.#scope; scope; scope = scope.outer) {
        const type = scope.variables.get(candidate);
        if (type) return type;
      }
    }
    return this.#declarations.variable(candidate);
  }

  #select(select: Select): Type {
    const name = qualifiedName(select);
    if (name !== undefined) {
      const identifier: Identifier = { kind: 'identifier', offset: select.offset, name };
      const type = this.#lookUp(identifier, name);
      if (type) {
        identifier.type = type;
        select.resolved = identifier;
        return type;
      }
    }
    const type = this.#field(select, select.operand, select.field);
    if (select.isPresenceTest) return boolType;
    return this.#types.substitute(isOptional(this.#operandType(select.operand)) ? optionalType(type) : type);
  }

  #operandType(operand: Expression): Type {
    return this.#types.substitute(operand.type!);
  }

  #field(blame: Expression, operand: Expression, field: string): Type {
    this.check(operand);
    const target = unwrapOptional(this.#operandType(operand));
    switch (target.kind) {
      case 'map':
        return target.parameters[1]!;
      case 'object':
        return this.#fieldType(blame.offset, target, field) ?? errorType;
      case 'parameter':
        this.#types.isAssignable(dynType, target);
        return dynType;
      default:
        if (!isDyn(target) && target.kind !== 'error') {
          this.#issues.report(blame.offset, `type '${formatType(target)}' does not support field selection`);
        }
        return dynType;
    }
  }

  #fieldType(offset: number, object: Type, field: string): Type | undefined {
    if (!object.field) {
      this.#issues.report(offset, `unexpected failed resolution of '${object.name}'`);
      return undefined;
    }
    const found = object.field(field);
    if (!found) this.#issues.report(offset, `undefined field '${field}'`);
    return found?.type;
  }

  #call(call: Call): Type {
    if (call.function === '_?._') return this.#optionalSelect(call);
    for (const arg of call.args) this.check(arg);
    if (!call.target) {
      const found = this.#function(call.function);
      if (!found) {
        this.#undeclared(call.offset, call.function);
        return errorType;
      }
      call.function = found.name;
      return this.#resolve(call, found, undefined);
    }
    const prefix = qualifiedName(call.target);
    const qualified = prefix === undefined ? undefined : this.#function(`${prefix}.${call.function}`);
    if (qualified) {
      call.function = qualified.name;
      call.target = undefined;
      return this.#resolve(call, qualified, undefined);
    }
    this.check(call.target);
    const found = this.#function(call.function);
    if (found) return this.#resolve(call, found, call.target);
    this.#undeclared(call.offset, call.function);
    return errorType;
  }

  #optionalSelect(call: Call): Type {
    const [operand, field] = call.args;
    if (field?.kind !== 'literal' || typeof field.value !== 'string') return errorType;
    field.type = stringType;
    const type = this.#field(call, operand!, field.value);
    call.overloads = ['select_optional_field'];
    return this.#types.substitute(optionalType(type));
  }

  #function(name: string): FunctionDeclaration | undefined {
    for (const candidate of candidateNames(this.#declarations.container, name)) {
      const found = this.#declarations.function(candidate);
      if (found) return found;
    }
    return undefined;
  }

  #resolve(call: Call, declaration: FunctionDeclaration, target: Expression | undefined): Type {
    if (call.function === '_&&_' || call.function === '_||_') return this.#logical(call, declaration);
    const operands = target ? [target, ...call.args] : call.args;
    const types = operands.map((operand) => operand.type!);
    const isMember = target !== undefined;
    const fitting: string[] = [];
    let result: Type | undefined;
    for (const overload of declaration.overloads) {
      if (overload.isMember !== isMember || overload.parameters.length !== types.length) continue;
      const { parameters, result: declared } = this.#instantiate(overload);
      if (!this.#types.areAssignable(types, parameters)) continue;
      fitting.push(overload.id);
      const type = this.#types.substitute(declared);
      if (!result) result = type;
      else if (!isDyn(result) && !isSameType(type, result)) result = dynType;
    }
    if (!result) {
      const signature = formatSignature(
        types.map((type) => this.#types.substitute(type, 'dyn')),
        isMember,
      );
      this.#issues.report(
        call.offset,
        `found no matching overload for '${declaration.name}' applied to '${signature}'`,
      );
      return errorType;
    }
    call.overloads = fitting;
    return result;
  }

  #logical(call: Call, declaration: FunctionDeclaration): Type {
    let fits = true;
    for (const arg of call.args) {
      if (this.#types.isAssignable(arg.type!, boolType)) continue;
      this.#mismatch(arg.offset, boolType, arg.type!);
      fits = false;
    }
    call.overloads = [declaration.overloads[0]!.id];
    return fits ? boolType : errorType;
  }

  /** Returns an overload with fresh type parameters. */
  #instantiate(overload: Overload): Pick<Overload, 'parameters' | 'result'> {
    if (!isGeneric(overload)) return overload;
    const fresh = new Map<string, Type>();
    const renew = (type: Type): Type => {
      if (type.kind === 'parameter') {
        const known = fresh.get(type.name) ?? this.#fresh();
        fresh.set(type.name, known);
        return known;
      }
      return type.parameters.length === 0 ? type : { ...type, parameters: type.parameters.map(renew) };
    };
    return { parameters: overload.parameters.map(renew), result: renew(overload.result) };
  }

  #fresh(): Type {
    return typeParameter(`_var${this.#freshCount++}`);
  }

  #list(list: ListLiteral): Type {
    let element: Type | undefined;
    list.elements.forEach((each, index) => {
      const type = this.check(each);
      element = this.#join(each, element, list.optional.has(index) ? this.#unwrapped(each, type) : type);
    });
    return listType(element ?? this.#fresh());
  }

  #map(map: MapLiteral): Type {
    let key: Type | undefined;
    let value: Type | undefined;
    for (const entry of map.entries) {
      key = this.#join(entry.key, key, this.check(entry.key));
      const type = this.check(entry.value);
      value = this.#join(entry.value, value, entry.isOptional ? this.#unwrapped(entry.value, type) : type);
    }
    return mapType(key ?? this.#fresh(), value ?? this.#fresh());
  }

  /** Returns the type inside of an optional element or entry. */
  #unwrapped(expression: Expression, type: Type): Type {
    const held = unwrapOptional(type);
    if (!isOptional(type) && !isDyn(type)) this.#mismatch(expression.offset, optionalType(held), held);
    return held;
  }

  #join(expression: Expression, previous: Type | undefined, current: Type): Type {
    if (!previous) return current;
    if (this.#types.isAssignable(previous, current)) return mostGeneral(previous, current);
    if (!this.#declarations.homogeneousLiterals) return dynType;
    this.#mismatch(expression.offset, previous, current);
    return errorType;
  }

  #object(object: ObjectLiteral): Type {
    const identifier: Identifier = { kind: 'identifier', offset: object.offset, name: object.typeName };
    const meaning = this.#lookUp(identifier, object.typeName);
    if (!meaning) {
      this.#undeclared(object.offset, object.typeName);
      return errorType;
    }
    object.typeName = identifier.name;
    let type = errorType;
    if (meaning.kind !== 'type') {
      this.#issues.report(object.offset, `'${meaning.name}' is not a type`);
    } else {
      const subject = meaning.parameters[0]!;
      if (subject.kind === 'object') type = subject;
      else this.#issues.report(object.offset, `'${subject.name}' is not a message type`);
    }
    for (const field of object.fields) {
      const given = this.check(field.value);
      const wanted = this.#fieldType(field.offset, { ...type, name: identifier.name }, field.name) ?? errorType;
      const value = field.isOptional ? this.#unwrapped(field.value, given) : given;
      if (!this.#types.isAssignable(wanted, value)) {
        this.#issues.report(
          field.offset,
          `expected type of field '${field.name}' is '${formatType(wanted)}' but provided type is '${formatType(value)}'`,
        );
      }
    }
    return type;
  }

  #comprehension(fold: Comprehension): Type {
    this.check(fold.range);
    const accumulated = this.check(fold.initial);
    const range = this.#types.substitute(fold.range.type!);
    const outer = this.#scope;
    const inner: Scope = { variables: new Map([[fold.accumulator, accumulated]]), outer };
    this.#scope = { variables: this.#loopVariables(fold, range), outer: inner };
    this.check(fold.condition);
    this.#assert(fold.condition, boolType);
    this.check(fold.step);
    this.#assert(fold.step, accumulated);
    this.#scope = inner;
    const result = this.check(fold.result);
    this.#scope = outer;
    return this.#types.substitute(result);
  }

  #loopVariables(fold: Comprehension, range: Type): ReadonlyMap<string, Type> {
    const { variable, secondVariable } = fold;
    const pair = (first: Type, second: Type) =>
      new Map(
        secondVariable === undefined
          ? [[variable, first]]
          : [
              [variable, first],
              [secondVariable, second],
            ],
      );
    switch (range.kind) {
      case 'list': {
        const element = range.parameters[0]!;
        return secondVariable === undefined ? pair(element, element) : pair(intType, element);
      }
      case 'map':
        return pair(range.parameters[0]!, range.parameters[1]!);
      case 'dyn':
      case 'error':
      case 'parameter':
        this.#types.isAssignable(dynType, range);
        return pair(dynType, dynType);
      default:
        this.#issues.report(
          fold.range.offset,
          `expression of type '${formatType(range)}' cannot be range of a comprehension (must be list, map, or dynamic)`,
        );
        return pair(errorType, errorType);
    }
  }

  #assert(expression: Expression, wanted: Type): void {
    if (!this.#types.isAssignable(wanted, expression.type!))
      this.#mismatch(expression.offset, wanted, expression.type!);
  }

  #mismatch(offset: number, wanted: Type, found: Type): void {
    this.#issues.report(offset, `expected type '${formatType(wanted)}' but found '${formatType(found)}'`);
  }

  #undeclared(offset: number, name: string): void {
    this.#issues.report(offset, `undeclared reference to '${name}' (in container '${this.#declarations.container}')`);
  }
}

const genericOverloads = new WeakMap<Overload, boolean>();

function isGeneric(overload: Overload): boolean {
  const known = genericOverloads.get(overload);
  if (known !== undefined) return known;
  const mentions = (type: Type): boolean => type.kind === 'parameter' || type.parameters.some(mentions);
  const generic = overload.parameters.some(mentions) || mentions(overload.result);
  genericOverloads.set(overload, generic);
  return generic;
}

function literalType(value: Value): Type {
  if (value === null) return nullType;
  switch (typeof value) {
    case 'boolean':
      return boolType;
    case 'string':
      return stringType;
    case 'number':
    case 'bigint':
      return intType;
    default:
      if (value instanceof Double) return doubleType;
      return value instanceof Uint ? uintType : bytesType;
  }
}
