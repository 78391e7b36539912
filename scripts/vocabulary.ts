/**
 * The vocabulary of the project: one concept has one name, and it is the name Kubernetes engineers search for.
 *
 * `node scripts/vocabulary.ts [PATH…]` lists the violations below some paths, one per line.
 */
import { execFileSync } from 'node:child_process';
import { existsSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';

/** A place in a file that breaks a rule of the vocabulary. */
export type Violation = { readonly file: string; readonly line: number; readonly rule: string; readonly text: string };

/** Words that prose does not use: comments, test titles, log messages and pages. */
const bannedProse = new RegExp(
  String.raw`\b(?:${[
    'told',
    'tells?',
    'whom(?:ever)?',
    'whoever',
    'nobody',
    'somebody',
    'everybody',
    'anew',
    'overtaken',
    'befalls?',
    'woken',
    'soonest',
    'of (?:no )?concern',
    'lets? go',
    'letting go',
    '(?:in|into) sight',
    'at the least',
    'of effect',
    'on its way out',
  ].join('|')})\b`,
  'i',
);

/** Words that are no part of an identifier, in the spelling of its parts: `isTold` has the part `told`. */
const bannedParts = new Set(
  (
    'told tell tells teller telling say says said saying who whom whoever nobody somebody everybody anew befall befalls ' +
    'weather weathers overtaken concern concerns concerned remembered soonest situation circumstances census witness ' +
    'doubt doubts doubted sight spared passage conduct conversation conversations foundation woken wakes inquire ' +
    'outlived begun guest ledger course'
  ).split(' '),
);

/** Functions that find or make an object by its name are called `findRevision` or `makePod`. */
const bannedSuffix = /^[a-z]\w*[a-z]Named$/;

/** First words of a doc comment that promise a clause instead of a sentence. */
const bannedOpening = /^(What|Who|Whoever|Whom|Of|So|How|Whether)\b/;

/** First words of the documentation of a field, which begins with its noun: `Time at which …`, `Number of …`. */
const bannedFieldOpening =
  /^(What|Who|Whose|Whoever|Whom|Of|So|How|Whether|When|Where|Why|Which|It|Its|That|Those|These|They|Such|Some)\b/;

/** Files whose strings are the documentation of fields, which `kubectl explain` prints. */
const definitions = /^packages\/api\/src\/(?!.*(?:\.test|\.validate|\.warnings|fixtures)\.ts$)/;

/** References to sections of pages that are not in the repository. */
const citation = /[\w-]+\.md,? §|§\s?\d/;

type Token = { readonly type: 'comment' | 'string' | 'code'; readonly start: number; readonly text: string };

/** Splits a TypeScript source into comments, strings and code. */
export function tokenize(source: string): readonly Token[] {
  const tokens: Token[] = [];
  let codeStart = 0;
  let position = 0;
  /** Braces that are open inside of each template literal around the position. */
  const templates: number[] = [];
  const push = (type: Token['type'], start: number, end: number) => {
    if (end > start) tokens.push({ type, start, text: source.slice(start, end) });
  };
  const take = (type: 'comment' | 'string', end: number) => {
    push('code', codeStart, position);
    push(type, position, end);
    position = end;
    codeStart = end;
  };
  const templateEnd = (from: number) => {
    let at = from;
    while (at < source.length && source[at] !== '`' && !(source[at] === '$' && source[at + 1] === '{')) {
      at += source[at] === '\\' ? 2 : 1;
    }
    return at;
  };
  const takeTemplate = (from: number) => {
    const end = templateEnd(from);
    if (source[end] === '$') templates.push(0);
    take('string', end + (source[end] === '$' ? 2 : 1));
  };
  while (position < source.length) {
    const character = source[position]!;
    const next = source[position + 1];
    if (character === '/' && next === '/') {
      const end = source.indexOf('\n', position);
      take('comment', end < 0 ? source.length : end);
    } else if (character === '/' && next === '*') {
      take('comment', source.indexOf('*/', position + 2) + 2);
    } else if (character === '"' || character === "'") {
      let end = position + 1;
      while (end < source.length && source[end] !== character && source[end] !== '\n')
        end += source[end] === '\\' ? 2 : 1;
      take('string', end + 1);
    } else if (character === '`') {
      takeTemplate(position + 1);
    } else if (character === '/' && startsRegExp(source, position)) {
      take('string', regExpEnd(source, position));
    } else {
      const depth = templates.length - 1;
      if (depth >= 0 && character === '{') templates[depth]!++;
      if (depth >= 0 && character === '}' && templates[depth]!-- === 0) {
        templates.pop();
        takeTemplate(position + 1);
      } else {
        position++;
      }
    }
  }
  push('code', codeStart, source.length);
  return tokens;
}

function startsRegExp(source: string, position: number): boolean {
  const before = source.slice(Math.max(0, position - 40), position).trimEnd();
  return before === '' || /(?:[(,=:[!&|?{};~^+*%<>-]|\b(?:return|typeof|case|in|of))$/.test(before);
}

function regExpEnd(source: string, position: number): number {
  let isInClass = false;
  let at = position + 1;
  while (at < source.length && source[at] !== '\n' && (isInClass || source[at] !== '/')) {
    if (source[at] === '[') isInClass = true;
    if (source[at] === ']') isInClass = false;
    at += source[at] === '\\' ? 2 : 1;
  }
  return at + 1;
}

/** Returns what breaks the vocabulary in a source file. */
export function sourceViolations(file: string, source: string): readonly Violation[] {
  const violations: Violation[] = [];
  const report = (start: number, rule: string, text: string) => {
    const line = source.slice(0, start).split('\n').length;
    violations.push({ file, line, rule, text: text.replace(/\s+/g, ' ').trim().slice(0, 110) });
  };
  const reportMatch = (token: Token, pattern: RegExp, rule: string) => {
    const match = pattern.exec(token.text);
    if (match)
      report(token.start + match.index, rule, token.text.slice(Math.max(0, match.index - 40), match.index + 60));
  };
  let code = '';
  for (const token of tokenize(source)) {
    if (token.type === 'comment') {
      const first = token.text.replace(/^\/\*\*\s*(?:\*\s*)?/, '');
      if (token.text.startsWith('/**') && bannedOpening.test(first))
        report(token.start, 'opening of a doc comment', first);
      reportMatch(token, bannedProse, 'word in a comment');
      reportMatch(token, citation, 'citation');
    } else if (token.type === 'string') {
      if (/\b(?:test|it|describe)\(\s*$/.test(code)) reportMatch(token, bannedProse, 'word in a test title');
      if (/\blog\.(?:debug|info|warn|error)\((?:\s*\{[^{}]*\},)?\s*$/.test(code.slice(-300))) {
        reportMatch(token, bannedProse, 'word in a log message');
      }
      // Names and enumerated values are single words; error messages begin with a lower-case letter.
      if (definitions.test(file) && /^['"`][A-Z][^\n]* /.test(token.text)) {
        const text = token.text.slice(1, -1);
        if (bannedFieldOpening.test(text)) report(token.start, 'opening of the documentation of a field', text);
        reportMatch(token, bannedProse, 'word in the documentation of a field');
      }
    } else {
      for (const { 0: name, index } of token.text.matchAll(/[A-Za-z_$][\w$]*/g)) {
        const parts = name.split(/(?=[A-Z])|_/).map((part) => part.toLowerCase());
        const banned = parts.find((part) => bannedParts.has(part));
        if (banned !== undefined) report(token.start + index, `identifier with "${banned}"`, name);
        else if (bannedSuffix.test(name)) report(token.start + index, 'identifier that ends with "Named"', name);
      }
    }
    code = token.type === 'code' ? token.text : '';
  }
  return violations;
}

/** Returns what breaks the vocabulary in a page. */
export function pageViolations(file: string, page: string): readonly Violation[] {
  let isCode = false;
  return page.split('\n').flatMap((text, index) => {
    if (text.startsWith('```')) isCode = !isCode;
    const rule = bannedProse.test(text.replace(/`[^`]*`/g, ''))
      ? 'word in a page'
      : citation.test(text)
        ? 'citation'
        : undefined;
    return rule === undefined || isCode ? [] : [{ file, line: index + 1, rule, text: text.trim().slice(0, 110) }];
  });
}

/** Returns what breaks the vocabulary in the tracked files below some paths of the repository. */
export function vocabularyViolations(root: string, paths: readonly string[]): readonly Violation[] {
  const files = execFileSync('git', ['ls-files', '-co', '--exclude-standard', ...paths], {
    cwd: root,
    encoding: 'utf8',
  })
    .split('\n')
    .filter((file) => /\.(?:ts|mjs|md)$/.test(file) && !file.includes('/generated/') && existsSync(join(root, file)));
  return files.flatMap((file) => {
    // The checker and its test contain the words themselves.
    if (/^scripts\/vocabulary(?:\.test)?\.ts$/.test(file)) return [];
    const text = readFileSync(join(root, file), 'utf8');
    return file.endsWith('.md') ? pageViolations(file, text) : sourceViolations(file, text);
  });
}

if (process.argv[1] === fileURLToPath(import.meta.url)) {
  const root = fileURLToPath(new URL('..', import.meta.url));
  for (const { file, line, rule, text } of vocabularyViolations(root, process.argv.slice(2))) {
    console.log(`${file}:${line}: ${rule}: ${text}`);
  }
}
