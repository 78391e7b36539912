import assert from 'node:assert/strict';
import { type ChildProcess, spawn } from 'node:child_process';
import { chmodSync, rmSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import {
  type Cluster,
  clusterElsewhere,
  freshEnvironment,
  type Outcome,
  run,
  startCluster,
  temporaryHome,
} from '../cluster.ts';

/** kubectl with its cluster. */
export type Kubectl = {
  readonly home: string;
  readonly cluster: Pick<Cluster, 'kubeconfig' | 'url' | 'stop'>;
  /** Runs a command that must succeed and returns its output. Arguments are split at spaces, unless they are a list. */
  ok(command: string | readonly string[], input?: string): Promise<string>;
  /** Runs a command that must fail and returns its error output. */
  fails(command: string | readonly string[], input?: string): Promise<string>;
  run(
    command: string | readonly string[],
    options?: { readonly input?: string; readonly env?: NodeJS.ProcessEnv },
  ): Promise<Outcome>;
  /** Starts a command that runs until it is stopped. */
  begin(command: string): {
    readonly child: ChildProcess;
    readonly output: () => string;
    /** Waits until the output contains a text; fails if the command ends before. */
    until(text: string): Promise<void>;
    /** Exit code of a command that ends by itself. */
    readonly ended: Promise<number | null>;
  };
  /** Writes a file for use in commands. */
  file(name: string, content: string): string;
  /** Writes a script that acts as the editor. */
  editor(script: string): string;
  close(): Promise<void>;
};

/**
 * Starts a cluster or only the API server, and kubectl with its own home and kubeconfig. KRUISE_E2E_KUBECONFIG selects
 * another cluster to test instead.
 */
export async function startKubectl(command: 'up' | 'apiserver' = 'up', args: readonly string[] = []): Promise<Kubectl> {
  const home = temporaryHome();
  const elsewhere = process.env.KRUISE_E2E_KUBECONFIG;
  const cluster = elsewhere ? clusterElsewhere(elsewhere) : await startCluster(home, args, { command });
  const env = { ...freshEnvironment(home), KUBECONFIG: cluster.kubeconfig, TZ: 'UTC' };
  const argumentsOf = (command: string | readonly string[]) =>
    typeof command === 'string' ? command.split(' ') : command;
  const file = (name: string, content: string) => {
    const path = join(home, name);
    writeFileSync(path, content);
    return path;
  };
  const execute: Kubectl['run'] = (command, options = {}) =>
    run('kubectl', argumentsOf(command), {
      env: { ...env, ...options.env },
      ...(options.input === undefined ? {} : { input: options.input }),
    });
  return {
    home,
    cluster,
    run: execute,
    async ok(command, input) {
      const { code, stdout, stderr } = await execute(command, input === undefined ? {} : { input });
      assert.equal(code, 0, `kubectl ${argumentsOf(command).join(' ')} failed:\n${stderr}${stdout}`);
      return stdout;
    },
    async fails(command, input) {
      const { code, stdout, stderr } = await execute(command, input === undefined ? {} : { input });
      assert.notEqual(code, 0, `kubectl ${argumentsOf(command).join(' ')} did not fail:\n${stdout}`);
      return stderr;
    },
    begin(command) {
      const child = spawn('kubectl', command.split(' '), { env, stdio: ['ignore', 'pipe', 'pipe'] });
      let received = '';
      const changed = new Set<() => void>();
      for (const stream of [child.stdout, child.stderr]) {
        stream.setEncoding('utf8').on('data', (text: string) => {
          received += text;
          for (const notify of changed) notify();
        });
      }
      // Registered immediately: a command may end before it is awaited.
      const ended = new Promise<number | null>((resolve) => child.once('close', resolve));
      return {
        child,
        output: () => received,
        until: (text) =>
          new Promise((resolve, reject) => {
            const look = () => {
              if (received.includes(text)) resolve();
            };
            changed.add(look);
            look();
            void ended.then(() => reject(new Error(`it ended without saying ${text}:\n${received}`)));
          }),
        ended,
      };
    },
    file,
    editor(script) {
      const path = file('editor', `#!/bin/sh\n${script}\n`);
      chmodSync(path, 0o755);
      return path;
    },
    async close() {
      await cluster.stop();
      rmSync(home, { recursive: true, force: true });
    },
  };
}

/** Returns kubectl in a separate namespace. */
export async function spaceOf(kubectl: Kubectl, namespace: string) {
  await kubectl.ok(`create namespace ${namespace}`);
  const within = (command: string | readonly string[]) => [
    '-n',
    namespace,
    ...(typeof command === 'string' ? command.split(' ') : command),
  ];
  return {
    namespace,
    ok: (command: string | readonly string[], input?: string) => kubectl.ok(within(command), input),
    fails: (command: string | readonly string[], input?: string) => kubectl.fails(within(command), input),
  };
}

/** Normalizes the ages and the column spacing of a table. */
export function table(text: string): string {
  return text
    .trimEnd()
    .split('\n')
    .map((line) =>
      line
        .trimEnd()
        .replace(/(?<= )(?:\d+[smhd])+(?= |$)/g, 'AGE')
        .replace(/ {2,}/g, '  '),
    )
    .join('\n');
}

/** Normalizes the output of kubectl describe. */
export function description(text: string): string {
  return text
    .trimEnd()
    .replace(/\w{3}, \d{2} \w{3} \d{4} \d{2}:\d{2}:\d{2} \+0000/g, 'TIME')
    .replace(/[0-9a-f]{8}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{12}/g, 'UID')
    .split('\n')
    .map((line) => line.trimEnd().replace(/(?<=\S) {2,}/g, '  '))
    .join('\n');
}
