import type { ImageService, NodeRuntime } from '@kruise/node/cri/runtime';

/** A node a daemon works on. */
export type DaemonNode = {
  readonly name: string;
  /** Where its images are. */
  readonly images: ImageService;
  /** What runs its containers, by the names their IDs begin with. */
  readonly runtimes: ReadonlyMap<string, NodeRuntime>;
};

/** The nodes of this process by name: one where a daemon runs by itself, many where a whole cluster does. */
export type DaemonNodes = ReadonlyMap<string, DaemonNode>;
