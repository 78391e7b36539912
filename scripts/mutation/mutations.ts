/**
 * Finds the places of a source file where one small change makes a plausible bug: an operator, a constant or a condition.
 * The compiler of this repository has no JavaScript API, so the text is scanned: types are stripped first, which keeps every
 * offset, and comments, strings, templates and regular expressions are skipped.
 */
import { stripTypeScriptTypes } from 'node:module';

/** Replaces `length` characters at `offset`. */
export type Mutation = {
  readonly offset: number;
  readonly length: number;
  readonly before: string;
  readonly after: string;
};

const swaps: { readonly [operator: string]: string } = {
  '===': '!==',
  '!==': '===',
  '<': '<=',
  '<=': '<',
  '>': '>=',
  '>=': '>',
  '&&': '||',
  '||': '&&',
  '+': '-',
  '-': '+',
  '*': '/',
  '/': '*',
  '??': '&&',
  '+=': '-=',
  '-=': '+=',
  true: 'false',
  false: 'true',
};

const token =
  /(?<skipped>\/\*[\s\S]*?\*\/|\/\/[^\n]*|'(?:[^'\\\n]|\\.)*'|"(?:[^"\\\n]|\\.)*"|`(?:[^`\\]|\\[\s\S])*`|(?<=[=(,:[!&|?{};\n]\s*)\/(?:[^/\\\n[]|\\.|\[(?:[^\]\\\n]|\\.)*\])+\/[a-z]*)|(?<binary>(?<= )(?:===|!==|<=|>=|<|>|&&|\|\||\?\?|\+=|-=|\+|-|\*|\/)(?= |\n))|(?<negation>(?<=[ (!])!(?=[\w(]))|(?<literal>(?<![\w.$'])(?:true|false|\d[\d_]*)(?![\w.]))|(?<condition>(?<=\bif )\()/g;

/** Larger numbers are sizes and durations, on whose exact value no decision depends. */
const largestCount = 9;

/** Returns all mutations of a TypeScript source that are valid programs. */
export function mutationsOf(source: string): readonly Mutation[] {
  const code = stripTypeScriptTypes(source);
  return [...code.matchAll(token)].flatMap((match) => mutationAt(code, match)).filter((each) => isValid(code, each));
}

function mutationAt(code: string, { index: offset, groups }: RegExpExecArray): readonly Mutation[] {
  const { skipped, negation, condition, binary, literal } = groups!;
  if (skipped !== undefined) return [];
  if (negation !== undefined) return [{ offset, length: 1, before: '!', after: '' }];
  if (condition !== undefined) return negatedCondition(code, offset);
  const before = (binary ?? literal)!;
  const swapped = swaps[before];
  if (swapped !== undefined) return [{ offset, length: before.length, before, after: swapped }];
  const number = Number(before.replaceAll('_', ''));
  return number > largestCount ? [] : [{ offset, length: before.length, before, after: String(number + 1) }];
}

/** Negates the condition that starts at a parenthesis. */
function negatedCondition(code: string, offset: number): readonly Mutation[] {
  let depth = 0;
  for (let end = offset; end < code.length; end++) {
    if (code[end] === '(') depth++;
    if (code[end] !== ')' || --depth > 0) continue;
    const before = code.slice(offset, end + 1);
    // A parenthesis within a string would end the condition early, so conditions with strings are skipped.
    return /['"`/]/.test(before) ? [] : [{ offset, length: before.length, before, after: `(!${before})` }];
  }
  return [];
}

function isValid(code: string, mutation: Mutation): boolean {
  try {
    stripTypeScriptTypes(mutate(code, mutation));
    return true;
  } catch {
    return false;
  }
}

/** Applies a mutation to a source. */
export function mutate(source: string, { offset, length, after }: Mutation): string {
  return source.slice(0, offset) + after + source.slice(offset + length);
}

/** Returns a mutation as one line of a report. */
export function describeMutation(source: string, { offset, before, after }: Mutation): string {
  const lines = source.slice(0, offset).split('\n');
  const line = lines.length;
  const shown = (text: string) => (text.length > 60 ? `${text.slice(0, 57)}...` : text).replaceAll(/\s+/g, ' ');
  return `${line}:${lines.at(-1)!.length + 1}: ${shown(before)} → ${shown(after) || 'nothing'}   in: ${source.split('\n')[line - 1]!.trim().slice(0, 100)}`;
}
