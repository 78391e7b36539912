/** Lets an API server in the same process speak with a kubelet: no socket, and no bytes but those of streams. */
import { type Duplex, duplexPair } from 'node:stream';
import type { Backend, BackendAnswer, BackendRequest, Switched } from '@kruise/apiserver/connect/backend';
import { writeHead } from '@kruise/client/streaming/upgrade';
import type { KubeletHandler } from './handler.ts';
import { KubeletError } from './view.ts';

/** A kubelet as a server behind the API server. */
export function inProcessBackend(url: string, handler: KubeletHandler): Backend {
  const headersOf = ({ headers }: BackendRequest) =>
    Object.fromEntries(
      Object.entries(headers).map(([name, value]) => [
        name.toLowerCase(),
        Array.isArray(value) ? value.join(', ') : value,
      ]),
    );
  return {
    url,
    async send(request) {
      const { method, path, signal } = request;
      const { code, headers, body } = await handler.send({ method, path, headers: headersOf(request), signal });
      signal.addEventListener('abort', () => body.destroy(), { once: true });
      return { code, reason: '', headers, body };
    },
    async upgrade(request) {
      const { method, path, signal } = request;
      const headers = headersOf(request);
      const [near, far] = duplexPair();
      for (const socket of [near, far]) socket.on('error', () => socket.destroy());
      signal.addEventListener('abort', () => near.destroy(), { once: true });
      // The two ends know nothing of each other's being destroyed, as those of a socket would.
      near.once('close', () => far.destroy());
      far.once('close', () => near.destroy());
      const asked = { method, path, headers, signal };
      handler.upgrade(asked, { method, headers, socket: far, head: Buffer.alloc(0) }).catch((error: unknown) => {
        const code = error instanceof KubeletError ? error.code : 500;
        writeHead(far, code, { 'Content-Type': 'text/plain; charset=utf-8', Connection: 'close' }, 'refused');
        far.end((error as Error).message);
      });
      return readHead(near);
    },
  };
}

/** What was answered, read off the socket it was written to. */
function readHead(socket: Duplex): Promise<Switched | BackendAnswer> {
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
