/** Exec, attach and port-forward sessions of simulated containers. */
import type { Duplex } from 'node:stream';
import { instantOfNanoseconds } from '../nanoseconds.ts';
import type {
  AttachRequest,
  AttachResponse,
  ExecRequest,
  ExecResponse,
  ExecSyncRequest,
  ExecSyncResponse,
  PortForwardResponse,
  ProcessStreams,
} from '../runtime.ts';
import {
  collectingOutput,
  emptyInput,
  type Input,
  inputFrom,
  nullOutput,
  type Output,
  outputTo,
} from './byte-streams.ts';
import {
  type ContainerHost,
  environmentOf,
  type SimulatedContainer,
  spawn,
  workingDirectoryOf,
  worldOf,
} from './container.ts';
import type { NetworkPeer } from './network.ts';
import type { Spawned } from './program.ts';
import { missingProgram } from './programs/find-program.ts';
import { runtimeError } from './runtime-error.ts';
import { stepAt } from './script.ts';
import { openTerminal } from './terminal.ts';

const maxOutputBytes = 16 * 1024 * 1024;

export async function execSync(
  container: SimulatedContainer,
  host: ContainerHost,
  { cmd, timeout = 0 }: ExecSyncRequest,
): Promise<ExecSyncResponse> {
  const stdout = collectingOutput(maxOutputBytes);
  const stderr = collectingOutput(maxOutputBytes);
  const { process, exited } = start(container, host, cmd, { stdin: emptyInput, stdout, stderr, isTerminal: false });
  let isLate = false;
  const cancel =
    timeout > 0
      ? host.clock.setTimer(timeout * 1000, () => {
          isLate = true;
          process.signal('SIGKILL');
        })
      : () => {};
  const exitCode = await exited;
  cancel();
  if (isLate) {
    throw runtimeError(
      'DEADLINE_EXCEEDED',
      `failed to exec in container: timeout ${timeout}s exceeded: context deadline exceeded`,
    );
  }
  return { stdout: stdout.bytes(), stderr: stderr.bytes(), exitCode };
}

export function exec(container: SimulatedContainer, host: ContainerHost, request: ExecRequest): ExecResponse {
  checkStreams(request);
  checkRunning(container, 'exec in container');
  return {
    async connect(streams) {
      const near = nearStreams(request, streams);
      const running = start(container, host, request.cmd, { ...near, isTerminal: request.tty ?? false });
      // As with a real terminal, a command outlives its client unless it reads or writes.
      const onAbort = () => running.process.signal('SIGHUP');
      streams.signal.addEventListener('abort', onAbort, { once: true });
      const exitCode = await running.exited;
      streams.signal.removeEventListener('abort', onAbort);
      return { exitCode };
    },
  };
}

export function attach(container: SimulatedContainer, request: AttachRequest): AttachResponse {
  checkStreams(request);
  checkRunning(container, 'attach container');
  return {
    async connect(streams) {
      const near = nearStreams(request, streams);
      const attached = {
        ...(request.stdout && { stdout: near.stdout }),
        ...(request.stderr && { stderr: near.stderr }),
      };
      container.attached.add(attached);
      const detachInput = request.stdin ? container.stdin.attach(near.stdin) : () => {};
      await new Promise<void>((resolve) => {
        if (container.state !== 'CONTAINER_RUNNING' || streams.signal.aborted) resolve();
        container.onExit.add(resolve);
        streams.signal.addEventListener('abort', () => resolve(), { once: true });
      });
      container.attached.delete(attached);
      detachInput();
    },
  };
}

export function portForward(peer: NetworkPeer): PortForwardResponse {
  const open = new Set<Duplex>();
  return {
    async connect(port, near) {
      const far = await peer.connect({ host: 'localhost', port });
      open.add(near).add(far);
      near.pipe(far);
      far.pipe(near);
      await Promise.all([ended(near), ended(far)]);
      open.delete(near);
      open.delete(far);
    },
    close() {
      for (const end of open) end.destroy();
    },
  };
}

function ended(stream: Duplex): Promise<void> {
  return new Promise((resolve) => {
    if (stream.destroyed || stream.readableEnded) resolve();
    stream.once('end', resolve);
    stream.once('close', resolve);
    stream.once('error', () => resolve());
  });
}

type Near = { readonly stdin: Input; readonly stdout: Output; readonly stderr: Output };

function start(
  container: SimulatedContainer,
  host: ContainerHost,
  argv: readonly string[],
  io: Near & { readonly isTerminal: boolean },
): Spawned {
  checkRunning(container, 'exec in container');
  const { script } = container;
  const world = worldOf(container, host);
  const environment = environmentOf(container);
  const directory = workingDirectoryOf(container);
  const { execResults, execLatencyMs } = script;
  const program = argv[0] === undefined ? undefined : world.findProgram(argv[0], environment, directory);
  if (!program && !execResults) {
    throw runtimeError(
      'UNKNOWN',
      `failed to exec in container: failed to start exec: OCI runtime exec failed: exec failed: unable to start container process: ${missingProgram(world, argv[0] ?? '', directory)}: unknown`,
    );
  }
  return spawn(container, host, argv.join(' '), async (process) => {
    if (execLatencyMs > 0) await process.sleep(execLatencyMs);
    if (execResults) {
      return Number(stepAt(execResults, host.clock.now() - instantOfNanoseconds(container.startedAt)));
    }
    // The cast is safe: without a program and without a script nothing was started.
    const run = program as NonNullable<typeof program>;
    const terminal = io.isTerminal ? openTerminal(process, io.stdin, io.stdout) : undefined;
    const { input: stdin = io.stdin, output: stdout = io.stdout } = terminal ?? {};
    const stderr = terminal?.output ?? io.stderr;
    const { isTerminal } = io;
    return run({ argv, environment, directory, stdin, stdout, stderr, isTerminal, process, container: world });
  });
}

function nearStreams(request: AttachRequest, streams: ProcessStreams): Near {
  return {
    stdin: request.stdin && streams.stdin ? inputFrom(streams.stdin) : emptyInput,
    stdout: request.stdout && streams.stdout ? outputTo(streams.stdout) : nullOutput,
    stderr: request.stderr && streams.stderr ? outputTo(streams.stderr) : nullOutput,
  };
}

function checkStreams({ tty, stdin, stdout, stderr }: AttachRequest): void {
  if (tty && stderr) throw runtimeError('INVALID_ARGUMENT', 'tty and stderr cannot both be true');
  if (!stdin && !stdout && !stderr) {
    throw runtimeError('INVALID_ARGUMENT', 'one of stdin, stdout, or stderr must be set');
  }
}

function checkRunning({ state }: SimulatedContainer, what: string): void {
  if (state !== 'CONTAINER_RUNNING') {
    throw runtimeError('UNKNOWN', `failed to ${what}: container is in ${state} state`);
  }
}
