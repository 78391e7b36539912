/** Text filters. */
import { linesOf, readAll } from '../byte-streams.ts';
import { type Program, type ProgramContext, writeText } from '../program.ts';
import { parseArguments, ToolError, tool } from './arguments.ts';
import { regExp, toRegExp } from './expression.ts';
import { filesOf, pathOf } from './files.ts';
import { allLines, eachInput } from './inputs.ts';

export const textCommands: Readonly<Record<string, Program>> = {
  echo: async ({ argv, stdout }) => {
    const words = argv.slice(1);
    let hasNewline = true;
    let hasEscapes = false;
    while (/^-[neE]+$/.test(words[0] ?? '')) {
      const letters = words.shift() as string;
      if (letters.includes('n')) hasNewline = false;
      if (letters.includes('e')) hasEscapes = true;
    }
    const text = words.join(' ');
    await writeText(stdout, `${hasEscapes ? unescaped(text) : text}${hasNewline ? '\n' : ''}`);
    return 0;
  },
  printf: tool(async ({ argv, stdout }) => {
    const [, format, ...words] = argv;
    if (format === undefined) throw new ToolError('missing operand');
    await writeText(stdout, formatted(format, words));
    return 0;
  }),
  cat: tool(async (context) => {
    const { flags, operands } = parseArguments(context.argv.slice(1));
    let line = 0;
    return eachInput(context, operands, async (input) => {
      for (let chunk = await input.read(context.process); chunk; chunk = await input.read(context.process)) {
        if (!flags.has('n')) {
          await context.stdout.write(chunk);
          continue;
        }
        const text = Buffer.from(chunk).toString().replace(/\n$/, '');
        const numbered = text.split('\n').map((each) => `${String(++line).padStart(6)}\t${each}\n`);
        await writeText(context.stdout, numbered.join(''));
      }
    });
  }),
  head: tool(async (context) => {
    const { values, operands } = parseArguments(numericOption(context.argv.slice(1)), 'nc');
    return eachInput(context, operands, async (input) => {
      const bytes = values.get('c');
      if (bytes !== undefined) {
        let room = Number(bytes);
        while (room > 0) {
          const chunk = await input.read(context.process);
          if (!chunk) return;
          await context.stdout.write(chunk.subarray(0, room));
          room -= chunk.length;
        }
        return;
      }
      let left = Number(values.get('n') ?? 10);
      while (left-- > 0) {
        const line = await input.readLine(context.process);
        if (line === undefined) return;
        await writeText(context.stdout, `${line}\n`);
      }
    });
  }),
  hexdump: tool(async (context) => {
    const { flags, operands } = parseArguments(context.argv.slice(1));
    if (!flags.has('C')) throw new ToolError('only -C is known here');
    return eachInput(context, operands, async (input) => {
      await writeText(context.stdout, hexDump(await readAll(input, context.process)));
    });
  }),
  tail: tool(tail),
  tac: tool(async (context) => {
    const { operands } = parseArguments(context.argv.slice(1));
    return eachInput(context, operands, async (input) => {
      for (const line of (await allLines(input, context)).reverse()) await writeText(context.stdout, `${line}\n`);
    });
  }),
  wc: tool(async (context) => {
    const { flags, operands } = parseArguments(context.argv.slice(1));
    return eachInput(context, operands, async (input, name) => {
      const text = (await readAll(input, context.process)).toString();
      const counts = {
        l: text.split('\n').length - 1,
        w: text.split(/\s+/).filter((word) => word !== '').length,
        c: Buffer.byteLength(text),
      };
      const wanted = (['l', 'w', 'c'] as const).filter((letter) => flags.size === 0 || flags.has(letter));
      const numbers = wanted.map((letter) => String(counts[letter]));
      const columns = numbers.length === 1 ? numbers : numbers.map((number) => number.padStart(9));
      await writeText(context.stdout, `${columns.join(' ')}${name === undefined ? '' : ` ${name}`}\n`);
    });
  }),
  grep: tool(grep),
  egrep: tool((context) => grep({ ...context, argv: ['egrep', '-E', ...context.argv.slice(1)] })),
  fgrep: tool((context) => grep({ ...context, argv: ['fgrep', '-F', ...context.argv.slice(1)] })),
  cut: tool(async (context) => {
    const { values, operands } = parseArguments(context.argv.slice(1), 'dfc');
    const list = values.get('f') ?? values.get('c') ?? '';
    const isWanted = rangeTest(list);
    const delimiter = values.get('d') ?? '\t';
    return eachInput(context, operands, async (input) => {
      for await (const line of linesOf(input, context.process)) {
        const isByField = values.has('f');
        const parts = isByField ? line.split(delimiter) : [...line];
        const kept = isByField && parts.length === 1 ? parts : parts.filter((_, index) => isWanted(index + 1));
        await writeText(context.stdout, `${kept.join(isByField ? delimiter : '')}\n`);
      }
    });
  }),
  sort: tool(async (context) => {
    const { flags, operands } = parseArguments(context.argv.slice(1), 'kt');
    const lines: string[] = [];
    const exitCode = await eachInput(context, operands, async (input) => {
      lines.push(...(await allLines(input, context)));
    });
    lines.sort(
      flags.has('n') ? (a, b) => Number.parseFloat(a) - Number.parseFloat(b) : (a, b) => (a < b ? -1 : a > b ? 1 : 0),
    );
    if (flags.has('r')) lines.reverse();
    const result = flags.has('u') ? lines.filter((line, index) => line !== lines[index - 1]) : lines;
    if (result.length > 0) await writeText(context.stdout, `${result.join('\n')}\n`);
    return exitCode;
  }),
  uniq: tool(async (context) => {
    const { flags, operands } = parseArguments(context.argv.slice(1));
    return eachInput(context, operands, async (input) => {
      const groups: { line: string; count: number }[] = [];
      for await (const line of linesOf(input, context.process)) {
        const last = groups.at(-1);
        if (last?.line === line) last.count++;
        else groups.push({ line, count: 1 });
      }
      for (const { line, count } of groups) {
        if (flags.has('d') && count === 1) continue;
        await writeText(context.stdout, flags.has('c') ? `${String(count).padStart(7)} ${line}\n` : `${line}\n`);
      }
    });
  }),
  tr: tool(async ({ argv, stdin, stdout, process }) => {
    const { flags, operands } = parseArguments(argv.slice(1));
    const [from = '', to = ''] = operands.map(characterSet);
    const targets = [...to];
    const sources = [...from];
    const translate = (character: string): string => {
      const index = sources.indexOf(character);
      if (index < 0) return character;
      return flags.has('d') ? '' : (targets[index] ?? targets.at(-1) ?? character);
    };
    const decoder = new TextDecoder();
    for (let chunk = await stdin.read(process); chunk; chunk = await stdin.read(process)) {
      await writeText(stdout, [...decoder.decode(chunk, { stream: true })].map(translate).join(''));
    }
    return 0;
  }),
  tee: tool(async (context) => {
    const { flags, operands } = parseArguments(context.argv.slice(1));
    const files = filesOf(context);
    const paths = operands.map((path) => pathOf(context, path));
    for (const path of paths) files.write(path, '', { append: flags.has('a') });
    for (
      let chunk = await context.stdin.read(context.process);
      chunk;
      chunk = await context.stdin.read(context.process)
    ) {
      for (const path of paths) files.write(path, chunk, { append: true });
      await context.stdout.write(chunk);
    }
    return 0;
  }),
  base64: tool(async (context) => {
    const { flags, operands } = parseArguments(context.argv.slice(1), 'w');
    return eachInput(context, operands, async (input) => {
      const bytes = await readAll(input, context.process);
      if (flags.has('d') || flags.has('decode')) await context.stdout.write(Buffer.from(bytes.toString(), 'base64'));
      else await writeText(context.stdout, `${bytes.toString('base64')}\n`);
    });
  }),
  rev: tool(async (context) => {
    for await (const line of linesOf(context.stdin, context.process)) {
      await writeText(context.stdout, `${[...line].reverse().join('')}\n`);
    }
    return 0;
  }),
};

/** Formats sixteen bytes per line: offset, hexadecimal and text. */
function hexDump(bytes: Buffer): string {
  const offset = (position: number) => position.toString(16).padStart(8, '0');
  let text = '';
  for (let start = 0; start < bytes.length; start += 16) {
    const row = bytes.subarray(start, start + 16);
    const pairs = [...row].map((byte, index) => `${index === 8 ? ' ' : ''}${byte.toString(16).padStart(2, '0')}`);
    const shown = [...row].map((byte) => (byte >= 0x20 && byte < 0x7f ? String.fromCharCode(byte) : '.')).join('');
    text += `${offset(start)}  ${pairs.join(' ').padEnd(48)}  |${shown}|\n`;
  }
  return bytes.length === 0 ? '' : `${text}${offset(bytes.length)}\n`;
}

/** Converts `-5` to `-n 5`. */
function numericOption(words: readonly string[]): string[] {
  return words.flatMap((word) => (/^-\d+$/.test(word) ? ['-n', word.slice(1)] : [word]));
}

/** Poll interval of a followed file. */
const followMs = 1000;

async function tail(context: ProgramContext): Promise<number> {
  const { argv, process, stdout } = context;
  const { flags, values, operands } = parseArguments(numericOption(argv.slice(1)), 'nc');
  const count = values.get('n') ?? '10';
  const exitCode = await eachInput(context, operands, async (input) => {
    const bytes = values.get('c');
    if (bytes !== undefined) {
      const all = await readAll(input, process);
      await stdout.write(all.subarray(Math.max(0, all.length - Number(bytes))));
      return;
    }
    const lines = await allLines(input, context);
    const shown = count.startsWith('+')
      ? lines.slice(Number(count.slice(1)) - 1)
      : lines.slice(-Number(count) || lines.length);
    for (const line of count === '0' ? [] : shown) await writeText(stdout, `${line}\n`);
  });
  const isFollowing = flags.has('f') || flags.has('F');
  if (!isFollowing || exitCode !== 0) return isFollowing && flags.has('F') ? followFile(context, operands) : exitCode;
  return followFile(context, operands);
}

async function followFile(context: ProgramContext, names: readonly string[]): Promise<number> {
  const { process, stdout } = context;
  const [name] = names;
  // A file that never grows is followed without a timer.
  if (name === undefined || name === '/dev/null') return process.wait<number>(() => undefined);
  const files = filesOf(context);
  const path = pathOf(context, name);
  let shown = files.exists(path) ? files.read(path).length : 0;
  for (;;) {
    await process.sleep(followMs);
    if (!files.exists(path)) continue;
    const content = files.read(path);
    if (content.length < shown) shown = 0;
    if (content.length > shown) await stdout.write(content.subarray(shown));
    shown = content.length;
  }
}

async function grep(context: ProgramContext): Promise<number> {
  const { flags, values, operands } = parseArguments(context.argv.slice(1), 'emABC');
  const [pattern = '', ...files] = values.has('e') ? [values.get('e') as string, ...operands] : operands;
  const isFixed = flags.has('F');
  const source = isFixed ? pattern.replace(/[\\^$.*+?()[\]{}|]/g, '\\$&') : toRegExp(pattern, flags.has('E'));
  const expression = regExp(flags.has('w') ? `\\b(?:${source})\\b` : flags.has('x') ? `^(?:${source})$` : source, {
    ignoresCase: flags.has('i'),
  });
  let found = 0;
  const exitCode = await eachInput(context, files, async (input, name) => {
    let count = 0;
    for await (const line of linesOf(input, context.process)) {
      const match = expression.find(line);
      if ((match !== undefined) === flags.has('v')) continue;
      count++;
      if (flags.has('q') || flags.has('c')) continue;
      const text = flags.has('o') && match !== undefined ? match : line;
      await writeText(context.stdout, files.length > 1 && !flags.has('h') ? `${name}:${text}\n` : `${text}\n`);
      if (count >= Number(values.get('m') ?? Number.POSITIVE_INFINITY)) break;
    }
    if (flags.has('c')) await writeText(context.stdout, `${count}\n`);
    found += count;
  });
  return exitCode !== 0 ? 2 : found > 0 ? 0 : 1;
}

/** Returns a test for positions in a list such as `1,3-5,7-`. */
function rangeTest(list: string): (position: number) => boolean {
  const ranges = list.split(',').map((part) => {
    const [, from = '', dash, to = ''] = /^(\d*)(?:(-)(\d*))?$/.exec(part) ?? [];
    if (from === '' && to === '') throw new ToolError(`invalid range '${list}'`);
    const first = from === '' ? 1 : Number(from);
    return { first, last: dash ? (to === '' ? Number.POSITIVE_INFINITY : Number(to)) : first };
  });
  return (position) => ranges.some(({ first, last }) => position >= first && position <= last);
}

/** Expands ranges such as `a-z`. */
function characterSet(text: string): string {
  return unescaped(text)
    .replace(/\[:upper:\]/g, 'A-Z')
    .replace(/\[:lower:\]/g, 'a-z')
    .replace(/\[:digit:\]/g, '0-9')
    .replace(/\[:space:\]/g, ' \t\n\r')
    .replace(/(.)-(.)/gs, (_, from: string, to: string) => {
      let all = '';
      for (let code = from.charCodeAt(0); code <= to.charCodeAt(0); code++) all += String.fromCharCode(code);
      return all;
    });
}

const escapes: Readonly<Record<string, string>> = {
  n: '\n',
  t: '\t',
  r: '\r',
  a: '\x07',
  b: '\b',
  f: '\f',
  v: '\v',
  e: '\x1b',
  '\\': '\\',
  '"': '"',
};

function unescaped(text: string): string {
  return text.replace(
    /\\(?:0([0-7]{1,3})|x([0-9a-fA-F]{1,2})|([\s\S]))/g,
    (all, octal?: string, hex?: string, letter?: string) => {
      if (octal !== undefined) return String.fromCharCode(Number.parseInt(octal, 8));
      if (hex !== undefined) return String.fromCharCode(Number.parseInt(hex, 16));
      return escapes[letter as string] ?? all;
    },
  );
}

/** Repeats the format while there are arguments left. */
function formatted(format: string, words: readonly string[]): string {
  const rest = [...words];
  let result = '';
  do {
    const before = rest.length;
    result += unescaped(format).replace(/%(-?)(0?)(\d*)(?:\.(\d+))?([sdiuxXofcbq%])/g, (...parts) => {
      const [, left, zero, width, precision, kind] = parts as string[];
      if (kind === '%') return '%';
      const text = formattedWord(kind as string, rest.shift() ?? '', precision);
      return left ? text.padEnd(Number(width)) : text.padStart(Number(width), zero ? '0' : ' ');
    });
    if (rest.length === before) break;
  } while (rest.length > 0);
  return result;
}

function formattedWord(kind: string, word: string, precision: string | undefined): string {
  const number = Number(word) || 0;
  switch (kind) {
    case 'd':
    case 'i':
    case 'u':
      return String(Math.trunc(number));
    case 'x':
      return Math.trunc(number).toString(16);
    case 'X':
      return Math.trunc(number).toString(16).toUpperCase();
    case 'o':
      return Math.trunc(number).toString(8);
    case 'f':
      return number.toFixed(precision === undefined ? 6 : Number(precision));
    case 'c':
      return word.slice(0, 1);
    case 'b':
      return unescaped(word);
    default:
      return precision === undefined ? word : word.slice(0, Number(precision));
  }
}
