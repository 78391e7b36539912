/** Unification: decides whether a type is assignable to another, and binds type parameters. */
import { isDyn, isSameType, nullType, type Type } from './types.ts';

/** Bindings of type parameters. A failed attempt is rolled back. */
export class Substitutions {
  readonly #bound = new Map<string, Type>();
  /** Previous values of the bindings in order, for rollback. */
  readonly #trail: { readonly name: string; readonly before: Type | undefined }[] = [];

  /** Returns whether `b` is assignable to `a`. */
  isAssignable(a: Type, b: Type): boolean {
    return this.#attempt(() => this.#assignable(a, b));
  }

  /** Returns whether every type of `b` is assignable to the type of `a` at its position. */
  areAssignable(a: readonly Type[], b: readonly Type[]): boolean {
    return this.#attempt(() => this.#assignableLists(a, b));
  }

  /** Returns the type with bound parameters substituted; the others are kept, or become `dyn`. */
  substitute(type: Type, unbound: 'keep' | 'dyn' = 'keep'): Type {
    if (type.kind === 'parameter') {
      const bound = this.#bound.get(type.name);
      if (bound) return this.substitute(bound, unbound);
      return unbound === 'dyn' ? dyn : type;
    }
    if (type.parameters.length === 0) return type;
    const parameters = type.parameters.map((parameter) => this.substitute(parameter, unbound));
    return parameters.every((parameter, index) => parameter === type.parameters[index])
      ? type
      : { ...type, parameters };
  }

  #attempt(attempt: () => boolean): boolean {
    const mark = this.#trail.length;
    if (attempt()) return true;
    while (this.#trail.length > mark) {
      const { name, before } = this.#trail.pop()!;
      if (before) this.#bound.set(name, before);
      else this.#bound.delete(name);
    }
    return false;
  }

  #bind(parameter: Type, type: Type): void {
    this.#trail.push({ name: parameter.name, before: this.#bound.get(parameter.name) });
    this.#bound.set(parameter.name, type);
  }

  #assignableLists(a: readonly Type[], b: readonly Type[]): boolean {
    return a.length === b.length && a.every((type, index) => this.#assignable(type, b[index]!));
  }

  #assignable(a: Type, b: Type): boolean {
    if (b.kind === 'parameter') {
      const { fits, wasBound } = this.#fitsParameter(a, b);
      if (fits) return true;
      if (wasBound) return false;
    }
    if (a.kind === 'parameter') return this.#fitsParameter(b, a).fits;
    if (isDyn(a) || isDyn(b) || a.kind === 'error' || b.kind === 'error') return true;
    if (a.kind === 'null') return isNullable(b);
    if (b.kind === 'null') return isNullable(a);
    switch (a.kind) {
      case 'type':
        return b.kind === 'type';
      case 'list':
      case 'map':
      case 'opaque':
        return a.kind === b.kind && a.name === b.name && this.#assignableLists(a.parameters, b.parameters);
      default:
        return isSameType(a, b);
    }
  }

  #fitsParameter(type: Type, parameter: Type): { fits: boolean; wasBound: boolean } {
    if (isSameType(type, parameter)) return { fits: true, wasBound: true };
    const bound = this.#bound.get(parameter.name);
    if (bound) {
      if (isSameType(type, bound)) return { fits: true, wasBound: true };
      if (!this.#assignable(type, bound)) return { fits: false, wasBound: true };
      const general = mostGeneral(type, bound);
      if (!this.#occursIn(parameter, general)) this.#bind(parameter, general);
      return { fits: true, wasBound: true };
    }
    if (this.#occursIn(parameter, type)) return { fits: false, wasBound: false };
    this.#bind(parameter, type);
    return { fits: true, wasBound: false };
  }

  #occursIn(parameter: Type, type: Type): boolean {
    if (isSameType(parameter, type)) return true;
    if (type.kind === 'parameter') {
      const bound = this.#bound.get(type.name);
      return bound !== undefined && this.#occursIn(parameter, bound);
    }
    return type.parameters.some((inner) => this.#occursIn(parameter, inner));
  }
}

const dyn: Type = { kind: 'dyn', name: 'dyn', parameters: [] };

function isNullable(type: Type): boolean {
  switch (type.kind) {
    case 'opaque':
    case 'object':
    case 'any':
    case 'duration':
    case 'timestamp':
    case 'null':
      return true;
    default:
      return isSameType(type, nullType);
  }
}

/** Returns the more general of two types, one of which is assignable to the other. */
export const mostGeneral = (a: Type, b: Type): Type => (isNoMoreSpecific(a, b) ? a : b);

function isNoMoreSpecific(a: Type, b: Type): boolean {
  if (isDyn(a) || a.kind === 'parameter') return true;
  if (isDyn(b) || b.kind === 'parameter' || a.kind !== b.kind) return false;
  switch (a.kind) {
    case 'list':
    case 'map':
    case 'opaque':
      return (
        a.name === b.name &&
        a.parameters.length === b.parameters.length &&
        a.parameters.every((parameter, index) => isNoMoreSpecific(parameter, b.parameters[index]!))
      );
    case 'type':
      return true;
    default:
      return isSameType(a, b);
  }
}
