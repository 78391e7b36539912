/** A containerd that belongs to one data directory. It is stopped with the node; its containers keep running. */
import { spawn } from 'node:child_process';
import { closeSync, existsSync, mkdirSync, openSync, readFileSync, rmSync, statfsSync, writeFileSync } from 'node:fs';
import { createConnection } from 'node:net';
import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { GrpcError } from '@kruise/client/grpc/status';
import { createGrpcRuntime } from '@kruise/node/cri/grpc/grpc-runtime';
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
  const configuration = join(directory, 'config.toml');
  writeFileSync(
    configuration,
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
  const pidFile = join(directory, 'containerd.pid');
  const pid = runningPid(pidFile) ?? launch(configuration, join(directory, 'containerd.log'), pidFile);
  await waitForSocket(socket, pid, join(directory, 'containerd.log'));
  return { socket, cniConfiguration, stop: () => stopProcess(pid, pidFile) };
}

/** Starts a containerd again as it was configured, to remove its containers. */
export async function restartContainerd(options: Pick<ContainerdOptions, 'directory' | 'run'>): Promise<Containerd> {
  const { directory } = options;
  const socket = socketOf(options);
  const pidFile = join(directory, 'containerd.pid');
  const logFile = join(directory, 'containerd.log');
  const pid = runningPid(pidFile) ?? launch(join(directory, 'config.toml'), logFile, pidFile);
  await waitForSocket(socket, pid, logFile);
  return { socket, cniConfiguration: join(directory, 'cni'), stop: () => stopProcess(pid, pidFile) };
}

/** Reports whether a process with this `/proc/self/status` may lower OOM scores. */
export function mayLowerOomScores(status: string): boolean {
  const [, mask = '0'] = /^CapEff:\s*([0-9a-f]+)$/m.exec(status) ?? [];
  return ((BigInt(`0x${mask}`) >> sysResource) & 1n) === 1n;
}

/** Returns the process in a pid file, unless it has ended and another process has its number. */
function runningPid(pidFile: string): number | undefined {
  if (!existsSync(pidFile)) return undefined;
  const [pid = '', startTime] = readFileSync(pidFile, 'utf8').split(' ');
  return isAlive(Number(pid)) && processStartTime(Number(pid)) === startTime ? Number(pid) : undefined;
}

function launch(configuration: string, logFile: string, pidFile: string): number {
  const log = openSync(logFile, 'a', 0o600);
  // Detached, so that Ctrl-C does not reach containerd: it is stopped after the kubelet.
  const child = spawn('containerd', ['--config', configuration], { stdio: ['ignore', log, log], detached: true });
  closeSync(log);
  child.unref();
  // Without a process, waiting for the socket reports what is in the log.
  child.on('error', () => {});
  const { pid } = child;
  if (pid === undefined) throw new Error('containerd could not be started: is it installed?');
  writeFileAtomically(pidFile, `${pid} ${processStartTime(pid)}`);
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

async function stopProcess(pid: number, pidFile: string): Promise<void> {
  if (runningPid(pidFile) !== pid) return;
  process.kill(pid, 'SIGTERM');
  const deadline = performance.now() + stopTimeoutMs;
  while (isAlive(pid) && !isZombie(pid)) {
    if (performance.now() > deadline) process.kill(pid, 'SIGKILL');
    await sleep(20);
  }
  rmSync(pidFile, { force: true });
}

/** An ended child that was not waited for yet. */
function isZombie(pid: number): boolean {
  return existsSync(`/proc/${pid}/stat`) && /\) Z /.test(readFileSync(`/proc/${pid}/stat`, 'utf8'));
}
