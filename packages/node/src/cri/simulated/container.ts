/** One simulated container: its state, and how it gets from one to the next. */
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
import { scriptedAnswers } from './programs/scripted.ts';
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
  /** By pid; empty unless it runs. */
  processes: Map<number, { readonly process: Process; readonly command: string }>;
  lastPid: number;
  /** Made when something is written. */
  log: ContainerLog | undefined;
  /** Made when something looks at them. */
  files: ContainerFiles | undefined;
  world: ContainerWorld | undefined;
  /** What was last told of it. */
  told: ContainerStatus | undefined;
  /** Who is attached: what the first process writes goes to them as well. */
  readonly attached: Set<{ stdout?: Output; stderr?: Output }>;
  readonly stdin: AttachableInput;
  /** Called when it has ended. */
  readonly onExit: Set<() => void>;
  cancelTimers: (() => void)[];
};

/** What containers need of the node they are on. */
export type ContainerHost = {
  readonly clock: Clock;
  readonly random: Random;
  /** A time later than any before. */
  timestamp(): bigint;
  filesOf(container: SimulatedContainer): ContainerFiles;
  logOf(container: SimulatedContainer): ContainerLog;
  peerOf(sandbox: SimulatedSandbox): NetworkPeer;
  onEnded(container: SimulatedContainer): void;
};

/** What it runs: its own command and arguments, or the image's. */
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

/** Runs a program as the container's first process. */
export function run(
  container: SimulatedContainer,
  host: ContainerHost,
  program: Program,
  given: Pick<ProgramContext, 'argv' | 'environment' | 'directory'>,
): void {
  const { config, script } = container;
  container.startedAt = host.timestamp();
  container.state = 'CONTAINER_RUNNING';
  const process = newProcess(container, host, given.argv.join(' '), (exitCode) => ended(container, host, { exitCode }));
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
  // What a container may not have at all it does not get for a moment either.
  if (script.oomAfterMs !== undefined) later(container, host, script.oomAfterMs, () => oomKill(container, host));
  if (isOverLimit(container, script.memoryBytes ?? 0)) {
    oomKill(container, host);
    return;
  }
  void complete(container, process, begin(program, context));
}

/** Only what comes of it is kept, not what it was begun with. */
async function begin(program: Program, context: ProgramContext): Promise<number> {
  return program(context);
}

/**
 * Waits for a program's end, and ends its process with it. A fault of the simulation is a crash of that program, which
 * its container tells of, and not of the cluster.
 */
async function complete(container: SimulatedContainer, process: Process, running: Promise<number>): Promise<void> {
  let exitCode: number;
  try {
    exitCode = await running;
  } catch (error) {
    if (error instanceof ProcessKilled) return;
    exitCode = 128 + signalNumbers[error instanceof BrokenPipe ? 'SIGPIPE' : 'SIGABRT'];
    if (!(error instanceof BrokenPipe)) container.message = `the simulation failed: ${(error as Error).stack ?? error}`;
  }
  process.exit(exitCode & 0xff);
}

/** Starts a process beside the first. */
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
  later(container, host, stopLatencyMs, () => ended(container, host, { exitCode: exitCodes?.at(-1) ?? 0 }));
}

export function oomKill(container: SimulatedContainer, host: ContainerHost): void {
  ended(container, host, { exitCode: 128 + signalNumbers.SIGKILL, reason: 'OOMKilled' });
}

/** Whether it would be killed for taking so much memory. */
export function isOverLimit({ resources }: SimulatedContainer, bytes: number): boolean {
  const limit = resources.memoryLimitInBytes ?? 0;
  return limit > 0 && bytes > limit;
}

type Ending = { readonly exitCode: number; readonly reason?: string };

/** The first process is over, and everything else in the container with it. */
function ended(container: SimulatedContainer, host: ContainerHost, { exitCode, reason }: Ending): void {
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
  host.onEnded(container);
}

function later(container: SimulatedContainer, host: ContainerHost, delayMs: number, act: () => void): void {
  container.cancelTimers.push(host.clock.setTimer(delayMs, act));
}

function mainOutput(container: SimulatedContainer, host: ContainerHost, stream: 'stdout' | 'stderr'): Output {
  return {
    write(bytes) {
      void host.logOf(container).output(stream).write(bytes);
      return container.attached.size > 0 ? showAttached(container, stream, bytes) : undefined;
    },
  };
}

/** Whoever is attached slows the container down, as with a real one; who is gone does not. */
async function showAttached(
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

/** A class for the same reason as a process. */
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

/** Has a listener answer on a port of all the sandbox's addresses, until it is released or the container ends. */
function listen(container: SimulatedContainer, clock: Clock, port: number, listener: Listener): () => void {
  const { script, sandbox } = container;
  const startedAt = instantOfNanoseconds(container.startedAt);
  const answering = script.answers ? scriptedAnswers(script.answers, () => clock.now() - startedAt) : listener;
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

/** The kubelet writes them into an annotation, for runtimes have no other use for them. */
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

/** Asked for again and again, and seldom another. */
export function containerStatus(container: SimulatedContainer): ContainerStatus {
  const { told } = container;
  if (!told || !isTrueOf(container, told)) container.told = newStatus(container);
  return container.told!;
}

function isTrueOf(container: SimulatedContainer, told: ContainerStatus): boolean {
  return (
    told.state === container.state &&
    told.startedAt === container.startedAt &&
    told.finishedAt === container.finishedAt &&
    told.exitCode === container.exitCode &&
    told.reason === container.reason &&
    told.message === container.message &&
    told.resources?.linux === container.resources
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
