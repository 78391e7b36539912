/**
 * Node affinity of Pods and volumes. Selectors are compiled to predicates, because the scheduler evaluates them for
 * every node.
 */
import type {
  NodeSelector,
  NodeSelectorRequirement,
  NodeSelectorTerm,
  PreferredSchedulingTerm,
} from '@kruise/api/core/affinity';
import type { Node } from '@kruise/api/core/node';
import type { PodSpec } from '@kruise/api/core/pod-spec';
import { ParseError } from '@kruise/values/parse-error';
import { compile, type Operator, requirement, type Selector, selectorOfLabels } from './label-selector.ts';

/** The part of a node that selectors use. */
export type SelectableNode = Pick<Node, 'metadata'>;

/** Predicate of nodes. */
export type NodePredicate = (node: SelectableNode) => boolean;

/**
 * Compiles a node selector: a node matches if one of its terms matches. Empty and invalid terms, and a selector without
 * terms, match nothing.
 */
export function nodesOfSelector(selector: NodeSelector): NodePredicate {
  const terms = (selector.nodeSelectorTerms ?? []).flatMap((term) => tryCompileTerm(term) ?? []);
  const [first, second] = terms;
  if (first !== undefined && second === undefined) return first;
  return (node) => terms.some((matches) => matches(node));
}

/**
 * Returns the predicate of `nodeSelector` and the required node affinity of a Pod; undefined if every node matches.
 *
 * ```ts
 * const canRunOn = requiredNodes({ containers: [], nodeSelector: { disk: 'ssd' } });
 * canRunOn?.(worker);
 * ```
 */
export function requiredNodes({ nodeSelector, affinity }: PodSpec): NodePredicate | undefined {
  const hasLabels = nodeSelector != null && Object.keys(nodeSelector).length > 0;
  const labels = hasLabels ? selectorOfLabels(nodeSelector) : undefined;
  const required = affinity?.nodeAffinity?.requiredDuringSchedulingIgnoredDuringExecution;
  const byAffinity = required ? nodesOfSelector(required) : undefined;
  if (!labels) return byAffinity;
  if (!byAffinity) return ({ metadata }) => labels.matches(metadata.labels);
  return (node) => labels.matches(node.metadata.labels) && byAffinity(node);
}

/**
 * Returns the sum of the weights of the preferred terms that match a node; undefined without terms. Throws `ParseError`
 * if a term is invalid.
 */
export function preferenceForNodes(
  terms: readonly PreferredSchedulingTerm[] | undefined,
): ((node: SelectableNode) => number) | undefined {
  const compiled = (terms ?? [])
    .filter(({ weight, preference }) => weight !== 0 && !isEmptyTerm(preference))
    .map(({ weight, preference }) => ({ weight, matches: compileTerm(preference) }));
  if (compiled.length === 0) return undefined;
  return (node) => compiled.reduce((sum, { weight, matches }) => (matches(node) ? sum + weight : sum), 0);
}

function isEmptyTerm({ matchExpressions, matchFields }: NodeSelectorTerm): boolean {
  return !matchExpressions?.length && !matchFields?.length;
}

function tryCompileTerm(term: NodeSelectorTerm): NodePredicate | undefined {
  if (isEmptyTerm(term)) return undefined;
  try {
    return compileTerm(term);
  } catch (error) {
    if (error instanceof ParseError) return undefined;
    throw error;
  }
}

function compileTerm({ matchExpressions, matchFields }: NodeSelectorTerm): NodePredicate {
  const labels = matchExpressions?.length ? selectorOfExpressions(matchExpressions) : undefined;
  const fields = matchFields?.map(compileField) ?? [];
  if (fields.length === 0) return ({ metadata }) => labels?.matches(metadata.labels) ?? true;
  return (node) => (labels?.matches(node.metadata.labels) ?? true) && fields.every((matches) => matches(node));
}

const operators: { readonly [operator: string]: Operator } = {
  In: 'in',
  NotIn: 'notin',
  Exists: 'exists',
  DoesNotExist: '!',
  Gt: 'gt',
  Lt: 'lt',
};

function selectorOfExpressions(expressions: readonly NodeSelectorRequirement[]): Selector {
  return compile(
    expressions.map(({ key, operator, values }) => {
      const known = operators[operator];
      if (known === undefined) throw new ParseError(`"${operator}" is not a valid node selector operator`);
      return requirement(key, known, values);
    }),
  );
}

/** `metadata.name` is the only field of a node that can be selected. */
function compileField({ key, operator, values }: NodeSelectorRequirement): NodePredicate {
  const [wanted] = values ?? [];
  if (values?.length !== 1) throw new ParseError('a demand on a field takes exactly one value');
  if (operator !== 'In' && operator !== 'NotIn') {
    throw new ParseError(`"${operator}" is not a valid node selector operator for fields`);
  }
  return ({ metadata }) => ((key === 'metadata.name' ? metadata.name : '') === wanted) === (operator === 'In');
}
