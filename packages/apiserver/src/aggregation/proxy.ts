import { isUpgrade } from '@kruise/client/streaming/upgrade';
import type { Backend } from '../connect/backend.ts';
import { copyTo } from '../connect/copy.ts';
import { endToEnd, forwardedHeaders, forwardUpgrade, upgradeHeaders } from '../connect/forward.ts';
import type { RequestContext } from '../context.ts';
import { PlainTextError } from '../handlers/http-errors.ts';
import type { Headers, HttpRequest } from '../http/http-request.ts';
import { escapePath } from '../url-path.ts';
import type { Aggregated } from './aggregated.ts';
import { identityHeaders, type Remotes } from './remotes.ts';

/** Proxies a request to the aggregated server of its group version, with the identity of the user. */
export async function proxyToAggregated(
  remotes: Remotes,
  aggregated: Aggregated,
  httpRequest: HttpRequest,
  { info, user }: RequestContext,
  headers: Headers,
): Promise<void> {
  if (!aggregated.isAvailable) throw new PlainTextError(503, 'service unavailable');
  const backend = reach(remotes, aggregated);
  // Escaped again from the path that was authorized, so that the backend reads the same path.
  const escaped = escapePath(info.path);
  const path = httpRequest.rawQuery === '' ? escaped : `${escaped}?${httpRequest.rawQuery}`;
  const identity = identityHeaders(user);
  if (httpRequest.upgrade && isUpgrade(httpRequest.headers)) {
    const upgraded = { ...upgradeHeaders(httpRequest), ...identity } as HttpRequest['headers'];
    return forwardUpgrade(httpRequest, backend, { method: httpRequest.method, path, headers: upgraded });
  }
  const answer = await backend
    .send({
      method: httpRequest.method,
      path,
      headers: { ...forwardedHeaders(httpRequest), ...identity },
      ...(httpRequest.content ? { body: httpRequest.content } : {}),
      signal: httpRequest.signal,
    })
    .catch((error: Error) => {
      throw new PlainTextError(503, `error trying to reach service: ${error.message}`);
    });
  const answered = endToEnd<string | string[]>(answer.headers);
  return copyTo(httpRequest.begin(answer.code, { ...headers, ...answered }), answer.body, httpRequest.signal);
}

function reach(remotes: Remotes, aggregated: Aggregated): Backend {
  try {
    return remotes.at(aggregated);
  } catch {
    throw new PlainTextError(503, 'service unavailable');
  }
}
