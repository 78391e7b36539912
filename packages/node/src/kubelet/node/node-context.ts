/** Dependencies shared by all parts of one kubelet. */
import type { Pod } from '@kruise/api/core/pod';
import type { Log } from '@kruise/client/log';
import type { ResourceList } from '@kruise/machinery/resource-list';
import type { Clock } from '@kruise/values/clock';
import type { Random } from '@kruise/values/random';
import type { Instant } from '@kruise/values/time';
import type { NodeRuntime } from '../../cri/runtime.ts';
import type { Allocations, Rejection } from '../admission/allocations.ts';
import type { ImageManager } from '../containers/images.ts';
import type { NodeSettings } from '../containers/sandbox-config.ts';
import type { UserNamespaces } from '../containers/user-namespaces.ts';
import type { KubeletMetrics } from '../kubelet-metrics.ts';
import type { Sources } from '../pods/sources.ts';
import type { StatusWriter } from '../pods/status-writer.ts';
import type { ProbeMetrics } from '../probes/probe-metrics.ts';
import type { PodCgroups } from '../resources/pod-cgroups.ts';
import type { Relists } from '../runtime/relists.ts';
import type { Tokens } from '../volumes/tokens.ts';

/** Records an event for a Pod, or for one of its containers given by `fieldPath`. */
export type RecordPodEvent = (
  pod: Pod,
  type: 'Normal' | 'Warning',
  reason: string,
  message: string,
  fieldPath?: string,
) => void;

/** A node, as seen by its pod workers. */
export type NodeContext = {
  readonly nodeName: string;
  readonly runtime: NodeRuntime;
  /** Runtime name, the scheme of container IDs. */
  readonly runtimeName: () => string;
  readonly clock: Clock;
  readonly random: Random;
  readonly log: Log;
  readonly sources: Sources;
  readonly images: ImageManager;
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
  /** Reports whether the runtime supports recursive read-only mounts. */
  readonly supportsRecursiveReadOnly: () => boolean;
  /** Returns why the Pod network is not ready; undefined if it is ready. */
  readonly networkFault: () => string | undefined;
  /** Returns why the node would reject a Pod; undefined if the node would admit it. */
  readonly findRejectionFor: (pod: Pod) => Rejection | undefined;
  /** Schedules a sync of a Pod at a time. */
  readonly syncAt: (uid: string, at: Instant) => void;
  /** Cgroups of the Pods; absent if the kubelet does not manage them. */
  readonly cgroups?: PodCgroups;
  /** Relists that pod syncs wait for; absent if the kubelet watches runtime events. */
  readonly listings?: Relists;
  /** Aborted when the kubelet stops. Containers keep running. */
  readonly signal: AbortSignal;
};
