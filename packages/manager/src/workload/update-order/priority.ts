/** Update order of Pods by the priority strategy, which matches labels. */
import type { Pod } from '@kruise/api/core/pod';
import type { UpdatePriorityStrategy } from '@kruise/api/kruise/update-order';
import { selectorOf } from '@kruise/machinery/label-selector';

/** Sorts Pods by priority. Pods of the same priority keep their order. */
export function byPriority(pods: readonly Pod[], strategy: UpdatePriorityStrategy | undefined): readonly Pod[] {
  const { weightPriority = [], orderPriority = [] } = strategy ?? {};
  if (weightPriority.length > 0) {
    const terms = weightPriority.map(({ weight, matchSelector }) => ({ weight, selector: selectorOf(matchSelector) }));
    return sortedBy(pods, ({ metadata }) => [
      -terms.reduce((sum, { weight, selector }) => sum + (selector.matches(metadata.labels) ? weight : 0), 0),
    ]);
  }
  if (orderPriority.length === 0) return pods;
  return sortedBy(pods, ({ metadata: { labels = {} } }) => {
    // Pods without any of the keys have level -1, and so come before all others.
    const level = orderPriority.findIndex(({ orderedKey }) => Object.hasOwn(labels, orderedKey));
    return [level, -trailingNumber(labels[orderPriority[level]?.orderedKey ?? ''] ?? '')];
  });
}

function sortedBy(pods: readonly Pod[], rankOf: (pod: Pod) => readonly number[]): readonly Pod[] {
  return pods
    .map((pod) => ({ pod, rank: rankOf(pod) }))
    .sort((a, b) => a.rank.map((each, index) => each - b.rank[index]!).find((difference) => difference !== 0) ?? 0)
    .map(({ pod }) => pod);
}

/** Returns the number at the end of a text: 10 for `web-10`; 0 if there is none, or if it is too large. */
function trailingNumber(text: string): number {
  const [digits] = /(?<!\d)\d+$/.exec(text) ?? ['0'];
  const value = BigInt(digits);
  return value < 2n ** 63n ? Number(value) : 0;
}
