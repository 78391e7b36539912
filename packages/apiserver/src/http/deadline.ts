import { badRequest, timeout } from '@kruise/machinery/status';
import type { Clock } from '@kruise/values/clock';
import { parseDuration, toMilliseconds } from '@kruise/values/duration';
import type { HttpRequest } from './http-request.ts';

/** Default request timeout. */
export const requestTimeoutMs = 60_000;

/** Returns the timeout of a request. */
export function timeoutOf(query: URLSearchParams): number {
  const requested = query.get('timeout');
  if (requested === null || requested === '') return requestTimeoutMs;
  let requestedMs: number;
  try {
    requestedMs = toMilliseconds(parseDuration(requested));
  } catch (error) {
    throw badRequest(`invalid timeout specified in the request URL - ${(error as Error).message}`);
  }
  return requestedMs === 0 || requestedMs > requestTimeoutMs ? requestTimeoutMs : requestedMs;
}

/** Handles a request and aborts it at its deadline. */
export function beforeDeadline(
  clock: Clock,
  timeoutMs: number,
  httpRequest: Pick<HttpRequest, 'cancel'>,
  handle: () => Promise<void>,
): Promise<void> {
  return new Promise((resolve, reject) => {
    const cancelTimer = clock.setTimer(timeoutMs, () => {
      const late = timeout('request did not complete within the allotted timeout');
      reject(late);
      httpRequest.cancel(late);
    });
    handle().finally(cancelTimer).then(resolve, reject);
  });
}
