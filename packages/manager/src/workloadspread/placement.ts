/** Assignment of a Pod to a subset of a WorkloadSpread, which is stored in an annotation. */
import type { Pod } from '@kruise/api/core/pod';
import { matchedWorkloadSpreadAnnotation } from '@kruise/api/kruise/well-known';
import { stringify } from '@kruise/values/go-json';
import { memoizeByObject } from '@kruise/values/memoize';
import { ParseError } from '@kruise/values/parse-error';
import { membersOf, textIn } from '../configuration/kruise-configuration.ts';

export type Placement = {
  /** The name of the WorkloadSpread. */
  readonly name: string;
  /** The name of the subset. */
  readonly subset: string;
  /** The generated id of a Pod that had no name at admission; empty if it had one. */
  readonly uid: string;
};

/** Returns the assignment of a Pod; undefined if it has none, or if the annotation cannot be parsed. */
export function placementOf(pod: Pod): Placement | undefined {
  // Most Pods have no assignment, so they need no memo.
  return textOf(pod) ? parsed(pod) : undefined;
}

const parsed = memoizeByObject((pod: Pod) => parse(textOf(pod)));

function textOf({ metadata }: Pod): string {
  return metadata.annotations?.[matchedWorkloadSpreadAnnotation] ?? '';
}

/** Returns the annotation for an assignment. */
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
