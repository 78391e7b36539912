/** What a kubelet's API shows, and how it says no. */
import type { MetricRegistry } from '@kruise/client/metrics';
import type { Clock } from '@kruise/values/clock';
import type { Instant } from '@kruise/values/time';
import type { NodeRuntime } from '../../cri/runtime.ts';
import type { Supplies } from '../eviction.ts';
import type { PodWorker } from '../pod-worker.ts';
import type { NodeSettings } from '../sandbox-config.ts';

/** What the API shows of a kubelet. */
export type KubeletView = {
  readonly nodeName: string;
  readonly runtime: NodeRuntime;
  readonly clock: Clock;
  readonly find: (namespace: string, name: string) => PodWorker | undefined;
  readonly workers: () => readonly PodWorker[];
  readonly metrics: MetricRegistry;
  /** What it was told, for people to look at. */
  readonly configuration: () => object;
  readonly startedAt: Instant;
  readonly version: string;
  readonly probeMetrics: MetricRegistry;
  readonly settings: NodeSettings;
  readonly machine: Machine;
};

/** What the machine has. */
export type Machine = {
  readonly cores: number;
  readonly memoryBytes: number;
  readonly diskBytes: number;
  /** What of it is left, where that is measured. */
  readonly supplies: (() => Promise<Supplies>) | undefined;
};

/** A refusal, in plain text. */
export class KubeletError extends Error {
  override readonly name = 'KubeletError';
  readonly code: number;

  constructor(code: number, message: string) {
    super(message);
    this.code = code;
  }
}

/** Finds a Pod by the parts of a path: namespace, name, perhaps its uid, and perhaps a container. */
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
