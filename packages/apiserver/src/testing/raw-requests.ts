import type { IncomingHttpHeaders, request } from 'node:http';
import { Agent, request as requestSecure } from 'node:https';
import type { Listening } from './test-server.ts';

/** Raw response. */
export type RawResponse = {
  readonly code: number;
  readonly headers: IncomingHttpHeaders;
  readonly bytes: Buffer;
  readonly text: string;
};

/** Raw request: nothing is added, so that it may be malformed. */
export type RawOptions = {
  readonly method?: string;
  readonly headers?: { readonly [name: string]: string };
  readonly body?: string | Uint8Array;
};

/** Sends requests to a listening server, as its administrator or anonymously, and returns raw responses. */
export function rawRequests(
  { url, kubeconfig }: Listening,
  { anonymous = false }: { readonly anonymous?: boolean } = {},
): {
  (path: string, options?: RawOptions): Promise<RawResponse>;
  close(): void;
} {
  const { ca, ...own } = credentialsIn({ kubeconfig });
  const agent = new Agent({ keepAlive: true, ca, ...(anonymous ? {} : own) });
  const ask = (path: string, { body, ...options }: RawOptions = {}) =>
    new Promise<RawResponse>((resolve, reject) => {
      const send: typeof request = requestSecure;
      const { hostname, port } = new URL(url);
      // A URL would be normalized: `..` and `//` must arrive unchanged.
      const outgoing = send({ agent, hostname, port, path, ...options }, (response) => {
        const chunks: Buffer[] = [];
        response.on('data', (chunk: Buffer) => chunks.push(chunk));
        response.on('end', () => {
          const bytes = Buffer.concat(chunks);
          resolve({ code: response.statusCode ?? 0, headers: response.headers, bytes, text: bytes.toString() });
        });
      });
      outgoing.once('error', reject);
      outgoing.end(body);
    });
  return Object.assign(ask, { close: () => agent.destroy() });
}

/** Returns the client credentials and the CA of a server's administrator. */
export function credentialsIn({ kubeconfig }: Pick<Listening, 'kubeconfig'>): {
  readonly ca: string;
  readonly cert: string;
  readonly key: string;
} {
  const field = (name: string) =>
    Buffer.from(new RegExp(`${name}: (\\S+)`).exec(kubeconfig.text)![1]!, 'base64').toString();
  return {
    ca: field('certificate-authority-data'),
    cert: field('client-certificate-data'),
    key: field('client-key-data'),
  };
}
