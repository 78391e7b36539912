import type { IncomingHttpHeaders, request } from 'node:http';
import { Agent, request as requestSecure } from 'node:https';
import type { Listening } from './test-server.ts';

/** An answer as it came. */
export type RawAnswer = { readonly code: number; readonly headers: IncomingHttpHeaders; readonly text: string };

/** Sends requests to a server that listens, as its administrator, and shows answers as they come. */
export function rawRequests({ url, kubeconfig }: Listening): {
  (
    path: string,
    options?: { readonly method?: string; readonly headers?: { [name: string]: string } },
  ): Promise<RawAnswer>;
  close(): void;
} {
  const field = (name: string) =>
    Buffer.from(new RegExp(`${name}: (\\S+)`).exec(kubeconfig.text)![1]!, 'base64').toString();
  const agent = new Agent({
    keepAlive: true,
    ca: field('certificate-authority-data'),
    cert: field('client-certificate-data'),
    key: field('client-key-data'),
  });
  const ask = (path: string, options: { method?: string; headers?: { [name: string]: string } } = {}) =>
    new Promise<RawAnswer>((resolve, reject) => {
      const send: typeof request = requestSecure;
      const outgoing = send(`${url}${path}`, { agent, ...options }, (response) => {
        let text = '';
        response.setEncoding('utf8');
        response.on('data', (chunk) => {
          text += chunk;
        });
        response.on('end', () => resolve({ code: response.statusCode ?? 0, headers: response.headers, text }));
      });
      outgoing.once('error', reject);
      outgoing.end();
    });
  return Object.assign(ask, { close: () => agent.destroy() });
}
