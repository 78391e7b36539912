import type { Node } from '@kruise/api/core/node';

/** Labels that mirror other labels, by the name of the copy. */
export type CopiedLabels = { readonly [copy: string]: string };

/** Returns the mirrored labels that are missing or wrong, with their correct values; undefined if all are right. */
export function outdatedLabels(
  { metadata: { labels = {} } }: Node,
  copies: CopiedLabels,
): Readonly<Record<string, string>> | undefined {
  const outdated = Object.entries(copies).filter(
    ([copy, source]) => labels[source] !== undefined && labels[copy] !== labels[source],
  );
  if (outdated.length === 0) return undefined;
  return Object.fromEntries(outdated.map(([copy, source]) => [copy, labels[source] ?? '']));
}
