/**
 * Conversion of CRI times, which are nanoseconds since the epoch and exceed the exact range of numbers, to
 * milliseconds.
 */
import type { Instant } from '@kruise/values/time';

export function nanosecondsOf(instant: Instant): bigint {
  return BigInt(Math.round(instant * 1000)) * 1000n;
}

/** Converts nanoseconds to milliseconds, with a precision of a microsecond. */
export function instantOfNanoseconds(nanoseconds: bigint): Instant {
  return Number(nanoseconds / 1000n) / 1000;
}
