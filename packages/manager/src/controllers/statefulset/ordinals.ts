/** Which numbers the Pods of a StatefulSet have (statefulset.md §5.2). */
import type { StatefulSet } from '@kruise/api/kruise/statefulset';
import { tryParseInteger } from '@kruise/values/go-integer';
import { quote } from '@kruise/values/go-syntax';
import type { IntOrString } from '@kruise/values/int-or-string';
import { ParseError } from '@kruise/values/parse-error';
import type { FeatureGates } from '../../feature-gates.ts';

/** Numbers from the first to the last, both included. */
export type OrdinalRange = { readonly first: number; readonly last: number };

/** Reads `2-5`. Throws `ParseError`. */
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

/** The numbers no Pod may have. Where one range cannot be read, none is taken to be meant. */
export function reservedRanges(reserved: readonly IntOrString[] = []): readonly OrdinalRange[] {
  try {
    return reserved.map((each) => (typeof each === 'number' ? { first: each, last: each } : parseOrdinalRange(each)));
  } catch (error) {
    if (error instanceof ParseError) return [];
    throw error;
  }
}

/** The number of the first Pod, were it not reserved. */
export function startOrdinalOf({ spec }: Pick<StatefulSet, 'spec'>, gates: FeatureGates): number {
  return gates.StatefulSetStartOrdinal ? (spec.ordinals?.start ?? 0) : 0;
}

export function replicasOf({ spec }: Pick<StatefulSet, 'spec'>): number {
  return spec.replicas ?? 1;
}

/** As many numbers as there are to be Pods, from the lowest up. */
export function wantedOrdinals(set: Pick<StatefulSet, 'spec'>, gates: FeatureGates): readonly number[] {
  const ranges = reservedRanges(set.spec.reserveOrdinals).toSorted((a, b) => a.first - b.first);
  const wanted: number[] = [];
  let next = 0;
  for (let ordinal = startOrdinalOf(set, gates); wanted.length < replicasOf(set); ordinal++) {
    // A range is passed in one step, however long it is.
    while (next < ranges.length && ranges[next]!.first <= ordinal) {
      ordinal = Math.max(ordinal, ranges[next]!.last + 1);
      next++;
    }
    wanted.push(ordinal);
  }
  return wanted;
}
