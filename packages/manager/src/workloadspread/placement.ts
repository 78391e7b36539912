/** Which group of which WorkloadSpread a Pod was sent to, as its annotation says (workloadspread.md §4). */
import type { Pod } from '@kruise/api/core/pod';
import { matchedWorkloadSpreadAnnotation } from '@kruise/api/kruise/well-known';
import { stringify } from '@kruise/values/go-json';
import { ParseError } from '@kruise/values/parse-error';
import { membersOf, textIn } from '../kruise-configuration.ts';
import { memoize } from '../memoize.ts';

export type Placement = {
  /** The WorkloadSpread. */
  readonly name: string;
  /** The group. */
  readonly subset: string;
  /** What the Pod was known by before it had a name; empty if it always had one. */
  readonly uid: string;
};

/** Where a Pod was sent to; undefined if it was not, or if that cannot be read. */
export function placementOf(pod: Pod): Placement | undefined {
  // Most Pods were sent nowhere, and nothing is kept of them.
  return textOf(pod) ? parsed(pod) : undefined;
}

const parsed = memoize((pod: Pod) => parse(textOf(pod)));

function textOf({ metadata }: Pod): string {
  return metadata.annotations?.[matchedWorkloadSpreadAnnotation] ?? '';
}

/** The annotation that says so. */
export function placementAnnotation({ name, subset, uid }: Placement): { readonly [key: string]: string } {
  return { [matchedWorkloadSpreadAnnotation]: stringify({ name, subset, ...(uid ? { uid } : {}) }) };
}

function parse(text: string): Placement | undefined {
  try {
    const members = membersOf(JSON.parse(text));
    return { name: textIn(members, 'name'), subset: textIn(members, 'subset'), uid: textIn(members, 'uid') };
  } catch (error) {
    if (error instanceof SyntaxError || error instanceof ParseError) return undefined;
    throw error;
  }
}
