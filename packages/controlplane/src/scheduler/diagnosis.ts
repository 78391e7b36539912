/** Why a Pod cannot be placed, for people to read: `0/3 nodes are available: 1 Too many pods, 2 Insufficient cpu.` */
import { compareStrings } from '@kruise/values/go-syntax';
import type { Rejection } from './plugin.ts';

export type Diagnosis = {
  readonly nodeCount: number;
  /** What speaks against each node, by its name. */
  readonly rejections: ReadonlyMap<string, Rejection>;
  /** What speaks against those that are not named. */
  readonly absent: Rejection;
  /** Why no node was looked at at all, if none was. */
  readonly preFilterMessage?: string;
  /** The plugins that were against it: only what they wait for can help. */
  readonly plugins: ReadonlySet<string>;
};

/** Nodes that nothing is known of will not do, and nobody says why. */
export const unexamined: Rejection = { plugin: '', isPreemptable: false, reasons: [] };

/** What speaks against a node. */
export function rejectionOf({ rejections, absent }: Diagnosis, node: string): Rejection {
  return rejections.get(node) ?? absent;
}

/** All reasons, each with the number of nodes it holds for. */
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
