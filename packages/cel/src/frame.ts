/** State of one evaluation. */
import type { Value } from './values.ts';

/** Thrown when an evaluation exceeds its cost limit. */
export class CostExceeded extends Error {
  constructor() {
    super('operation cancelled: actual cost limit exceeded');
  }
}

/** Frame of an evaluation: its variables and its cost so far. */
export class Frame {
  cost = 0;
  readonly limit: number;
  /** Input variables by slot; undefined until first used. */
  readonly variables: (Value | undefined)[];
  /** Loop variables and accumulators, by slot. */
  readonly locals: (Value | undefined)[];
  readonly bindings: Readonly<Record<string, unknown>>;

  constructor(bindings: Readonly<Record<string, unknown>>, limit: number) {
    this.bindings = bindings;
    this.limit = limit;
    this.variables = [];
    this.locals = [];
  }

  charge(amount: number): void {
    this.cost += amount;
    if (this.cost > this.limit) throw new CostExceeded();
  }
}

/** A compiled expression. */
export type Evaluate = (frame: Frame) => Value;
