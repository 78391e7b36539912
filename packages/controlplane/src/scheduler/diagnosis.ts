/**
 * Diagnosis: human-readable reasons why a Pod is unschedulable: `0/3 nodes are available: 1 Too many pods, 2
 * Insufficient cpu.`
 */
import { compareStrings } from '@kruise/values/go-syntax';
import type { Rejection } from './plugin.ts';

export type Diagnosis = {
  readonly nodeCount: number;
  /** Rejections by node name. */
  readonly rejections: ReadonlyMap<string, Rejection>;
  /** Rejection of all other nodes. */
  readonly absent: Rejection;
  /** Reason why no node was evaluated. */
  readonly preFilterMessage?: string;
  /** Plugins that rejected the Pod: only their events can make it schedulable. */
  readonly plugins: ReadonlySet<string>;
};

/** Rejection of nodes that were not evaluated, without a reason. */
export const unexamined: Rejection = { plugin: '', isPreemptable: false, reasons: [] };

/** Returns the rejection of a node. */
export function rejectionOf({ rejections, absent }: Diagnosis, node: string): Rejection {
  return rejections.get(node) ?? absent;
}

/** Returns all reasons with the number of nodes for each. */
export function messageOf(diagnosis: Diagnosis, postFilterMessage = ''): string {
  const { nodeCount, preFilterMessage } = diagnosis;
  const why = preFilterMessage || reasonsOf(diagnosis);
  return `0/${nodeCount} nodes are available:${why && ` ${why}.`}${postFilterMessage && ` ${postFilterMessage}`}`;
}

function reasonsOf({ nodeCount, rejections, absent }: Diagnosis): string {
  const counts = new Map<string, number>();
  const add = ({ reasons }: Rejection, nodes: number) => {
    for (const reason of reasons) counts.set(reason, (counts.get(reason) ?? 0) + nodes);
  };
  for (const rejection of rejections.values()) add(rejection, 1);
  if (rejections.size < nodeCount) add(absent, nodeCount - rejections.size);
  return [...counts]
    .map(([reason, count]) => `${count} ${reason}`)
    .sort(compareStrings)
    .join(', ');
}
