import { isUpgrade } from '@kruise/client/streaming/upgrade';
import type { Backend } from '../connect/backend.ts';
import { copyTo } from '../connect/copy.ts';
import { endToEnd, forwardedHeaders, passUpgrade, upgradeHeaders } from '../connect/forward.ts';
import type { RequestContext } from '../context.ts';
import { PlainRefusal } from '../handlers/refusal.ts';
import type { Exchange, Headers } from '../http/exchange.ts';
import { escapePath } from '../url-path.ts';
import type { Aggregated } from './aggregated.ts';
import { identityHeaders, type Remotes } from './remotes.ts';

/** Proxies a request to the aggregated server of its group version, with the identity of the user. */
export async function passOn(
  remotes: Remotes,
  aggregated: Aggregated,
  exchange: Exchange,
  { info, user }: RequestContext,
  headers: Headers,
): Promise<void> {
  if (!aggregated.isAvailable) throw new PlainRefusal(503, 'service unavailable');
  const backend = reach(remotes, aggregated);
  // Escaped again from the path that was authorized, so that the backend reads the same path.
  const escaped = escapePath(info.path);
  const path = exchange.rawQuery === '' ? escaped : `${escaped}?${exchange.rawQuery}`;
  const identity = identityHeaders(user);
  if (exchange.upgrade && isUpgrade(exchange.headers)) {
    const upgraded = { ...upgradeHeaders(exchange), ...identity } as Exchange['headers'];
    return passUpgrade(exchange, backend, { method: exchange.method, path, headers: upgraded });
  }
  const answer = await backend
    .send({
      method: exchange.method,
      path,
      headers: { ...forwardedHeaders(exchange), ...identity },
      ...(exchange.content ? { body: exchange.content } : {}),
      signal: exchange.signal,
    })
    .catch((error: Error) => {
      throw new PlainRefusal(503, `error trying to reach service: ${error.message}`);
    });
  const answered = endToEnd<string | string[]>(answer.headers);
  return copyTo(exchange.begin(answer.code, { ...headers, ...answered }), answer.body, exchange.signal);
}

function reach(remotes: Remotes, aggregated: Aggregated): Backend {
  try {
    return remotes.at(aggregated);
  } catch {
    throw new PlainRefusal(503, 'service unavailable');
  }
}
