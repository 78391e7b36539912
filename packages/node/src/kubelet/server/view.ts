/** View of a kubelet for its API, and the errors of the API. */
import type { MetricRegistry } from '@kruise/client/metrics';
import type { Clock } from '@kruise/values/clock';
import type { Instant } from '@kruise/values/time';
import type { NodeRuntime } from '../../cri/runtime.ts';
import type { NodeSettings } from '../containers/sandbox-config.ts';
import type { VolumeStats } from '../csi/csi-client.ts';
import type { Observations } from '../eviction/eviction.ts';
import type { PodWorker } from '../pods/pod-worker.ts';

/** Kubelet state that the API serves. */
export type KubeletView = {
  readonly nodeName: string;
  readonly runtime: NodeRuntime;
  readonly clock: Clock;
  readonly find: (namespace: string, name: string) => PodWorker | undefined;
  readonly workers: () => readonly PodWorker[];
  readonly metrics: MetricRegistry;
  /** Returns the kubelet configuration for `/configz`. */
  readonly configuration: () => object;
  readonly startedAt: Instant;
  readonly version: string;
  readonly probeMetrics: MetricRegistry;
  readonly settings: NodeSettings;
  readonly machine: Machine;
  /** Returns the usage of a volume that its driver reports; undefined for others. */
  readonly volumeStats?: (path: string) => Promise<VolumeStats | undefined>;
};

/** Capacity of the machine. */
export type Machine = {
  readonly cores: number;
  readonly memoryBytes: number;
  readonly diskBytes: number;
  /** Observations of the machine's resources, if they are measured. */
  readonly supplies: (() => Promise<Observations>) | undefined;
};

/** Error response in plain text. */
export class KubeletError extends Error {
  override readonly name = 'KubeletError';
  readonly code: number;

  constructor(code: number, message: string) {
    super(message);
    this.code = code;
  }
}

/** Finds a Pod by the segments of a path: namespace, name, optional UID, and optional container. */
export function targetOf(
  view: KubeletView,
  path: readonly string[],
  { hasContainer }: { readonly hasContainer: boolean },
): { readonly worker: PodWorker; readonly container: string } {
  const [namespace = '', name = '', ...rest] = path;
  const container = hasContainer ? (rest.pop() ?? '') : '';
  const [uid] = rest;
  const worker = view.find(namespace, name);
  if (!worker || (uid !== undefined && worker.uid !== uid)) throw new KubeletError(404, 'pod does not exist');
  return { worker, container };
}
