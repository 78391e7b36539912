/** What runs in a simulated container, and what it finds there. */
import type { Clock } from '@kruise/values/clock';
import type { Random } from '@kruise/values/random';
import type { Input, Output } from './byte-streams.ts';
import type { FileTree } from './file-tree.ts';
import type { Listener, NetworkPeer } from './network.ts';
import type { Process, SignalName } from './process.ts';

/** A program resolves with its exit code. */
export type Program = (context: ProgramContext) => number | Promise<number>;

export type ProgramContext = {
  readonly argv: readonly string[];
  readonly environment: ReadonlyMap<string, string>;
  readonly directory: string;
  readonly stdin: Input;
  readonly stdout: Output;
  readonly stderr: Output;
  /** Whether someone sits at the other end of its streams. */
  readonly isTerminal: boolean;
  readonly process: Process;
  readonly container: ContainerWorld;
};

/** What all processes of one container share. */
export type ContainerWorld = {
  readonly clock: Clock;
  readonly random: Random;
  readonly hostname: string;
  /** Laid out when first looked at. */
  readonly files: FileTree;
  /** Whether there can be a program among the files at a path: no, where nothing was mounted or written there yet. */
  mayHaveProgram(path: string): boolean;
  readonly user: { readonly uid: number; readonly gid: number };
  /** Whether it may do as it likes with its node, and whether a program may run as its owner rather than its caller. */
  readonly privileges: { readonly isPrivileged: boolean; readonly mayEscalate: boolean };
  readonly network: NetworkPeer;
  /** Answers on a port until it is released or the container ends. */
  listen(port: number, listener: Listener): () => void;
  /** The kernel's settings for the Pod, as far as it made any. */
  readonly sysctls: Readonly<Record<string, string>>;
  /** The ports the Pod says the container listens on. */
  readonly declaredPorts: readonly number[];
  readonly startedAt: number;
  /** The program behind a name or path, looked up along PATH; undefined if there is none. */
  findProgram(name: string, environment: ReadonlyMap<string, string>, directory: string): Program | undefined;
  /** Starts another process beside the calling one. */
  spawn(run: (process: Process) => Promise<number>): Spawned;
  /** Where the first process writes: the container's log. */
  mainOutput(stream: 'stdout' | 'stderr'): Output;
  /** Takes memory for a moment; whoever takes more than the container may have is killed. */
  takeMemory(bytes: number): void;
  processes(): readonly { readonly pid: number; readonly command: string }[];
  /** False if there is no such process. */
  signal(pid: number, signal: SignalName): boolean;
};

export type Spawned = { readonly process: Process; readonly exited: Promise<number> };

export function writeText(output: Output, text: string): void | Promise<void> {
  return output.write(Buffer.from(text));
}
