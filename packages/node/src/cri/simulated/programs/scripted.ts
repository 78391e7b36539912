/** Programs and responses scripted by Pod annotations. */
import { type Listener, textResponse } from '../network.ts';
import { type Program, writeText } from '../program.ts';
import { type Script, type Step, stepAt } from '../script.ts';
import { serverProgram } from './servers.ts';

/** Returns the program that replaces the container's own; undefined if none is scripted. */
export function scriptedProgram(
  { runForMs, exitCodes, logLine, logEveryMs }: Script,
  attempt: number,
): Program | undefined {
  const replaces = runForMs !== undefined || exitCodes !== undefined || logLine !== undefined;
  if (!replaces) return undefined;
  return async (context) => {
    const { process, stdout, container } = context;
    const exitCode = exitCodes?.[Math.min(attempt, exitCodes.length - 1)] ?? 0;
    if (logLine !== undefined) await writeText(stdout, `${logLine}\n`);
    if (logLine !== undefined && logEveryMs !== undefined) {
      container.spawn(async (logger) => {
        for (;;) {
          await logger.sleep(logEveryMs);
          await writeText(stdout, `${logLine}\n`);
        }
      });
    }
    // A container with only an exit code exits at once.
    const endMs = runForMs ?? (exitCodes === undefined ? undefined : 0);
    if (endMs === undefined) return serverProgram({ ports: [0] })(context);
    if (endMs === 0) return exitCode;
    const serving = serverProgram({ ports: [0] })(context);
    return Promise.race([serving, process.sleep(endMs).then(() => exitCode)]);
  };
}

/** Returns a listener that responds along a timeline, whatever the program would respond. */
export function scriptedListener(steps: readonly Step[], elapsedMs: () => number): Listener {
  const now = () => stepAt(steps, elapsedMs());
  return {
    isListening: () => now() !== 'refuse',
    http() {
      const answer = now();
      return answer === 'hang'
        ? 'hang'
        : textResponse(Number(answer), answer.startsWith('2') ? 'ok' : `status ${answer}`);
    },
    health: () => (now().startsWith('2') ? 'SERVING' : 'NOT_SERVING'),
  };
}
