/** kubectl on a machine of a test. */
import { setTimeout as sleep } from 'node:timers/promises';
import type { Outcome } from '../cluster.ts';
import type { Machine } from './machines.ts';

export type Kubectl = {
  /** Runs kubectl and returns its output; throws if it fails. */
  (...args: readonly string[]): Promise<string>;
  /** Runs kubectl and returns its outcome. */
  outcome(args: readonly string[], input?: string): Promise<Outcome>;
  /** Applies objects. */
  apply(...objects: readonly object[]): Promise<void>;
  get<T>(...args: readonly string[]): Promise<T>;
};

export function kubectlOn(machine: Machine, home: string, kubeconfig: string): Kubectl {
  const outcome: Kubectl['outcome'] = (args, input) =>
    machine.run('kubectl', ['--kubeconfig', kubeconfig, ...args], { home, ...(input === undefined ? {} : { input }) });
  const call = async (...args: readonly string[]) => {
    const { code, stdout, stderr } = await outcome(args);
    if (code !== 0) throw new Error(`kubectl ${args.join(' ')}: ${stderr}`);
    return stdout;
  };
  return Object.assign(call, {
    outcome,
    async apply(...objects: readonly object[]) {
      const list = JSON.stringify({ apiVersion: 'v1', kind: 'List', items: objects });
      const { code, stderr } = await outcome(['apply', '-f', '-'], list);
      if (code !== 0) throw new Error(`kubectl apply: ${stderr}`);
    },
    get: async <T>(...args: readonly string[]) => JSON.parse(await call('get', '-o', 'json', ...args)) as T,
  });
}

/** Waits until a condition holds; fails with what is seen last. */
export async function until<T>(
  title: string,
  read: () => Promise<T>,
  isTrue: (value: T) => boolean,
  patienceMs = 60_000,
): Promise<T> {
  const deadline = performance.now() + patienceMs;
  for (;;) {
    const value = await read();
    if (isTrue(value)) return value;
    if (performance.now() > deadline) throw new Error(`timed out waiting for ${title}: ${JSON.stringify(value)}`);
    await sleep(100);
  }
}
