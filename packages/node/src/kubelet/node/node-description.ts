/** Static description of a node. */
import type { Node, NodeSystemInfo } from '@kruise/api/core/node';
import type { ResourceList } from '@kruise/machinery/resource-list';

/** Description that a kubelet registers its node with. */
export type NodeDescription = {
  readonly name: string;
  readonly hostname: string;
  readonly addresses: readonly string[];
  readonly labels: { readonly [key: string]: string };
  readonly taints: NonNullable<Node['spec']>['taints'];
  readonly unschedulable: boolean;
  readonly providerId: string | undefined;
  readonly capacity: ResourceList;
  readonly reserved: ResourceList;
  readonly info: Omit<NodeSystemInfo, 'containerRuntimeVersion'>;
  readonly kubeletPort: number;
};
