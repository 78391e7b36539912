/** In-memory API server with controllers, each with its own permissions, on a fake clock. */
import { serviceAccount } from '@kruise/api/core/serviceaccount';
import { startTestServer, type TestServer } from '@kruise/apiserver/testing/test-server';
import type { Client } from '@kruise/client/client';
import type { Log } from '@kruise/client/log';
import { seededRandom } from '@kruise/values/random';
import { instantOf } from '@kruise/values/time';
import { type VirtualClock, virtualClock } from '@kruise/values/virtual-clock';
import { runControllerManager } from '../controllers/controller-manager.ts';
import type { ControllerSettings } from '../controllers/settings.ts';

export type Cluster = TestServer & {
  readonly clock: VirtualClock;
  /** Returns the client of a ServiceAccount in `kube-system`. */
  clientOfAccount(serviceAccount: string): Client;
  /** Runs controllers of the catalogue by name, until the cluster is closed. */
  run(controllers: readonly string[], settings?: Partial<ControllerSettings>): Promise<void>;
  /** Advances the clock, and waits for everything that happens in that time. */
  advance(seconds: number): Promise<void>;
  /** Warnings and errors that controllers logged. */
  readonly warnings: readonly string[];
};

/** Starts a cluster; `await using` closes it. */
export async function startCluster(): Promise<Cluster> {
  const clock = virtualClock(instantOf(2026, 1, 1));
  const random = seededRandom('cluster');
  const server = await startTestServer({ clock, random });
  // Pods are rejected while their ServiceAccount is missing, and its controller may not run.
  await server.client.create(serviceAccount, { metadata: { name: 'default', namespace: 'default' } });
  const stop = new AbortController();
  const running: Promise<void>[] = [];
  const warnings: string[] = [];
  const addWarning = (fields: object, message: string) => {
    const { error } = fields as { readonly error?: unknown };
    warnings.push(error instanceof Error ? `${message}: ${error.message}` : message);
  };
  const log: Log = { info() {}, warn: addWarning, error: addWarning };
  const clientOfAccount = (name: string) =>
    server.clientOf({
      username: `system:serviceaccount:kube-system:${name}`,
      groups: ['system:serviceaccounts', 'system:serviceaccounts:kube-system', 'system:authenticated'],
    });
  const advance = (seconds: number) => clock.advanceAsync(seconds * 1000);

  const close = async () => {
    stop.abort();
    let isOver = false;
    const over = Promise.all(running).finally(() => {
      isOver = true;
    });
    // Pending work may wait for timers.
    for (await advance(0); !isOver; await advance(1));
    await over;
    await server.close();
  };
  return {
    ...server,
    clock,
    clientOfAccount,
    warnings,
    advance,
    async run(controllers, settings = {}) {
      const client = server.clientOf({ username: 'system:kube-controller-manager', groups: [] });
      const { promise: started, resolve: onRunning } = Promise.withResolvers<unknown>();
      const options = {
        client,
        clientOf: clientOfAccount,
        clock,
        random,
        log,
        onRunning,
        controllers,
        settings: { rootAuthorities: '', ...settings },
      };
      running.push(runControllerManager(options, stop.signal));
      await started;
      await advance(0);
    },
    close,
    [Symbol.asyncDispose]: close,
  };
}
