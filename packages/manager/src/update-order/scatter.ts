/** Spreading Pods with certain labels over an update, instead of updating them one after the other (inplace-update.md §12.2). */
import type { Pod } from '@kruise/api/core/pod';
import type { UpdateScatterStrategy } from '@kruise/api/kruise/update-order';

type Term = UpdateScatterStrategy[number];

/** The candidates, with those that match the terms spread among the others as they are among all Pods. */
export function scattered(
  candidates: readonly Pod[],
  strategy: UpdateScatterStrategy | undefined,
  all: readonly Pod[],
): readonly Pod[] {
  return termsOf(candidates, strategy ?? []).reduce((order, term) => scatterBy(order, term, all), candidates);
}

/** Of several terms those that match anything, the one that matches most first. */
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

  // One is kept for the end, so that the update does not end with all the others in a row.
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

/** As many groups as there are of the fewer, and how many of each go into one. */
function shape(matching: number, others: number): Groups {
  const count = Math.min(matching, others);
  return { count, matching: Math.round(matching / count), others: Math.round(others / count) };
}

/** Groups like those of all Pods, as many as there can be of them; what is left of the others goes before. */
function groupsLike({ matching, others }: Groups, matchingCount: number, otherCount: number) {
  const count = Math.min(Math.floor(matchingCount / matching), Math.floor(otherCount / others));
  return { count, matching, others, lead: otherCount - count * others };
}
