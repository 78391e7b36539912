/**
 * Cloud provider interface. A provider implements the parts it supports; controllers for missing parts do not run.
 * Every call must be idempotent.
 */
import type { Node, NodeAddress } from '@kruise/api/core/node';
import type { LoadBalancerStatus, Service } from '@kruise/api/core/service';

export type CloudProvider = {
  /** Name of the provider as passed to `--cloud-provider`. */
  readonly name: string;
  readonly instances?: Instances;
  readonly loadBalancers?: LoadBalancers;
  readonly routes?: Routes;
};

/** Instances behind the nodes. */
export type Instances = {
  exists(node: Node, signal: AbortSignal): Promise<boolean>;
  isShutDown(node: Node, signal: AbortSignal): Promise<boolean>;
  /** Returns the metadata of an instance; undefined if the cloud does not know the instance yet. */
  metadata(node: Node, signal: AbortSignal): Promise<InstanceMetadata | undefined>;
};

/** Metadata of an instance as reported by the cloud. */
export type InstanceMetadata = {
  readonly providerId: string;
  readonly instanceType?: string;
  /** Addresses of the instance. Without addresses, the node reports its own. */
  readonly addresses?: readonly NodeAddress[];
  readonly zone?: string;
  readonly region?: string;
  /** Additional labels. Labels of Kubernetes itself and labels that the node already has are skipped. */
  readonly labels?: Readonly<Record<string, string>>;
};

/** Load balancers for Services of type LoadBalancer. */
export type LoadBalancers = {
  /** Passes the existing Services once at startup, for providers without a store. */
  restore?(services: readonly Service[]): void;
  /** Returns the status of a Service's load balancer; undefined if the load balancer does not exist. */
  find(service: Service, signal: AbortSignal): Promise<LoadBalancerStatus | undefined>;
  /** Creates a load balancer, or updates an existing one to match the Service. */
  ensure(service: Service, nodes: readonly Node[], signal: AbortSignal): Promise<LoadBalancerStatus>;
  /** Updates the backend nodes of a load balancer. */
  updateNodes(service: Service, nodes: readonly Node[], signal: AbortSignal): Promise<void>;
  remove(service: Service, signal: AbortSignal): Promise<void>;
};

/** Routes to the Pod CIDRs of each node. */
export type Routes = {
  list(signal: AbortSignal): Promise<readonly Route[]>;
  /** Creates a route; the provider may derive the name of the route from the hint. */
  create(nameHint: string, route: Omit<Route, 'name'>, signal: AbortSignal): Promise<void>;
  remove(route: Route, signal: AbortSignal): Promise<void>;
};

export type Route = {
  readonly name: string;
  /** Target node of the route; empty if the target is not a node of the cluster. */
  readonly targetNode: string;
  readonly destination: string;
  /**
   * Node addresses that the route was created for, if it depends on them. The route is recreated when the node's
   * addresses change.
   */
  readonly targetAddresses?: readonly NodeAddress[];
  /** The target instance no longer exists. */
  readonly isBlackhole?: boolean;
};
