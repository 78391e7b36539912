/**
 * Control protocol between other commands and the process that runs a cluster: one request and one response over a
 * socket in the data directory, which only its owner can open.
 */
import { createHash } from 'node:crypto';
import { chmodSync, rmSync } from 'node:fs';
import { createServer, request } from 'node:http';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { text } from 'node:stream/consumers';
import { type Node, node as nodeKind } from '@kruise/api/core/node';
import type { Client } from '@kruise/client/client';
import type { StuckKey } from '@kruise/client/stuck-keys';
import { isNotFound } from '@kruise/machinery/status';
import type { Nodes } from '@kruise/node/nodes';
import { systemClock } from '@kruise/values/system';
import type { DataDirectory } from './data-directory.ts';
import { drainNode } from './machine/drain.ts';
import type { PersistedNodes } from './persisted-nodes.ts';

/** Requests that the process of a cluster answers. */
export type ControlRequest =
  | { readonly ask: 'status' }
  | { readonly ask: 'nodes' }
  | { readonly ask: 'add-node'; readonly name?: string; readonly labels?: { readonly [key: string]: string } }
  | { readonly ask: 'stop-node' | 'lose-node' | 'start-node' | 'remove-node'; readonly name: string }
  | { readonly ask: 'slow-node'; readonly name: string; readonly delayMs: number };

/** State of a node. */
export type NodeState = { readonly name: string; readonly address: string; readonly isUp: boolean };

/** State of the process that runs a cluster. */
export type ProcessState = {
  readonly components: readonly string[];
  /** URLs at which the components serve health and metrics. */
  readonly endpoints: { readonly [name: string]: string };
  readonly nodes: number;
  readonly objects: number;
  readonly memoryBytes: number;
  readonly processorSeconds: number;
  /** Objects that controllers have been retrying for more than ten minutes. */
  readonly stuck: readonly (StuckKey & { readonly controller: string })[];
};

/** Maximum length of a socket path on every supported system. */
const maxSocketName = 100;

/** Returns the path of the control socket of a data directory. */
export function controlSocket({ path }: DataDirectory): string {
  const usual = join(path, 'control.sock');
  if (usual.length <= maxSocketName) return usual;
  return join(tmpdir(), `kruise-${createHash('sha256').update(path).digest('hex').slice(0, 16)}.sock`);
}

/** Serves control requests until it is closed. */
export async function serveControl(
  socket: string,
  answer: (controlRequest: ControlRequest) => Promise<unknown>,
): Promise<{ close(): void }> {
  rmSync(socket, { force: true });
  const server = createServer(async (incoming, outgoing) => {
    try {
      const value = await answer(JSON.parse(await text(incoming)));
      outgoing.end(JSON.stringify({ value: value ?? null }));
    } catch (error) {
      outgoing.statusCode = 400;
      outgoing.end(JSON.stringify({ error: error instanceof Error ? error.message : String(error) }));
    }
  });
  await new Promise<void>((resolve, reject) => {
    server.once('error', reject);
    server.listen(socket, resolve);
  });
  chmodSync(socket, 0o600);
  server.unref();
  return {
    close() {
      server.close();
      server.closeAllConnections();
      rmSync(socket, { force: true });
    },
  };
}

/** Sends a control request; rejects with the error of the process. */
export function sendControlRequest<T>(socket: string, controlRequest: ControlRequest): Promise<T> {
  return new Promise((resolve, reject) => {
    const outgoing = request({ socketPath: socket, method: 'POST', path: '/' }, async (incoming) => {
      const { value, error } = JSON.parse(await text(incoming));
      if (error === undefined) resolve(value);
      else reject(new Error(error));
    });
    outgoing.once('error', reject);
    outgoing.end(JSON.stringify(controlRequest));
  });
}

/** Time to drain a real node before it is removed. */
const drainTimeoutMs = 5 * 60_000;

/** Simulated nodes, their persisted list and an API client. */
export type NodeManagement = { readonly nodes: Nodes; readonly kept: PersistedNodes; readonly client: Client };

/** Returns the state of a real node, which the control process does not run. */
function stateOf({ metadata, status }: Node): NodeState {
  const address = status?.addresses?.find(({ type }) => type === 'InternalIP')?.address ?? '';
  const isUp = status?.conditions?.some(({ type, status: is }) => type === 'Ready' && is === 'True') ?? false;
  return { name: metadata.name ?? '', address, isUp };
}

/** Handles the control requests for nodes. */
export async function handleNodeRequest(
  { nodes, kept, client }: NodeManagement,
  controlRequest: ControlRequest,
): Promise<unknown> {
  switch (controlRequest.ask) {
    case 'nodes': {
      const simulated = nodes
        .list()
        .map(({ name, address, kubelet }): NodeState => ({ name, address, isUp: kubelet() !== undefined }));
      const { items } = await client.list(nodeKind);
      return [...simulated, ...items.filter(({ metadata }) => !nodes.get(metadata.name ?? '')).map(stateOf)];
    }
    case 'add-node': {
      const { name, labels = {} } = controlRequest;
      const added = await nodes.add({ labels, ...(name ? { name } : {}) });
      kept.save({ name: added.name, labels });
      return added.name;
    }
    case 'remove-node':
      // The machine of a real node removes its containers itself when the Pods are gone.
      if (!nodes.get(controlRequest.name)) {
        await drainNode(controlRequest.name, { client, clock: systemClock, timeoutMs: drainTimeoutMs });
      } else {
        await nodes.remove(controlRequest.name);
        kept.remove(controlRequest.name);
      }
      await client.delete(nodeKind, { name: controlRequest.name }).catch((error: unknown) => {
        if (!isNotFound(error)) throw error;
      });
      return undefined;
    case 'stop-node':
      return nodes.stop(controlRequest.name);
    case 'lose-node':
      return nodes.disconnect(controlRequest.name);
    case 'start-node':
      return nodes.start(controlRequest.name);
    case 'slow-node':
      return nodes.setLatency(controlRequest.name, controlRequest.delayMs);
    default:
      throw new Error(`unknown control request ${JSON.stringify(controlRequest)}`);
  }
}
