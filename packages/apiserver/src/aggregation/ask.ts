import { after, type Clock } from '@kruise/values/clock';
import type { Aggregated } from './aggregated.ts';
import { identityHeaders, type Remotes } from './remotes.ts';

/** What a server behind this one answered. */
export type Asked = { readonly url: string; readonly code: number; readonly text: string };

/** Asks a server behind this one something on the server's own behalf. */
export type Ask = (aggregated: Aggregated, path: string) => Promise<Asked>;

const aggregator = { username: 'system:kube-aggregator', groups: ['system:masters'] };
const patienceMs = 5000;
/** Longer documents are of no use to anyone. */
const longestAnswer = 64 << 20;

export function createAsk(remotes: Remotes, clock: Clock): Ask {
  return async (aggregated, path) => {
    const over = new AbortController();
    const patience = new AbortController();
    after(clock, patienceMs, patience.signal).then(
      () => over.abort(new Error('context deadline exceeded')),
      () => {},
    );
    try {
      const backend = remotes.at(aggregated);
      const headers = { ...identityHeaders(aggregator), accept: 'application/json' };
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
