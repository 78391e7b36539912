/** CRI's times are nanoseconds since the epoch, more than a number holds exactly; ours are milliseconds. */
import type { Instant } from '@kruise/values/time';

export function nanosecondsOf(instant: Instant): bigint {
  return BigInt(Math.round(instant * 1000)) * 1000n;
}

/** To the microsecond. */
export function instantOfNanoseconds(nanoseconds: bigint): Instant {
  return Number(nanoseconds / 1000n) / 1000;
}
