import { type Cursor, cursorAt, failAt, nested, skipBlanks, takeName, takeOperator } from './cursor.ts';
import { createWordParser } from './parse-words.ts';
import {
  type Assignment,
  type Branch,
  type Case,
  type Command,
  type ListItem,
  type Redirection,
  type Script,
  ShellSyntaxError,
  type Word,
} from './syntax.ts';

const maxLength = 256 * 1024;

const reserved: ReadonlySet<string> = new Set([
  'if',
  'then',
  'elif',
  'else',
  'fi',
  'while',
  'until',
  'for',
  'in',
  'do',
  'done',
  'case',
  'esac',
  '{',
  '}',
  '!',
  'function',
]);

/** Parses a POSIX shell script, with the few bash extensions that scripts in manifests use. */
export function parseScript(text: string): Script {
  if (text.length > maxLength) throw new ShellSyntaxError('script too long');
  const cursor = cursorAt(text);
  const script = readList(cursor);
  if (cursor.at < text.length) failAt(cursor);
  return script;
}

/** Parses commands up to the end of the text or a closing parenthesis. */
function readList(cursor: Cursor): Script {
  return createParser(cursor).list(noWords);
}

const noWords: ReadonlySet<string> = new Set();

/** A here-document whose text starts after the current line. */
type PendingText = {
  readonly end: string;
  readonly isLiteral: boolean;
  readonly dropsTabs: boolean;
  fill(text: Word): void;
};

function createParser(cursor: Cursor) {
  const { text } = cursor;
  const { word, wordHere } = createWordParser(cursor, readList);
  let pendingTexts: PendingText[] = [];

  function skipNewlines(): void {
    for (skipBlanks(cursor); text[cursor.at] === '\n'; skipBlanks(cursor)) newline();
  }

  function newline(): void {
    cursor.at++;
    const pending = pendingTexts;
    pendingTexts = [];
    for (const each of pending) readHereDocument(each);
  }

  function readHereDocument({ end, isLiteral, dropsTabs, fill }: PendingText): void {
    let content = '';
    while (cursor.at < text.length) {
      const lineEnd = text.indexOf('\n', cursor.at);
      const stop = lineEnd < 0 ? text.length : lineEnd;
      let line = text.slice(cursor.at, stop);
      cursor.at = Math.min(stop + 1, text.length);
      if (dropsTabs) line = line.replace(/^\t+/, '');
      if (line === end) break;
      content += `${line}\n`;
    }
    fill(
      isLiteral
        ? [{ kind: 'literal', text: content, isQuoted: true }]
        : createWordParser(cursorAt(content, cursor.depth), readList).quotedText(),
    );
  }

  /** Returns the reserved word at the cursor, if any. */
  function peekWord(): string {
    skipBlanks(cursor);
    const match = /^(?:[A-Za-z]+|[{}!])(?=[\s;&|()<>]|$)/.exec(text.slice(cursor.at, cursor.at + 12));
    return match?.[0] ?? '';
  }

  function takeWord(word: string): boolean {
    if (peekWord() !== word) return false;
    cursor.at += word.length;
    return true;
  }

  function expectWord(word: string): void {
    if (!takeWord(word)) failAt(cursor, cursor.at >= text.length ? `end of file (expecting "${word}")` : undefined);
  }

  /** Parses commands up to one of `ends`, the end of the text or a closing parenthesis. */
  function list(ends: ReadonlySet<string>): Script {
    return nested(cursor, () => {
      const items: ListItem[] = [];
      for (;;) {
        skipNewlines();
        if (
          cursor.at >= text.length ||
          text[cursor.at] === ')' ||
          text.startsWith(';;', cursor.at) ||
          ends.has(peekWord())
        )
          break;
        const command = andOr();
        skipBlanks(cursor);
        const isBackground = text[cursor.at] === '&' && text[cursor.at + 1] !== '&';
        items.push({ command, isBackground });
        if (isBackground) cursor.at++;
        else if (text[cursor.at] === ';' && text[cursor.at + 1] !== ';') cursor.at++;
        else if (text[cursor.at] !== '\n') break;
      }
      return { kind: 'list', items };
    });
  }

  function body(...ends: string[]): Script {
    const script = list(new Set(ends));
    if (script.items.length === 0) failAt(cursor);
    return script;
  }

  function andOr(): Command {
    let left = pipeline();
    for (;;) {
      const kind = takeOperator(cursor, '&&') ? 'and' : takeOperator(cursor, '||') ? 'or' : undefined;
      if (!kind) return left;
      skipNewlines();
      left = { kind, left, right: pipeline(), redirections: [] };
    }
  }

  function pipeline(): Command {
    let isNegated = false;
    while (takeWord('!')) isNegated = !isNegated;
    const commands = [command()];
    for (;;) {
      skipBlanks(cursor);
      if (text[cursor.at] !== '|' || text[cursor.at + 1] === '|') break;
      cursor.at++;
      skipNewlines();
      commands.push(command());
    }
    const [only] = commands;
    return commands.length === 1 && !isNegated
      ? (only as Command)
      : { kind: 'pipeline', commands, isNegated, redirections: [] };
  }

  function command(): Command {
    return nested(cursor, () => {
      const compound = compoundCommand();
      if (!compound) return simpleCommand();
      const redirections: Redirection[] = [];
      for (let next = redirection(); next; next = redirection()) redirections.push(next);
      return redirections.length === 0 ? compound : { ...compound, redirections };
    });
  }

  function compoundCommand(): Command | undefined {
    skipBlanks(cursor);
    if (text[cursor.at] === '(') {
      cursor.at++;
      const script = list(noWords);
      if (!takeOperator(cursor, ')')) failAt(cursor);
      return { kind: 'subshell', body: script, redirections: [] };
    }
    switch (peekWord()) {
      case '{': {
        cursor.at++;
        const script = body('}');
        expectWord('}');
        return { kind: 'group', body: script, redirections: [] };
      }
      case 'if':
        return ifCommand();
      case 'while':
      case 'until': {
        const kind = takeWord('while') ? 'while' : 'until';
        if (kind === 'until') expectWord('until');
        const condition = body('do');
        return { kind, condition, body: doBody(), redirections: [] };
      }
      case 'for':
        return forCommand();
      case 'case':
        return caseCommand();
      case 'function': {
        cursor.at += 'function'.length;
        skipBlanks(cursor);
        const name = takeName(cursor) ?? failAt(cursor);
        if (takeOperator(cursor, '(')) takeOperator(cursor, ')');
        return functionBody(name);
      }
      default: {
        const match = /^([A-Za-z_][\w-]*)[ \t]*\([ \t]*\)/.exec(text.slice(cursor.at, cursor.at + 200));
        if (!match) return undefined;
        cursor.at += match[0].length;
        return functionBody(match[1] as string);
      }
    }
  }

  function functionBody(name: string): Command {
    skipNewlines();
    return { kind: 'function', name, body: command(), redirections: [] };
  }

  function doBody(): Script {
    skipNewlines();
    expectWord('do');
    const script = body('done');
    expectWord('done');
    return script;
  }

  function ifCommand(): Command {
    expectWord('if');
    const branches: Branch[] = [];
    do {
      const condition = body('then');
      expectWord('then');
      branches.push({ condition, body: body('elif', 'else', 'fi') });
    } while (takeWord('elif'));
    const otherwise = takeWord('else') ? body('fi') : undefined;
    expectWord('fi');
    return { kind: 'if', branches, otherwise, redirections: [] };
  }

  function forCommand(): Command {
    expectWord('for');
    skipBlanks(cursor);
    const name = takeName(cursor) ?? failAt(cursor);
    skipNewlines();
    let words: Word[] | undefined;
    if (takeWord('in')) {
      words = [];
      for (let next = word(); next; next = word()) words.push(next);
    }
    takeOperator(cursor, ';');
    return { kind: 'for', name, words, body: doBody(), redirections: [] };
  }

  function caseCommand(): Command {
    expectWord('case');
    const subject = word() ?? failAt(cursor);
    skipNewlines();
    expectWord('in');
    const cases: Case[] = [];
    for (skipNewlines(); !takeWord('esac'); skipNewlines()) {
      takeOperator(cursor, '(');
      const patterns = [word() ?? failAt(cursor)];
      while (takeOperator(cursor, '|')) patterns.push(word() ?? failAt(cursor));
      if (!takeOperator(cursor, ')')) failAt(cursor);
      cases.push({ patterns, body: list(new Set(['esac'])) });
      skipNewlines();
      if (!takeOperator(cursor, ';;') && peekWord() !== 'esac') failAt(cursor);
    }
    return { kind: 'case', subject, cases, redirections: [] };
  }

  function simpleCommand(): Command {
    const assignments: Assignment[] = [];
    const words: Word[] = [];
    const redirections: Redirection[] = [];
    for (;;) {
      const next = redirection();
      if (next) {
        redirections.push(next);
        continue;
      }
      if (words.length === 0) {
        if (reserved.has(peekWord())) failAt(cursor);
        const assignment = takeAssignment();
        if (assignment) {
          assignments.push(assignment);
          continue;
        }
      }
      const argument = word();
      if (!argument) break;
      words.push(argument);
    }
    if (words.length + assignments.length + redirections.length === 0) failAt(cursor);
    return { kind: 'simple', assignments, words, redirections };
  }

  function takeAssignment(): Assignment | undefined {
    skipBlanks(cursor);
    const match = /^([A-Za-z_]\w*)=/.exec(text.slice(cursor.at, cursor.at + 256));
    if (!match) return undefined;
    cursor.at += match[0].length;
    return { name: match[1] as string, value: wordHere() };
  }

  function redirection(): Redirection | undefined {
    skipBlanks(cursor);
    const match = /^(\d?)(<<<|<<-|<<|>>|>&|<&|&>|>\||<|>)/.exec(text.slice(cursor.at, cursor.at + 4));
    if (!match || (match[2] === '&>' && match[1] !== '')) return undefined;
    cursor.at += match[0].length;
    const [, digit = '', operator = ''] = match;
    const descriptor = digit === '' ? (operator.startsWith('<') ? 0 : 1) : Number(digit);
    if (operator === '<<' || operator === '<<-') return hereDocument(descriptor, operator === '<<-');
    const target = word() ?? failAt(cursor);
    switch (operator) {
      case '<':
        return { kind: 'read', descriptor, target };
      case '>>':
        return { kind: 'append', descriptor, target };
      case '>&':
      case '<&':
        return { kind: 'duplicate', descriptor, target };
      case '<<<':
        return { kind: 'text', descriptor, text: [...target, { kind: 'literal', text: '\n', isQuoted: true }] };
      case '&>':
        return { kind: 'write', descriptor: -1, target };
      default:
        return { kind: 'write', descriptor, target };
    }
  }

  function hereDocument(descriptor: number, dropsTabs: boolean): Redirection {
    const end = word() ?? failAt(cursor);
    const isLiteral = end.some((part) => part.isQuoted);
    const endText = end.map((part) => (part.kind === 'literal' ? part.text : '')).join('');
    const document: { kind: 'text'; descriptor: number; text: Word } = { kind: 'text', descriptor, text: [] };
    pendingTexts.push({
      end: endText,
      isLiteral,
      dropsTabs,
      fill(content) {
        document.text = content;
      },
    });
    return document;
  }

  return { list };
}
