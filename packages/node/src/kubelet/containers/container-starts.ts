/** Starts the containers of one Pod in order, and keeps the start failures and the backoff of each container. */
import type { Container } from '@kruise/api/core/container';
import { isSame } from '@kruise/machinery/json-value';
import type { Instant } from '@kruise/values/time';
import type { NodeContext } from '../node/node-context.ts';
import type { StartFailure } from '../pods/container-statuses.ts';
import { newestOf, type RuntimeContainer, type RuntimePod } from '../runtime/runtime-pod.ts';
import { type BackOff, createBackOff } from './back-off.ts';
import { containerHash, containersOf, fieldPathOf, type PodContainer } from './containers.ts';
import { StartError } from './images.ts';
import { type StartContext, startContainer } from './start-container.ts';

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
  visibleState(runtimePod: RuntimePod): RuntimePod;
  startAll(
    context: Omit<StartContext, 'pullBackOff' | 'pullErrors'>,
    wanted: readonly Container[],
    signal: AbortSignal,
  ): Promise<StartOutcome>;
  /** Resets the restart backoff of a container. */
  resetBackOff(container: Container): void;
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
  let inProgress: { readonly name: string; readonly before: RuntimePod } | undefined;

  // The hash includes the image: a container with another image has a backoff of its own.
  const keyOf = (container: Container) => `${container.name}/${containerHash(container)}`;

  /**
   * Applies the restart backoff to a container that exited. Throws CrashLoopBackOff while the container is in backoff.
   */
  function checkBackOff(
    { pod, runtimePod }: Pick<StartContext, 'pod' | 'runtimePod'>,
    podContainer: PodContainer,
  ): void {
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
    const eventMessage = `Back-off restarting failed container ${container.name} in pod ${id}`;
    node.record(pod, 'Warning', 'BackOff', eventMessage, fieldPathOf(podContainer));
    const delay = durationText(restarts.delayOf(key));
    const message = `back-off ${delay} restarting failed container=${container.name} pod=${id}`;
    throw new StartError('CrashLoopBackOff', message);
  }

  function retryTime(
    { reason }: StartError,
    container: Container,
    { runtimePod }: Pick<StartContext, 'runtimePod'>,
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
    visibleState(runtimePod) {
      if (!inProgress) return runtimePod;
      const { name, before } = inProgress;
      const isVisible = ({ id, name: other }: RuntimeContainer) =>
        other !== name || before.containers.some((each) => each.id === id);
      return { ...runtimePod, containers: runtimePod.containers.filter(isVisible) };
    },
    async startAll(given, wanted, signal) {
      const context: StartContext = { ...given, pullBackOff: (pulls ??= createBackOff(clock)), pullErrors };
      const names = new Set(wanted.map(({ name }) => name));
      const before = new Map(failures);
      const retries: Instant[] = [];
      for (const podContainer of startOrder(containersOf(context.pod))) {
        const { container, role } = podContainer;
        if (!names.has(container.name)) continue;
        try {
          checkBackOff(context, podContainer);
          node.metrics.countContainerStart(role);
          inProgress = { name: container.name, before: context.runtimePod };
          await startContainer(node, context, podContainer, signal);
          failures.delete(container.name);
        } catch (error) {
          if (!(error instanceof StartError)) throw error;
          const { reason, message } = error;
          failures.set(container.name, { reason, message });
          retries.push(retryTime(error, container, context));
          if (reason !== 'CrashLoopBackOff') node.metrics.countContainerStartFailure(role, reason);
          // Later containers depend on this init container.
          if (role === 'init') break;
        } finally {
          inProgress = undefined;
        }
      }
      return {
        retryAt: retries.length === 0 ? undefined : Math.min(...retries),
        hasNews: !isSame([...before], [...failures]),
      };
    },
    resetBackOff: (container) => restarts?.reset(keyOf(container)),
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
