/** Quantities of Kubernetes: `quantity('1.5Gi').isLessThan(quantity('2Gi'))`. */
import {
  addQuantities,
  asApproximateFloat,
  asInt64,
  compareQuantities,
  formatQuantity,
  isIntegerQuantity,
  parseQuantity,
  type Quantity,
  quantityOf,
  quantitySign,
  subtractQuantities,
} from '@kruise/values/quantity';
import { attempt } from '../attempt.ts';
import { constantCost, scale, stringFactor, traversal } from '../costs.ts';
import { type FunctionDeclaration, type Implementation, method, overload } from '../functions.ts';
import type { Library } from '../library.ts';
import { boolType, doubleType, intType, objectType, stringType } from '../types.ts';
import { Double, EvaluationError, type Int, ObjectValue, orNoSuchOverload, toInt, type Value } from '../values.ts';

/** `kubernetes.Quantity`. */
export const quantityType = objectType('kubernetes.Quantity');

/** A quantity as a CEL value. */
export class QuantityValue extends ObjectValue {
  readonly typeName = quantityType.name;
  readonly quantity: Quantity;

  constructor(quantity: Quantity) {
    super();
    this.quantity = quantity;
  }

  equals(other: Value): boolean | EvaluationError {
    if (!(other instanceof QuantityValue)) return orNoSuchOverload(other);
    return compareQuantities(this.quantity, other.quantity) === 0;
  }

  override toJson(): string {
    return formatQuantity(this.quantity);
  }
}

const parse = (text: Value): Quantity | EvaluationError => attempt(() => parseQuantity(text as string));

/** Returns the quantity of a whole number. */
const fromInt = (value: Value): Quantity => quantityOf(value as Int, 'DecimalExponent');

const comparison =
  (finish: (order: number) => Value): Implementation =>
  (a, b) =>
    finish(compareQuantities((a as QuantityValue).quantity, (b as QuantityValue).quantity));

function arithmetic(name: 'add' | 'sub', operate: (a: Quantity, b: Quantity) => Quantity): FunctionDeclaration {
  const apply = (a: Value, b: Quantity) => new QuantityValue(operate((a as QuantityValue).quantity, b));
  return {
    name,
    overloads: [
      method(`quantity_${name}`, [quantityType, quantityType], quantityType, (a, b) =>
        apply(a!, (b as QuantityValue).quantity),
      ),
      method(`quantity_${name}_int`, [quantityType, intType], quantityType, (a, b) => apply(a!, fromInt(b!))),
    ],
    cost: constantCost(1),
  };
}

const onePass = {
  actual: traversal(0),
  estimate: ({ args }: Parameters<NonNullable<NonNullable<FunctionDeclaration['cost']>['estimate']>>[0]) => ({
    cost: scale(args[0]!.size, stringFactor),
  }),
};

/** The quantity library. */
export const quantityLibrary: Library = {
  functions: [
    {
      name: 'quantity',
      overloads: [
        overload('string_to_quantity', [stringType], quantityType, (text) => {
          const quantity = parse(text!);
          return quantity instanceof EvaluationError ? quantity : new QuantityValue(quantity);
        }),
      ],
      cost: onePass,
    },
    {
      name: 'isQuantity',
      overloads: [
        overload('is_quantity_string', [stringType], boolType, (text) => !(parse(text!) instanceof EvaluationError)),
      ],
      cost: onePass,
    },
    {
      name: 'sign',
      overloads: [
        overload('quantity_sign', [quantityType], intType, (value) => quantitySign((value as QuantityValue).quantity)),
      ],
      cost: constantCost(1),
    },
    {
      name: 'isGreaterThan',
      overloads: [
        method(
          'quantity_is_greater_than',
          [quantityType, quantityType],
          boolType,
          comparison((order) => order > 0),
        ),
      ],
      cost: constantCost(1),
    },
    {
      name: 'isLessThan',
      overloads: [
        method(
          'quantity_is_less_than',
          [quantityType, quantityType],
          boolType,
          comparison((order) => order < 0),
        ),
      ],
      cost: constantCost(1),
    },
    {
      name: 'compareTo',
      overloads: [
        method(
          'quantity_compare_to',
          [quantityType, quantityType],
          intType,
          comparison((order) => order),
        ),
      ],
      cost: constantCost(1),
    },
    {
      name: 'asApproximateFloat',
      overloads: [
        method(
          'quantity_get_float',
          [quantityType],
          doubleType,
          (value) => new Double(asApproximateFloat((value as QuantityValue).quantity)),
        ),
      ],
      cost: constantCost(1),
    },
    {
      name: 'asInteger',
      overloads: [
        method('quantity_get_int', [quantityType], intType, (value) => {
          const whole = asInt64((value as QuantityValue).quantity);
          return whole === undefined ? new EvaluationError('cannot convert value to integer') : toInt(whole);
        }),
      ],
      cost: constantCost(1),
    },
    {
      name: 'isInteger',
      overloads: [
        method('quantity_is_integer', [quantityType], boolType, (value) =>
          isIntegerQuantity((value as QuantityValue).quantity),
        ),
      ],
      cost: constantCost(1),
    },
    arithmetic('add', addQuantities),
    arithmetic('sub', subtractQuantities),
  ],
};
