/** Formats values for error messages and for `string(x)`. */
import { ListValue, MapValue } from './collections.ts';
import { Duration, formatDuration, formatTimestamp, Timestamp } from './time.ts';
import { Double, EvaluationError, Optional, TypeValue, Uint, type Value } from './values.ts';

/** Formats a value for error messages. */
export function formatValue(value: Value): string {
  if (value === null) return 'null';
  if (typeof value !== 'object') return String(value);
  if (value instanceof Double) return formatDouble(value.value);
  if (value instanceof Uint) return String(value.value);
  if (value instanceof Timestamp) return formatTimestamp(value);
  if (value instanceof Duration) return formatDuration(value);
  if (value instanceof TypeValue) return value.name;
  if (value instanceof Uint8Array) return `[${value.join(' ')}]`;
  if (value instanceof EvaluationError) return value.message;
  if (value instanceof Optional)
    return value.value === undefined ? 'optional.none()' : `optional(${formatValue(value.value)})`;
  if (value instanceof ListValue) return `[${[...value].map(formatValue).join(', ')}]`;
  if (value instanceof MapValue) {
    return `{${[...value.entries()].map(([key, entry]) => `${formatValue(key)}: ${formatValue(entry)}`).join(', ')}}`;
  }
  return value.typeName;
}

/** Formats a double in the fewest digits that parse to the same value; with an exponent below 1e-4 and from 1e6 on. */
export function formatDouble(value: number): string {
  if (Number.isNaN(value)) return 'NaN';
  if (!Number.isFinite(value)) return value > 0 ? '+Inf' : '-Inf';
  if (value === 0) return Object.is(value, -0) ? '-0' : '0';
  const [mantissa, exponentText] = value.toExponential().split('e') as [string, string];
  const exponent = Number(exponentText);
  if (exponent >= -4 && exponent < 6) return plainDigits(mantissa, exponent);
  const digits = String(Math.abs(exponent)).padStart(2, '0');
  return `${mantissa}e${exponent < 0 ? '-' : '+'}${digits}`;
}

function plainDigits(mantissa: string, exponent: number): string {
  const sign = mantissa.startsWith('-') ? '-' : '';
  const digits = mantissa.replace(/[-.]/g, '');
  if (exponent < 0) return `${sign}0.${'0'.repeat(-exponent - 1)}${digits}`;
  const whole = digits.slice(0, exponent + 1).padEnd(exponent + 1, '0');
  const fraction = digits.slice(exponent + 1);
  return `${sign}${whole}${fraction && `.${fraction}`}`;
}
