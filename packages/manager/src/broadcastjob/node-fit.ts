/** Node eligibility of a Pod by its spec alone, as if the node ran no other Pods. */
import type { Node, Taint } from '@kruise/api/core/node';
import type { PodSpec } from '@kruise/api/core/pod-spec';
import { requiredNodes } from '@kruise/machinery/node-affinity';
import { podRequests } from '@kruise/machinery/pod-resources';
import { amountsOf } from '@kruise/machinery/resource-list';
import { findUntolerated, forbiddingEffects } from '@kruise/machinery/tolerations';
import { compareQuantities, type Quantity, quantityOf, quantitySign, zeroQuantity } from '@kruise/values/quantity';

const cordoned: Taint = { key: 'node.kubernetes.io/unschedulable', effect: 'NoSchedule' };

/** Returns a predicate for the nodes that fit a Pod spec. The predicate is compiled once for many nodes. */
export function nodeFilterFor(spec: PodSpec): (node: Node) => boolean {
  const isWanted = requiredNodes(spec);
  const requests = requestsOf(spec);
  return (node) => {
    const { name } = node.metadata;
    if (spec.nodeName && spec.nodeName !== name) return false;
    if (isWanted && !isWanted(node)) return false;
    const taints = [...(node.spec?.taints ?? []), ...(node.spec?.unschedulable ? [cordoned] : [])];
    if (findUntolerated(taints, spec.tolerations, forbiddingEffects)) return false;
    const allocatable = amountsOf(node.status?.allocatable);
    return requests.every(([name, amount]) => compareQuantities(amount, allocatable.get(name) ?? zeroQuantity) <= 0);
  };
}

function requestsOf(spec: PodSpec): readonly (readonly [string, Quantity])[] {
  const requests = [...podRequests(spec)].filter(([, amount]) => quantitySign(amount) > 0);
  return [...requests, ['pods', quantityOf(1)]];
}
