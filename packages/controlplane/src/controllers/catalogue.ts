import type { Controller, Runnable } from '@kruise/client/controller';
import { nodeIpamController } from './node-ipam/controller.ts';
import { nodeLifecycleControllers } from './node-lifecycle/controller.ts';
import type { ControllerSettings } from './settings.ts';
import { statefulSetController } from './statefulset/controller.ts';
import { taintEvictionController } from './taint-eviction/controller.ts';
import { ttlController } from './ttl/controller.ts';

/** A controller of kube-controller-manager, under the name that `--controllers` calls it by. */
export type CatalogueEntry = {
  readonly name: string;
  /** The ServiceAccount in `kube-system` it acts as. */
  readonly serviceAccount: string;
  /** Runs only where it is asked for by name. */
  readonly isOptional?: boolean;
  /** Made for a cluster; more than one where the work falls apart. */
  readonly make: (settings: ControllerSettings) => readonly (Controller | Runnable)[];
};

/** Every controller there is, in the order of the alphabet. */
export const catalogue: readonly CatalogueEntry[] = [
  {
    name: 'node-ipam-controller',
    serviceAccount: 'node-controller',
    make: ({ clusterRanges, serviceRanges }) =>
      clusterRanges ? [nodeIpamController({ clusterRanges, serviceRanges })] : [],
  },
  { name: 'node-lifecycle-controller', serviceAccount: 'node-controller', make: () => nodeLifecycleControllers() },
  { name: 'statefulset-controller', serviceAccount: 'statefulset-controller', make: () => [statefulSetController] },
  { name: 'taint-eviction-controller', serviceAccount: 'node-controller', make: () => [taintEvictionController()] },
  { name: 'ttl-controller', serviceAccount: 'ttl-controller', make: () => [ttlController] },
];
