import { after, type Clock } from '@kruise/values/clock';
import type { User } from '../user.ts';
import type { Aggregated } from './aggregated.ts';
import { identityHeaders, type Remotes } from './remotes.ts';

/** Response of an aggregated server. */
export type Asked = { readonly url: string; readonly code: number; readonly text: string };

/** Sends a GET to an aggregated server, with this server's own identity unless a user is given. */
export type Ask = (aggregated: Aggregated, path: string, user?: User) => Promise<Asked>;

const aggregator: User = { username: 'system:kube-aggregator', groups: ['system:masters'] };
const patienceMs = 5000;
/** Maximum size of a response; larger documents are rejected. */
const longestAnswer = 64 << 20;

export function createAsk(remotes: Remotes, clock: Clock): Ask {
  return async (aggregated, path, user = aggregator) => {
    const over = new AbortController();
    const patience = new AbortController();
    after(clock, patienceMs, patience.signal).then(
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
        if (size > longestAnswer) throw new Error(`the answer to ${path} is too long`);
        chunks.push(chunk);
      }
      return { url: backend.url, code, text: Buffer.concat(chunks).toString() };
    } finally {
      patience.abort();
    }
  };
}
