/** Parser of words: quoting and expansions. */
import { type Cursor, cursorAt, failAt, skipBlanks, takeName, takeOperator } from './cursor.ts';
import type { Parameter, Script, Word, WordPart } from './syntax.ts';

export type WordParser = {
  /** Parses the next word; undefined if the next token is none. */
  word(): Word | undefined;
  /** Parses the word at the cursor, which may be empty. */
  wordHere(): Word;
  /** Parses the rest of the text as if double-quoted. */
  quotedText(): Word;
};

const wordEnd = /[\s;&|()<>]/;
const specialParameter = /[@*#?$!0-9-]/;

/** Creates a word parser; `readList` parses the commands in `$(…)`. */
export function createWordParser(cursor: Cursor, readList: (cursor: Cursor) => Script): WordParser {
  const { text } = cursor;

  function word(): Word | undefined {
    skipBlanks(cursor);
    const before = cursor.at;
    const parts = unquoted(wordEnd);
    return cursor.at === before ? undefined : parts;
  }

  /** Parses unquoted parts up to an end character. */
  function unquoted(end: RegExp): Word {
    const parts: WordPart[] = [];
    let literal = '';
    const flush = () => {
      if (literal !== '') parts.push({ kind: 'literal', text: literal, isQuoted: false });
      literal = '';
    };
    while (cursor.at < text.length) {
      const character = text[cursor.at] as string;
      if (end.test(character)) break;
      if (character === '\\' && text[cursor.at + 1] === '\n') {
        cursor.at += 2;
        continue;
      }
      const more = special(character);
      if (more) {
        flush();
        parts.push(...more);
        continue;
      }
      literal += character;
      cursor.at++;
    }
    flush();
    return parts;
  }

  /** Parses the construct that a special character starts; undefined for an ordinary character. */
  function special(character: string): readonly WordPart[] | undefined {
    switch (character) {
      case '\\': {
        const escaped = text[cursor.at + 1] ?? '\\';
        cursor.at += 2;
        return [{ kind: 'literal', text: escaped, isQuoted: true }];
      }
      case "'": {
        const end = text.indexOf("'", cursor.at + 1);
        if (end < 0) failAt(cursor, 'unterminated quoted string');
        const content = text.slice(cursor.at + 1, end);
        cursor.at = end + 1;
        return [{ kind: 'literal', text: content, isQuoted: true }];
      }
      case '"': {
        cursor.at++;
        const parts = quotedParts('"');
        cursor.at++;
        return parts;
      }
      case '$':
      case '`': {
        const part = expansion(false);
        return part && [part];
      }
      default:
        return undefined;
    }
  }

  /** Parses the parts within double quotes or a here-document. */
  function quotedParts(end: string | undefined): WordPart[] {
    const parts: WordPart[] = [];
    let literal = '';
    const flush = () => {
      parts.push({ kind: 'literal', text: literal, isQuoted: true });
      literal = '';
    };
    for (;;) {
      if (cursor.at >= text.length) {
        if (end !== undefined) failAt(cursor, 'unterminated quoted string');
        break;
      }
      const character = text[cursor.at] as string;
      if (character === end) break;
      if (character === '\\' && /[$`"\\\n]/.test(text[cursor.at + 1] ?? '')) {
        if (text[cursor.at + 1] !== '\n') literal += text[cursor.at + 1];
        cursor.at += 2;
        continue;
      }
      const part = character === '$' || character === '`' ? expansion(true) : undefined;
      if (part) {
        if (literal !== '') flush();
        parts.push(part);
        continue;
      }
      literal += character;
      cursor.at++;
    }
    // Empty quotes are a word, too.
    if (literal !== '' || parts.length === 0) flush();
    return parts;
  }

  function expansion(isQuoted: boolean): WordPart | undefined {
    if (text[cursor.at] === '`') return backquoted(isQuoted);
    if (text.startsWith('$((', cursor.at)) return arithmetic(isQuoted);
    if (text.startsWith('$(', cursor.at)) {
      cursor.at += 2;
      const script = readList(cursor);
      if (!takeOperator(cursor, ')')) failAt(cursor);
      return { kind: 'command', script, isQuoted };
    }
    if (text.startsWith('${', cursor.at)) {
      cursor.at += 2;
      const parameter = bracedParameter();
      return { kind: 'parameter', parameter, isQuoted };
    }
    const next = text[cursor.at + 1] ?? '';
    if (specialParameter.test(next)) {
      cursor.at += 2;
      return { kind: 'parameter', parameter: { name: next }, isQuoted };
    }
    cursor.at++;
    const name = takeName(cursor);
    if (name !== undefined) return { kind: 'parameter', parameter: { name }, isQuoted };
    cursor.at--;
    return undefined;
  }

  function backquoted(isQuoted: boolean): WordPart {
    cursor.at++;
    let inner = '';
    while (cursor.at < text.length && text[cursor.at] !== '`') {
      if (text[cursor.at] === '\\' && /[$`\\]/.test(text[cursor.at + 1] ?? '')) cursor.at++;
      inner += text[cursor.at++];
    }
    if (cursor.at >= text.length) failAt(cursor, 'unterminated quoted string');
    cursor.at++;
    const innerCursor = cursorAt(inner, cursor.depth);
    const script = readList(innerCursor);
    if (innerCursor.at < inner.length) failAt(innerCursor);
    return { kind: 'command', script, isQuoted };
  }

  function arithmetic(isQuoted: boolean): WordPart {
    cursor.at += 3;
    const start = cursor.at;
    let open = 0;
    while (cursor.at < text.length) {
      if (text[cursor.at] === '(') open++;
      if (text[cursor.at] === ')') {
        if (open === 0 && text[cursor.at + 1] === ')') break;
        open--;
      }
      cursor.at++;
    }
    if (cursor.at >= text.length) failAt(cursor, 'missing "))"');
    const expression = createWordParser(cursorAt(text.slice(start, cursor.at), cursor.depth), readList).quotedText();
    cursor.at += 2;
    return { kind: 'arithmetic', expression, isQuoted };
  }

  function bracedParameter(): Parameter {
    if (text[cursor.at] === '#' && text[cursor.at + 1] !== '}') {
      cursor.at++;
      const name = parameterName();
      expectBrace();
      return { name, operator: 'length' };
    }
    const name = parameterName();
    const operator = /^(?::?[-=+?]|%%?|##?|\/\/?|:)/.exec(text.slice(cursor.at, cursor.at + 2))?.[0];
    if (operator === undefined) {
      expectBrace();
      return { name };
    }
    cursor.at += operator.length;
    if (operator.startsWith('/')) {
      const pattern = unquoted(/[/}]/);
      let replacement: Word = [];
      if (text[cursor.at] === '/') {
        cursor.at++;
        replacement = unquoted(/[}]/);
      }
      expectBrace();
      return { name, operator, word: pattern, replacement };
    }
    const operand = unquoted(/[}]/);
    expectBrace();
    return { name, operator, word: operand };
  }

  function parameterName(): string {
    const special = text[cursor.at] ?? '';
    const name = takeName(cursor);
    if (name !== undefined) return name;
    const digits = /^\d+/.exec(text.slice(cursor.at, cursor.at + 8))?.[0];
    if (digits !== undefined) {
      cursor.at += digits.length;
      return digits;
    }
    if (!specialParameter.test(special)) failAt(cursor, 'bad substitution');
    cursor.at++;
    return special;
  }

  function expectBrace(): void {
    if (text[cursor.at] !== '}') failAt(cursor, 'bad substitution');
    cursor.at++;
  }

  return { word, wordHere: () => unquoted(wordEnd), quotedText: () => quotedParts(undefined) };
}
