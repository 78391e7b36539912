/** Ways to the server that lie. */
import type { ApiAnswer, ApiRequest, Transport, WatchEvent } from '@kruise/client/transport';
import { failure, StatusError } from '@kruise/machinery/status';

/** A transport that does something else with some requests. */
export function requesting(
  inner: Transport,
  change: (request: ApiRequest, send: Transport['request']) => Promise<ApiAnswer> | undefined,
): Transport {
  const send: Transport['request'] = (request) => inner.request(request);
  return { request: (request) => change(request, send) ?? send(request), watch: (request) => inner.watch(request) };
}

/** A transport that makes something else of what watches of a resource tell. */
export function watching(
  inner: Transport,
  plural: string,
  change: (events: AsyncIterable<WatchEvent>) => AsyncIterable<WatchEvent>,
): Transport {
  return {
    request: (request) => inner.request(request),
    watch: (request) => (request.path.endsWith(`/${plural}`) ? change(inner.watch(request)) : inner.watch(request)),
  };
}

/** Says that it is done, and does nothing. */
export function pretend(): Promise<ApiAnswer> {
  return Promise.resolve({ code: 200, object: { kind: 'Status', status: 'Success' }, warnings: [] });
}

/** Says that there is no such thing. */
export function deny(): Promise<ApiAnswer> {
  return Promise.reject(new StatusError(failure({ code: 404, reason: 'NotFound', message: 'not found' })));
}
