import type { Clock } from '@kruise/values/clock';
import type { Random } from '@kruise/values/random';
import { formatTime } from '@kruise/values/time';
import type { RequestInfo } from './request-info.ts';
import type { User } from './user.ts';

/** Context of one request. */
export type RequestContext = {
  readonly info: RequestInfo;
  readonly query: URLSearchParams;
  readonly user: User;
  readonly userAgent: string;
  readonly clock: Clock;
  readonly random: Random;
  readonly signal: AbortSignal;
  /** Texts of the response's Warning headers, in order, without duplicates. */
  readonly warnings: Set<string>;
  /** Audit annotations from admission. */
  readonly auditAnnotations: Map<string, string>;
};

/** Returns the time of a request, in the format of object timestamps. */
export function timestamp(context: RequestContext): string {
  return formatTime(context.clock.now());
}
