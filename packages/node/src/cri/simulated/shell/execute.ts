/** Script execution. */
import { BrokenPipe, collectingOutput, createPipe, inputOf, nullOutput, type Output } from '../byte-streams.ts';
import { absolutePath, FileError } from '../file-tree.ts';
import { signalNumbers } from '../process.ts';
import { type ProgramContext, writeText } from '../program.ts';
import { builtins } from './builtins.ts';
import { type Capture, expandPattern, expandText, expandWords } from './expand.ts';
import { parseScript } from './parse.ts';
import { matches } from './pattern.ts';
import {
  CommandError,
  environmentOf,
  type Frame,
  FunctionReturn,
  forkState,
  LoopControl,
  ShellExit,
  type ShellState,
  type Streams,
} from './state.ts';
import { type Assignment, type Command, type Redirection, type Script, ShellSyntaxError } from './syntax.ts';

const maxCaptureBytes = 1024 * 1024;

/** Runs the items of a script in order; resolves with the last exit code. */
export async function executeScript(script: Script, frame: Frame): Promise<number> {
  for (const { command, isBackground } of script.items) {
    if (isBackground) startJob(command, frame);
    else frame.state.lastExitCode = await executeCommand(command, frame);
    await runPendingTraps(frame);
  }
  return script.items.length === 0 ? 0 : frame.state.lastExitCode;
}

export async function executeText(text: string, frame: Frame): Promise<number> {
  return executeScript(parseScript(text), frame);
}

/** Runs the traps of pending signals. */
export async function runPendingTraps(frame: Frame): Promise<void> {
  const { state } = frame;
  for (let signal = state.pendingSignals.shift(); signal; signal = state.pendingSignals.shift()) {
    const action = state.traps.get(signal);
    if (action === undefined) continue;
    const before = state.lastExitCode;
    await executeText(action, frame);
    state.lastExitCode = before;
  }
}

async function executeCommand(command: Command, frame: Frame): Promise<number> {
  await frame.context.process.step();
  try {
    const redirected = await redirect(command.redirections, frame);
    return checked(command, await dispatch(command, redirected), frame.state);
  } catch (error) {
    if (error instanceof CommandError || error instanceof FileError) {
      await printError(frame, error instanceof FileError ? `${error.path}: ${error.description}` : error.message);
      return checked(command, error instanceof CommandError ? error.exitCode : 1, frame.state);
    }
    throw error;
  }
}

/** With `set -e` a failing command exits the shell, unless it is a condition. */
function checked(command: Command, exitCode: number, state: ShellState): number {
  const isPlain = command.kind === 'simple' || command.kind === 'pipeline' || command.kind === 'subshell';
  if (exitCode !== 0 && isPlain && state.conditionDepth === 0 && state.options.has('e')) throw new ShellExit(exitCode);
  return exitCode;
}

function dispatch(command: Command, frame: Frame): Promise<number> {
  switch (command.kind) {
    case 'simple':
      return executeSimple(command, frame);
    case 'pipeline':
      return executePipeline(command, frame);
    case 'and':
    case 'or':
      return executeAndOr(command, frame);
    case 'if':
      return executeIf(command, frame);
    case 'while':
    case 'until':
      return executeWhile(command, frame);
    case 'for':
      return executeFor(command, frame);
    case 'case':
      return executeCase(command, frame);
    case 'group':
      return executeScript(command.body, frame);
    case 'subshell':
      return inSubshell(frame, (inner) => executeScript(command.body, inner));
    case 'function':
      frame.state.functions.set(command.name, command.body);
      return Promise.resolve(0);
  }
}

type Kind<K extends Command['kind']> = Extract<Command, { readonly kind: K }>;

async function executeSimple(command: Kind<'simple'>, frame: Frame): Promise<number> {
  const { state, streams } = frame;
  const argv = await expandWords(command.words, frame, capture);
  if (state.options.has('x') && argv.length > 0) await writeText(streams.stderr, `+ ${argv.join(' ')}\n`);
  const [name] = argv;
  if (name === undefined) {
    // A command substitution in an assignment sets the exit code: `x=$(false)` fails.
    state.lastExitCode = 0;
    await assign(command.assignments, frame);
    return state.lastExitCode;
  }
  const body = state.functions.get(name);
  const builtin = builtins[name];
  if (body || builtin) {
    await assign(command.assignments, frame);
    return body ? callFunction(body, argv, frame) : (builtin as NonNullable<typeof builtin>)(argv, frame);
  }
  const environment = environmentOf(state);
  for (const { name: variable, value } of command.assignments) {
    environment.set(variable, await expandText(value, frame, capture));
  }
  return runProgram(argv, environment, frame);
}

/** Runs a program in the foreground, in the shell's own process. */
export async function runProgram(
  argv: readonly string[],
  environment: ReadonlyMap<string, string>,
  { state, streams, context }: Frame,
): Promise<number> {
  const name = argv[0] as string;
  const program = context.container.findProgram(name, environment, state.directory);
  if (!program) {
    const isThere = name.includes('/') && context.container.files.exists(absolutePath(name, state.directory));
    throw isThere ? new CommandError(`${name}: Permission denied`, 126) : new CommandError(`${name}: not found`, 127);
  }
  const child: ProgramContext = { ...context, ...streams, argv, environment, directory: state.directory };
  try {
    return await program(child);
  } catch (error) {
    if (error instanceof BrokenPipe) return 128 + signalNumbers.SIGPIPE;
    throw error;
  }
}

async function assign(assignments: readonly Assignment[], frame: Frame): Promise<void> {
  for (const { name, value } of assignments) frame.state.variables.set(name, await expandText(value, frame, capture));
}

async function callFunction(body: Command, argv: readonly string[], frame: Frame): Promise<number> {
  const { state } = frame;
  const before = state.parameters;
  state.parameters = argv.slice(1);
  try {
    return await executeCommand(body, frame);
  } catch (error) {
    if (error instanceof FunctionReturn) return error.exitCode;
    throw error;
  } finally {
    state.parameters = before;
  }
}

async function executePipeline({ commands, isNegated }: Kind<'pipeline'>, frame: Frame): Promise<number> {
  const { streams, context } = frame;
  const exitCode = await asQuestion(isNegated, frame.state, async () => {
    if (commands.length === 1) return executeCommand(commands[0] as Command, frame);
    let stdin = streams.stdin;
    let closeInput = () => {};
    const stages = commands.map((command, index) => {
      const isLast = index === commands.length - 1;
      const pipe = isLast ? undefined : createPipe(context.process);
      const own = { stdin, stdout: pipe?.output ?? streams.stdout, stderr: streams.stderr };
      const closeOwnInput = closeInput;
      if (pipe) {
        stdin = pipe.input;
        closeInput = pipe.closeInput;
      }
      const stage = inSubshell({ ...frame, streams: own }, (inner) => executeCommand(command, inner));
      return stage.finally(() => {
        pipe?.closeOutput();
        closeOwnInput();
      });
    });
    return (await Promise.all(stages)).at(-1) as number;
  });
  return isNegated ? Number(exitCode === 0) : exitCode;
}

async function executeAndOr({ kind, left, right }: Kind<'and' | 'or'>, frame: Frame): Promise<number> {
  const exitCode = await asQuestion(true, frame.state, () => executeCommand(left, frame));
  frame.state.lastExitCode = exitCode;
  return (exitCode === 0) === (kind === 'and') ? executeCommand(right, frame) : exitCode;
}

async function asQuestion<T>(isQuestion: boolean, state: ShellState, act: () => Promise<T>): Promise<T> {
  if (!isQuestion) return act();
  state.conditionDepth++;
  try {
    return await act();
  } finally {
    state.conditionDepth--;
  }
}

const holds = async (condition: Script, frame: Frame): Promise<boolean> =>
  (await asQuestion(true, frame.state, () => executeScript(condition, frame))) === 0;

async function executeIf({ branches, otherwise }: Kind<'if'>, frame: Frame): Promise<number> {
  for (const { condition, body } of branches) {
    if (await holds(condition, frame)) return executeScript(body, frame);
  }
  return otherwise ? executeScript(otherwise, frame) : 0;
}

async function executeWhile({ kind, condition, body }: Kind<'while' | 'until'>, frame: Frame): Promise<number> {
  let exitCode = 0;
  while ((await holds(condition, frame)) === (kind === 'while')) {
    const outcome = await iteration(body, frame);
    if (outcome === 'break') break;
    exitCode = outcome;
  }
  return exitCode;
}

async function executeFor({ name, words, body }: Kind<'for'>, frame: Frame): Promise<number> {
  const items = words ? await expandWords(words, frame, capture) : frame.state.parameters;
  let exitCode = 0;
  for (const item of items) {
    frame.state.variables.set(name, item);
    const outcome = await iteration(body, frame);
    if (outcome === 'break') break;
    exitCode = outcome;
  }
  return exitCode;
}

async function iteration(body: Script, frame: Frame): Promise<number | 'break'> {
  try {
    return await executeScript(body, frame);
  } catch (error) {
    if (!(error instanceof LoopControl)) throw error;
    if (error.levels > 1) throw new LoopControl(error.kind, error.levels - 1);
    return error.kind === 'break' ? 'break' : 0;
  }
}

async function executeCase({ subject, cases }: Kind<'case'>, frame: Frame): Promise<number> {
  const text = await expandText(subject, frame, capture);
  for (const { patterns, body } of cases) {
    for (const pattern of patterns) {
      if (matches(await expandPattern(pattern, frame, capture), text)) return executeScript(body, frame);
    }
  }
  return 0;
}

async function inSubshell(frame: Frame, run: (inner: Frame) => Promise<number>): Promise<number> {
  const inner: Frame = { ...frame, state: forkState(frame.state) };
  try {
    return await run(inner);
  } catch (error) {
    if (error instanceof ShellExit || error instanceof FunctionReturn) return error.exitCode;
    if (error instanceof LoopControl) return 0;
    if (error instanceof BrokenPipe) return 128 + signalNumbers.SIGPIPE;
    throw error;
  }
}

/** Starts `command &` as another process. */
function startJob(command: Command, frame: Frame): void {
  const { state, context } = frame;
  const job = context.container.spawn((process) =>
    inSubshell({ ...frame, context: { ...context, process } }, (inner) => executeCommand(command, inner)),
  );
  state.jobs.push(job);
  state.lastExitCode = 0;
}

const capture: Capture = async (script, frame) => {
  const output = collectingOutput(maxCaptureBytes);
  const exitCode = await inSubshell({ ...frame, streams: { ...frame.streams, stdout: output } }, (inner) =>
    executeScript(script, inner),
  );
  frame.state.lastExitCode = exitCode;
  return Buffer.from(output.bytes()).toString();
};

async function redirect(redirections: readonly Redirection[], frame: Frame): Promise<Frame> {
  if (redirections.length === 0) return frame;
  const { state, context } = frame;
  const { files } = context.container;
  let streams: Streams = frame.streams;
  const set = (descriptor: number, output: Output): Streams =>
    descriptor === -1
      ? { ...streams, stdout: output, stderr: output }
      : descriptor === 2
        ? { ...streams, stderr: output }
        : descriptor === 1
          ? { ...streams, stdout: output }
          : streams;
  for (const redirection of redirections) {
    if (redirection.kind === 'text') {
      streams = { ...streams, stdin: inputOf(await expandText(redirection.text, frame, capture)) };
      continue;
    }
    const target = await expandText(redirection.target, frame, capture);
    const path = absolutePath(target, state.directory);
    try {
      switch (redirection.kind) {
        case 'read':
          streams = { ...streams, stdin: inputOf(files.read(path)) };
          break;
        case 'duplicate':
          streams = set(redirection.descriptor, duplicated(target, streams));
          break;
        default: {
          const special = standardOutput(path, streams, frame);
          if (!special) files.write(path, '', { append: redirection.kind === 'append' });
          streams = set(
            redirection.descriptor,
            special ?? { write: (bytes) => files.write(path, bytes, { append: true }) },
          );
        }
      }
    } catch (error) {
      if (!(error instanceof FileError)) throw error;
      const verb = redirection.kind === 'read' ? 'open' : 'create';
      const reason =
        error.code === 'ENOENT' ? (verb === 'open' ? 'no such file' : 'nonexistent directory') : error.description;
      throw new CommandError(`can't ${verb} ${target}: ${reason}`, 1);
    }
  }
  return { ...frame, streams };
}

function duplicated(target: string, streams: Streams): Output {
  if (target === '1') return streams.stdout;
  if (target === '2') return streams.stderr;
  if (target === '-') return nullOutput;
  throw new CommandError(`${target}: bad file descriptor`, 2);
}

/**
 * Returns the stream of a path such as `/dev/stdout`: the command's own, or that of the first process, which is the
 * log.
 */
function standardOutput(path: string, streams: Streams, { context }: Frame): Output | undefined {
  switch (path) {
    case '/dev/stdout':
    case '/proc/self/fd/1':
      return streams.stdout;
    case '/dev/stderr':
    case '/proc/self/fd/2':
      return streams.stderr;
    case '/proc/1/fd/1':
      return context.container.mainOutput('stdout');
    case '/proc/1/fd/2':
      return context.container.mainOutput('stderr');
    default:
      return undefined;
  }
}

async function printError({ state, streams }: Frame, message: string): Promise<void> {
  await writeText(streams.stderr, `${state.name}: ${message}\n`);
}

/** Reports whether an error belongs to the script and is printed rather than thrown. */
export function isScriptError(error: unknown): error is Error {
  return error instanceof ShellSyntaxError || error instanceof CommandError;
}
