/**
 * What a cloud can do for a cluster. A provider offers the parts it has; controllers of parts that are missing do not
 * run. Every call may be repeated, and must not mind that what it asks for is done already.
 */
import type { Node, NodeAddress } from '@kruise/api/core/node';
import type { LoadBalancerStatus, Service } from '@kruise/api/core/service';

export type CloudProvider = {
  /** As `--cloud-provider` calls it. */
  readonly name: string;
  readonly instances?: Instances;
  readonly loadBalancers?: LoadBalancers;
  readonly routes?: Routes;
};

/** The machines that nodes are. */
export type Instances = {
  exists(node: Node, signal: AbortSignal): Promise<boolean>;
  isShutDown(node: Node, signal: AbortSignal): Promise<boolean>;
  /** What is known of a machine; undefined if the cloud has nothing to say yet. */
  metadata(node: Node, signal: AbortSignal): Promise<InstanceMetadata | undefined>;
};

/** A machine, as its cloud knows it. */
export type InstanceMetadata = {
  readonly providerId: string;
  readonly instanceType?: string;
  /** How it is reached; nodes say for themselves where there are none. */
  readonly addresses?: readonly NodeAddress[];
  readonly zone?: string;
  readonly region?: string;
  /** Labels beyond those; none of Kubernetes' own, and none that the node has already. */
  readonly labels?: Readonly<Record<string, string>>;
};

/** Ways in from outside, for Services of type LoadBalancer. */
export type LoadBalancers = {
  /** Is told once, at the start, of the Services there are: for providers that remember nothing themselves. */
  restore?(services: readonly Service[]): void;
  /** What became of a Service's load balancer; undefined if there is none. */
  find(service: Service, signal: AbortSignal): Promise<LoadBalancerStatus | undefined>;
  /** Makes a load balancer, or makes it what the Service says now. */
  ensure(service: Service, nodes: readonly Node[], signal: AbortSignal): Promise<LoadBalancerStatus>;
  /** Tells a load balancer of the nodes it leads to. */
  updateNodes(service: Service, nodes: readonly Node[], signal: AbortSignal): Promise<void>;
  remove(service: Service, signal: AbortSignal): Promise<void>;
};

/** Ways to the Pods of each node. */
export type Routes = {
  list(signal: AbortSignal): Promise<readonly Route[]>;
  /** Makes a route; the hint is something to name it by. */
  create(nameHint: string, route: Omit<Route, 'name'>, signal: AbortSignal): Promise<void>;
  remove(route: Route, signal: AbortSignal): Promise<void>;
};

export type Route = {
  readonly name: string;
  /** The node it leads to; empty if that is none of the cluster's. */
  readonly targetNode: string;
  readonly destination: string;
  /** The addresses it was made for, where it depends on them: it is made anew if the node has others. */
  readonly targetAddresses?: readonly NodeAddress[];
  /** Leads nowhere: the machine is gone. */
  readonly isBlackhole?: boolean;
};
