/** Parts of one pod worker, which the stages of its lifecycle work with. */
import type { Pod } from '@kruise/api/core/pod';
import { type PodResize, withAllocatedSpec } from '../admission/pod-resize.ts';
import type { ContainerStarts } from '../containers/container-starts.ts';
import { fieldPathOf } from '../containers/containers.ts';
import type { KillContext } from '../containers/kill.ts';
import type { NodeContext } from '../node/node-context.ts';
import { addressesOf } from '../runtime/runtime-pod.ts';
import type { PodVolumeManager } from '../volumes/pod-volume-manager.ts';
import type { LifecycleEvent, PodLifecycle } from './pod-lifecycle.ts';
import type { PodObserver } from './pod-observer.ts';
import type { StatusPublisher } from './status-publisher.ts';

/** A Pod on its node. Each part owns its state. */
export type PodContext = {
  readonly node: NodeContext;
  readonly uid: string;
  /** Returns the newest Pod object. */
  readonly pod: () => Pod;
  readonly lifecycle: () => PodLifecycle;
  /** Applies an event to the lifecycle. */
  readonly dispatch: (event: LifecycleEvent) => void;
  readonly observer: PodObserver;
  readonly resize: PodResize;
  readonly starts: ContainerStarts;
  readonly volumes: PodVolumeManager;
  readonly status: StatusPublisher;
};

/** Returns the Pod with its allocated resources. */
export function allocatedPodOf({ pod, resize }: PodContext): Pod {
  return withAllocatedSpec(resize, pod());
}

/** Retry interval for failures without a backoff. */
const retryMs = 10_000;

/** Schedules a sync after a failure without a backoff. */
export function retryLater({ node, uid }: Pick<PodContext, 'node' | 'uid'>): void {
  node.syncAt(uid, node.clock.now() + retryMs);
}

/** Returns the dependencies of container termination. */
export function killContextOf({ node, pod, observer }: PodContext): KillContext {
  return {
    runtime: node.runtime,
    clock: node.clock,
    record: (container, type, reason, message) => node.record(pod(), type, reason, message, fieldPathOf(container)),
    podIP: () => addressesOf(observer.runtimePod)[0] ?? '',
  };
}
