import {
  type Assignment,
  type Branch,
  type Case,
  type Command,
  type ListItem,
  type Parameter,
  type Redirection,
  type Script,
  ShellSyntaxError,
  type Word,
  type WordPart,
} from './syntax.ts';

/** Longer scripts are refused, as are those nested deeper than this. */
const maxLength = 256 * 1024;
const maxDepth = 100;

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
const namePattern = /[A-Za-z_][A-Za-z0-9_]*/y;
const specialParameter = /[@*#?$!0-9-]/;

/** Reads a script of the POSIX shell, with the handful of bash's additions scripts in manifests use. */
export function parseScript(text: string): Script {
  if (text.length > maxLength) throw new ShellSyntaxError('script too long');
  const parser = createParser(text);
  const script = parser.list(new Set());
  parser.expectEnd();
  return script;
}

function createParser(text: string) {
  let at = 0;
  let depth = 0;
  /** Here-documents whose text begins after the current line. */
  let pendingTexts: {
    readonly end: string;
    readonly isLiteral: boolean;
    readonly dropsTabs: boolean;
    fill(text: Word): void;
  }[] = [];

  const fail = (what?: string): never => {
    const token =
      what ??
      (at >= text.length
        ? 'end of file (expecting more)'
        : `unexpected "${text[at] === '\n' ? 'newline' : nextToken()}"`);
    throw new ShellSyntaxError(`syntax error: ${token}`);
  };

  function nextToken(): string {
    return /^(?:&&|\|\||;;|[&|;()<>]|[^\s&|;()<>]+)/.exec(text.slice(at, at + 80))?.[0] ?? '';
  }

  function nested<T>(parse: () => T): T {
    if (++depth > maxDepth) fail('nested too deeply');
    const result = parse();
    depth--;
    return result;
  }

  function skipBlanks(): void {
    for (;;) {
      const character = text[at];
      if (character === ' ' || character === '\t' || character === '\r') at++;
      else if (character === '\\' && text[at + 1] === '\n') at += 2;
      else if (character === '#') while (at < text.length && text[at] !== '\n') at++;
      else return;
    }
  }

  function skipNewlines(): void {
    for (skipBlanks(); text[at] === '\n'; skipBlanks()) newline();
  }

  function newline(): void {
    at++;
    const pending = pendingTexts;
    pendingTexts = [];
    for (const each of pending) readHereDocument(each);
  }

  function readHereDocument({ end, isLiteral, dropsTabs, fill }: (typeof pendingTexts)[number]): void {
    let content = '';
    while (at < text.length) {
      const lineEnd = text.indexOf('\n', at);
      const stop = lineEnd < 0 ? text.length : lineEnd;
      let line = text.slice(at, stop);
      at = Math.min(stop + 1, text.length);
      if (dropsTabs) line = line.replace(/^\t+/, '');
      if (line === end) break;
      content += `${line}\n`;
    }
    fill(isLiteral ? [{ kind: 'literal', text: content, isQuoted: true }] : createParser(content).hereText());
  }

  /** Whether a reserved word comes next, as a whole word. */
  function peekWord(): string {
    skipBlanks();
    const match = /^(?:[A-Za-z]+|[{}!])(?=[\s;&|()<>]|$)/.exec(text.slice(at, at + 12));
    return match?.[0] ?? '';
  }

  function takeWord(word: string): boolean {
    if (peekWord() !== word) return false;
    at += word.length;
    return true;
  }

  function expectWord(word: string): void {
    if (!takeWord(word)) fail(at >= text.length ? `end of file (expecting "${word}")` : undefined);
  }

  function takeOperator(operator: string): boolean {
    skipBlanks();
    if (!text.startsWith(operator, at)) return false;
    at += operator.length;
    return true;
  }

  /** Commands up to one of `ends`, or to the end of the text or of a parenthesis. */
  function list(ends: ReadonlySet<string>): Script {
    return nested(() => {
      const items: ListItem[] = [];
      for (;;) {
        skipNewlines();
        if (at >= text.length || text[at] === ')' || text.startsWith(';;', at) || ends.has(peekWord())) break;
        const command = andOr();
        skipBlanks();
        const isBackground = text[at] === '&' && text[at + 1] !== '&';
        items.push({ command, isBackground });
        if (isBackground) at++;
        else if (text[at] === ';' && text[at + 1] !== ';') at++;
        else if (text[at] !== '\n') break;
      }
      return { kind: 'list', items };
    });
  }

  function body(...ends: string[]): Script {
    const script = list(new Set(ends));
    if (script.items.length === 0) fail();
    return script;
  }

  function andOr(): Command {
    let left = pipeline();
    for (;;) {
      const kind = takeOperator('&&') ? 'and' : takeOperator('||') ? 'or' : undefined;
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
      skipBlanks();
      if (text[at] !== '|' || text[at + 1] === '|') break;
      at++;
      skipNewlines();
      commands.push(command());
    }
    const [only] = commands;
    return commands.length === 1 && !isNegated
      ? (only as Command)
      : { kind: 'pipeline', commands, isNegated, redirections: [] };
  }

  function command(): Command {
    return nested(() => {
      const compound = compoundCommand();
      if (!compound) return simpleCommand();
      const redirections: Redirection[] = [];
      for (let next = redirection(); next; next = redirection()) redirections.push(next);
      return redirections.length === 0 ? compound : { ...compound, redirections };
    });
  }

  function compoundCommand(): Command | undefined {
    skipBlanks();
    if (text[at] === '(') {
      at++;
      const script = list(new Set());
      if (!takeOperator(')')) fail();
      return { kind: 'subshell', body: script, redirections: [] };
    }
    switch (peekWord()) {
      case '{': {
        at++;
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
        at += 'function'.length;
        skipBlanks();
        const name = takeName() ?? fail();
        if (takeOperator('(')) takeOperator(')');
        return functionBody(name);
      }
      default: {
        const match = /^([A-Za-z_][\w-]*)[ \t]*\([ \t]*\)/.exec(text.slice(at, at + 200));
        if (!match) return undefined;
        at += match[0].length;
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
    skipBlanks();
    const name = takeName() ?? fail();
    skipNewlines();
    let words: Word[] | undefined;
    if (takeWord('in')) {
      words = [];
      for (let next = word(); next; next = word()) words.push(next);
    }
    takeOperator(';');
    return { kind: 'for', name, words, body: doBody(), redirections: [] };
  }

  function caseCommand(): Command {
    expectWord('case');
    const subject = word() ?? fail();
    skipNewlines();
    expectWord('in');
    const cases: Case[] = [];
    for (skipNewlines(); !takeWord('esac'); skipNewlines()) {
      takeOperator('(');
      const patterns = [word() ?? fail()];
      while (takeOperator('|')) patterns.push(word() ?? fail());
      if (!takeOperator(')')) fail();
      cases.push({ patterns, body: list(new Set(['esac'])) });
      skipNewlines();
      if (!takeOperator(';;') && peekWord() !== 'esac') fail();
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
        if (reserved.has(peekWord())) fail();
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
    if (words.length + assignments.length + redirections.length === 0) fail();
    return { kind: 'simple', assignments, words, redirections };
  }

  function takeAssignment(): Assignment | undefined {
    skipBlanks();
    const match = /^([A-Za-z_]\w*)=/.exec(text.slice(at, at + 256));
    if (!match) return undefined;
    at += match[0].length;
    return { name: match[1] as string, value: wordHere() };
  }

  function redirection(): Redirection | undefined {
    skipBlanks();
    const match = /^(\d?)(<<<|<<-|<<|>>|>&|<&|&>|>\||<|>)/.exec(text.slice(at, at + 4));
    if (!match || (match[2] === '&>' && match[1] !== '')) return undefined;
    at += match[0].length;
    const [, digit = '', operator = ''] = match;
    const descriptor = digit === '' ? (operator.startsWith('<') ? 0 : 1) : Number(digit);
    if (operator === '<<' || operator === '<<-') return hereDocument(descriptor, operator === '<<-');
    const target = word() ?? fail();
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
    const end = word() ?? fail();
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

  function word(): Word | undefined {
    skipBlanks();
    const before = at;
    const parts = wordHere();
    return at === before ? undefined : parts;
  }

  function wordHere(): Word {
    const parts: WordPart[] = [];
    let literal = '';
    const flush = () => {
      if (literal !== '') parts.push({ kind: 'literal', text: literal, isQuoted: false });
      literal = '';
    };
    while (at < text.length) {
      const character = text[at] as string;
      if (/[\s;&|()<>]/.test(character)) break;
      if (character === '\\') {
        at++;
        if (text[at] === '\n') {
          at++;
          continue;
        }
        flush();
        parts.push({ kind: 'literal', text: text[at] ?? '\\', isQuoted: true });
        at++;
      } else if (character === "'") {
        flush();
        const end = text.indexOf("'", at + 1);
        if (end < 0) fail('unterminated quoted string');
        parts.push({ kind: 'literal', text: text.slice(at + 1, end), isQuoted: true });
        at = end + 1;
      } else if (character === '"') {
        flush();
        at++;
        parts.push(...quotedParts('"'));
        at++;
      } else if (character === '$' || character === '`') {
        const part = expansion(false);
        if (part) {
          flush();
          parts.push(part);
        } else {
          literal += character;
          at++;
        }
      } else {
        literal += character;
        at++;
      }
    }
    flush();
    return parts;
  }

  /** What stands between double quotes, or in a here-document. */
  function quotedParts(end: string | undefined): WordPart[] {
    const parts: WordPart[] = [];
    let literal = '';
    const flush = () => {
      parts.push({ kind: 'literal', text: literal, isQuoted: true });
      literal = '';
    };
    for (;;) {
      if (at >= text.length) {
        if (end !== undefined) fail('unterminated quoted string');
        break;
      }
      const character = text[at] as string;
      if (character === end) break;
      if (character === '\\' && /[$`"\\\n]/.test(text[at + 1] ?? '')) {
        if (text[at + 1] !== '\n') literal += text[at + 1];
        at += 2;
        continue;
      }
      const part = character === '$' || character === '`' ? expansion(true) : undefined;
      if (part) {
        if (literal !== '') flush();
        parts.push(part);
        continue;
      }
      literal += character;
      at++;
    }
    // Empty quotes are a word too.
    if (literal !== '' || parts.length === 0) flush();
    return parts;
  }

  function expansion(isQuoted: boolean): WordPart | undefined {
    if (text[at] === '`') return backquoted(isQuoted);
    if (text.startsWith('$((', at)) return arithmetic(isQuoted);
    if (text.startsWith('$(', at)) {
      at += 2;
      const script = list(new Set());
      if (!takeOperator(')')) fail();
      return { kind: 'command', script, isQuoted };
    }
    if (text.startsWith('${', at)) {
      at += 2;
      const parameter = bracedParameter();
      return { kind: 'parameter', parameter, isQuoted };
    }
    const next = text[at + 1] ?? '';
    if (specialParameter.test(next)) {
      at += 2;
      return { kind: 'parameter', parameter: { name: next }, isQuoted };
    }
    at++;
    const name = takeName();
    if (name !== undefined) return { kind: 'parameter', parameter: { name }, isQuoted };
    at--;
    return undefined;
  }

  function backquoted(isQuoted: boolean): WordPart {
    at++;
    let inner = '';
    while (at < text.length && text[at] !== '`') {
      if (text[at] === '\\' && /[$`\\]/.test(text[at + 1] ?? '')) at++;
      inner += text[at++];
    }
    if (at >= text.length) fail('unterminated quoted string');
    at++;
    return { kind: 'command', script: parseScript(inner), isQuoted };
  }

  function arithmetic(isQuoted: boolean): WordPart {
    at += 3;
    const start = at;
    let open = 0;
    while (at < text.length) {
      if (text[at] === '(') open++;
      if (text[at] === ')') {
        if (open === 0 && text[at + 1] === ')') break;
        open--;
      }
      at++;
    }
    if (at >= text.length) fail('missing "))"');
    const expression = createParser(text.slice(start, at)).hereText();
    at += 2;
    return { kind: 'arithmetic', expression, isQuoted };
  }

  function bracedParameter(): Parameter {
    if (text[at] === '#' && text[at + 1] !== '}') {
      at++;
      const name = parameterName();
      expectBrace();
      return { name, operator: 'length' };
    }
    const name = parameterName();
    const operator = /^(?::?[-=+?]|%%?|##?|\/\/?|:)/.exec(text.slice(at, at + 2))?.[0];
    if (operator === undefined) {
      expectBrace();
      return { name };
    }
    at += operator.length;
    if (operator.startsWith('/')) {
      const pattern = bracedWord(/[/}]/);
      let replacement: Word = [];
      if (text[at] === '/') {
        at++;
        replacement = bracedWord(/[}]/);
      }
      expectBrace();
      return { name, operator, word: pattern, replacement };
    }
    const operand = bracedWord(/[}]/);
    expectBrace();
    return { name, operator, word: operand };
  }

  function parameterName(): string {
    const special = text[at] ?? '';
    const name = takeName();
    if (name !== undefined) return name;
    const digits = /^\d+/.exec(text.slice(at, at + 8))?.[0];
    if (digits !== undefined) {
      at += digits.length;
      return digits;
    }
    if (!specialParameter.test(special)) fail('bad substitution');
    at++;
    return special;
  }

  function expectBrace(): void {
    if (text[at] !== '}') fail('bad substitution');
    at++;
  }

  function bracedWord(end: RegExp): Word {
    const parts: WordPart[] = [];
    let literal = '';
    const flush = () => {
      if (literal !== '') parts.push({ kind: 'literal', text: literal, isQuoted: false });
      literal = '';
    };
    while (at < text.length && !end.test(text[at] as string)) {
      const character = text[at] as string;
      if (character === '\\') {
        flush();
        parts.push({ kind: 'literal', text: text[at + 1] ?? '', isQuoted: true });
        at += 2;
      } else if (character === "'") {
        flush();
        const close = text.indexOf("'", at + 1);
        if (close < 0) fail('unterminated quoted string');
        parts.push({ kind: 'literal', text: text.slice(at + 1, close), isQuoted: true });
        at = close + 1;
      } else if (character === '"') {
        flush();
        at++;
        parts.push(...quotedParts('"'));
        at++;
      } else {
        const part = character === '$' || character === '`' ? expansion(false) : undefined;
        if (part) {
          flush();
          parts.push(part);
        } else {
          literal += character;
          at++;
        }
      }
    }
    flush();
    return parts;
  }

  function takeName(): string | undefined {
    namePattern.lastIndex = at;
    const name = namePattern.exec(text)?.[0];
    if (name !== undefined) at += name.length;
    return name;
  }

  return {
    list,
    hereText: (): Word => quotedParts(undefined),
    expectEnd(): void {
      skipNewlines();
      if (at < text.length) fail();
    },
  };
}
