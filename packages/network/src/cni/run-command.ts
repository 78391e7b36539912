/** Runs the programs `nft`, `ip` and `bridge`. */
import { spawn } from 'node:child_process';

/** Runs a program with a text on its standard input and returns its standard output. Rejects if the program fails. */
export type CommandRunner = (command: readonly [program: string, ...args: string[]], input?: string) => Promise<string>;

/** Failed command, with the start of its error output. */
export class CommandError extends Error {
  override readonly name = 'CommandError';
}

/** Listings of large sets take some megabytes. */
const maxOutputBytes = 256 * 1024 * 1024;
const maxErrorLength = 2000;

/**
 * Runs programs of this machine. `prefix` runs them elsewhere, for example in a network namespace:
 * `ip netns exec name`.
 */
export function systemCommands(prefix: readonly string[] = []): CommandRunner {
  return (command, input = '') =>
    new Promise((resolve, reject) => {
      const [program = '', ...args] = [...prefix, ...command];
      const child = spawn(program, args, { stdio: 'pipe' });
      const fail = (reason: string, cause?: unknown) =>
        reject(new CommandError(`${command.join(' ')}: ${reason.trim().slice(0, maxErrorLength)}`, { cause }));
      const output: Buffer[] = [];
      let outputBytes = 0;
      let errors = '';
      child.stdout.on('data', (chunk: Buffer) => {
        outputBytes += chunk.length;
        if (outputBytes > maxOutputBytes) child.kill();
        else output.push(chunk);
      });
      child.stderr.on('data', (chunk: Buffer) => {
        if (errors.length < maxErrorLength) errors += chunk.toString();
      });
      child.on('error', (error) => fail(error.message, error));
      // A program that fails early does not read its input; its exit code is reported.
      child.stdin.on('error', () => {});
      child.on('close', (code, killed) => {
        if (code === 0) resolve(Buffer.concat(output).toString());
        else fail(errors || `exit code ${code ?? killed}`);
      });
      child.stdin.end(input);
    });
}
