/** `sh`: runs a script from an argument, from a file, or line by line from standard input. */
import { BrokenPipe, emptyInput, linesOf } from '../byte-streams.ts';
import { absolutePath, FileError } from '../file-tree.ts';
import { ProcessInterrupted, signalNumbers } from '../process.ts';
import { type Program, type ProgramContext, writeText } from '../program.ts';
import { executeScript, executeText, isScriptError, runPendingTraps, runProgram } from './execute.ts';
import { parseScript } from './parse.ts';
import { createState, type Frame, FunctionReturn, LoopControl, type Shell, ShellExit } from './state.ts';

const shellFunctions: Shell = { executeText, runProgram };

export const shell: Program = async (context) => {
  const [name = 'sh', ...words] = context.argv;
  const options: string[] = [];
  while (/^-[a-z]+$/i.test(words[0] ?? '') || words[0] === '--login') options.push(words.shift() as string);
  if (words[0] === '--') words.shift();
  const letters = new Set(
    options
      .filter((option) => !option.startsWith('--'))
      .join('')
      .replaceAll('-', ''),
  );
  if (letters.has('c')) {
    const [text, commandName = name, ...parameters] = words;
    if (text === undefined) return fail(context, `${name}: -c requires an argument`);
    return runText(context, { text, name: commandName, parameters, letters });
  }
  const [path, ...parameters] = words;
  if (path !== undefined) return runFile(context, { path, parameters, letters });
  return runLines(context, name, letters);
};

/** Returns the program of a script file. */
export function runScriptFile(path: string): Program {
  return (context) => runFile(context, { path, parameters: context.argv.slice(1), letters: new Set() });
}

type FileRun = { readonly path: string; readonly parameters: readonly string[]; readonly letters: ReadonlySet<string> };

async function runFile(context: ProgramContext, { path, parameters, letters }: FileRun): Promise<number> {
  let text: string;
  try {
    text = Buffer.from(context.container.files.read(absolutePath(path, context.directory))).toString();
  } catch (error) {
    if (!(error instanceof FileError)) throw error;
    return fail(context, `${context.argv[0]}: can't open '${path}': ${error.description}`);
  }
  return runText(context, { text, name: path, parameters, letters });
}

type TextRun = {
  readonly text: string;
  readonly name: string;
  readonly parameters: readonly string[];
  readonly letters: ReadonlySet<string>;
};

async function runText(context: ProgramContext, { text, name, parameters, letters }: TextRun): Promise<number> {
  const frame = newFrame(context, name, parameters, letters);
  return untilExit(frame, async () => executeScript(parseScript(text), frame));
}

/** Reads commands from standard input; prompts for each on a terminal. */
async function runLines(context: ProgramContext, name: string, letters: ReadonlySet<string>): Promise<number> {
  const frame = newFrame(context, name, [], letters);
  const { isTerminal, process } = context;
  // Without a terminal, commands must not read the script they are part of.
  const inner: Frame = isTerminal ? frame : { ...frame, streams: { ...frame.streams, stdin: emptyInput } };
  let pending = '';
  let isExecuting = false;
  const prompt = async () => {
    if (isTerminal) await writeText(context.stdout, pending === '' ? `${frame.state.directory} # ` : '> ');
  };
  if (isTerminal) {
    // Interrupts the current command or input line, but not the shell.
    process.handle('SIGINT', () => {
      pending = '';
      if (isExecuting) process.interrupt();
      else void prompt();
    });
  }
  return untilExit(frame, async () => {
    await prompt();
    for await (const line of linesOf(context.stdin, process)) {
      pending += `${line}\n`;
      isExecuting = true;
      const isWhole = await runLine(pending, inner);
      isExecuting = false;
      if (isWhole) pending = '';
      await prompt();
    }
    if (pending !== '') await executeText(pending, inner);
    return frame.state.lastExitCode;
  });
}

/** Returns false if the text is incomplete. */
async function runLine(text: string, frame: Frame): Promise<boolean> {
  try {
    await executeText(text, frame);
  } catch (error) {
    if (error instanceof ProcessInterrupted) {
      frame.state.lastExitCode = 128 + signalNumbers.SIGINT;
      return true;
    }
    if (!isScriptError(error)) throw error;
    if (/end of file|unterminated/.test(error.message)) return false;
    await writeText(frame.streams.stderr, `${frame.state.name}: ${error.message}\n`);
    frame.state.lastExitCode = 2;
  }
  return true;
}

function newFrame(
  context: ProgramContext,
  name: string,
  parameters: readonly string[],
  letters: ReadonlySet<string>,
): Frame {
  const state = createState(context, name, parameters);
  for (const letter of 'eux') if (letters.has(letter)) state.options.add(letter);
  const { stdin, stdout, stderr } = context;
  return { state, streams: { stdin, stdout, stderr }, context, shell: shellFunctions };
}

/** Runs to the end or to `exit`, then runs the EXIT trap. */
async function untilExit(frame: Frame, run: () => Promise<number>): Promise<number> {
  const { state, streams } = frame;
  const exitCode = await guarded(frame, run);
  await guarded(frame, async () => {
    await runPendingTraps(frame);
    return 0;
  });
  const onExit = state.traps.get('EXIT');
  if (onExit === undefined) return exitCode;
  state.traps.delete('EXIT');
  state.lastExitCode = exitCode;
  let final = exitCode;
  try {
    await executeText(onExit, frame);
  } catch (error) {
    if (error instanceof ShellExit) final = error.exitCode;
    else if (isScriptError(error)) await writeText(streams.stderr, `${state.name}: ${error.message}\n`);
    else throw error;
  }
  return final;
}

async function guarded({ state, streams }: Frame, run: () => Promise<number>): Promise<number> {
  try {
    return await run();
  } catch (error) {
    if (error instanceof ShellExit || error instanceof FunctionReturn) return error.exitCode;
    if (error instanceof LoopControl) return 0;
    if (error instanceof BrokenPipe) throw error;
    if (!isScriptError(error)) throw error;
    await writeText(streams.stderr, `${state.name}: ${error.message}\n`);
    return 2;
  }
}

async function fail({ stderr }: ProgramContext, message: string): Promise<number> {
  await writeText(stderr, `${message}\n`);
  return 2;
}
