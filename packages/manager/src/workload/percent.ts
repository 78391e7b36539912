/** Counts given as a number or as a percentage of the replicas. */
import { tryParseInteger } from '@kruise/values/go-integer';
import { quote } from '@kruise/values/go-syntax';
import type { IntOrString } from '@kruise/values/int-or-string';
import { ParseError } from '@kruise/values/parse-error';

type Round = (value: number) => number;

/** Returns a number, or a percentage of the total, which may have a fraction. Throws `ParseError`. */
export function scaledValue(value: IntOrString, total: number, round: Round): number {
  if (typeof value === 'number') return value;
  if (!value.endsWith('%')) throw new ParseError('invalid type: string is not a percentage');
  const text = value.slice(0, -1);
  const percentage = Number(text);
  if (!decimal.test(text) || !Number.isFinite(percentage)) {
    throw new ParseError(`invalid value ${quote(value)}: strconv.ParseFloat: parsing ${quote(text)}: invalid syntax`);
  }
  return round((percentage * total) / 100) + 0;
}

const decimal = /^[-+]?(?:\d+(?:\.\d*)?|\.\d+)(?:[eE][-+]?\d+)?$/;

/** Returns a number, or a whole percentage of the total, with or without a sign; 0 for any other text. */
export function wholePercentValue(value: IntOrString, total: number, round: Round): number {
  if (typeof value === 'number') return value;
  const percentage = tryParseInteger(value.replaceAll('%', ''));
  return percentage === undefined ? 0 : round((Number(percentage) * total) / 100) + 0;
}

/**
 * Returns the number of Pods that a partition keeps at the current revision. With more than one Pod, a partition below
 * 100% updates at least one and a partition above 0% keeps at least one. Throws `ParseError`.
 */
export function partitionReplicas(partition: IntOrString | undefined, replicas: number): number {
  if (partition === undefined) return 0;
  const kept = scaledValue(partition, replicas, Math.ceil);
  const isPart = typeof partition === 'string' && partition !== '100%';
  if (isPart && replicas > 1 && kept === replicas) return replicas - 1;
  return Math.min(Math.max(kept, 0), replicas);
}
