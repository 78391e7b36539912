/** What all parts of one kubelet work with. */
import type { Pod } from '@kruise/api/core/pod';
import type { Log } from '@kruise/client/log';
import type { ResourceList } from '@kruise/machinery/resource-list';
import type { Clock } from '@kruise/values/clock';
import type { Random } from '@kruise/values/random';
import type { Instant } from '@kruise/values/time';
import type { NodeRuntime } from '../cri/runtime.ts';
import type { Allocations, Refusal } from './allocations.ts';
import type { Images } from './images.ts';
import type { KubeletMetrics } from './kubelet-metrics.ts';
import type { Listings } from './listings.ts';
import type { ProbeMetrics } from './probe-metrics.ts';
import type { NodeSettings } from './sandbox-config.ts';
import type { Sources } from './sources.ts';
import type { StatusWriter } from './status-writer.ts';
import type { Tokens } from './tokens.ts';
import type { UserNamespaces } from './user-namespaces.ts';

/** Tells something about a Pod, or one of its containers by `fieldPath`. */
export type RecordPodEvent = (
  pod: Pod,
  type: 'Normal' | 'Warning',
  reason: string,
  message: string,
  fieldPath?: string,
) => void;

/** A node, as the workers of its Pods see it. */
export type NodeContext = {
  readonly nodeName: string;
  readonly runtime: NodeRuntime;
  /** The scheme of container IDs. */
  readonly runtimeName: () => string;
  readonly clock: Clock;
  readonly random: Random;
  readonly log: Log;
  readonly sources: Sources;
  readonly images: Images;
  readonly tokens: Tokens;
  readonly userNamespaces: UserNamespaces;
  readonly statuses: StatusWriter;
  readonly allocations: Allocations;
  readonly metrics: KubeletMetrics;
  readonly probeMetrics: ProbeMetrics;
  readonly settings: NodeSettings;
  readonly record: RecordPodEvent;
  readonly hostIPs: () => readonly string[];
  readonly allocatable: () => ResourceList;
  readonly memoryCapacity: () => number;
  /** Whether the runtime can make mounts that cannot be written to, nor what is mounted below them. */
  readonly supportsRecursiveReadOnly: () => boolean;
  /** Why Pods cannot have a network now, if they cannot. */
  readonly networkFault: () => string | undefined;
  /** Why a Pod would not be let in, if it would not. */
  readonly admits: (pod: Pod) => Refusal | undefined;
  /** Has the worker of a Pod look again at a time. */
  readonly wakeAt: (uid: string, at: Instant) => void;
  /** What passes over Pods wait for; nothing where the runtime's events are listened to. */
  readonly listings?: Listings;
  /** Aborted when the kubelet stops. What runs goes on running. */
  readonly signal: AbortSignal;
};
