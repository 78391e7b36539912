import { type ChildProcess, spawn, spawnSync } from 'node:child_process';
import { once } from 'node:events';
import { existsSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import type { Socket } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { fileURLToPath } from 'node:url';
import { type ClusterConnection, connect } from '@kruise/client/connect';
import { componentNames } from '@kruise/cluster/component-names';
import { systemClock } from '@kruise/values/system';

const root = fileURLToPath(new URL('..', import.meta.url));
const main = join(root, 'packages/cli/src/main.ts');

/** Outcome of a command. */
export type Outcome = { readonly code: number; readonly stdout: string; readonly stderr: string };

/** Returns the environment of a user without any cluster configuration. */
export function freshEnvironment(home: string): NodeJS.ProcessEnv {
  const { KUBECONFIG: _, KRUISE_DATA: __, NODE_TEST_CONTEXT: ___, ...rest } = process.env;
  return {
    ...rest,
    HOME: home,
    NODE_COMPILE_CACHE: process.env.NODE_COMPILE_CACHE ?? join(root, '.cache', 'compile'),
    PATH: `${join(root, '.cache', 'bin')}:${rest.PATH ?? ''}`,
  };
}

/** Creates a temporary home directory for a test. */
export function temporaryHome(): string {
  return mkdtempSync(join(tmpdir(), 'kruise-e2e-'));
}

/** Returns the bundled command; bundles it if a source has changed. */
export async function bundledProgram(): Promise<string> {
  const bundler = new URL('../scripts/bundle.mjs', import.meta.url).href;
  // A JavaScript module without types.
  const { bundledCommand } = (await import(bundler)) as { bundledCommand(): Promise<string> };
  return bundledCommand();
}

/** Returns the arguments of Node.js for a `kruise` command. */
export function kruiseArguments(args: readonly string[]): string[] {
  return [main, ...args];
}

/** Runs a `kruise` command to completion. */
export async function kruise(home: string, args: readonly string[]): Promise<Outcome> {
  return run(process.execPath, kruiseArguments(args), { env: freshEnvironment(home) });
}

/** Returns a kubeconfig with a client certificate for a user. */
export async function credentialsOf(
  home: string,
  data: string,
  user: string,
  groups: readonly string[] = [],
): Promise<string> {
  const args = ['kubeconfig', '--data', data, '--user', user, ...(groups.length > 0 ? ['--group', ...groups] : [])];
  const { code, stdout, stderr } = await kruise(home, args);
  if (code !== 0) throw new Error(`there are no credentials for ${user}:\n${stderr}`);
  const file = join(home, `${user.replaceAll(':', '-')}.kubeconfig`);
  writeFileSync(file, stdout, { mode: 0o600 });
  return file;
}

/** Runs a program to completion. */
export async function run(
  command: string,
  args: readonly string[],
  options: { readonly env: NodeJS.ProcessEnv; readonly input?: string },
): Promise<Outcome> {
  const child = spawn(command, [...args], { env: options.env, stdio: ['pipe', 'pipe', 'pipe'] });
  // A program may end without reading its input: its exit code and its output have the reason.
  child.stdin.on('error', (error: NodeJS.ErrnoException) => {
    if (error.code !== 'EPIPE') throw error;
  });
  child.stdin.end(options.input ?? '');
  const texts = { stdout: '', stderr: '' };
  for (const name of ['stdout', 'stderr'] as const) {
    child[name].setEncoding('utf8').on('data', (text: string) => {
      texts[name] += text;
    });
  }
  const [code, signal] = await once(child, 'close');
  return { code: code ?? (signal ? 128 : 1), ...texts };
}

/** A cluster in a separate process. */
export type Cluster = {
  readonly data: string;
  readonly kubeconfig: string;
  readonly process: ChildProcess;
  readonly url: string;
  /** Returns the output so far. */
  output(): string;
  connect(): ClusterConnection;
  /** Stops the cluster like Ctrl-C; returns its exit code. */
  stop(): Promise<number | null>;
  /** Kills the cluster like a power failure. */
  kill(): Promise<void>;
};

/** Flags for Kruise's CRDs without controllers for the kinds of Kubernetes: for tests of the API server itself. */
export const withoutControllers = ['--nodes=0', '--without', ...componentNames.filter((name) => name !== 'manager')];

/** A start takes a second, but longer on a busy machine. */
const patienceMs = 60_000;

const children = new Set<ChildProcess>();
process.once('exit', () => {
  for (const child of children) child.kill('SIGKILL');
});

/**
 * Detaches a process from the event loop: the clusters of a failed test must neither block the exit nor outlive the
 * tests.
 */
function detach(child: ChildProcess): void {
  child.unref();
  for (const stream of [child.stdout, child.stderr]) (stream as Socket | null)?.unref();
  children.add(child);
  child.once('exit', () => children.delete(child));
}

/** Starts `kruise up` and waits until it is ready. Data and kubeconfig are below `home`. */
export async function startCluster(
  home: string,
  args: readonly string[] = [],
  options: {
    readonly command?: 'up' | 'apiserver';
    readonly name?: string;
    readonly program?: string;
    /** Command that runs the cluster on another machine. */
    readonly enter?: readonly string[];
  } = {},
): Promise<Cluster> {
  const { command = 'up', name = 'data', program = main, enter = [] } = options;
  const data = join(home, name);
  const kubeconfig = join(home, `${name}.kubeconfig`);
  const running = join(data, 'running.json');
  rmSync(running, { force: true });
  const [first = '', ...rest] = [...enter, process.execPath, program, command];
  const child = spawn(first, [...rest, '--data', data, '--kubeconfig', kubeconfig, ...args], {
    env: freshEnvironment(home),
    stdio: ['ignore', 'pipe', 'pipe'],
  });
  let output = '';
  for (const stream of [child.stdout, child.stderr]) {
    stream.setEncoding('utf8').on('data', (text: string) => {
      output += text;
    });
  }
  const exited = once(child, 'exit');
  detach(child);
  const deadline = performance.now() + patienceMs;
  const announced = (): { readonly pid: number; readonly server: string } | undefined =>
    existsSync(running) ? JSON.parse(readFileSync(running, 'utf8')) : undefined;
  while (announced()?.pid !== child.pid) {
    if (child.exitCode !== null || performance.now() > deadline) {
      child.kill('SIGKILL');
      throw new Error(`the cluster did not start:\n${output}`);
    }
    await sleep(5);
  }
  const { server } = announced()!;
  return {
    data,
    kubeconfig,
    process: child,
    url: server,
    output: () => output,
    connect: () => connect(systemClock, { path: kubeconfig, userAgent: 'e2e' }),
    async stop() {
      child.ref();
      child.kill('SIGTERM');
      const [code] = await exited;
      return code;
    },
    async kill() {
      child.ref();
      child.kill('SIGKILL');
      await exited;
    },
  };
}

/** Returns an existing cluster, which is not stopped. */
export function clusterElsewhere(kubeconfig: string): Pick<Cluster, 'kubeconfig' | 'url' | 'stop'> {
  const [, url = ''] = /server: (\S+)/.exec(readFileSync(kubeconfig, 'utf8')) ?? [];
  return { kubeconfig, url, stop: async () => 0 };
}

/**
 * Returns whether a program that tests need is installed. If it is missing, CI fails; elsewhere the skipped tests are
 * reported.
 */
export function hasTool(command: string, whatFor: string): boolean {
  const found = spawnSync('sh', ['-c', `command -v ${command}`], { env: freshEnvironment('/'), stdio: 'ignore' });
  if (found.status === 0) return true;
  if (process.env.CI) throw new Error(`${command} is missing, and with it the tests of ${whatFor}`);
  console.error(`${command} is missing: ${whatFor} is not tested.`);
  return false;
}
