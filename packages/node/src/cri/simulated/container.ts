/** A simulated container: its state and its state transitions. */
import type { Clock } from '@kruise/values/clock';
import type { Random } from '@kruise/values/random';
import type { ContainerConfig, ContainerState, ContainerStatus, LinuxContainerResources } from '../messages.ts';
import { instantOfNanoseconds } from '../nanoseconds.ts';
import type { Container } from '../runtime.ts';
import type { AttachableInput } from './attachable-input.ts';
import { BrokenPipe, type Output } from './byte-streams.ts';
import type { ContainerFiles } from './container-files.ts';
import type { ContainerLog } from './container-log.ts';
import { mayBeBelow } from './file-tree.ts';
import type { Listener, NetworkPeer } from './network.ts';
import { createProcess, type Process, ProcessKilled, type SignalName, signalNumbers, signalOf } from './process.ts';
import type { ContainerWorld, Program, ProgramContext, Spawned } from './program.ts';
import { findProgram } from './programs/find-program.ts';
import { scriptedListener } from './programs/scripted.ts';
import type { RegistryImage } from './registry.ts';
import type { SimulatedSandbox } from './sandbox.ts';
import type { Script } from './script.ts';
import { openTerminal } from './terminal.ts';
import { defaultEnvironment } from './well-known-images.ts';

export type SimulatedContainer = {
  readonly id: string;
  readonly sandbox: SimulatedSandbox;
  readonly config: ContainerConfig;
  readonly image: RegistryImage;
  readonly imageName: string;
  readonly imageRef: string;
  readonly script: Script;
  readonly createdAt: bigint;
  startedAt: bigint;
  finishedAt: bigint;
  state: ContainerState;
  exitCode: number;
  reason: string;
  message: string;
  resources: LinuxContainerResources;
  /** Processes by PID; empty unless the container runs. */
  processes: Map<number, { readonly process: Process; readonly command: string }>;
  lastPid: number;
  /** Created on the first write. */
  log: ContainerLog | undefined;
  /** Created on the first access. */
  files: ContainerFiles | undefined;
  world: ContainerWorld | undefined;
  /** Memoized status. */
  memoizedStatus: ContainerStatus | undefined;
  /** Attached clients, which receive the output of the first process, too. */
  readonly attached: Set<{ stdout?: Output; stderr?: Output }>;
  readonly stdin: AttachableInput;
  /** Called when the container has exited. */
  readonly onExit: Set<() => void>;
  cancelTimers: (() => void)[];
};

/** Node functions that containers depend on. */
export type ContainerHost = {
  readonly clock: Clock;
  readonly random: Random;
  /** Returns a time later than any before. */
  timestamp(): bigint;
  filesOf(container: SimulatedContainer): ContainerFiles;
  logOf(container: SimulatedContainer): ContainerLog;
  peerOf(sandbox: SimulatedSandbox): NetworkPeer;
  onContainerExit(container: SimulatedContainer): void;
};

/** Returns the command line: the container's own command and arguments, or those of the image. */
export function argvOf({ config, image }: Pick<SimulatedContainer, 'config' | 'image'>): readonly string[] {
  const { command = [], args = [] } = config;
  const { definition } = image;
  if (command.length > 0) return [...command, ...args];
  const entrypoint = definition ? (definition.entrypoint ?? []) : ['/entrypoint'];
  return [...entrypoint, ...(args.length > 0 ? args : (definition?.command ?? []))];
}

export function workingDirectoryOf({ config, image }: Pick<SimulatedContainer, 'config' | 'image'>): string {
  return config.workingDir || image.definition?.workingDirectory || '/';
}

export function environmentOf({ config, image, sandbox }: SimulatedContainer): ReadonlyMap<string, string> {
  const environment = new Map<string, string>();
  for (const [name, value] of Object.entries(defaultEnvironment)) environment.set(name, value);
  for (const [name, value] of Object.entries(image.definition?.environment ?? {})) environment.set(name, value);
  environment.set('HOSTNAME', sandbox.config.hostname ?? '');
  environment.set('HOME', '/root');
  if (config.tty) environment.set('TERM', 'xterm');
  for (const { key, value } of config.envs ?? []) environment.set(key, value);
  return environment;
}

export function stopSignalOf({ config, image }: SimulatedContainer): SignalName {
  return (
    (config.stopSignal === undefined ? undefined : signalOf(config.stopSignal)) ??
    image.definition?.stopSignal ??
    'SIGTERM'
  );
}

/** Runs a program as the first process of the container. */
export function run(
  container: SimulatedContainer,
  host: ContainerHost,
  program: Program,
  given: Pick<ProgramContext, 'argv' | 'environment' | 'directory'>,
): void {
  const { config, script } = container;
  container.startedAt = host.timestamp();
  container.state = 'CONTAINER_RUNNING';
  const process = newProcess(container, host, given.argv.join(' '), (exitCode) =>
    handleExit(container, host, { exitCode }),
  );
  const output = mainOutput(container, host, 'stdout');
  const terminal = config.tty ? openTerminal(process, container.stdin, output) : undefined;
  const context: ProgramContext = {
    ...given,
    stdin: terminal?.input ?? container.stdin,
    stdout: terminal?.output ?? output,
    stderr: terminal?.output ?? mainOutput(container, host, 'stderr'),
    isTerminal: config.tty ?? false,
    process,
    container: worldOf(container, host),
  };
  // A container that starts above its memory limit is killed before its program runs.
  if (script.oomAfterMs !== undefined) later(container, host, script.oomAfterMs, () => oomKill(container, host));
  if (isOverLimit(container, script.memoryBytes ?? 0)) {
    oomKill(container, host);
    return;
  }
  void complete(container, process, startProgram(program, context));
}

/** An async function of its own, so that its promise does not retain the context. */
async function startProgram(program: Program, context: ProgramContext): Promise<number> {
  return program(context);
}

/**
 * Waits for a program and exits its process with it. A bug of the simulation crashes only that program, and the
 * container status reports it.
 */
async function complete(container: SimulatedContainer, process: Process, running: Promise<number>): Promise<void> {
  let exitCode: number;
  try {
    exitCode = await running;
  } catch (error) {
    if (error instanceof ProcessKilled) return;
    exitCode = 128 + signalNumbers[error instanceof BrokenPipe ? 'SIGPIPE' : 'SIGABRT'];
    if (!(error instanceof BrokenPipe)) container.message = `simulation error: ${(error as Error).stack ?? error}`;
  }
  process.exit(exitCode & 0xff);
}

/** Starts another process in the container. */
export function spawn(
  container: SimulatedContainer,
  host: ContainerHost,
  command: string,
  program: (process: Process) => Promise<number>,
): Spawned {
  const exited = Promise.withResolvers<number>();
  const process = newProcess(container, host, command, (exitCode) => {
    container.processes.delete(process.pid);
    exited.resolve(exitCode);
  });
  void complete(container, process, program(process));
  return { process, exited: exited.promise };
}

function newProcess(
  container: SimulatedContainer,
  host: ContainerHost,
  command: string,
  onExit: (exitCode: number) => void,
): Process {
  const pid = ++container.lastPid;
  const isInit = pid === 1 && container.config.linux?.securityContext?.namespaceOptions?.pid === 'CONTAINER';
  const process = createProcess({ pid, clock: host.clock, isInit, onExit });
  container.processes.set(process.pid, { process, command });
  return process;
}

/** Sends a signal to the first process. */
export function signal(container: SimulatedContainer, host: ContainerHost, name: SignalName): void {
  if (container.state !== 'CONTAINER_RUNNING') return;
  const { stopLatencyMs, exitCodes } = container.script;
  if (name === 'SIGKILL' || stopLatencyMs === undefined || name !== stopSignalOf(container)) {
    container.processes.get(1)?.process.signal(name);
    return;
  }
  if (stopLatencyMs === 'never') return;
  later(container, host, stopLatencyMs, () => handleExit(container, host, { exitCode: exitCodes?.at(-1) ?? 0 }));
}

export function oomKill(container: SimulatedContainer, host: ContainerHost): void {
  handleExit(container, host, { exitCode: 128 + signalNumbers.SIGKILL, reason: 'OOMKilled' });
}

/** Reports whether the container would be OOM-killed at this memory usage. */
export function isOverLimit({ resources }: SimulatedContainer, bytes: number): boolean {
  const limit = resources.memoryLimitInBytes ?? 0;
  return limit > 0 && bytes > limit;
}

type Exit = { readonly exitCode: number; readonly reason?: string };

/** Handles the exit of the first process: all other processes of the container are killed. */
function handleExit(container: SimulatedContainer, host: ContainerHost, { exitCode, reason }: Exit): void {
  if (container.state !== 'CONTAINER_RUNNING') return;
  container.state = 'CONTAINER_EXITED';
  container.finishedAt = host.timestamp();
  container.exitCode = exitCode;
  container.reason = reason ?? (exitCode === 0 ? 'Completed' : 'Error');
  for (const cancel of container.cancelTimers) cancel();
  container.cancelTimers = [];
  const { processes } = container;
  container.processes = new Map();
  for (const { process } of processes.values()) process.signal('SIGKILL');
  container.log?.end();
  container.world = undefined;
  for (const call of [...container.onExit]) call();
  host.onContainerExit(container);
}

function later(container: SimulatedContainer, host: ContainerHost, delayMs: number, act: () => void): void {
  container.cancelTimers.push(host.clock.setTimer(delayMs, act));
}

function mainOutput(container: SimulatedContainer, host: ContainerHost, stream: 'stdout' | 'stderr'): Output {
  return {
    write(bytes) {
      void host.logOf(container).output(stream).write(bytes);
      return container.attached.size > 0 ? writeToAttached(container, stream, bytes) : undefined;
    },
  };
}

/** A slow attached client slows the container down, as with a real runtime; a disconnected one does not. */
async function writeToAttached(
  { attached }: SimulatedContainer,
  stream: 'stdout' | 'stderr',
  bytes: Uint8Array,
): Promise<void> {
  for (const each of [...attached]) {
    try {
      await each[stream]?.write(bytes);
    } catch (error) {
      if (!(error instanceof BrokenPipe)) throw error;
      attached.delete(each);
    }
  }
}

export function worldOf(container: SimulatedContainer, host: ContainerHost): ContainerWorld {
  container.world ??= new World(container, host);
  return container.world;
}

/** A class rather than closures, because there may be very many containers. */
class World implements ContainerWorld {
  readonly #container: SimulatedContainer;
  readonly #host: ContainerHost;
  #network: ContainerWorld['network'] | undefined;

  constructor(container: SimulatedContainer, host: ContainerHost) {
    this.#container = container;
    this.#host = host;
  }

  get clock() {
    return this.#host.clock;
  }
  get random() {
    return this.#host.random;
  }
  get hostname() {
    return this.#container.sandbox.config.hostname ?? '';
  }
  get files() {
    return this.#host.filesOf(this.#container).tree;
  }
  mayHaveProgram(path: string): boolean {
    const { files, config, image } = this.#container;
    if (files !== undefined) return true;
    for (const place in image.definition?.files) if (mayBeBelow(path, place)) return true;
    return config.mounts?.some(({ containerPath }) => mayBeBelow(path, containerPath)) ?? false;
  }
  get user() {
    return userOf(this.#container);
  }
  get privileges() {
    const { privileged = false, noNewPrivs = false } = this.#container.config.linux?.securityContext ?? {};
    return { isPrivileged: privileged, mayEscalate: !noNewPrivs };
  }
  get sysctls() {
    return this.#container.sandbox.config.linux?.sysctls ?? {};
  }
  get declaredPorts() {
    return declaredPorts(this.#container.config);
  }
  get startedAt() {
    return instantOfNanoseconds(this.#container.startedAt);
  }

  get network() {
    this.#network ??= this.#host.peerOf(this.#container.sandbox);
    return this.#network;
  }
  listen(port: number, listener: Listener): () => void {
    return listen(this.#container, this.#host.clock, port, listener);
  }

  findProgram(name: string, environment: ReadonlyMap<string, string>, directory: string): Program | undefined {
    return findProgram(this.#container.image.definition, this, { name, environment, directory });
  }
  mainOutput(stream: 'stdout' | 'stderr'): Output {
    return mainOutput(this.#container, this.#host, stream);
  }
  spawn(program: (process: Process) => Promise<number>): Spawned {
    return spawn(this.#container, this.#host, '', program);
  }
  takeMemory(bytes: number): void {
    if (isOverLimit(this.#container, bytes + (this.#container.script.memoryBytes ?? 0)))
      oomKill(this.#container, this.#host);
  }
  processes(): readonly { readonly pid: number; readonly command: string }[] {
    return [...this.#container.processes].map(([pid, { command }]) => ({ pid, command }));
  }
  signal(pid: number, name: SignalName): boolean {
    const process = this.#container.processes.get(pid)?.process;
    process?.signal(name);
    return process !== undefined;
  }
}

/** Listens on a port of all addresses of the sandbox, until it is released or the container exits. */
function listen(container: SimulatedContainer, clock: Clock, port: number, listener: Listener): () => void {
  const { script, sandbox } = container;
  const startedAt = instantOfNanoseconds(container.startedAt);
  const answering = script.answers ? scriptedListener(script.answers, () => clock.now() - startedAt) : listener;
  const releases = sandbox.interfaces.map((each) => each.listen(port, answering));
  const release = () => {
    container.onExit.delete(release);
    for (const each of releases) each();
  };
  container.onExit.add(release);
  return release;
}

function userOf({ config, image }: SimulatedContainer): { readonly uid: number; readonly gid: number } {
  const securityContext = config.linux?.securityContext;
  return {
    uid: securityContext?.runAsUser ?? (typeof image.user === 'number' ? image.user : 0),
    gid: securityContext?.runAsGroup ?? 0,
  };
}

/**
 * Returns the declared container ports. The kubelet passes them in an annotation, because CRI has no field for them.
 */
function declaredPorts({ annotations }: ContainerConfig): readonly number[] {
  const text = annotations?.['io.kubernetes.container.ports'];
  if (text === undefined) return [];
  const ports = JSON.parse(text) as { readonly containerPort?: number; readonly protocol?: string }[];
  return ports.flatMap(({ containerPort, protocol = 'TCP' }) =>
    containerPort === undefined || protocol !== 'TCP' ? [] : [containerPort],
  );
}

export function containerMessage(container: SimulatedContainer): Container {
  const { id, sandbox, config, image, imageRef, imageName, state, createdAt } = container;
  return {
    id,
    podSandboxId: sandbox.id,
    metadata: config.metadata,
    image: { ...config.image, image: imageName },
    imageRef,
    imageId: image.id,
    state,
    createdAt,
    labels: config.labels ?? {},
    annotations: config.annotations ?? {},
  };
}

/** Returns the memoized status: it is read often and changes rarely. */
export function containerStatus(container: SimulatedContainer): ContainerStatus {
  const { memoizedStatus } = container;
  if (!memoizedStatus || !isCurrent(container, memoizedStatus)) container.memoizedStatus = newStatus(container);
  return container.memoizedStatus!;
}

function isCurrent(container: SimulatedContainer, memoizedStatus: ContainerStatus): boolean {
  return (
    memoizedStatus.state === container.state &&
    memoizedStatus.startedAt === container.startedAt &&
    memoizedStatus.finishedAt === container.finishedAt &&
    memoizedStatus.exitCode === container.exitCode &&
    memoizedStatus.reason === container.reason &&
    memoizedStatus.message === container.message &&
    memoizedStatus.resources?.linux === container.resources
  );
}

function newStatus(container: SimulatedContainer): ContainerStatus {
  const { sandbox, config, startedAt, finishedAt, exitCode, reason, message, resources } = container;
  const { podSandboxId: _, ...shared } = containerMessage(container);
  const { uid, gid } = userOf(container);
  const groups = config.linux?.securityContext?.supplementalGroups ?? [];
  const { logDirectory } = sandbox.config;
  return {
    ...shared,
    startedAt,
    finishedAt,
    exitCode,
    reason,
    message,
    mounts: config.mounts ?? [],
    logPath: logDirectory && config.logPath ? `${logDirectory}/${config.logPath}` : '',
    resources: { linux: resources },
    user: { linux: { uid, gid, supplementalGroups: [gid, ...groups] } },
    stopSignal: stopSignalOf(container),
  };
}
