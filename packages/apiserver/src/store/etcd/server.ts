/** etcd server for tests and benchmarks: one member on free ports, with a temporary data directory. */
import { type ChildProcess, spawn, spawnSync } from 'node:child_process';
import { once } from 'node:events';
import { mkdtempSync, rmSync } from 'node:fs';
import type { AddressInfo } from 'node:net';
import { createServer } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';

export interface EtcdServer {
  readonly endpoint: string;
  /** Kills the server, to simulate a crash. */
  kill(): Promise<void>;
  /** Restarts the server with the same ports and data. */
  start(): Promise<void>;
  /** Kills the server and deletes its data. */
  dispose(): Promise<void>;
}

/** Returns the path of the etcd binary; undefined if there is none on this machine. */
export function findEtcd(): string | undefined {
  const command = process.env['ETCD'] ?? 'etcd';
  return spawnSync(command, ['--version']).status === 0 ? command : undefined;
}

export async function startEtcd(command: string): Promise<EtcdServer> {
  const directory = mkdtempSync(join(tmpdir(), 'kruise-etcd-'));
  const [clientPort, peerPort] = await freePorts();
  const clientUrl = `http://127.0.0.1:${clientPort}`;
  const peerUrl = `http://127.0.0.1:${peerPort}`;
  let process: ChildProcess | undefined;

  async function start(): Promise<void> {
    const etcd = spawn(
      command,
      [
        ['--name', 'test'],
        ['--data-dir', directory],
        ['--listen-client-urls', clientUrl],
        ['--advertise-client-urls', clientUrl],
        ['--listen-peer-urls', peerUrl],
        ['--initial-advertise-peer-urls', peerUrl],
        ['--initial-cluster', `test=${peerUrl}`],
        // These intervals determine the shortest lease.
        ['--heartbeat-interval', '20'],
        ['--election-timeout', '100'],
      ].flat(),
      { stdio: ['ignore', 'ignore', 'pipe'] },
    );
    process = etcd;
    let output = '';
    await new Promise<void>((resolve, reject) => {
      etcd.stderr.on('data', (chunk) => {
        output += chunk;
        if (/ready to serve client requests|serving (insecure )?client/.test(output)) resolve();
      });
      etcd.once('error', reject);
      etcd.once('exit', () => reject(new Error(`etcd did not start:\n${output}`)));
    });
    etcd.stderr.removeAllListeners('data').resume();
  }

  async function kill(): Promise<void> {
    if (!process || process.exitCode !== null || process.signalCode !== null) return;
    const exited = once(process, 'exit');
    process.kill('SIGKILL');
    await exited;
  }

  await start();
  return {
    endpoint: clientUrl,
    start,
    kill,
    async dispose() {
      await kill();
      rmSync(directory, { recursive: true });
    },
  };
}

async function freePorts(): Promise<number[]> {
  const servers = [createServer(), createServer()];
  const ports: number[] = [];
  for (const server of servers) {
    await once(server.listen(0, '127.0.0.1'), 'listening');
    ports.push((server.address() as AddressInfo).port);
  }
  for (const server of servers) await once(server.close(), 'close');
  return ports;
}
