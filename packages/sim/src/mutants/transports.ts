/** Mutants of transports. */
import type { ApiRequest, ApiResponse, Transport, WatchEvent } from '@kruise/client/transport';
import { failure, StatusError } from '@kruise/machinery/status';

/** Returns a transport that handles some requests differently. */
export function mutateRequests(
  inner: Transport,
  change: (request: ApiRequest, send: Transport['request']) => Promise<ApiResponse> | undefined,
): Transport {
  const send: Transport['request'] = (request) => inner.request(request);
  return { request: (request) => change(request, send) ?? send(request), watch: (request) => inner.watch(request) };
}

/** Returns a transport that changes the watch events of a resource. */
export function mutateWatches(
  inner: Transport,
  plural: string,
  change: (events: AsyncIterable<WatchEvent>) => AsyncIterable<WatchEvent>,
): Transport {
  return {
    request: (request) => inner.request(request),
    watch: (request) => (request.path.endsWith(`/${plural}`) ? change(inner.watch(request)) : inner.watch(request)),
  };
}

/** Reports success without doing anything. */
export function fakeSuccess(): Promise<ApiResponse> {
  return Promise.resolve({ code: 200, object: { kind: 'Status', status: 'Success' }, warnings: [] });
}

/** Responds with NotFound. */
export function fakeNotFound(): Promise<ApiResponse> {
  return Promise.reject(new StatusError(failure({ code: 404, reason: 'NotFound', message: 'not found' })));
}
