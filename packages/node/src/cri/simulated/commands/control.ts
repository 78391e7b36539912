/** Commands for time, conditions and running other commands. */
import { emptyInput, linesOf } from '../byte-streams.ts';
import { absolutePath, type FileTree } from '../file-tree.ts';
import { type signalNumbers, signalOf } from '../process.ts';
import { type Program, type ProgramContext, writeText } from '../program.ts';
import { parseArguments, ToolError, tool } from './arguments.ts';

const unitSeconds: Readonly<Record<string, number>> = { '': 1, s: 1, m: 60, h: 3600, d: 86_400 };
/** Longest timer of Node; a longer sleep never ends. */
const maxTimerMs = 2 ** 31 - 1;

export const controlCommands: Readonly<Record<string, Program>> = {
  true: () => 0,
  false: () => 1,
  sleep: tool(async ({ argv, process }) => {
    const [, ...times] = argv;
    if (times.length === 0) throw new ToolError('missing operand');
    await sleepFor(
      process,
      times.reduce((sum, time) => sum + durationMs(time), 0),
    );
    return 0;
  }),
  usleep: tool(async ({ argv, process }) => {
    await process.sleep(Number(argv[1] ?? 0) / 1000);
    return 0;
  }),
  test: tool((context) => Number(!evaluateTest(context.argv.slice(1), context))),
  '[': tool((context) => bracketTest(context, ']')),
  '[[': tool((context) => bracketTest(context, ']]')),
  env: tool(async (context) => {
    const { argv, environment, stdout } = context;
    const words = argv.slice(1);
    const changed = new Map(words[0] === '-i' ? [] : environment);
    if (words[0] === '-i') words.shift();
    while (/^[A-Za-z_]\w*=/.test(words[0] ?? '')) {
      const [, name = '', value = ''] = /^(\w+)=([\s\S]*)$/.exec(words.shift() as string) ?? [];
      changed.set(name, value);
    }
    if (words.length > 0) return runOther({ ...context, environment: changed }, words);
    for (const [name, value] of changed) await writeText(stdout, `${name}=${value}\n`);
    return 0;
  }),
  printenv: tool(async ({ argv, environment, stdout }) => {
    const names = argv.slice(1);
    if (names.length === 0) {
      for (const [name, value] of environment) await writeText(stdout, `${name}=${value}\n`);
      return 0;
    }
    const values = names.map((name) => environment.get(name));
    for (const value of values) if (value !== undefined) await writeText(stdout, `${value}\n`);
    return values.includes(undefined) ? 1 : 0;
  }),
  nohup: tool((context) => runOther(context, context.argv.slice(1))),
  time: tool((context) => runOther(context, context.argv.slice(1))),
  timeout: tool(async (context) => {
    const { values, operands } = parseTimeout(context.argv.slice(1));
    const [time = '0', ...words] = operands;
    const signal = signalOf(values.get('s') ?? 'TERM') ?? 'SIGTERM';
    const { process, exited } = context.container.spawn((child) => runOther({ ...context, process: child }, words));
    let isLate = false;
    const cancel = context.container.clock.setTimer(durationMs(time), () => {
      isLate = true;
      process.signal(signal);
    });
    const exitCode = await context.process.wait<number>((resolve) => {
      void exited.then((code) => {
        cancel();
        resolve(code);
      });
      return cancel;
    });
    return isLate ? 124 : exitCode;
  }),
  xargs: tool(async (context) => {
    const words = context.argv.slice(1);
    let count = Number.POSITIVE_INFINITY;
    let placeholder: string | undefined;
    while (/^-/.test(words[0] ?? '')) {
      const option = words.shift() as string;
      if (option.startsWith('-n')) count = Number(option.slice(2) || words.shift());
      else if (option.startsWith('-I')) placeholder = option.slice(2) || words.shift();
    }
    const items: string[] = [];
    for await (const line of linesOf(context.stdin, context.process)) {
      items.push(...(placeholder === undefined ? line.split(/\s+/).filter((item) => item !== '') : [line]));
    }
    let exitCode = 0;
    const command = words.length === 0 ? ['echo'] : words;
    const inner = { ...context, stdin: emptyInput };
    while (items.length > 0) {
      const batch = items.splice(0, placeholder === undefined ? Math.min(count, items.length) : 1);
      const argv =
        placeholder === undefined
          ? [...command, ...batch]
          : command.map((word) => word.replaceAll(placeholder as string, batch[0] as string));
      if ((await runOther(inner, argv)) !== 0) exitCode = 123;
    }
    return exitCode;
  }),
  yes: tool(async ({ argv, stdout, process }) => {
    const line = `${argv.length > 1 ? argv.slice(1).join(' ') : 'y'}\n`;
    for (;;) {
      await process.step();
      await writeText(stdout, line);
    }
  }),
  seq: tool(async ({ argv, stdout }) => {
    const { values, operands } = parseArguments(
      argv.slice(1).map((word) => (/^-\d/.test(word) ? `\0${word}` : word)),
      's',
    );
    const numbers = operands.map((word) => Number(word.replace('\0', '')));
    if (numbers.length === 0 || numbers.some(Number.isNaN)) throw new ToolError('invalid number');
    const last = numbers.at(-1) as number;
    const first = numbers.length > 1 ? (numbers[0] as number) : 1;
    const step = numbers.length > 2 ? (numbers[1] as number) : 1;
    if (step === 0) throw new ToolError('invalid number');
    const all: number[] = [];
    for (let value = first; step > 0 ? value <= last : value >= last; value += step) {
      if (all.length >= 100_000) break;
      all.push(value);
    }
    if (all.length > 0) await writeText(stdout, `${all.join(values.get('s') ?? '\n')}\n`);
    return 0;
  }),
  expr: tool(async ({ argv, stdout }) => {
    const value = evaluateExpression(argv.slice(1));
    await writeText(stdout, `${value}\n`);
    return value === '' || value === '0' ? 1 : 0;
  }),
};

function parseTimeout(words: readonly string[]): { values: Map<string, string>; operands: string[] } {
  const values = new Map<string, string>();
  const operands = [...words];
  while (/^-/.test(operands[0] ?? '')) {
    const option = operands.shift() as string;
    const [, letter, rest] = /^-([skt])(.*)$/.exec(option) ?? [];
    if (letter !== undefined) values.set(letter, rest || (operands.shift() ?? ''));
  }
  // Old BusyBox versions use `timeout -t 5 command`.
  const old = values.get('t');
  return { values, operands: old === undefined ? operands : [old, ...operands] };
}

/** `infinity` and durations beyond the clock's range never end. */
async function sleepFor(process: ProgramContext['process'], delayMs: number): Promise<void> {
  if (delayMs <= maxTimerMs) return process.sleep(delayMs);
  return process.wait<void>(() => undefined);
}

function durationMs(text: string): number {
  if (/^inf(inity)?$/.test(text)) return Number.POSITIVE_INFINITY;
  const [, number, unit = ''] = /^(\d+(?:\.\d+)?|\.\d+)([smhd]?)$/.exec(text) ?? [];
  if (number === undefined) throw new ToolError(`invalid number '${text}'`);
  return Number(number) * (unitSeconds[unit] as number) * 1000;
}

async function runOther(context: ProgramContext, argv: readonly string[]): Promise<number> {
  const [name] = argv;
  if (name === undefined) throw new ToolError('missing operand');
  const program = context.container.findProgram(name, context.environment, context.directory);
  if (!program) throw new ToolError(`can't execute '${name}': No such file or directory`, 127);
  return program({ ...context, argv });
}

function bracketTest(context: ProgramContext, end: string): number {
  const words = context.argv.slice(1);
  if (words.pop() !== end) throw new ToolError(`missing ${end}`, 2);
  return Number(!evaluateTest(words, context));
}

/** Evaluates the expression of `test`. */
function evaluateTest(words: readonly string[], context: ProgramContext): boolean {
  let at = 0;
  const { files } = context.container;
  const more = () => at < words.length;
  const take = () => words[at++] as string;

  function either(): boolean {
    let value = both();
    while (more() && words[at] === '-o') {
      at++;
      value = both() || value;
    }
    return value;
  }
  function both(): boolean {
    let value = not();
    while (more() && words[at] === '-a') {
      at++;
      value = not() && value;
    }
    return value;
  }
  function not(): boolean {
    if (words[at] === '!' && words.length - at > 1) {
      at++;
      return !not();
    }
    return primary();
  }
  function primary(): boolean {
    if (!more()) return false;
    const operator = words[at + 1];
    if (operator !== undefined && binaryTests[operator] && words.length - at >= 3) {
      const [left, , right] = [take(), take(), take()];
      return (binaryTests[operator] as NonNullable<(typeof binaryTests)[string]>)(left, right);
    }
    const first = take();
    if (first === '(') {
      const value = either();
      if (take() !== ')') throw new ToolError('closing paren expected', 2);
      return value;
    }
    const unary = unaryTests[first];
    if (!unary || !more()) return first !== '';
    const operand = take();
    return unary(operand, absolutePath(operand, context.directory), files);
  }

  const value = either();
  if (more()) throw new ToolError(`${words[at]}: unknown operand`, 2);
  return value;
}

type UnaryTest = (operand: string, path: string, files: FileTree) => boolean;
const isType =
  (type: string): UnaryTest =>
  (_, path, files) =>
    files.exists(path) && files.stat(path).type === type;

const unaryTests: Readonly<Record<string, UnaryTest>> = {
  '-n': (operand) => operand !== '',
  '-z': (operand) => operand === '',
  '-e': (_, path, files) => files.exists(path),
  '-f': isType('file'),
  '-d': isType('directory'),
  '-c': isType('characterDevice'),
  '-b': () => false,
  '-S': () => false,
  '-p': () => false,
  '-L': (_, path, files) => files.lstat(path)?.type === 'symlink',
  '-h': (_, path, files) => files.lstat(path)?.type === 'symlink',
  '-r': (_, path, files) => files.exists(path),
  '-w': (_, path, files) => files.exists(path),
  '-x': (_, path, files) => files.exists(path) && (files.stat(path).mode & 0o111) !== 0,
  '-s': (_, path, files) => files.exists(path) && files.stat(path).sizeBytes > 0,
  '-t': () => false,
};

const numbers = (left: string, right: string): [number, number] => {
  for (const text of [left, right]) if (!/^\s*[-+]?\d+\s*$/.test(text)) throw new ToolError(`${text}: bad number`, 2);
  return [Number(left), Number(right)];
};
const compares = (holds: (left: number, right: number) => boolean) => (left: string, right: string) =>
  holds(...numbers(left, right));

const binaryTests: Readonly<Record<string, (left: string, right: string) => boolean>> = {
  '=': (left, right) => left === right,
  '==': (left, right) => left === right,
  '!=': (left, right) => left !== right,
  '<': (left, right) => left < right,
  '>': (left, right) => left > right,
  '-eq': compares((left, right) => left === right),
  '-ne': compares((left, right) => left !== right),
  '-lt': compares((left, right) => left < right),
  '-le': compares((left, right) => left <= right),
  '-gt': compares((left, right) => left > right),
  '-ge': compares((left, right) => left >= right),
};

/** Evaluates `expr` with numbers and comparisons, left-associative within each precedence level. */
function evaluateExpression(words: readonly string[]): string {
  let at = 0;
  const levels = [['|'], ['&'], ['=', '!=', '<', '<=', '>', '>='], ['+', '-'], ['*', '/', '%']];
  function level(index: number): string {
    const operators = levels[index];
    if (!operators) {
      if (at >= words.length) throw new ToolError('syntax error', 2);
      return words[at++] as string;
    }
    let left = level(index + 1);
    while (at < words.length && operators.includes(words[at] as string)) {
      const operator = words[at++] as string;
      left = calculate(operator, left, level(index + 1));
    }
    return left;
  }
  const value = level(0);
  if (at < words.length) throw new ToolError('syntax error', 2);
  return value;
}

function calculate(operator: string, left: string, right: string): string {
  const isTrue = (text: string) => text !== '' && text !== '0';
  if (operator === '|') return isTrue(left) ? left : right;
  if (operator === '&') return isTrue(left) && isTrue(right) ? left : '0';
  const areNumbers = /^-?\d+$/.test(left) && /^-?\d+$/.test(right);
  const [x, y] = areNumbers ? [Number(left), Number(right)] : [left, right];
  switch (operator) {
    case '=':
      return String(Number(x === y));
    case '!=':
      return String(Number(x !== y));
    case '<':
      return String(Number(x < y));
    case '<=':
      return String(Number(x <= y));
    case '>':
      return String(Number(x > y));
    case '>=':
      return String(Number(x >= y));
  }
  if (!areNumbers) throw new ToolError('non-numeric argument', 2);
  const [a, b] = [Number(left), Number(right)];
  if (operator === '+') return String(a + b);
  if (operator === '-') return String(a - b);
  if (operator === '*') return String(a * b);
  if (b === 0) throw new ToolError('division by zero', 2);
  return String(operator === '/' ? Math.trunc(a / b) : a % b);
}

/** `kill`, which is also a shell builtin. */
export const killCommand: Program = tool(({ argv, container }) => {
  const words = argv.slice(1);
  let signal: keyof typeof signalNumbers | undefined = 'SIGTERM';
  let isQuestion = false;
  if (words[0] === '-s') {
    signal = signalOf(words[1] ?? '');
    words.splice(0, 2);
  } else if (words[0] === '-0') {
    isQuestion = true;
    words.shift();
  } else if (/^-./.test(words[0] ?? '')) {
    signal = signalOf((words.shift() as string).slice(1));
  }
  if (signal === undefined) throw new ToolError('bad signal name');
  for (const word of words) {
    const pid = Number(word);
    const isThere = isQuestion ? container.processes().some((each) => each.pid === pid) : container.signal(pid, signal);
    if (!isThere) throw new ToolError(`can't kill pid ${word}: No such process`);
  }
  return 0;
});
