/**
 * Label selectors of objects (`matchLabels`, `matchExpressions`) and of query strings (`app=web,tier in
 * (a,b),!canary`), compiled to a predicate, because a list request evaluates it for every object.
 *
 * ```ts
 * parseSelector('app=web,!canary').matches({ app: 'web' }); // true
 * ```
 */
import { tryParseInteger } from '@kruise/values/go-integer';
import { compareStrings, goStringList, quote } from '@kruise/values/go-syntax';
import { validateLabelValue, validateQualifiedName } from '@kruise/values/names';
import { ParseError } from '@kruise/values/parse-error';

/** Labels of an object. */
export type Labels = Readonly<Record<string, string>> | undefined;

/** LabelSelector of the API. */
export type LabelSelector = {
  readonly matchLabels?: Readonly<Record<string, string>>;
  readonly matchExpressions?: readonly LabelSelectorRequirement[];
};

/** LabelSelectorRequirement of the API. */
export type LabelSelectorRequirement = {
  readonly key: string;
  /** `In`, `NotIn`, `Exists` or `DoesNotExist`. */
  readonly operator: string;
  readonly values?: readonly string[];
};

/** Operators of query strings. */
export type Operator = 'in' | 'notin' | '=' | '==' | '!=' | 'gt' | 'lt' | 'exists' | '!';

/** One requirement on one label. */
export type Requirement = { readonly key: string; readonly operator: Operator; readonly values: readonly string[] };

/** A compiled selector; all requirements must match. Without requirements it selects everything. */
export type Selector = {
  readonly requirements: readonly Requirement[];
  readonly matches: (labels: Labels) => boolean;
  /** The selector as a query string. */
  readonly text: string;
};

/** Selects every object. */
export const everything: Selector = { requirements: [], matches: () => true, text: '' };

/** Selects no object: the meaning of a missing selector. */
export const nothing: Selector = { requirements: [], matches: () => false, text: '' };

/** Compiles a LabelSelector. A missing one selects nothing, an empty one everything. Throws `ParseError`. */
export function selectorOf(selector: LabelSelector | null | undefined): Selector {
  if (selector === null || selector === undefined) return nothing;
  const labels = Object.entries(selector.matchLabels ?? {}).map(([key, value]) => requirement(key, '=', [value]));
  const expressions = (selector.matchExpressions ?? []).map(({ key, operator, values }) => {
    const known = operators.get(operator);
    if (known === undefined) throw new ParseError(`${quote(operator)} is not a valid label selector operator`);
    return requirement(key, known, values);
  });
  return compile([...labels, ...expressions]);
}

const operators: ReadonlyMap<string, Operator> = new Map([
  ['In', 'in'],
  ['NotIn', 'notin'],
  ['Exists', 'exists'],
  ['DoesNotExist', '!'],
]);

/** Returns a selector for exactly these labels, which must be valid. */
export function selectorOfLabels(labels: Labels): Selector {
  return compile(Object.entries(labels ?? {}).map(([key, value]) => ({ key, operator: '=', values: [value] })));
}

/** Formats a LabelSelector for tables: `<none>` if empty, `<error>` if invalid. */
export function formatLabelSelector(selector: LabelSelector | null | undefined): string {
  try {
    return selectorOf(selector).text || '<none>';
  } catch (error) {
    if (error instanceof ParseError) return '<error>';
    throw error;
  }
}

/** Returns a label with its value that every selected object has, if there is one; useful for index lookups. */
export function requiredLabel({
  requirements,
}: Selector): { readonly key: string; readonly value: string } | undefined {
  const found = requirements.find(
    ({ operator, values }) => values.length === 1 && (operator === '=' || operator === '==' || operator === 'in'),
  );
  return found && { key: found.key, value: found.values[0] ?? '' };
}

/** Compiles valid requirements. They are sorted by key, as Kubernetes prints them. */
export function compile(requirements: readonly Requirement[]): Selector {
  if (requirements.length === 0) return everything;
  const sorted = requirements.toSorted((a, b) => compareStrings(a.key, b.key));
  const tests = sorted.map(compileRequirement);
  const [first, second] = tests;
  const matches: Selector['matches'] =
    second === undefined && first !== undefined ? first : (labels) => tests.every((test) => test(labels));
  return { requirements: sorted, matches, text: sorted.map(formatRequirement).join(',') };
}

type Test = (labels: Labels) => boolean;

// A label value is a string; inherited properties such as `constructor` are not.
function compileRequirement({ key, operator, values }: Requirement): Test {
  const [only = ''] = values;
  const has: Test = (labels) => typeof labels?.[key] === 'string';
  switch (operator) {
    case '=':
    case '==':
    case 'in': {
      if (values.length === 1) return (labels) => labels?.[key] === only;
      const allowed = new Set<unknown>(values);
      return (labels) => allowed.has(labels?.[key]);
    }
    case '!=':
    case 'notin': {
      if (values.length === 1) return (labels) => labels?.[key] !== only;
      const refused = new Set<unknown>(values);
      return (labels) => !refused.has(labels?.[key]);
    }
    case 'exists':
      return has;
    case '!':
      return (labels) => !has(labels);
    case 'gt':
    case 'lt': {
      const bound = tryParseInteger(only);
      return (labels) => {
        const label = labels?.[key];
        const value = typeof label === 'string' ? tryParseInteger(label) : undefined;
        if (value === undefined || bound === undefined) return false;
        return operator === 'gt' ? value > bound : value < bound;
      };
    }
  }
}

function formatRequirement({ key, operator, values }: Requirement): string {
  if (operator === 'exists') return key;
  if (operator === '!') return `!${key}`;
  const list = values.toSorted(compareStrings).join(',');
  if (operator === 'in' || operator === 'notin') return `${key} ${operator} (${list})`;
  return `${key}${operator === 'gt' ? '>' : operator === 'lt' ? '<' : operator}${list}`;
}

/** Validates a requirement. Throws `ParseError` with all errors. */
export function requirement(key: string, operator: Operator, values: readonly string[] | undefined): Requirement {
  const list = values ?? [];
  const faults: string[] = [];
  const keyFaults = validateQualifiedName(key);
  if (keyFaults.length > 0) faults.push(invalid('key', quote(key), keyFaults.join('; ')));
  const countFault = faultOfCount(operator, list.length);
  if (countFault !== undefined) {
    // Go distinguishes an empty list from nil.
    faults.push(invalid('values', list.length === 0 ? '[]string(nil)' : goStringList(list), countFault));
  }
  if (operator === 'gt' || operator === 'lt') {
    for (const [index, value] of list.entries()) {
      if (tryParseInteger(value) !== undefined) continue;
      faults.push(invalid(`values[${index}]`, quote(value), "for 'Gt', 'Lt' operators, the value must be an integer"));
    }
  }
  for (const [index, value] of list.entries()) {
    const valueFaults = validateLabelValue(value);
    if (valueFaults.length > 0) faults.push(invalid(`values[${index}][${key}]`, quote(value), valueFaults.join('; ')));
  }
  if (faults.length > 0) throw new ParseError(aggregate(faults));
  return { key, operator, values: list };
}

function faultOfCount(operator: Operator, count: number): string | undefined {
  switch (operator) {
    case 'in':
    case 'notin':
      return count > 0 ? undefined : "for 'in', 'notin' operators, values set can't be empty";
    case 'exists':
    case '!':
      return count === 0 ? undefined : 'values set must be empty for exists and does not exist';
    case 'gt':
    case 'lt':
      return count === 1 ? undefined : "for 'Gt', 'Lt' operators, exactly one value is required";
    default:
      return count === 1 ? undefined : 'exact-match compatibility requires one single value';
  }
}

function invalid(field: string, value: string, detail: string): string {
  return `${field}: Invalid value: ${value}: ${detail}`;
}

function aggregate(faults: readonly string[]): string {
  const distinct = [...new Set(faults)];
  return distinct.length === 1 ? (distinct[0] ?? '') : `[${distinct.join(', ')}]`;
}

/** Parses a selector of a query string. Throws `ParseError` with the message of Kubernetes. */
export function parseSelector(text: string): Selector {
  if (text === '') return everything;
  const tokens = scan(text);
  const requirements: Requirement[] = [];
  while (tokens.peek() !== end) {
    if (!isName(tokens.peek()) && tokens.peek() !== '!') {
      throw new ParseError(`found '${tokens.peek()}', expected: !, identifier, or 'end of string'`);
    }
    requirements.push(parseRequirement(tokens));
    const separator = tokens.take();
    if (separator === end) break;
    if (separator !== ',') throw new ParseError(`found '${separator}', expected: ',' or 'end of string'`);
    if (!isName(tokens.peek()) && tokens.peek() !== '!') {
      throw new ParseError(`found '${tokens.peek()}', expected: identifier after ','`);
    }
  }
  return compile(requirements);
}

type Tokens = { peek(): string; take(): string };

const end = '';
const token = /[ \t\r\n]*(==|!=|[=!(),<>]|[^=!(),<> \t\r\n]+|$)/y;

function scan(text: string): Tokens {
  let next = end;
  let position = 0;
  const take = () => {
    const taken = next;
    token.lastIndex = position;
    next = token.exec(text)?.[1] ?? end;
    position = token.lastIndex;
    return taken;
  };
  take();
  return { peek: () => next, take };
}

/** `in` and `notin` are valid names except after a key. */
function isName(text: string): boolean {
  return text !== end && !/^(?:==|!=|[=!(),<>])$/.test(text);
}

const binaryOperators: ReadonlyMap<string, Operator> = new Map([
  ['in', 'in'],
  ['notin', 'notin'],
  ['=', '='],
  ['==', '=='],
  ['!=', '!='],
  ['>', 'gt'],
  ['<', 'lt'],
]);

function parseRequirement(tokens: Tokens): Requirement {
  try {
    const isNegated = tokens.peek() === '!';
    if (isNegated) tokens.take();
    const key = parseName(tokens);
    const faults = validateQualifiedName(key);
    // A query string has no field path, which Go prints as nil.
    if (faults.length > 0) throw new ParseError(invalid('<nil>', quote(key), faults.join('; ')));
    if (isNegated) return requirement(key, '!', []);
    if (tokens.peek() === end || tokens.peek() === ',') return requirement(key, 'exists', []);

    const found = tokens.take();
    const operator = binaryOperators.get(found);
    if (operator === undefined) throw new ParseError(`found '${found}', expected: in, notin, =, ==, !=, gt, lt`);
    const values = operator === 'in' || operator === 'notin' ? parseValues(tokens) : [parseValue(tokens)];
    return requirement(key, operator, values);
  } catch (error) {
    if (!(error instanceof ParseError)) throw error;
    throw new ParseError(`unable to parse requirement: ${error.message}`);
  }
}

function parseName(tokens: Tokens): string {
  const name = tokens.take();
  if (!isName(name)) throw new ParseError(`found '${name}', expected: identifier`);
  return name;
}

/** A value may be empty: `a=` matches the label with an empty value. */
function parseValue(tokens: Tokens): string {
  return tokens.peek() === end || tokens.peek() === ',' ? '' : parseName(tokens);
}

/** Parses `(a,b)`; values may be empty: `(,)` and `()` are the empty value. */
function parseValues(tokens: Tokens): readonly string[] {
  const open = tokens.take();
  if (open !== '(') throw new ParseError(`found '${open}' expected: '('`);
  const first = tokens.peek();
  if (!isName(first) && first !== ',' && first !== ')') {
    throw new ParseError(`found '${first}', expected: ',', ')' or identifier`);
  }
  const values = new Set<string>();
  for (;;) {
    const isLeftOut = tokens.peek() === ',' || tokens.peek() === ')';
    if (!isLeftOut && !isName(tokens.peek())) {
      throw new ParseError(`found '${tokens.peek()}', expected: ',', or identifier`);
    }
    values.add(isLeftOut ? '' : tokens.take());
    const separator = tokens.peek();
    if (separator !== ',' && separator !== ')') throw new ParseError(`found '${separator}', expected: ',' or ')'`);
    tokens.take();
    if (separator === ')') return [...values].sort(compareStrings);
  }
}
