/**
 * Nodes that users added to a cluster. They are persisted beside the stored objects, so that they survive a restart.
 */
import { existsSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import type { NodeOptions } from '@kruise/node/nodes';
import { type DataDirectory, writeWhole } from './data-directory.ts';

/** Name and labels of an added node. */
export type KeptNode = Required<Pick<NodeOptions, 'name' | 'labels'>>;

/** Added nodes of a cluster, beyond those it starts with. */
export type KeptNodes = {
  readonly all: () => readonly KeptNode[];
  keep(node: KeptNode): void;
  forget(name: string): void;
};

/** Reads the added nodes from the data directory. A cluster that stores nothing persists no nodes. */
export function keptNodes(directory: DataDirectory, { isKept }: { readonly isKept: boolean }): KeptNodes {
  // The file lies in the store's directory, so that a reset deletes nodes and objects together.
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
