/** Flag parsing of agnhost subcommands. */
import { parseDuration, toMilliseconds } from '@kruise/values/duration';
import { ParseError } from '@kruise/values/parse-error';
import type { ProgramContext } from '../program.ts';

/** Returns the value of `--name=value` or `--name value`. */
export function flag({ argv }: ProgramContext, name: string): string | undefined {
  for (const [index, argument] of argv.entries()) {
    const text = argument.replace(/^--?/, '');
    if (text === argument) continue;
    if (text === name) return argv[index + 1] ?? '';
    if (text.startsWith(`${name}=`)) return text.slice(name.length + 1);
  }
  return undefined;
}

/** Reports whether a boolean flag is set. */
export function isSet({ argv }: ProgramContext, name: string): boolean {
  return argv.some((argument) => new RegExp(`^--?${name}(=true)?$`).test(argument));
}

export function portOf(context: ProgramContext, name: string, otherwise: number): number {
  return Number(flag(context, name) ?? otherwise);
}

/** Parses a Go duration; a missing or malformed one is 0. */
export function durationMs(text: string | null): number {
  try {
    return text ? toMilliseconds(parseDuration(text)) : 0;
  } catch (error) {
    if (error instanceof ParseError) return 0;
    throw error;
  }
}
