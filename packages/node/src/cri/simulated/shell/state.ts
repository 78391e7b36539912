/** State of a running shell, and its control flow exceptions. */
import type { Input, Output } from '../byte-streams.ts';
import type { SignalName } from '../process.ts';
import type { ProgramContext, Spawned } from '../program.ts';
import type { Command } from './syntax.ts';

export type ShellState = {
  readonly variables: Map<string, string>;
  readonly exported: Set<string>;
  readonly functions: Map<string, Command>;
  readonly traps: Map<SignalName | 'EXIT', string>;
  readonly jobs: Spawned[];
  name: string;
  parameters: readonly string[];
  directory: string;
  lastExitCode: number;
  /** Signals received while a command ran; their traps run afterwards. */
  pendingSignals: SignalName[];
  /** Called when a signal arrives, by a waiting builtin. */
  onSignal: (() => void) | undefined;
  /** Options `set -e`, `-u`, `-x`. */
  readonly options: Set<string>;
  /** Greater than 0 within a condition, where a failing command is no error. */
  conditionDepth: number;
};

/** Standard streams of a command. */
export type Streams = { readonly stdin: Input; readonly stdout: Output; readonly stderr: Output };

/** Execution context of a command. */
export type Frame = {
  readonly state: ShellState;
  readonly streams: Streams;
  readonly context: ProgramContext;
  readonly shell: Shell;
};

/** Shell functions for builtins. */
export type Shell = {
  /** Runs a text in the shell itself, as `eval` does. */
  executeText(text: string, frame: Frame): Promise<number>;
  /** Runs a program in the foreground. */
  runProgram(argv: readonly string[], environment: ReadonlyMap<string, string>, frame: Frame): Promise<number>;
};

export class ShellExit extends Error {
  override readonly name = 'ShellExit';
  readonly exitCode: number;
  constructor(exitCode: number) {
    super(`exit ${exitCode}`);
    this.exitCode = exitCode;
  }
}

export class LoopControl extends Error {
  override readonly name = 'LoopControl';
  readonly kind: 'break' | 'continue';
  readonly levels: number;
  constructor(kind: 'break' | 'continue', levels: number) {
    super(kind);
    this.kind = kind;
    this.levels = levels;
  }
}

export class FunctionReturn extends Error {
  override readonly name = 'FunctionReturn';
  readonly exitCode: number;
  constructor(exitCode: number) {
    super(`return ${exitCode}`);
    this.exitCode = exitCode;
  }
}

/** Failure of a command: its message is printed, and the exit code is nonzero. */
export class CommandError extends Error {
  override readonly name = 'CommandError';
  readonly exitCode: number;
  constructor(message: string, exitCode = 1) {
    super(message);
    this.exitCode = exitCode;
  }
}

export function createState(context: ProgramContext, name: string, parameters: readonly string[]): ShellState {
  const variables = new Map(context.environment);
  variables.set('PWD', context.directory);
  variables.set('IFS', ' \t\n');
  return {
    variables,
    exported: new Set(context.environment.keys()),
    functions: new Map(),
    traps: new Map(),
    jobs: [],
    name,
    parameters,
    directory: context.directory,
    lastExitCode: 0,
    pendingSignals: [],
    onSignal: undefined,
    options: new Set(),
    conditionDepth: 0,
  };
}

/** Returns a copy of the state for a subshell. */
export function forkState(state: ShellState): ShellState {
  return {
    ...state,
    variables: new Map(state.variables),
    exported: new Set(state.exported),
    functions: new Map(state.functions),
    // As in a real shell, traps are not inherited.
    traps: new Map(),
    jobs: [],
    pendingSignals: [],
    onSignal: undefined,
    options: new Set(state.options),
  };
}

export function environmentOf(state: ShellState): Map<string, string> {
  const environment = new Map<string, string>();
  for (const name of state.exported) {
    const value = state.variables.get(name);
    if (value !== undefined) environment.set(name, value);
  }
  return environment;
}
