import type { ImageService, NodeRuntime } from '@kruise/node/cri/runtime';

/** A node that a daemon serves. */
export type DaemonNode = {
  readonly name: string;
  /** The image service of the node. */
  readonly images: ImageService;
  /** The runtimes of its containers, by the prefix of their container IDs. */
  readonly runtimes: ReadonlyMap<string, NodeRuntime>;
};

/** The nodes of this process by name: one for a standalone daemon, many for a whole cluster in one process. */
export type DaemonNodes = ReadonlyMap<string, DaemonNode>;
