import { connect } from 'node:net';
import type { Duplex } from 'node:stream';
import { createNetwork, toGoError } from '@kruise/apiserver/connect/backend';
import { createChannel } from '@kruise/client/grpc/channel';
import { methodOf } from '@kruise/client/grpc/method';
import type { Clock } from '@kruise/values/clock';
import type { HostNetwork, HttpRequest, HttpResponse, NetworkTarget } from '../runtime.ts';
import { Health } from './generated/health_pb.ts';

const servingStatuses = ['UNKNOWN', 'SERVING', 'NOT_SERVING', 'SERVICE_UNKNOWN'] as const;
const defaultMaxBodyBytes = 10 * 1024;

/** Network of the local machine. */
export function machineNetwork(clock: Clock): HostNetwork {
  const backends = createNetwork(clock, {});
  return {
    connect: connectOnMachine,
    async request(request, { signal = new AbortController().signal } = {}) {
      const { scheme = 'http', host, port, method = 'GET', path } = request;
      // Every probe opens a new connection, to see the server as a new client does.
      const headers = { ...headersOf(request), connection: 'close' };
      const response = await backends.at({ scheme, host, port }).send({ method, path, headers, signal });
      return {
        status: response.code,
        headers: Object.fromEntries(Object.entries(response.headers).map(([name, value]) => [name, String(value)])),
        body: await bodyOf(response.body, request.maxBodyBytes ?? defaultMaxBodyBytes),
      } satisfies HttpResponse;
    },
    async checkHealth({ host, port, service = '' }, { signal } = {}) {
      const channel = createChannel({ clock, targets: [{ host, port }] });
      try {
        const { status } = await channel.unary(methodOf(Health.method.check), { service }, signal ? { signal } : {});
        return servingStatuses[status] ?? 'UNKNOWN';
      } finally {
        channel.close();
      }
    },
  };
}

/** Connects to an address on the network of this machine. */
export function connectOnMachine(
  { host, port }: NetworkTarget,
  { signal }: { readonly signal?: AbortSignal } = {},
): Promise<Duplex> {
  return new Promise((resolve, reject) => {
    const socket = connect({ host, port, ...(signal && { signal }) });
    const onError = (error: NodeJS.ErrnoException) => reject(toGoError(error, host, port));
    socket.once('error', onError);
    socket.once('connect', () => {
      socket.off('error', onError);
      socket.on('error', () => socket.destroy());
      resolve(socket);
    });
  });
}

function headersOf({ headers = [] }: HttpRequest): { [name: string]: string | string[] } {
  const byName: { [name: string]: string | string[] } = {};
  for (const [name, value] of headers) {
    const before = byName[name.toLowerCase()];
    byName[name.toLowerCase()] = before === undefined ? value : [before, value].flat();
  }
  return byName;
}

async function bodyOf(body: AsyncIterable<Buffer>, maxBytes: number): Promise<Uint8Array> {
  const chunks: Buffer[] = [];
  let length = 0;
  for await (const chunk of body) {
    chunks.push(chunk);
    length += chunk.length;
    if (length >= maxBytes) break;
  }
  return Buffer.concat(chunks).subarray(0, maxBytes);
}
