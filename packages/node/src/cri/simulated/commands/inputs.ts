/** Inputs of text commands: the named files, or standard input. */
import { type Input, inputOf, readAll } from '../byte-streams.ts';
import { FileError } from '../file-tree.ts';
import { type ProgramContext, writeText } from '../program.ts';
import { filesOf, pathOf } from './files.ts';

/** Calls a function for each named file, or for standard input; unreadable files are reported. */
export async function eachInput(
  context: ProgramContext,
  names: readonly string[],
  use: (input: Input, name: string | undefined) => Promise<void>,
): Promise<number> {
  if (names.length === 0) {
    await use(context.stdin, undefined);
    return 0;
  }
  let exitCode = 0;
  for (const name of names) {
    try {
      await use(name === '-' ? context.stdin : inputOf(filesOf(context).read(pathOf(context, name))), name);
    } catch (error) {
      if (!(error instanceof FileError)) throw error;
      await writeText(context.stderr, `${context.argv[0]}: can't open '${name}': ${error.description}\n`);
      exitCode = 1;
    }
  }
  return exitCode;
}

/** Reads all lines, without newlines. */
export async function allLines(input: Input, { process }: ProgramContext): Promise<string[]> {
  const text = (await readAll(input, process)).toString();
  return text === '' ? [] : text.replace(/\n$/, '').split('\n');
}
