import type { Node } from '@kruise/api/core/node';

/** Labels that are to have the value of others, where those are there: by the name of the copy. */
export type CopiedLabels = { readonly [copy: string]: string };

/** The copies among a node's labels that are missing or wrong, as they should be; undefined if all are right. */
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
