/**
 * JSONPath templates of Kubernetes, for printer columns and `-o jsonpath`. Text outside of braces is literal; inside
 * are paths (`{.items[*].metadata.name}`), quoted text, numbers, and `{range …}…{end}`. `json-path-parser.ts` parses
 * templates.
 *
 * ```ts
 * jsonPath('{.metadata.name}').print(pod); // 'web-0'
 * ```
 */

import { stringifySorted } from '@kruise/values/go-json';
import { compareStrings, formatNumber, formatValue } from '@kruise/values/go-syntax';
import { type Node, type Nodes, parseTemplate, type Template } from './json-path-parser.ts';
import { isObject, own } from './json-value.ts';

/** A path does not match the object. The message is that of Kubernetes. */
export class JsonPathError extends Error {
  override readonly name = 'JsonPathError';
  /** Values that were found before the error; a filter for existence uses them. */
  readonly found: Values;

  constructor(message: string, found: Values = []) {
    super(message);
    this.found = found;
  }
}

type Values = readonly unknown[];

/** A compiled template. */
export type JsonPath = {
  /** Returns the values of each part of the template. Throws `JsonPathError`. */
  find(data: unknown): readonly Values[];
  /** Renders the template. Throws `JsonPathError`. */
  print(data: unknown): string;
};

/** Decides whether a missing key is empty, as for kubectl and printer columns, or an error. */
export type JsonPathOptions = { readonly missingKeys?: 'allow' | 'refuse' };

/** Compiles a template. Throws `ParseError` with the message of Kubernetes. */
export function jsonPath(text: string, { missingKeys = 'refuse' }: JsonPathOptions = {}): JsonPath {
  const template = parseTemplate(text);
  const evaluation = { allowsMissing: missingKeys === 'allow' };
  const find = (data: unknown) => evaluateTemplate(evaluation, template, data);
  return { find, print: (data) => find(data).map(printValues).join('') };
}

/** Formats values separated by spaces; objects and lists as JSON. */
export function printValues(values: Values): string {
  return values.map(printValue).join(' ');
}

function printValue(value: unknown): string {
  if (value === null || value === undefined) return 'null';
  if (typeof value === 'object') return stringifySorted(value);
  return typeof value === 'number' ? formatNumber(value) : String(value);
}

type Evaluation = { readonly allowsMissing: boolean };

// Limit for recursive descents and unterminated ranges, which multiply.
const maxSteps = 100_000;
const maxValues = 1_000_000;

function evaluateTemplate(evaluation: Evaluation, template: Template, data: unknown): readonly Values[] {
  const results: Values[] = [];
  let lastEnd = -1;
  let steps = 0;
  run(0, data, 0);
  return results;

  /** Evaluates the parts from `first` on, up to the end of their range. */
  function run(first: number, current: unknown, depth: number): void {
    for (let index = first; index < template.length; index++) {
      if (++steps > maxSteps) throw new JsonPathError('jsonpath takes too many steps');
      const part = template[index] ?? [];
      const values = evaluateNodes(evaluation, part, [current]);
      if (part.some(isKeyword('end'))) {
        if (depth === 0) throw new JsonPathError('not in range, nothing to end');
        lastEnd = index;
        return;
      }
      if (!part.some(isKeyword('range'))) {
        results.push(values);
        continue;
      }
      if (values.length === 0) findEnd(index + 1, depth + 1);
      for (const value of values) run(index + 1, value, depth + 1);
      // An unterminated range has covered the following parts, which are then evaluated once more.
      if (lastEnd > index) index = lastEnd;
    }
  }

  /** An empty range is still scanned for its end and for errors. */
  function findEnd(first: number, depth: number): void {
    const { length } = results;
    run(first, undefined, depth);
    results.length = length;
  }
}

function isKeyword(name: string): (node: Node) => boolean {
  return (node) => node.kind === 'identifier' && node.name === name;
}

function evaluateNodes(evaluation: Evaluation, nodes: Nodes, input: Values): Values {
  let values = input;
  for (const node of nodes) {
    values = evaluate(evaluation, node, values);
    if (values.length > maxValues) throw new JsonPathError('jsonpath finds too many values');
  }
  return values;
}

function evaluate(evaluation: Evaluation, node: Node, input: Values): Values {
  switch (node.kind) {
    case 'text':
      return [node.text];
    case 'literal':
      return input.map(() => node.value);
    case 'identifier':
      if (node.name === 'range') return input;
      if (node.name === 'end') return [];
      throw new JsonPathError(`unrecognized identifier ${node.name}`, input);
    case 'field':
      return evaluateField(evaluation, node.name, input);
    case 'wildcard':
      return input.flatMap(membersOf);
    case 'recursive':
      return input.flatMap(descendantsOf);
    case 'slice':
      return evaluateSlice(node, input);
    case 'union':
      return node.alternatives.flatMap((alternative) => evaluateNodes(evaluation, alternative, input));
    case 'filter':
      return input.flatMap((value) => filter(evaluation, node, value, input));
  }
}

function evaluateField({ allowsMissing }: Evaluation, name: string, input: Values): Values {
  const found = input.flatMap((value) => (isObject(value) && Object.hasOwn(value, name) ? [own(value, name)] : []));
  if (found.length === 0 && input.length > 0 && !allowsMissing) throw new JsonPathError(`${name} is not found`);
  return found;
}

/** Kubernetes does not define the order of fields; sorting makes it deterministic. */
function membersOf(value: unknown): Values {
  if (Array.isArray(value)) return value;
  // In Go a string is a list of bytes.
  if (typeof value === 'string') return Array.from(Buffer.from(value));
  return isObject(value)
    ? Object.keys(value)
        .sort(compareStrings)
        .map((name) => value[name])
    : [];
}

/** Returns the value and all nested objects and lists, parents first. */
function descendantsOf(root: unknown): Values {
  const found: unknown[] = [];
  const waiting = [root];
  while (waiting.length > 0) {
    const value = waiting.pop();
    const members = membersOf(value);
    if (members.length === 0) continue;
    found.push(value);
    if (typeof value === 'string') continue;
    for (let index = members.length - 1; index >= 0; index--) waiting.push(members[index]);
  }
  return found;
}

type Slice = Extract<Node, { kind: 'slice' }>;

function evaluateSlice(node: Slice, input: Values): Values {
  const found: unknown[] = [];
  for (const value of input) {
    if (value === null || value === undefined) continue;
    if (!Array.isArray(value)) throw new JsonPathError(`${goTypeOf(value)} is not array or slice`, input);
    const [first, last] = boundsOf(node, value.length);
    // Kubernetes stops at an empty list and skips the lists after it.
    if (first === last) return found;
    const fault = faultOfBounds(first, last, value.length);
    if (fault !== undefined) throw new JsonPathError(fault, input);
    if (node.step <= 0) throw new JsonPathError('step must be > 0', input);
    for (let index = first; index < last; index += node.step) found.push(value[index]);
  }
  return found;
}

function boundsOf({ start, end }: Slice, length: number): readonly [first: number, last: number] {
  const first = start < 0 ? start + length : start;
  if (end === 'next') return [first, first + 1];
  if (end === 'last') return [first, length];
  return [first, end < 0 ? end + length : end];
}

function faultOfBounds(first: number, last: number, length: number): string | undefined {
  if (first >= length || first < 0) return `array index out of bounds: index ${first}, length ${length}`;
  if (last > length || last < 0) return `array index out of bounds: index ${last - 1}, length ${length}`;
  return first > last ? `starting index ${first} is greater than ending index ${last}` : undefined;
}

function goTypeOf(value: unknown): string {
  if (isObject(value)) return 'map[string]interface {}';
  if (typeof value === 'boolean') return 'bool';
  if (typeof value === 'number') return Number.isInteger(value) ? 'int64' : 'float64';
  return typeof value;
}

type Filter = Extract<Node, { kind: 'filter' }>;

function filter(evaluation: Evaluation, node: Filter, value: unknown, input: Values): Values {
  if (!Array.isArray(value)) {
    const shown = value === undefined ? '<invalid reflect.Value>' : formatValue(value);
    throw new JsonPathError(`${shown} is not array or slice and cannot be filtered`, input);
  }
  return value.filter((item) =>
    node.operator === 'exists' ? exists(evaluation, node.left, item) : compares(evaluation, node, item),
  );
}

function exists(evaluation: Evaluation, nodes: Nodes, item: unknown): boolean {
  try {
    return evaluateNodes(evaluation, nodes, [item]).length > 0;
  } catch (error) {
    if (!(error instanceof JsonPathError)) throw error;
    return error.found.length > 0;
  }
}

function compares(evaluation: Evaluation, { left, operator, right }: Filter, item: unknown): boolean {
  const lefts = evaluateNodes(evaluation, left, [item]);
  if (lefts.length === 0) return false;
  if (lefts.length > 1) throw new JsonPathError('can only compare one element at a time');
  const rights = evaluateNodes(evaluation, right, [item]);
  if (rights.length === 0) return false;
  if (rights.length > 1) throw new JsonPathError('can only compare one element at a time');
  const compare = comparisons.get(operator);
  if (compare === undefined) throw new JsonPathError(`unrecognized filter operator ${operator}`);
  requireComparable(typeOf(left, lefts[0]), typeOf(right, rights[0]));
  return compare(lefts[0], rights[0]);
}

function typeOf(nodes: Nodes, value: unknown): string | undefined {
  const last = nodes.at(-1);
  if (last?.kind === 'literal') return last.type;
  return value === null || typeof value === 'object' ? undefined : goTypeOf(value);
}

/** Requires scalars of the same type. */
function requireComparable(left: string | undefined, right: string | undefined): void {
  if (left === undefined || right === undefined) throw new JsonPathError('invalid type for comparison');
  if (left !== right) throw new JsonPathError('incompatible types for comparison');
}

const comparisons: ReadonlyMap<string, (left: unknown, right: unknown) => boolean> = new Map([
  ['==', isEqual],
  ['!=', (left, right) => !isEqual(left, right)],
  ['<', isLess],
  ['>=', (left, right) => !isLess(left, right)],
  ['<=', (left, right) => isLess(left, right) || isEqual(left, right)],
  ['>', (left, right) => !(isLess(left, right) || isEqual(left, right))],
]);

function isEqual(left: unknown, right: unknown): boolean {
  return left === right;
}

function isLess(left: unknown, right: unknown): boolean {
  if (typeof left === 'string' && typeof right === 'string') return compareStrings(left, right) < 0;
  if (typeof left === 'number' && typeof right === 'number') return left < right;
  throw new JsonPathError('invalid type for comparison');
}
