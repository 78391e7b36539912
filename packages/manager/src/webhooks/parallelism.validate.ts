import { tryParseInteger } from '@kruise/values/go-integer';
import { quote } from '@kruise/values/go-syntax';

/** Returns an error of a parallelism, which must be a number, possibly as a string, and never a percentage. */
export function parallelismFault(value: number | string): string | undefined {
  if (typeof value === 'number') return value < 0 ? 'must be non-negative' : undefined;
  if (value.endsWith('%')) return 'does not support percentage value';
  const integer = tryParseInteger(value);
  if (integer === undefined) {
    return `must be a valid integer: strconv.ParseInt: parsing ${quote(value)}: invalid syntax`;
  }
  return integer < 0n ? 'must be non-negative' : undefined;
}
