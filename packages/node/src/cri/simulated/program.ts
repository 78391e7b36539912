/** Programs of simulated containers, and the environment they run in. */
import type { Clock } from '@kruise/values/clock';
import type { Random } from '@kruise/values/random';
import type { Input, Output } from './byte-streams.ts';
import type { FileTree } from './file-tree.ts';
import type { Listener, NetworkPeer } from './network.ts';
import type { Process, SignalName } from './process.ts';

/** A program; resolves with its exit code. */
export type Program = (context: ProgramContext) => number | Promise<number>;

export type ProgramContext = {
  readonly argv: readonly string[];
  readonly environment: ReadonlyMap<string, string>;
  readonly directory: string;
  readonly stdin: Input;
  readonly stdout: Output;
  readonly stderr: Output;
  /** True if its streams are a terminal. */
  readonly isTerminal: boolean;
  readonly process: Process;
  readonly container: ContainerWorld;
};

/** State shared by all processes of a container. */
export type ContainerWorld = {
  readonly clock: Clock;
  readonly random: Random;
  readonly hostname: string;
  /** Created on first access. */
  readonly files: FileTree;
  /**
   * Reports whether there can be a program among the files at a path: not if nothing was mounted or written there yet.
   */
  mayHaveProgram(path: string): boolean;
  readonly user: { readonly uid: number; readonly gid: number };
  /** Privileges: whether the container is privileged, and whether a setuid program may raise them. */
  readonly privileges: { readonly isPrivileged: boolean; readonly mayEscalate: boolean };
  readonly network: NetworkPeer;
  /** Listens on a port until it is released or the container exits. */
  listen(port: number, listener: Listener): () => void;
  /** Kernel parameters of the Pod. */
  readonly sysctls: Readonly<Record<string, string>>;
  /** Container ports that the Pod declares. */
  readonly declaredPorts: readonly number[];
  readonly startedAt: number;
  /** Finds a program by name along PATH, or by path; undefined if it does not exist. */
  findProgram(name: string, environment: ReadonlyMap<string, string>, directory: string): Program | undefined;
  /** Starts another process. */
  spawn(run: (process: Process) => Promise<number>): Spawned;
  /** Returns the output of the first process: the container log. */
  mainOutput(stream: 'stdout' | 'stderr'): Output;
  /** Allocates memory for a moment; the container is OOM-killed if it exceeds its limit. */
  takeMemory(bytes: number): void;
  processes(): readonly { readonly pid: number; readonly command: string }[];
  /** Returns false if the process does not exist. */
  signal(pid: number, signal: SignalName): boolean;
};

export type Spawned = { readonly process: Process; readonly exited: Promise<number> };

export function writeText(output: Output, text: string): void | Promise<void> {
  return output.write(Buffer.from(text));
}
