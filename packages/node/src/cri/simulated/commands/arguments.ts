import { OutOfMemory } from '../byte-streams.ts';
import { FileError } from '../file-tree.ts';
import { type Program, type ProgramContext, writeText } from '../program.ts';

export type Arguments = {
  readonly flags: ReadonlySet<string>;
  readonly values: ReadonlyMap<string, string>;
  /** All values of repeatable options, in order. */
  readonly lists: ReadonlyMap<string, readonly string[]>;
  readonly operands: readonly string[];
};

/** Usage error or failure of a command; its message is printed after the command name. */
export class ToolError extends Error {
  override readonly name = 'ToolError';
  readonly exitCode: number;
  constructor(message: string, exitCode = 1) {
    super(message);
    this.exitCode = exitCode;
  }
}

/**
 * Parses options: letters in `valued` take the next word or the rest of their own, names in `valuedNames` take the next
 * word or the text after `=` and are aliases of the given letter or name; other names are kept as they are.
 */
export function parseArguments(
  words: readonly string[],
  valued = '',
  valuedNames: Readonly<Record<string, string>> = {},
): Arguments {
  const flags = new Set<string>();
  const values = new Map<string, string>();
  const lists = new Map<string, string[]>();
  const take = (name: string, value: string) => {
    values.set(name, value);
    lists.set(name, [...(lists.get(name) ?? []), value]);
  };
  const operands: string[] = [];
  for (let index = 0; index < words.length; index++) {
    const word = words[index] as string;
    if (word === '--') {
      operands.push(...words.slice(index + 1));
      break;
    }
    if (word.startsWith('--')) {
      const equals = word.indexOf('=');
      const name = equals > 0 ? word.slice(2, equals) : word.slice(2);
      const alias = valuedNames[name];
      if (equals > 0) take(alias ?? name, word.slice(equals + 1));
      else if (alias !== undefined) take(alias, words[++index] ?? '');
      else flags.add(name);
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
      take(letter, word.slice(at + 1) || (words[++index] ?? ''));
      break;
    }
  }
  return { flags, values, lists, operands };
}

/** Wraps a function as a command that prints errors as BusyBox does. */
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
