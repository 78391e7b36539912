/** Options of a kubelet, with their defaults. */
import type { NodeSystemInfo } from '@kruise/api/core/node';
import type { Client } from '@kruise/client/client';
import type { Log } from '@kruise/client/log';
import type { MetricRegistry } from '@kruise/client/metrics';
import type { BucketOptions } from '@kruise/client/rate-limiter';
import type { ResourceList } from '@kruise/machinery/resource-list';
import type { Clock } from '@kruise/values/clock';
import { milliValue, parseQuantity, quantityValue } from '@kruise/values/quantity';
import type { Random } from '@kruise/values/random';
import type { NodeRuntime } from '../cri/runtime.ts';
import type { NodeSettings } from './containers/sandbox-config.ts';
import type { CredentialProviders } from './credentials/credential-providers.ts';
import type { DockerConfigPlaces } from './credentials/docker-config.ts';
import { defaultThresholds, type Observations, systemReservation, type Threshold } from './eviction/eviction.ts';
import type { ImageGCPolicy } from './eviction/image-gc.ts';
import type { KubeletGates } from './feature-gates.ts';
import type { NodeDescription } from './node/node-description.ts';
import type { Sources } from './pods/sources.ts';
import type { PodCgroups } from './resources/pod-cgroups.ts';

/** Options of a kubelet. */
export type KubeletOptions = {
  /** Client authenticated as `system:node:<nodeName>` in the group `system:nodes`. */
  readonly client: Client;
  readonly clock: Clock;
  readonly random: Random;
  readonly runtime: NodeRuntime;
  readonly nodeName: string;
  readonly log?: Log;
  /** Informers of the cluster; the kubelet starts its own watches by default. */
  readonly sources?: Sources;
  readonly hostname?: string;
  /** IP addresses of the node. */
  readonly addresses?: readonly string[];
  readonly labels?: { readonly [key: string]: string };
  readonly taints?: NodeDescription['taints'];
  readonly unschedulable?: boolean;
  readonly providerId?: string;
  /** Resource capacity of the node; `pods` defaults to 110. */
  readonly capacity?: ResourceList;
  /** Resources reserved for the system. The hard eviction thresholds are subtracted from allocatable, too. */
  readonly reserved?: ResourceList;
  readonly info?: Partial<NodeSystemInfo>;
  /** Port of the kubelet API. */
  readonly port?: number;
  readonly settings?: Partial<NodeSettings>;
  readonly gates?: KubeletGates;
  /** Rate limit of image pulls; unlimited if absent. */
  readonly pullLimit?: BucketOptions;
  /** Plugins that provide registry credentials. */
  readonly credentialProviders?: CredentialProviders;
  /** Directories of a Docker configuration beside the root directory. */
  readonly dockerConfig?: DockerConfigPlaces;
  /** Directory of static Pod manifests. */
  readonly staticPodPath?: string;
  /** Hard eviction thresholds. */
  readonly evictionHard?: readonly Threshold[];
  /** Soft eviction thresholds, each with a grace period. */
  readonly evictionSoft?: readonly (Threshold & { readonly patienceSeconds: number })[];
  /** Maximum grace period of Pods evicted because of a soft threshold. */
  readonly evictionMaxPodGraceSeconds?: number;
  /** Observations of the node's resources; by default the capacity minus the usage of the containers. */
  readonly supplies?: () => Promise<Observations>;
  /** Image garbage collection policy. */
  readonly imageGC?: ImageGCPolicy;
  /** Effective `KubeletConfiguration` for `/configz`; by default the defaults of Kubernetes with the settings. */
  readonly configuration?: object;
  /** Cgroups of the Pods; absent if the kubelet does not manage them, as on simulated nodes. */
  readonly cgroups?: PodCgroups;
  /** Serves CSI drivers that register in the `plugins_registry` of the root directory. */
  readonly hasPlugins?: boolean;
  /** Records Warning events only. Three Normal events per Pod are too many in very large clusters. */
  readonly quiet?: boolean;
  /** Metrics registry; by default a new one. */
  readonly metrics?: MetricRegistry;
};

/** Version that the kubelet reports. */
export const kubeletVersion = 'v1.33.4';

const defaultCapacity = { cpu: '4', memory: '8Gi', 'ephemeral-storage': '100Gi', pods: '110' };
const defaultInfo = {
  machineID: '',
  systemUUID: '',
  bootID: '',
  kernelVersion: '',
  osImage: '',
  kubeletVersion,
  kubeProxyVersion: '',
  operatingSystem: 'linux',
  architecture: 'amd64',
} satisfies Partial<NodeSystemInfo>;

const defaultSettings: NodeSettings = {
  cgroupDriver: 'CGROUPFS',
  hasUnifiedCgroups: false,
  clusterDns: ['10.96.0.10'],
  clusterDomain: 'cluster.local',
  hostDns: { servers: [], searches: [], options: [] },
  rootDirectory: '/var/lib/kubelet',
  podLogsDirectory: '/var/log/pods',
  containerLogsDirectory: '/var/log/containers',
};

/** Returns the settings of the containers on the node. */
export function settingsOf({ settings }: KubeletOptions): NodeSettings {
  return { ...defaultSettings, ...settings };
}

/** Returns the description of the node to register. */
export function describeNode(options: KubeletOptions): NodeDescription {
  const { nodeName } = options;
  const capacity = { ...defaultCapacity, ...options.capacity };
  return {
    name: nodeName,
    hostname: options.hostname ?? nodeName,
    addresses: options.addresses ?? [],
    labels: options.labels ?? {},
    taints: options.taints ?? [],
    unschedulable: options.unschedulable ?? false,
    providerId: options.providerId,
    capacity,
    reserved: systemReservation(capacity, options.reserved ?? {}, options.evictionHard ?? defaultThresholds),
    info: { ...defaultInfo, ...options.info },
    kubeletPort: options.port ?? 10250,
  };
}

/** Capacity of a node in numbers. */
export type NodeCapacity = {
  readonly cores: number;
  readonly memoryBytes: number;
  readonly diskBytes: number;
  readonly maxPods: number;
};

/** Returns the capacity of a node in numbers. */
export function capacityOf({ capacity }: NodeDescription): NodeCapacity {
  const quantityOf = (name: keyof typeof defaultCapacity) => parseQuantity(capacity[name] ?? defaultCapacity[name]);
  return {
    cores: milliValue(quantityOf('cpu')) / 1000,
    memoryBytes: quantityValue(quantityOf('memory')),
    diskBytes: quantityValue(quantityOf('ephemeral-storage')),
    maxPods: Number(capacity.pods),
  };
}
