import { after, type Clock } from '@kruise/values/clock';
import type { User } from '../user.ts';
import type { Aggregated } from './aggregated.ts';
import { identityHeaders, type Remotes } from './remotes.ts';

/** Response of an aggregated server. */
export type RemoteResponse = { readonly url: string; readonly code: number; readonly text: string };

/** Sends a GET to an aggregated server, with this server's own identity unless a user is given. */
export type RemoteRequest = (aggregated: Aggregated, path: string, user?: User) => Promise<RemoteResponse>;

const aggregator: User = { username: 'system:kube-aggregator', groups: ['system:masters'] };
const timeoutMs = 5000;
/** Maximum size of a response; larger documents are rejected. */
const maxResponseBytes = 64 << 20;

export function createRemoteRequest(remotes: Remotes, clock: Clock): RemoteRequest {
  return async (aggregated, path, user = aggregator) => {
    const over = new AbortController();
    const timeout = new AbortController();
    after(clock, timeoutMs, timeout.signal).then(
      () => over.abort(new Error('context deadline exceeded')),
      () => {},
    );
    try {
      const backend = remotes.at(aggregated);
      const headers = { ...identityHeaders(user), accept: 'application/json' };
      const { code, body } = await backend.send({ method: 'GET', path, headers, signal: over.signal });
      const chunks: Buffer[] = [];
      let size = 0;
      for await (const chunk of body as AsyncIterable<Buffer>) {
        size += chunk.length;
        if (size > maxResponseBytes) throw new Error(`the answer to ${path} is too long`);
        chunks.push(chunk);
      }
      return { url: backend.url, code, text: Buffer.concat(chunks).toString() };
    } finally {
      timeout.abort();
    }
  };
}
