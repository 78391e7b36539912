/** Starts the containers of one Pod in order, and keeps the start failures and the backoff of each container. */
import type { Container } from '@kruise/api/core/container';
import { isSame } from '@kruise/machinery/json-value';
import type { Instant } from '@kruise/values/time';
import { type BackOff, createBackOff } from './back-off.ts';
import type { StartFailure } from './container-statuses.ts';
import { containerHash, containersOf, fieldPathOf, type PodContainer } from './containers.ts';
import { StartError } from './images.ts';
import type { NodeContext } from './node-context.ts';
import { newestOf, type RuntimeContainer, type RuntimePod } from './runtime-pod.ts';
import { type StartScene, startContainer } from './start-container.ts';

/** Result of starting containers. */
export type StartOutcome = {
  /** Time of the next retry of containers that failed to start. */
  readonly retryAt: Instant | undefined;
  /** True if the start failures changed. */
  readonly hasNews: boolean;
};

/** Container starts of one Pod. */
export type ContainerStarts = {
  /** Start failures by container name. */
  readonly failures: ReadonlyMap<string, StartFailure>;
  /** Returns the runtime state to report: a new container is omitted until its postStart hook has completed. */
  settled(runtimePod: RuntimePod): RuntimePod;
  startAll(
    scene: Omit<StartScene, 'pullBackOff' | 'pullErrors'>,
    wanted: readonly Container[],
    signal: AbortSignal,
  ): Promise<StartOutcome>;
  /** Resets the restart backoff of a container. */
  forgive(container: Container): void;
};

/** Retry interval for failures without a backoff. */
const retryMs = 10_000;

/** Creates the start state of a Pod. */
export function createContainerStarts(node: NodeContext): ContainerStarts {
  const { clock } = node;
  const failures = new Map<string, StartFailure>();
  const pullErrors = new Map<string, string>();
  // Created lazily, because most Pods never back off.
  let restarts: BackOff | undefined;
  let pulls: BackOff | undefined;
  let underWay: { readonly name: string; readonly before: RuntimePod } | undefined;

  // The hash includes the image: a container with another image has a backoff of its own.
  const keyOf = (container: Container) => `${container.name}/${containerHash(container)}`;

  /**
   * Applies the restart backoff to a container that exited. Throws CrashLoopBackOff while the container is in backoff.
   */
  function checkBackOff({ pod, runtimePod }: Pick<StartScene, 'pod' | 'runtimePod'>, podContainer: PodContainer): void {
    const { container } = podContainer;
    const newest = newestOf(runtimePod, container.name);
    if (newest?.state !== 'exited') return;
    restarts ??= createBackOff(clock);
    const key = keyOf(container);
    if (!restarts.isWaiting(key, newest.finishedAt)) {
      restarts.advance(key, newest.finishedAt);
      return;
    }
    const { name, namespace, uid } = pod.metadata;
    const id = `${name}_${namespace}(${uid})`;
    const told = `Back-off restarting failed container ${container.name} in pod ${id}`;
    node.record(pod, 'Warning', 'BackOff', told, fieldPathOf(podContainer));
    const delay = durationText(restarts.delayOf(key));
    const message = `back-off ${delay} restarting failed container=${container.name} pod=${id}`;
    throw new StartError('CrashLoopBackOff', message);
  }

  function retryOf(
    { reason }: StartError,
    container: Container,
    { runtimePod }: Pick<StartScene, 'runtimePod'>,
  ): Instant {
    switch (reason) {
      case 'CrashLoopBackOff':
        return restarts?.dueAt(keyOf(container), newestOf(runtimePod, container.name)?.finishedAt ?? 0) ?? clock.now();
      case 'ImagePullBackOff':
        return pulls?.dueSinceLast(container.image ?? '') ?? clock.now();
      default:
        return clock.now() + retryMs;
    }
  }

  return {
    failures,
    settled(runtimePod) {
      if (!underWay) return runtimePod;
      const { name, before } = underWay;
      const isSettled = ({ id, name: other }: RuntimeContainer) =>
        other !== name || before.containers.some((each) => each.id === id);
      return { ...runtimePod, containers: runtimePod.containers.filter(isSettled) };
    },
    async startAll(given, wanted, signal) {
      const scene: StartScene = { ...given, pullBackOff: (pulls ??= createBackOff(clock)), pullErrors };
      const names = new Set(wanted.map(({ name }) => name));
      const before = new Map(failures);
      const retries: Instant[] = [];
      for (const podContainer of startOrder(containersOf(scene.pod))) {
        const { container, role } = podContainer;
        if (!names.has(container.name)) continue;
        try {
          checkBackOff(scene, podContainer);
          node.metrics.containerStarts(role);
          underWay = { name: container.name, before: scene.runtimePod };
          await startContainer(node, scene, podContainer, signal);
          failures.delete(container.name);
        } catch (error) {
          if (!(error instanceof StartError)) throw error;
          const { reason, message } = error;
          failures.set(container.name, { reason, message });
          retries.push(retryOf(error, container, scene));
          if (reason !== 'CrashLoopBackOff') node.metrics.containerStartFailed(role, reason);
          // Later containers depend on this init container.
          if (role === 'init') break;
        } finally {
          underWay = undefined;
        }
      }
      return {
        retryAt: retries.length === 0 ? undefined : Math.min(...retries),
        hasNews: !isSame([...before], [...failures]),
      };
    },
    forgive: (container) => restarts?.reset(keyOf(container)),
  };
}

/** Ephemeral containers start first, so that they can debug containers that fail to start. */
function startOrder(containers: readonly PodContainer[]): readonly PodContainer[] {
  return [
    ...containers.filter(({ role }) => role === 'ephemeral'),
    ...containers.filter(({ role }) => role !== 'ephemeral'),
  ];
}

function durationText(durationMs: number): string {
  const seconds = Math.round(durationMs / 1000);
  return seconds < 60 ? `${seconds}s` : `${Math.floor(seconds / 60)}m${seconds % 60}s`;
}
