/** Word expansion: parameters, command substitution, arithmetic, field splitting and globs. */
import { trimTrailing } from '@kruise/values/trim';
import { writeText } from '../program.ts';
import { evaluateArithmetic } from './arithmetic.ts';
import { globPaths, isPattern, matches, type Pattern, textOf } from './pattern.ts';
import { type Frame, ShellExit } from './state.ts';
import type { Parameter, Script, Word, WordPart } from './syntax.ts';

/** Runs a command and returns its output, for `$(…)`. */
export type Capture = (script: Script, frame: Frame) => Promise<string>;

type Piece = Pattern[number];
/** Field in progress; undefined between fields. */
type Field = Piece[] | undefined;

/** Expands words to any number of fields. */
export async function expandWords(words: readonly Word[], frame: Frame, capture: Capture): Promise<string[]> {
  const results: string[] = [];
  for (const word of words) {
    for (const field of await fieldsOf(word, frame, capture)) {
      const paths = isPattern(field) ? globPaths(field, frame.context.container.files, frame.state.directory) : [];
      results.push(...(paths.length > 0 ? paths : [textOf(field)]));
    }
  }
  return results;
}

/** Expands a word to one text without field splitting. */
export async function expandText(word: Word, frame: Frame, capture: Capture): Promise<string> {
  return textOf(await expandPattern(word, frame, capture));
}

/** Expands a word to a pattern. */
export async function expandPattern(word: Word, frame: Frame, capture: Capture): Promise<Pattern> {
  const pieces: Piece[] = [];
  for (const [index, part] of word.entries()) {
    const text = await partText(part, frame, capture, index === 0);
    pieces.push(...piecesOf(text, part.isQuoted));
  }
  return pieces;
}

async function fieldsOf(word: Word, frame: Frame, capture: Capture): Promise<Pattern[]> {
  const fields: Pattern[] = [];
  let current: Field;
  for (const [index, part] of word.entries()) {
    if (part.kind === 'parameter' && part.isQuoted && part.parameter.name === '@' && !part.parameter.operator) {
      // Only "$@" expands to several words, or none, within quotes.
      for (const [position, parameter] of frame.state.parameters.entries()) {
        if (position > 0 && current) fields.push(current);
        current = [...(position === 0 ? (current ?? []) : []), ...piecesOf(parameter, true)];
      }
      continue;
    }
    const text = await partText(part, frame, capture, index === 0);
    if (part.isQuoted || part.kind === 'literal') {
      current = [...(current ?? []), ...piecesOf(text, part.isQuoted)];
      continue;
    }
    const separators = frame.state.variables.get('IFS') ?? ' \t\n';
    for (const character of text) {
      if (!separators.includes(character)) (current ??= []).push({ character, isLiteral: false });
      else if (current) {
        fields.push(current);
        current = undefined;
      } else if (!/\s/.test(character)) fields.push([]);
    }
  }
  if (current) fields.push(current);
  return fields;
}

function piecesOf(text: string, isLiteral: boolean): Piece[] {
  return [...text].map((character) => ({ character, isLiteral }));
}

async function partText(part: WordPart, frame: Frame, capture: Capture, isFirst: boolean): Promise<string> {
  switch (part.kind) {
    case 'literal':
      return isFirst && !part.isQuoted && /^~(?=\/|$)/.test(part.text)
        ? (frame.state.variables.get('HOME') ?? '/root') + part.text.slice(1)
        : part.text;
    case 'parameter':
      return parameterText(part.parameter, frame, capture);
    case 'command':
      return trimTrailing(await capture(part.script, frame), '\n');
    case 'arithmetic': {
      const expression = await expandText(part.expression, frame, capture);
      return String(evaluateArithmetic(expression, frame.state.variables));
    }
  }
}

/** Returns the value of a parameter; undefined if it is not set. */
export function parameterValue(name: string, { state, context }: Pick<Frame, 'state' | 'context'>): string | undefined {
  switch (name) {
    case '@':
    case '*':
      return state.parameters.length === 0 ? undefined : state.parameters.join(' ');
    case '#':
      return String(state.parameters.length);
    case '?':
      return String(state.lastExitCode);
    case '$':
      return String(context.process.pid);
    case '!':
      return state.jobs.length === 0 ? undefined : String(state.jobs.at(-1)?.process.pid);
    case '-':
      return [...state.options].join('');
    case '0':
      return state.name;
    case 'RANDOM':
      return String(Math.floor(context.container.random.next() * 32768));
    default:
      return /^\d+$/.test(name) ? state.parameters[Number(name) - 1] : state.variables.get(name);
  }
}

async function parameterText(parameter: Parameter, frame: Frame, capture: Capture): Promise<string> {
  const { name, operator, word = [], replacement = [] } = parameter;
  const value = parameterValue(name, frame);
  if (operator === undefined) {
    if (value === undefined && frame.state.options.has('u') && !/^[@*]$/.test(name)) {
      throw await notSet(name, 'parameter not set', frame);
    }
    return value ?? '';
  }
  if (operator === 'length') return String((value ?? '').length);
  const isMissing = value === undefined || (operator.startsWith(':') && value === '');
  const operand = () => expandText(word, frame, capture);
  switch (operator) {
    case '-':
    case ':-':
      return isMissing ? operand() : value;
    case '=':
    case ':=': {
      if (!isMissing) return value;
      const assigned = await operand();
      frame.state.variables.set(name, assigned);
      return assigned;
    }
    case '+':
    case ':+':
      return isMissing ? '' : operand();
    case '?':
    case ':?': {
      if (!isMissing) return value;
      throw await notSet(name, (await operand()) || 'parameter not set', frame);
    }
    case ':':
      return slice(value ?? '', await operand(), frame);
    default: {
      const pattern = await expandPattern(word, frame, capture);
      if (operator.startsWith('/')) {
        return replace(value ?? '', pattern, await expandText(replacement, frame, capture), operator === '//');
      }
      return trim(value ?? '', pattern, operator);
    }
  }
}

/** Prints the error of an unset parameter; the shell exits. */
async function notSet(name: string, message: string, { state, streams }: Frame): Promise<ShellExit> {
  await writeText(streams.stderr, `${state.name}: ${name}: ${message}\n`);
  return new ShellExit(2);
}

function slice(value: string, operand: string, { state }: Frame): string {
  const [offset = '0', length] = operand.split(':').map((part) => Number(evaluateArithmetic(part, state.variables)));
  const start = Number(offset) < 0 ? Math.max(0, value.length + Number(offset)) : Number(offset);
  return length === undefined ? value.slice(start) : value.slice(start, length < 0 ? length : start + length);
}

/** Removes the shortest or longest matching prefix or suffix. */
function trim(value: string, pattern: Pattern, operator: string): string {
  const fromStart = operator.startsWith('#');
  const isLongest = operator.length === 2;
  for (let step = 0; step <= value.length; step++) {
    const length = isLongest ? value.length - step : step;
    const part = fromStart ? value.slice(0, length) : value.slice(value.length - length);
    if (matches(pattern, part)) return fromStart ? value.slice(length) : value.slice(0, value.length - length);
  }
  return value;
}

function replace(value: string, pattern: Pattern, replacement: string, isGlobal: boolean): string {
  let result = '';
  let at = 0;
  while (at < value.length) {
    let length = value.length - at;
    while (length > 0 && !matches(pattern, value.slice(at, at + length))) length--;
    if (length === 0) {
      result += value[at++];
      continue;
    }
    result += replacement;
    at += length;
    if (!isGlobal) break;
  }
  return result + value.slice(at);
}
