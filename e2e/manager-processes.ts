/**
 * Replicas of kruise-manager on a cluster without a built-in one, each a process with exactly the shipped permissions.
 */
import assert from 'node:assert/strict';
import { type ChildProcess, spawn } from 'node:child_process';
import { once } from 'node:events';
import { createServer } from 'node:net';
import { join } from 'node:path';
import type { TestContext } from 'node:test';
import { endpointSlice } from '@kruise/api/discovery/endpointslice';
import type { Client } from '@kruise/client/client';
import { machineAddress } from '@kruise/node/kubelet/node/machine';
import { type Cluster, credentialsOf, freshEnvironment } from './cluster.ts';

/** Time for which the lease of a killed replica blocks the others. */
export const leaseMs = 4000;

export type Scene = {
  readonly home: string;
  readonly cluster: Cluster;
  readonly program: string;
  readonly client: Client;
};
type Manager = { kill(): Promise<void> };

/** Starts managers, and acts as their Service: endpoints are the managers that respond. */
export async function managersOf(
  context: Pick<TestContext, 'after'>,
  { home, cluster, program, client }: Scene,
): Promise<(name: string) => Promise<Manager>> {
  const credentials = await credentialsOf(home, cluster.data, 'system:serviceaccount:kruise-system:kruise-manager');
  const address = machineAddress();
  assert.ok(address, 'this machine has an address that others know it by');

  return async (name) => {
    const port = await freePort();
    const args = [
      ...[
        'manager',
        '--kubeconfig',
        credentials,
        '--metrics-addr',
        '127.0.0.1:0',
        '--health-probe-addr',
        '127.0.0.1:0',
      ],
      ...['--leader-election-lease-duration', `${leaseMs}ms`, '--leader-election-renew-deadline', '3s'],
      ...['--leader-election-retry-period', '500ms', '--protection-log-path', home],
    ];
    const env = { ...freshEnvironment(home), WEBHOOK_PORT: String(port), WEBHOOK_CERT_DIR: join(home, name) };
    const child = spawn(process.execPath, [program, ...args], { env, stdio: ['ignore', 'ignore', 'pipe'] });
    context.after(() => child.kill('SIGKILL'));
    await waitForOutput(child, 'webhooks are served');
    const slice = { namespace: 'kruise-system', name: `kruise-webhook-service-${name}` };
    await client.create(endpointSlice, {
      metadata: { ...slice, labels: { 'kubernetes.io/service-name': 'kruise-webhook-service' } },
      addressType: 'IPv4',
      endpoints: [{ addresses: [address] }],
      ports: [{ name: '', port }],
    });
    return {
      async kill() {
        child.kill('SIGKILL');
        await once(child, 'exit');
        await client.delete(endpointSlice, slice);
      },
    };
  };
}

function waitForOutput(child: ChildProcess, text: string): Promise<void> {
  let all = '';
  return new Promise((resolve, reject) => {
    child.stderr?.setEncoding('utf8').on('data', (more: string) => {
      all += more;
      if (all.includes(text)) resolve();
    });
    child.once('exit', () => reject(new Error(`the manager has ended:\n${all}`)));
  });
}

async function freePort(): Promise<number> {
  const server = createServer().listen(0);
  await once(server, 'listening');
  const { port } = server.address() as { readonly port: number };
  server.close();
  await once(server, 'close');
  return port;
}
