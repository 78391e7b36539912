import type { NodeSelectorTerm } from '@kruise/api/core/affinity';

/** Returns the conjunction of terms with another term; only the other term if there are no terms. */
export function bothOf(terms: readonly NodeSelectorTerm[], other: NodeSelectorTerm): readonly NodeSelectorTerm[] {
  if (terms.length === 0) return [other];
  return terms.map(({ matchExpressions = [], matchFields = [] }) => {
    const expressions = [...matchExpressions, ...(other.matchExpressions ?? [])];
    const fields = [...matchFields, ...(other.matchFields ?? [])];
    return {
      ...(expressions.length > 0 ? { matchExpressions: expressions } : {}),
      ...(fields.length > 0 ? { matchFields: fields } : {}),
    };
  });
}
