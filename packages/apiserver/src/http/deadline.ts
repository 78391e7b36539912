import { badRequest, timeout } from '@kruise/machinery/status';
import type { Clock } from '@kruise/values/clock';
import { parseDuration, toMilliseconds } from '@kruise/values/duration';
import type { Exchange } from './exchange.ts';

/** Default request timeout. */
export const requestTimeoutMs = 60_000;

/** Returns the timeout of a request. */
export function timeoutOf(query: URLSearchParams): number {
  const asked = query.get('timeout');
  if (asked === null || asked === '') return requestTimeoutMs;
  let askedMs: number;
  try {
    askedMs = toMilliseconds(parseDuration(asked));
  } catch (error) {
    throw badRequest(`invalid timeout specified in the request URL - ${(error as Error).message}`);
  }
  return askedMs === 0 || askedMs > requestTimeoutMs ? requestTimeoutMs : askedMs;
}

/** Handles a request and aborts it at its deadline. */
export function beforeDeadline(
  clock: Clock,
  timeoutMs: number,
  exchange: Pick<Exchange, 'cancel'>,
  work: () => Promise<void>,
): Promise<void> {
  return new Promise((resolve, reject) => {
    const cancelTimer = clock.setTimer(timeoutMs, () => {
      const late = timeout('request did not complete within the allotted timeout');
      reject(late);
      exchange.cancel(late);
    });
    work().finally(cancelTimer).then(resolve, reject);
  });
}
