/** Scatter strategy: spreads Pods with certain labels over an update, instead of updating them one after the other. */
import type { Pod } from '@kruise/api/core/pod';
import type { UpdateScatterStrategy } from '@kruise/api/kruise/update-order';

type Term = UpdateScatterStrategy[number];

/** Returns the candidates with the matching Pods spread among the others in the same ratio as among all Pods. */
export function scattered(
  candidates: readonly Pod[],
  strategy: UpdateScatterStrategy | undefined,
  all: readonly Pod[],
): readonly Pod[] {
  return termsOf(candidates, strategy ?? []).reduce((order, term) => scatterBy(order, term, all), candidates);
}

/** Returns the terms that match any Pod, the one with most matches first. */
function termsOf(candidates: readonly Pod[], strategy: UpdateScatterStrategy): readonly Term[] {
  if (strategy.length <= 1) return strategy;
  return strategy
    .map((term) => ({ term, count: candidates.filter((pod) => matches(pod, term)).length }))
    .filter(({ count }) => count > 0)
    .sort((a, b) => b.count - a.count)
    .map(({ term }) => term);
}

function matches({ metadata }: Pod, { key, value }: Term): boolean {
  return metadata.labels?.[key] === value;
}

function scatterBy(candidates: readonly Pod[], term: Term, all: readonly Pod[]): readonly Pod[] {
  const matching = candidates.filter((pod) => matches(pod, term));
  const others = candidates.filter((pod) => !matches(pod, term));
  if (matching.length <= 1 || others.length <= 1) return candidates;

  // One Pod is kept for the end, so that the update does not end with all the others in a row.
  const last = matching.pop()!;
  const totalMatching = all.filter((pod) => matches(pod, term)).length - 1;
  const totalOthers = all.filter((pod) => !matches(pod, term)).length;

  const groups =
    Math.fround(totalOthers / totalMatching) >= Math.fround(others.length / matching.length)
      ? { ...shape(matching.length, others.length), lead: 0 }
      : groupsLike(shape(totalMatching, totalOthers), matching.length, others.length);

  const order = others.slice(0, groups.lead);
  let [nextMatching, nextOther] = [0, groups.lead];
  for (let group = 0; group < groups.count; group++) {
    order.push(...matching.slice(nextMatching, nextMatching + groups.matching));
    order.push(...others.slice(nextOther, nextOther + groups.others));
    nextMatching += groups.matching;
    nextOther += groups.others;
  }
  return [...order, ...matching.slice(nextMatching), ...others.slice(nextOther), last];
}

type Groups = { readonly count: number; readonly matching: number; readonly others: number };

/**
 * Returns the number of groups, which is the size of the smaller side, and how many Pods of each side one group has.
 */
function shape(matching: number, others: number): Groups {
  const count = Math.min(matching, others);
  return { count, matching: Math.round(matching / count), others: Math.round(others / count) };
}

/** Builds as many groups as possible in the ratio of all Pods. The rest of the others comes first. */
function groupsLike({ matching, others }: Groups, matchingCount: number, otherCount: number) {
  const count = Math.min(Math.floor(matchingCount / matching), Math.floor(otherCount / others));
  return { count, matching, others, lead: otherCount - count * others };
}
