/**
 * Which nodes a Pod, or a volume, may be on or would rather be on. Selectors are compiled to predicates: the scheduler
 * asks one for every node there is.
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

/** As much of a node as is asked about. */
export type SelectableNode = Pick<Node, 'metadata'>;

/** Whether a node is one of those wanted. */
export type NodePredicate = (node: SelectableNode) => boolean;

/**
 * The nodes of a selector: those that one of its terms matches. A term that is empty, or makes no sense, matches none;
 * so does a selector without terms.
 */
export function nodesOfSelector(selector: NodeSelector): NodePredicate {
  const terms = (selector.nodeSelectorTerms ?? []).flatMap((term) => tryCompileTerm(term) ?? []);
  const [first, second] = terms;
  if (first !== undefined && second === undefined) return first;
  return (node) => terms.some((matches) => matches(node));
}

/** The nodes a Pod may be on by its `nodeSelector` and its required node affinity; undefined if that is all of them. */
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
 * How much a node is preferred: the weights of the terms that match it, together. Undefined if no term says anything.
 * Throws `ParseError` if one makes no sense.
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

/** A node has one field to be asked for, its name; of any other there is nothing to compare. */
function compileField({ key, operator, values }: NodeSelectorRequirement): NodePredicate {
  const [wanted] = values ?? [];
  if (values?.length !== 1) throw new ParseError('a demand on a field takes exactly one value');
  if (operator !== 'In' && operator !== 'NotIn') {
    throw new ParseError(`"${operator}" is not a valid node selector operator for fields`);
  }
  return ({ metadata }) => ((key === 'metadata.name' ? metadata.name : '') === wanted) === (operator === 'In');
}
