/** The nodes that were added to a cluster: written down beside what it stores, so that it has them the next time, too. */
import { existsSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import type { NodeOptions } from '@kruise/node/nodes';
import { type DataDirectory, writeWhole } from './data-directory.ts';

/** A node that was added, as it was asked for. */
export type KeptNode = Required<Pick<NodeOptions, 'name' | 'labels'>>;

/** The nodes a cluster is to have beside those it starts with. */
export type KeptNodes = {
  readonly all: () => readonly KeptNode[];
  keep(node: KeptNode): void;
  forget(name: string): void;
};

/** What was written down in a cluster's folder. A cluster that keeps nothing else keeps no nodes, either. */
export function keptNodes(directory: DataDirectory, { isKept }: { readonly isKept: boolean }): KeptNodes {
  // What a cluster stores and its nodes are deleted together.
  const file = join(directory.store, 'nodes.json');
  let nodes: readonly KeptNode[] = isKept && existsSync(file) ? JSON.parse(readFileSync(file, 'utf8')) : [];
  const write = (next: readonly KeptNode[]) => {
    nodes = next;
    if (isKept) writeWhole(file, JSON.stringify(nodes));
  };
  const without = (name: string) => nodes.filter((each) => each.name !== name);
  return {
    all: () => nodes,
    keep: (node) => write([...without(node.name), node]),
    forget(name) {
      if (nodes.some((each) => each.name === name)) write(without(name));
    },
  };
}
