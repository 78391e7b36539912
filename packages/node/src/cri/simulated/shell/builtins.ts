/** Shell builtins. */
import { absolutePath } from '../file-tree.ts';
import { type SignalName, signalOf } from '../process.ts';
import { type Spawned, writeText } from '../program.ts';
import { CommandError, environmentOf, type Frame, FunctionReturn, LoopControl, ShellExit } from './state.ts';

type Builtin = (argv: readonly string[], frame: Frame) => number | Promise<number>;

export const builtins: Readonly<Record<string, Builtin>> = {
  ':': () => 0,
  '.': source,
  source,
  break: (argv) => {
    throw new LoopControl('break', levels(argv[1]));
  },
  cd,
  command: commandBuiltin,
  continue: (argv) => {
    throw new LoopControl('continue', levels(argv[1]));
  },
  eval: ([, ...words], frame) => frame.shell.executeText(words.join(' '), frame),
  exec,
  exit: ([, code], { state }) => {
    throw new ShellExit(numberOf(code ?? String(state.lastExitCode), 'exit') & 0xff);
  },
  export: exportNames,
  jobs: () => 0,
  local: declare,
  pwd: async (_, { state, streams }) => {
    await writeText(streams.stdout, `${state.directory}\n`);
    return 0;
  },
  read,
  readonly: declare,
  return: ([, code], { state }) => {
    throw new FunctionReturn(numberOf(code ?? String(state.lastExitCode), 'return') & 0xff);
  },
  set: setOptions,
  shift: ([, count], { state }) => {
    const places = numberOf(count ?? '1', 'shift');
    if (places > state.parameters.length) return 1;
    state.parameters = state.parameters.slice(places);
    return 0;
  },
  trap,
  type: async ([, ...names], { state, streams, context }) => {
    let exitCode = 0;
    for (const name of names) {
      const isKnown = name in builtins || context.container.findProgram(name, environmentOf(state), state.directory);
      await writeText(streams.stdout, isKnown ? `${name} is ${name}\n` : `${name}: not found\n`);
      if (!isKnown) exitCode = 127;
    }
    return exitCode;
  },
  ulimit: () => 0,
  umask: () => 0,
  unset: ([, ...names], { state }) => {
    for (const name of names) {
      state.variables.delete(name);
      state.exported.delete(name);
      state.functions.delete(name);
    }
    return 0;
  },
  wait,
};

function numberOf(text: string, command: string): number {
  if (!/^\d+$/.test(text)) throw new CommandError(`${command}: Illegal number: ${text}`, 2);
  return Number(text);
}

function levels(text = '1'): number {
  return Math.max(1, numberOf(text, 'break'));
}

async function cd([, target]: readonly string[], { state, context }: Frame): Promise<number> {
  const { files } = context.container;
  const goal = target === '-' ? state.variables.get('OLDPWD') : (target ?? state.variables.get('HOME'));
  const path = absolutePath(goal ?? '/', state.directory);
  if (!files.exists(path) || files.stat(path).type !== 'directory') {
    throw new CommandError(`cd: can't cd to ${goal}: No such file or directory`);
  }
  state.variables.set('OLDPWD', state.directory);
  state.directory = normalized(path);
  state.variables.set('PWD', state.directory);
  return 0;
}

function normalized(path: string): string {
  const parts: string[] = [];
  for (const part of path.split('/')) {
    if (part === '..') parts.pop();
    else if (part !== '' && part !== '.') parts.push(part);
  }
  return `/${parts.join('/')}`;
}

async function commandBuiltin([, ...words]: readonly string[], frame: Frame): Promise<number> {
  const { state, streams, context } = frame;
  if (words[0] === '-v' || words[0] === '-V') {
    const name = words[1] ?? '';
    const isBuiltin = name in builtins || state.functions.has(name);
    if (!isBuiltin && !context.container.findProgram(name, environmentOf(state), state.directory)) return 127;
    await writeText(streams.stdout, isBuiltin || name.includes('/') ? `${name}\n` : `/bin/${name}\n`);
    return 0;
  }
  const builtin = builtins[words[0] ?? ''];
  if (builtin) return builtin(words, frame);
  return words.length === 0 ? 0 : frame.shell.runProgram(words, environmentOf(state), frame);
}

async function source([, path = '', ...parameters]: readonly string[], frame: Frame): Promise<number> {
  const { state, context } = frame;
  const text = Buffer.from(context.container.files.read(absolutePath(path, state.directory))).toString();
  const before = state.parameters;
  if (parameters.length > 0) state.parameters = parameters;
  try {
    return await frame.shell.executeText(text, frame);
  } catch (error) {
    if (error instanceof FunctionReturn) return error.exitCode;
    throw error;
  } finally {
    state.parameters = before;
  }
}

/** Replaces the shell with a program; its signal traps are reset. */
async function exec([, ...words]: readonly string[], frame: Frame): Promise<number> {
  const { state, context } = frame;
  if (words.length === 0) return 0;
  for (const signal of state.traps.keys()) if (signal !== 'EXIT') context.process.handle(signal, undefined);
  state.traps.clear();
  throw new ShellExit(await frame.shell.runProgram(words, environmentOf(state), frame));
}

async function exportNames(argv: readonly string[], frame: Frame): Promise<number> {
  const { state, streams } = frame;
  const words = argv.slice(1).filter((word) => word !== '-p');
  if (words.length === 0) {
    for (const [name, value] of environmentOf(state)) await writeText(streams.stdout, `export ${name}='${value}'\n`);
  }
  declare(argv, frame);
  for (const word of words) state.exported.add(word.split('=')[0] as string);
  return 0;
}

function declare([, ...words]: readonly string[], { state }: Frame): number {
  for (const word of words) {
    const equals = word.indexOf('=');
    if (equals > 0) state.variables.set(word.slice(0, equals), word.slice(equals + 1));
  }
  return 0;
}

async function read(argv: readonly string[], { state, streams, context }: Frame): Promise<number> {
  const names = argv.slice(1).filter((word) => !word.startsWith('-'));
  if (names.length === 0) names.push('REPLY');
  const line = await streams.stdin.readLine(context.process);
  const separators = state.variables.get('IFS') ?? ' \t\n';
  const rest = separators === '' ? [line ?? ''] : splitFields(line ?? '', names.length, separators);
  for (const [index, name] of names.entries()) state.variables.set(name, rest[index] ?? '');
  return line === undefined ? 1 : 0;
}

function splitFields(line: string, count: number, separators: string): string[] {
  const fields: string[] = [];
  const isSeparator = (character: string) => separators.includes(character);
  let at = 0;
  const skip = () => {
    while (at < line.length && isSeparator(line[at] as string)) at++;
  };
  skip();
  while (at < line.length && fields.length < count - 1) {
    const start = at;
    while (at < line.length && !isSeparator(line[at] as string)) at++;
    fields.push(line.slice(start, at));
    skip();
  }
  let end = line.length;
  while (end > at && isSeparator(line[end - 1] as string)) end--;
  if (at < end) fields.push(line.slice(at, end));
  return fields;
}

function setOptions([, ...words]: readonly string[], { state }: Frame): number {
  for (const [index, word] of words.entries()) {
    if (word === '--') {
      state.parameters = words.slice(index + 1);
      return 0;
    }
    const letters = /^([-+])([a-z]+)$/i.exec(word);
    if (!letters) {
      if (words[index - 1] === '-o' || words[index - 1] === '+o') continue;
      state.parameters = words.slice(index);
      return 0;
    }
    for (const letter of letters[2] as string) {
      if (letter === 'o') {
        const option = { errexit: 'e', nounset: 'u', xtrace: 'x' }[words[index + 1] ?? ''];
        if (option) setOption(state.options, option, letters[1] === '-');
      } else {
        setOption(state.options, letter, letters[1] === '-');
      }
    }
  }
  return 0;
}

function setOption(options: Set<string>, letter: string, isOn: boolean): void {
  if (isOn) options.add(letter);
  else options.delete(letter);
}

function trap([, action, ...names]: readonly string[], { state, context }: Frame): number {
  if (action === undefined) return 0;
  const isReset = action === '-' || (names.length === 0 && signalOf(action) !== undefined);
  for (const name of isReset && names.length === 0 ? [action] : names) {
    const signal: SignalName | 'EXIT' | undefined = name === 'EXIT' || name === '0' ? 'EXIT' : signalOf(name);
    if (signal === undefined) throw new CommandError(`trap: ${name}: invalid signal specification`);
    if (isReset) state.traps.delete(signal);
    else state.traps.set(signal, action);
    if (signal === 'EXIT') continue;
    const onSignal = () => {
      state.pendingSignals.push(signal);
      state.onSignal?.();
    };
    context.process.handle(signal, isReset ? undefined : action === '' ? 'ignore' : onSignal);
  }
  return 0;
}

/** Waits for jobs; a trapped signal interrupts the wait. */
async function wait([, ...words]: readonly string[], { state, context }: Frame): Promise<number> {
  const pids = words.map(Number);
  const jobs = words.length === 0 ? state.jobs : state.jobs.filter(({ process }) => pids.includes(process.pid));
  if (words.length > 0 && jobs.length === 0) return 127;
  const outcome = await context.process.wait<number | 'signal'>((resolve) => {
    state.onSignal = () => resolve('signal');
    void Promise.all(jobs.map(({ exited }: Spawned) => exited)).then((codes) => resolve(codes.at(-1) ?? 0));
    return undefined;
  });
  state.onSignal = undefined;
  if (outcome === 'signal') return 128;
  return words.length === 0 ? 0 : outcome;
}
