/** A containerd that belongs to one data directory. It is stopped with the node; its containers keep running. */
import { spawn } from 'node:child_process';
import { closeSync, existsSync, mkdirSync, openSync, readFileSync, rmSync, statfsSync, writeFileSync } from 'node:fs';
import { createConnection } from 'node:net';
import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { GrpcError } from '@kruise/client/grpc/status';
import { createGrpcRuntime } from '@kruise/node/cri/grpc/grpc-runtime';
import { every } from '@kruise/values/clock';
import { systemClock } from '@kruise/values/system';
import { isAlive, processStartTime, writeFileAtomically } from '../data-directory.ts';
import { containerdConfiguration, mirrorConfiguration } from './containerd-config.ts';

export type ContainerdOptions = {
  /** Directory of everything that this containerd stores. */
  readonly directory: string;
  /** Directory of what must not survive a reboot. */
  readonly run: string;
  readonly cniBinaries: string;
  readonly sandboxImage: string;
  /** URL of a registry that mirrors all others. */
  readonly registryMirror?: string;
};

export type Containerd = {
  readonly socket: string;
  readonly cniConfiguration: string;
  /** Stops containerd; containers keep running. */
  stop(): Promise<void>;
};

/** Time between checks that containerd runs. */
const supervisionMs = 1000;
const startTimeoutMs = 30_000;
const stopTimeoutMs = 10_000;
const overlayMagic = 0x794c7630;
/** Number of the capability to lower OOM scores. */
const sysResource = 24n;
/** Longest path of a socket. */
const maxSocketPath = 100;

/** Returns the socket in a directory, or elsewhere if its path would be too long. */
function socketOf({ directory, run }: Pick<ContainerdOptions, 'directory' | 'run'>): string {
  const usual = join(directory, 'containerd.sock');
  return usual.length <= maxSocketPath ? usual : join(run, 'containerd.sock');
}

/** Starts containerd, or returns the one that still runs because the previous process of the node was killed. */
export async function startContainerd(options: ContainerdOptions): Promise<Containerd> {
  const { directory, run, cniBinaries, sandboxImage, registryMirror } = options;
  const socket = socketOf(options);
  const state = join(run, 'state');
  const cniConfiguration = join(directory, 'cni');
  const registries = join(directory, 'certs.d');
  for (const each of [join(directory, 'root'), state, cniConfiguration, registries])
    mkdirSync(each, { recursive: true });
  if (registryMirror === undefined) rmSync(join(registries, '_default'), { recursive: true, force: true });
  else {
    mkdirSync(join(registries, '_default'), { recursive: true });
    writeFileSync(join(registries, '_default', 'hosts.toml'), mirrorConfiguration(registryMirror));
  }
  writeFileSync(
    configurationOf(directory),
    containerdConfiguration({
      root: join(directory, 'root'),
      state,
      socket,
      sandboxImage,
      cniBinaries,
      cniConfiguration,
      registries,
      // Overlays cannot be laid over overlays.
      snapshotter: statfsSync(directory).type === overlayMagic ? 'native' : 'overlayfs',
      restrictsOomScores: !mayLowerOomScores(readFileSync('/proc/self/status', 'utf8')),
      hasAppArmor: existsSync('/sys/kernel/security/apparmor'),
    }),
  );
  const stopSupervision = supervise(directory, await ensureRunning(directory, socket));
  return {
    socket,
    cniConfiguration,
    async stop() {
      stopSupervision();
      await stopProcess(directory);
    },
  };
}

/** Starts the containerd of a directory unless it runs, and waits until it answers. Returns its process. */
async function ensureRunning(directory: string, socket: string): Promise<number> {
  const pid = runningPid(directory) ?? launch(directory);
  await waitForSocket(socket, pid, logFileOf(directory));
  return pid;
}

/** Starts a containerd again that has crashed or was killed. Returns a function that ends the supervision. */
function supervise(directory: string, first: number): () => void {
  const stop = new AbortController();
  let pid = first;
  const check = () => {
    if (!isAlive(pid) || isZombie(pid)) pid = launch(directory);
  };
  every(systemClock, supervisionMs, check, stop.signal);
  return () => stop.abort();
}

/** Starts a containerd again as it was configured, to remove its containers. */
export async function restartContainerd(options: Pick<ContainerdOptions, 'directory' | 'run'>): Promise<Containerd> {
  const { directory } = options;
  const socket = socketOf(options);
  await ensureRunning(directory, socket);
  return { socket, cniConfiguration: join(directory, 'cni'), stop: () => stopProcess(directory) };
}

const pidFileOf = (directory: string) => join(directory, 'containerd.pid');
const logFileOf = (directory: string) => join(directory, 'containerd.log');
const configurationOf = (directory: string) => join(directory, 'config.toml');

/** Reports whether a process with this `/proc/self/status` may lower OOM scores. */
export function mayLowerOomScores(status: string): boolean {
  const [, mask = '0'] = /^CapEff:\s*([0-9a-f]+)$/m.exec(status) ?? [];
  return ((BigInt(`0x${mask}`) >> sysResource) & 1n) === 1n;
}

/** Returns the process in a pid file, unless it has ended and another process has its number. */
function runningPid(directory: string): number | undefined {
  const pidFile = pidFileOf(directory);
  if (!existsSync(pidFile)) return undefined;
  const [pid = '', startTime] = readFileSync(pidFile, 'utf8').split(' ');
  return isAlive(Number(pid)) && !isZombie(Number(pid)) && processStartTime(Number(pid)) === startTime
    ? Number(pid)
    : undefined;
}

function launch(directory: string): number {
  const log = openSync(logFileOf(directory), 'a', 0o600);
  // Detached, so that Ctrl-C does not reach containerd: it is stopped after the kubelet.
  const child = spawn('containerd', ['--config', configurationOf(directory)], {
    stdio: ['ignore', log, log],
    detached: true,
  });
  closeSync(log);
  child.unref();
  // Without a process, waiting for the socket reports what is in the log.
  child.on('error', () => {});
  const { pid } = child;
  if (pid === undefined) throw new Error('containerd could not be started: is it installed?');
  writeFileAtomically(pidFileOf(directory), `${pid} ${processStartTime(pid)}`);
  return pid;
}

/** Waits until the CRI answers: containerd listens earlier, while it still loads the containers that are running. */
async function waitForSocket(socket: string, pid: number, logFile: string): Promise<void> {
  const deadline = performance.now() + startTimeoutMs;
  while (!(await accepts(socket)) || !(await answers(socket))) {
    if (!isAlive(pid) || performance.now() > deadline) {
      const lines = readFileSync(logFile, 'utf8').trimEnd().split('\n').slice(-10);
      throw new Error(`containerd did not start. Last lines of ${logFile}:\n${lines.join('\n')}`);
    }
    await sleep(20);
  }
}

/** Reports whether a runtime answers on a socket. */
async function answers(socket: string): Promise<boolean> {
  const connection = new AbortController();
  try {
    const endpoint = `unix://${socket}`;
    const runtime = createGrpcRuntime({ clock: systemClock, endpoint, signal: connection.signal });
    await runtime.version({ version: '0.1.0' });
    await runtime.listPodSandbox({});
    return true;
  } catch (error) {
    if (error instanceof GrpcError) return false;
    throw error;
  } finally {
    connection.abort();
  }
}

/** Reports whether a process listens on a socket. */
export function accepts(socket: string): Promise<boolean> {
  return new Promise((resolve) => {
    const connection = createConnection(socket);
    connection.once('connect', () => {
      connection.destroy();
      resolve(true);
    });
    connection.once('error', () => resolve(false));
  });
}

async function stopProcess(directory: string): Promise<void> {
  const pid = runningPid(directory);
  if (pid === undefined) return;
  process.kill(pid, 'SIGTERM');
  const deadline = performance.now() + stopTimeoutMs;
  while (isAlive(pid) && !isZombie(pid)) {
    if (performance.now() > deadline) process.kill(pid, 'SIGKILL');
    await sleep(20);
  }
  rmSync(pidFileOf(directory), { force: true });
}

/** An ended child that was not waited for yet. */
function isZombie(pid: number): boolean {
  return existsSync(`/proc/${pid}/stat`) && /\) Z /.test(readFileSync(`/proc/${pid}/stat`, 'utf8'));
}
