/** Runs a credential provider plugin as a process. */
import { spawn } from 'node:child_process';
import type { Clock } from '@kruise/values/clock';

/** A program with its input. */
export type Program = {
  readonly path: string;
  readonly args: readonly string[];
  readonly environment: NodeJS.ProcessEnv;
  readonly input: string;
};

/** Limits of a run. */
export type ProgramLimits = { readonly timeoutMs: number; readonly maxOutputBytes: number };

/**
 * Runs a program and returns its standard output. A program beyond its limits is killed with the processes that it
 * started. No error contains output of the program: it may have secrets.
 */
export function runProgram(
  clock: Clock,
  { path, args, environment, input }: Program,
  { timeoutMs, maxOutputBytes }: ProgramLimits,
  signal: AbortSignal,
): Promise<string> {
  return new Promise((resolve, reject) => {
    signal.throwIfAborted();
    // A process group of its own, so that children which keep the output open can be killed as well.
    const child = spawn(path, [...args], { stdio: ['pipe', 'pipe', 'ignore'], env: environment, detached: true });
    const end = (error: Error | undefined, output = '') => {
      cancel();
      signal.removeEventListener('abort', stop);
      if (error) reject(error);
      else resolve(output);
    };
    const kill = (reason: string) => {
      if (child.pid !== undefined) killGroup(child.pid);
      child.stdout.destroy();
      end(new Error(reason));
    };
    const stop = () => kill('stopped');
    const cancel = clock.setTimer(timeoutMs, () => kill(`no response within ${timeoutMs / 1000} seconds`));
    signal.addEventListener('abort', stop, { once: true });
    const chunks: Buffer[] = [];
    let size = 0;
    child.stdout.on('data', (chunk: Buffer) => {
      size += chunk.length;
      if (size <= maxOutputBytes) chunks.push(chunk);
      else kill(`output exceeds ${maxOutputBytes} bytes`);
    });
    // Only the code: the error has the arguments, which may contain secrets.
    child.once('error', ({ code }: NodeJS.ErrnoException) =>
      end(new Error(`cannot be run: ${code ?? 'unknown error'}`)),
    );
    child.once('close', (code, killedBy) => {
      if (code === 0) end(undefined, Buffer.concat(chunks).toString());
      else
        end(new Error(`ended by ${killedBy ?? `exit code ${code}`}; run the plugin by hand to see its error output`));
    });
    // A program may respond without reading its input.
    child.stdin.on('error', () => {});
    child.stdin.end(input);
  });
}

function killGroup(pid: number): void {
  try {
    process.kill(-pid, 'SIGKILL');
  } catch (error) {
    // The group has ended meanwhile.
    if ((error as NodeJS.ErrnoException).code !== 'ESRCH') throw error;
  }
}
