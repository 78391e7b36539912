import type { Authority } from '@kruise/machinery/x509/certificate';
import type { AutoscalerSettings } from './horizontal-pod-autoscaler/settings.ts';
import type { BlockLengths } from './node-ipam/allocator.ts';
import type { MonitorSettings } from './node-lifecycle/monitor.ts';

/** What the controllers of kube-controller-manager are told about the cluster. */
export type ControllerSettings = {
  /** The authorities Pods are to trust when they speak to the API server, as PEM text. */
  readonly rootAuthorities: string;
  /** Signs certificates that were approved; none are signed where it is left out. */
  readonly signer?: Authority;
  /** How long certificates are good that ask for no less; a year by default. */
  readonly certificateSeconds?: number;
  /** Signs the tokens of service-account Secrets, as PEM text; they are left empty where it is left out. */
  readonly serviceAccountKey?: string;
  /** The addresses Pods are given, from which each node has a part; nodes have none where it is left out. */
  readonly clusterRanges?: readonly string[];
  /**
   * How long a namespace is left alone after it was deleted: until every API server knows, so that nothing is put into
   * it any more. Five seconds by default; where there is one server, none are needed.
   */
  readonly namespaceDeletionDelaySeconds?: number;
  /** How many Pods that have ended are kept; 12,500 by default, and all of them where it is 0. */
  readonly terminatedPodThreshold?: number;
  /** The addresses Services are given. */
  readonly serviceRanges?: readonly string[];
  /** How long the prefix of a node's part is in each family; 24 and 64 by default. */
  readonly nodeBlockLengths?: BlockLengths;
  /** How patient one is with nodes that are silent; as Kubernetes is where it is left out. */
  readonly nodeMonitor?: Partial<MonitorSettings>;
  /** How often, and how readily, workloads are sized; as in Kubernetes where it is left out. */
  readonly autoscaler?: Partial<AutoscalerSettings>;
  /** How many endpoints a slice has at most; 100 by default. */
  readonly maxEndpointsPerSlice?: number;
};
