import { OutOfMemory } from '../byte-streams.ts';
import { FileError } from '../file-tree.ts';
import { type Program, type ProgramContext, writeText } from '../program.ts';

export type Arguments = {
  readonly flags: ReadonlySet<string>;
  readonly values: ReadonlyMap<string, string>;
  readonly operands: readonly string[];
};

/** A command that was called wrongly or failed: printed after its name. */
export class ToolError extends Error {
  override readonly name = 'ToolError';
  readonly exitCode: number;
  constructor(message: string, exitCode = 1) {
    super(message);
    this.exitCode = exitCode;
  }
}

/**
 * Reads options: letters in `valued` take the next word or the rest of theirs, names in `valuedNames` the next word or
 * what follows `=`; other names are taken as they are.
 */
export function parseArguments(
  words: readonly string[],
  valued = '',
  valuedNames: ReadonlySet<string> = new Set(),
): Arguments {
  const flags = new Set<string>();
  const values = new Map<string, string>();
  const operands: string[] = [];
  for (let index = 0; index < words.length; index++) {
    const word = words[index] as string;
    if (word === '--') {
      operands.push(...words.slice(index + 1));
      break;
    }
    if (word.startsWith('--')) {
      const equals = word.indexOf('=');
      if (equals > 0) values.set(word.slice(2, equals), word.slice(equals + 1));
      else if (valuedNames.has(word.slice(2))) values.set(word.slice(2), words[++index] ?? '');
      else flags.add(word.slice(2));
      continue;
    }
    if (!/^-[^-]/.test(word)) {
      operands.push(word);
      continue;
    }
    for (let at = 1; at < word.length; at++) {
      const letter = word[at] as string;
      if (!valued.includes(letter)) {
        flags.add(letter);
        continue;
      }
      values.set(letter, word.slice(at + 1) || (words[++index] ?? ''));
      break;
    }
  }
  return { flags, values, operands };
}

/** Makes a command of a function that prints its failures as BusyBox does. */
export function tool(run: (context: ProgramContext) => number | Promise<number>): Program {
  return async (context) => {
    try {
      return await run(context);
    } catch (error) {
      const name = (context.argv[0] ?? '').replace(/^.*\//, '');
      if (error instanceof ToolError) {
        await writeText(context.stderr, `${name}: ${error.message}\n`);
        return error.exitCode;
      }
      if (error instanceof OutOfMemory) {
        await writeText(context.stderr, `${name}: out of memory\n`);
        return 1;
      }
      if (!(error instanceof FileError)) throw error;
      await writeText(context.stderr, `${name}: ${error.path}: ${error.description}\n`);
      return 1;
    }
  };
}
