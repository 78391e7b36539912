import type { CertificateAuthority } from '@kruise/machinery/x509/certificate';
import type { AutoscalerSettings } from './horizontal-pod-autoscaler/settings.ts';
import type { BlockLengths } from './node-ipam/allocator.ts';
import type { MonitorSettings } from './node-lifecycle/monitor.ts';

/** Settings of kube-controller-manager's controllers. */
export type ControllerSettings = {
  /** CA bundle for Pods that connect to the API server, as PEM. */
  readonly rootAuthorities: string;
  /** CA that signs approved CSRs. Without it, no CSRs are signed. */
  readonly signer?: CertificateAuthority;
  /** Maximum lifetime of signed certificates; one year by default. */
  readonly certificateSeconds?: number;
  /** Private key that signs the tokens of Secrets, as PEM. Without it, token Secrets stay empty. */
  readonly serviceAccountKey?: string;
  /** Pod CIDRs of the cluster, of which each node gets a block. Without them, nodes get no Pod CIDR. */
  readonly clusterRanges?: readonly string[];
  /**
   * Delay before a deleted namespace is emptied, until all API servers reject new content. Five seconds by default; a
   * single API server needs none.
   */
  readonly namespaceDeletionDelaySeconds?: number;
  /** Number of terminated Pods that are kept; 12,500 by default, 0 keeps all. */
  readonly terminatedPodThreshold?: number;
  /** Service CIDRs. */
  readonly serviceRanges?: readonly string[];
  /** Prefix length of a node's Pod CIDR per IP family; 24 and 64 by default. */
  readonly nodeBlockLengths?: BlockLengths;
  /** Grace periods and eviction rates of the node lifecycle controller; Kubernetes' defaults if omitted. */
  readonly nodeMonitor?: Partial<MonitorSettings>;
  /** Settings of the HorizontalPodAutoscaler; Kubernetes' defaults if omitted. */
  readonly autoscaler?: Partial<AutoscalerSettings>;
  /** Maximum number of endpoints per EndpointSlice; 100 by default. */
  readonly maxEndpointsPerSlice?: number;
};
