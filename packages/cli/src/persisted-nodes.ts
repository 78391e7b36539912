/**
 * Nodes that users added to a cluster. They are persisted beside the stored objects, so that they survive a restart.
 */
import { existsSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import type { NodeOptions } from '@kruise/node/nodes';
import { type DataDirectory, writeFileAtomically } from './data-directory.ts';

/** Name and labels of an added node. */
export type PersistedNode = Required<Pick<NodeOptions, 'name' | 'labels'>>;

/** Added nodes of a cluster, beyond those it starts with. */
export type PersistedNodes = {
  readonly all: () => readonly PersistedNode[];
  save(node: PersistedNode): void;
  remove(name: string): void;
};

/** Reads the added nodes from the data directory. A cluster that stores nothing persists no nodes. */
export function loadPersistedNodes(
  directory: DataDirectory,
  { isPersistent }: { readonly isPersistent: boolean },
): PersistedNodes {
  // The file lies in the store's directory, so that a reset deletes nodes and objects together.
  const file = join(directory.store, 'nodes.json');
  let nodes: readonly PersistedNode[] = isPersistent && existsSync(file) ? JSON.parse(readFileSync(file, 'utf8')) : [];
  const write = (next: readonly PersistedNode[]) => {
    nodes = next;
    if (isPersistent) writeFileAtomically(file, JSON.stringify(nodes));
  };
  const without = (name: string) => nodes.filter((each) => each.name !== name);
  return {
    all: () => nodes,
    save: (node) => write([...without(node.name), node]),
    remove(name) {
      if (nodes.some((each) => each.name === name)) write(without(name));
    },
  };
}
