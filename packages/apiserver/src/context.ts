import type { Clock } from '@kruise/values/clock';
import type { Random } from '@kruise/values/random';
import { formatTime } from '@kruise/values/time';
import type { RequestInfo } from './request.ts';
import type { User } from './user.ts';

/** One request on its way through the server. */
export type RequestContext = {
  readonly info: RequestInfo;
  readonly query: URLSearchParams;
  readonly user: User;
  readonly userAgent: string;
  readonly clock: Clock;
  readonly random: Random;
  readonly signal: AbortSignal;
  /** Texts for the Warning headers of the answer, in order, each once. */
  readonly warnings: Set<string>;
  /** What admission notes for the audit log. */
  readonly auditAnnotations: Map<string, string>;
};

/** The time a request is handled at, as objects record it. */
export function timestamp(context: RequestContext): string {
  return formatTime(context.clock.now());
}
