/** Runs the programs that configure the kernel: nft, iptables and conntrack. */
import { spawn } from 'node:child_process';

/** Runs a program with input and returns its output. Throws `CommandError` if it fails. */
export type CommandRunner = (
  command: string,
  args: readonly string[],
  options?: { readonly input?: string; readonly signal?: AbortSignal },
) => Promise<string>;

/** A program failed or could not be started. */
export class CommandError extends Error {
  override readonly name = 'CommandError';
  readonly isMissing: boolean;

  constructor(command: string, message: string, isMissing = false) {
    super(`${command}: ${message}`);
    this.isMissing = isMissing;
  }
}

/** Maximum time of one command; a transaction of a large cluster takes seconds. */
const timeoutMs = 5 * 60_000;
/** Error output that is kept, because a failed transaction repeats its input. */
const maxErrorLength = 4096;

/**
 * Creates a runner of local programs. A prefix runs them in another place, for example a network namespace:
 * `['ip', 'netns', 'exec', 'blue']`.
 */
export function spawnCommands(prefix: readonly string[] = []): CommandRunner {
  return (command, args, { input = '', signal } = {}) =>
    new Promise((resolve, reject) => {
      const [program = '', ...all] = [...prefix, command, ...args];
      const child = spawn(program, all, { stdio: 'pipe', timeout: timeoutMs, ...(signal ? { signal } : {}) });
      const chunks: Buffer[] = [];
      let errorText = '';
      child.stdout.on('data', (chunk: Buffer) => chunks.push(chunk));
      child.stderr.setEncoding('utf8').on('data', (chunk: string) => {
        if (errorText.length < maxErrorLength) errorText += chunk.slice(0, maxErrorLength);
      });
      child.on('error', (error: NodeJS.ErrnoException) => {
        reject(new CommandError(command, error.message, error.code === 'ENOENT'));
      });
      child.on('close', (code, killedBy) => {
        if (code === 0) resolve(Buffer.concat(chunks).toString('utf8'));
        else reject(new CommandError(command, errorText.trim() || `ended by ${killedBy ?? `exit code ${code}`}`));
      });
      // A program that fails closes its input early; its exit code has the reason.
      child.stdin.on('error', () => {});
      child.stdin.end(input);
    });
}
