import type { NodeAffinity, NodeSelectorTerm } from '@kruise/api/core/affinity';
import type { Node } from '@kruise/api/core/node';
import {
  type NodePredicate,
  nodesOfSelector,
  preferenceForNodes,
  requiredNodes,
  type SelectableNode,
} from '@kruise/machinery/node-affinity';
import type { NodeInfo } from '../cluster/node-info.ts';
import { normalizeByGreatest, type Plugin, type Rejection } from '../plugin.ts';

const name = 'NodeAffinity';
const rejectionFor = (reason: string): Rejection => ({ plugin: name, isPreemptable: false, reasons: [reason] });
const notMatched = rejectionFor("node(s) didn't match Pod's node affinity/selector");
const notEnforced = rejectionFor("node(s) didn't match scheduler-enforced node affinity");
const conflicting = rejectionFor('pod affinity terms conflict');

export type NodeAffinityArgs = {
  /** Additional affinity of every Pod of the profile. */
  readonly addedAffinity?: NodeAffinity;
};

/** NodeAffinity plugin: requires nodes that the Pod selects, and scores preferred ones. */
export function nodeAffinity({ addedAffinity }: NodeAffinityArgs = {}): Plugin {
  const enforced = addedAffinity?.requiredDuringSchedulingIgnoredDuringExecution;
  const isEnforced = enforced ? nodesOfSelector(enforced) : undefined;
  const addedPreference = preferenceForNodes(addedAffinity?.preferredDuringSchedulingIgnoredDuringExecution);

  return {
    name,
    isLocal: true,
    filter({ spec }) {
      const isWanted = requiredNodes(spec);
      if (!isWanted && !isEnforced) return undefined;
      const required = spec.affinity?.nodeAffinity?.requiredDuringSchedulingIgnoredDuringExecution;
      const nodeNames = namesIn(required?.nodeSelectorTerms);
      if (nodeNames?.size === 0) return { rejection: conflicting };
      return { filter: { check: checkOf(isWanted, isEnforced) }, ...(nodeNames ? { nodeNames } : {}) };
    },
    score({ spec }) {
      const terms = spec.affinity?.nodeAffinity?.preferredDuringSchedulingIgnoredDuringExecution;
      const preference = preferenceForNodes(terms);
      if (!preference && !addedPreference) return undefined;
      return {
        score: ({ node }) => (node ? (preference?.(node) ?? 0) + (addedPreference?.(node) ?? 0) : 0),
        normalize: normalizeByGreatest,
      };
    },
    events: [
      {
        resource: 'Node',
        actions: ['Add', 'UpdateNodeLabel'],
        helps({ spec }, { before, after }) {
          const isWanted = requiredNodes(spec);
          if (isEnforced && !isEnforced(after as Node)) return false;
          const matches = (node: unknown) => isWanted?.(node as SelectableNode) ?? true;
          return matches(after) && (before === undefined || !matches(before));
        },
      },
    ],
  };
}

function checkOf(isWanted: NodePredicate | undefined, isEnforced: NodePredicate | undefined) {
  return ({ node }: NodeInfo): Rejection | undefined => {
    if (!node) return notMatched;
    if (isEnforced && !isEnforced(node)) return notEnforced;
    return isWanted && !isWanted(node) ? notMatched : undefined;
  };
}

/** Returns the nodes that all terms list by name; undefined if a term does not. Other nodes need not be evaluated. */
function namesIn(terms: readonly NodeSelectorTerm[] | undefined): ReadonlySet<string> | undefined {
  let names: ReadonlySet<string> | undefined;
  for (const { matchFields } of terms ?? []) {
    let named: ReadonlySet<string> | undefined;
    for (const { key, operator, values } of matchFields ?? []) {
      if (key !== 'metadata.name' || operator !== 'In') continue;
      const set = new Set(values);
      named = named ? named.intersection(set) : set;
    }
    if (!named) return undefined;
    names = names ? names.union(named) : named;
  }
  return names;
}
