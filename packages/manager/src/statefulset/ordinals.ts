/** Ordinals of a StatefulSet's Pods. */
import type { StatefulSet } from '@kruise/api/kruise/statefulset';
import { tryParseInteger } from '@kruise/values/go-integer';
import { quote } from '@kruise/values/go-syntax';
import type { IntOrString } from '@kruise/values/int-or-string';
import { ParseError } from '@kruise/values/parse-error';
import type { FeatureGates } from '../configuration/feature-gates.ts';

/** Ordinals from the first to the last, both included. */
export type OrdinalRange = { readonly first: number; readonly last: number };

/** Parses a range such as `2-5`. Throws `ParseError`. */
export function parseOrdinalRange(text: string): OrdinalRange {
  const parts = text.split('-');
  if (parts.length !== 2) throw new ParseError(`invalid range ${text}`);
  const [first, last] = parts.map((part) => {
    const value = tryParseInteger(part);
    if (value === undefined) throw new ParseError(`strconv.Atoi: parsing ${quote(part)}: invalid syntax`);
    return Number(value);
  }) as [number, number];
  if (first > last) throw new ParseError(`invalid range ${text}`);
  return { first, last };
}

/** Returns the reserved ordinals, which no Pod may have. One invalid range invalidates all ranges. */
export function reservedRanges(reserved: readonly IntOrString[] = []): readonly OrdinalRange[] {
  try {
    return reserved.map((each) => (typeof each === 'number' ? { first: each, last: each } : parseOrdinalRange(each)));
  } catch (error) {
    if (error instanceof ParseError) return [];
    throw error;
  }
}

/** Returns the ordinal of the first Pod, unless it is reserved. */
export function startOrdinalOf({ spec }: Pick<StatefulSet, 'spec'>, gates: FeatureGates): number {
  return gates.StatefulSetStartOrdinal ? (spec.ordinals?.start ?? 0) : 0;
}

export function replicasOf({ spec }: Pick<StatefulSet, 'spec'>): number {
  return spec.replicas ?? 1;
}

/** Returns one ordinal for each replica, from the lowest up. */
export function wantedOrdinals(set: Pick<StatefulSet, 'spec'>, gates: FeatureGates): readonly number[] {
  const ranges = reservedRanges(set.spec.reserveOrdinals).toSorted((a, b) => a.first - b.first);
  const wanted: number[] = [];
  let next = 0;
  for (let ordinal = startOrdinalOf(set, gates); wanted.length < replicasOf(set); ordinal++) {
    // Skips a range in one step, whatever its length.
    while (next < ranges.length && ranges[next]!.first <= ordinal) {
      ordinal = Math.max(ordinal, ranges[next]!.last + 1);
      next++;
    }
    wanted.push(ordinal);
  }
  return wanted;
}
