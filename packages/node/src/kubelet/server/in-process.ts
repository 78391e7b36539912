/** In-process connection of an API server to a kubelet, without sockets. */
import { type Duplex, duplexPair } from 'node:stream';
import type { Backend, BackendRequest, BackendResponse, Switched } from '@kruise/apiserver/connect/backend';
import { writeHead } from '@kruise/client/streaming/upgrade';
import { errorResponse, type KubeletHandler, type KubeletResponse } from './handler.ts';
import { parseRequestTarget } from './request-target.ts';
import { KubeletError } from './view.ts';

/** Returns a kubelet as a backend of the API server. */
export function inProcessBackend(url: string, handler: KubeletHandler): Backend {
  const headersOf = ({ headers }: BackendRequest) =>
    Object.fromEntries(
      Object.entries(headers).map(([name, value]) => [
        name.toLowerCase(),
        Array.isArray(value) ? value.join(', ') : value,
      ]),
    );
  // The API server has authorized `nodes/proxy` or the Pod's subresource, which cover the whole kubelet or one Pod of
  // it.
  async function respond(request: BackendRequest): Promise<KubeletResponse> {
    const { method, path, signal } = request;
    try {
      return await handler.send({ method, target: parseRequestTarget(path), headers: headersOf(request), signal });
    } catch (error) {
      return errorResponse(error);
    }
  }
  async function upgradeConnection(request: BackendRequest, socket: Duplex): Promise<void> {
    const { method, path, signal } = request;
    const headers = headersOf(request);
    const target = parseRequestTarget(path);
    await handler.upgrade({ method, target, headers, signal }, { method, headers, socket, head: Buffer.alloc(0) });
  }
  return {
    url,
    async send(request) {
      const { signal } = request;
      const { code, headers, body } = await respond(request);
      signal.addEventListener('abort', () => body.destroy(), { once: true });
      return { code, reason: '', headers, body };
    },
    async upgrade(request) {
      const { signal } = request;
      const [near, far] = duplexPair();
      for (const socket of [near, far]) socket.on('error', () => socket.destroy());
      signal.addEventListener('abort', () => near.destroy(), { once: true });
      // Destroying one end of a duplex pair does not close the other end, unlike a socket.
      near.once('close', () => far.destroy());
      far.once('close', () => near.destroy());
      upgradeConnection(request, far).catch((error: unknown) => {
        const code = error instanceof KubeletError ? error.code : 500;
        writeHead(far, code, { 'Content-Type': 'text/plain; charset=utf-8', Connection: 'close' }, 'refused');
        far.end((error as Error).message);
      });
      return readHead(near);
    },
  };
}

/** Parses the response head that was written to the socket. */
function readHead(socket: Duplex): Promise<Switched | BackendResponse> {
  return new Promise((resolve, reject) => {
    let read = Buffer.alloc(0);
    const closed = () => reject(new Error('EOF'));
    const readable = () => {
      for (let chunk = socket.read() as Buffer | null; chunk !== null; chunk = socket.read() as Buffer | null) {
        read = Buffer.concat([read, chunk]);
      }
      const end = read.indexOf('\r\n\r\n');
      if (end < 0) return;
      socket.off('readable', readable);
      socket.off('close', closed);
      const [statusLine = '', ...lines] = read.subarray(0, end).toString('latin1').split('\r\n');
      const [, code = '', reason = ''] = /^HTTP\/1\.1 (\d{3}) ?(.*)$/.exec(statusLine) ?? [];
      const headers = Object.fromEntries(
        lines.map((line) => [line.slice(0, line.indexOf(':')).toLowerCase(), line.slice(line.indexOf(':') + 1).trim()]),
      );
      const rest = read.subarray(end + 4);
      if (code === '101') {
        resolve({ code: 101, reason, headers, socket, head: rest });
        return;
      }
      if (rest.length > 0) socket.unshift(rest);
      resolve({ code: Number(code), reason, headers, body: socket });
    };
    socket.on('readable', readable);
    socket.once('close', closed);
  });
}
