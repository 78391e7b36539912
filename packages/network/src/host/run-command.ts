/** Runs the programs that configure the kernel, for example `nft`, `ip`, `bridge`, `iptables` and `conntrack`. */
import { spawn } from 'node:child_process';

/** Runs a program with a text on its standard input and returns its standard output. Throws `CommandError` if it fails. */
export type CommandRunner = (
  program: string,
  args: readonly string[],
  options?: { readonly input?: string },
) => Promise<string>;

/** A program failed or could not be started. The message has the start of its error output. */
export class CommandError extends Error {
  override readonly name = 'CommandError';
}

/** Maximum time of one command; a transaction of a large cluster takes seconds. */
const timeoutMs = 5 * 60_000;
/** Listings of large sets take some megabytes. */
const maxOutputBytes = 256 * 1024 * 1024;
/** Error output that is kept, because a failed transaction repeats its input. */
const maxErrorLength = 4096;

/**
 * Runs programs of this machine. A prefix runs them elsewhere, for example in a network namespace:
 * `['ip', 'netns', 'exec', 'blue']`.
 */
export function systemCommands(prefix: readonly string[] = []): CommandRunner {
  return (program, args, { input = '' } = {}) =>
    new Promise((resolve, reject) => {
      const [first = '', ...rest] = [...prefix, program, ...args];
      const child = spawn(first, rest, { stdio: 'pipe', timeout: timeoutMs });
      const fail = (reason: string, cause?: unknown) =>
        reject(new CommandError(`${[program, ...args].join(' ')}: ${reason}`, { cause }));
      const output: Buffer[] = [];
      let outputBytes = 0;
      let errorText = '';
      child.stdout.on('data', (chunk: Buffer) => {
        outputBytes += chunk.length;
        if (outputBytes > maxOutputBytes) child.kill();
        else output.push(chunk);
      });
      child.stderr.setEncoding('utf8').on('data', (chunk: string) => {
        errorText += chunk.slice(0, maxErrorLength - errorText.length);
      });
      child.on('error', (error) => fail(error.message, error));
      child.on('close', (code, killedBy) => {
        if (code === 0) resolve(Buffer.concat(output).toString('utf8'));
        else fail(errorText.trim() || `ended by ${killedBy ?? `exit code ${code}`}`);
      });
      // A program that fails closes its input early; its exit code has the reason.
      child.stdin.on('error', () => {});
      child.stdin.end(input);
    });
}
