/** Pod lifecycle events from the runtime: container events, or a relist every second if the runtime has no events. */
import { GrpcError } from '@kruise/client/grpc/status';
import { after, type Clock } from '@kruise/values/clock';
import type { Instant } from '@kruise/values/time';
import type { RuntimeService } from '../../cri/runtime.ts';
import { podUidLabel } from '../containers/sandbox-config.ts';

/** Dependencies of the event source. */
export type RuntimeWatchContext = {
  readonly runtime: RuntimeService;
  readonly clock: Clock;
  /** True if runtime events are used when the runtime supports them. */
  readonly isEvented: boolean;
  readonly onError: (error: unknown) => void;
};

/** Listener for runtime changes. */
export type RuntimeListener = {
  /**
   * Called when sandboxes or containers of a Pod changed; `isThere` says whether the Pod has a ready sandbox or any
   * container left.
   */
  onPodChange(uid: string, exists: boolean): void;
  /** Called after a reconnect: any event may have been missed. */
  onReconnect(): void;
  /** Called after a relist that was requested at this time. */
  onRelist(requestedAt: Instant): void;
  /** Called when the connection to the runtime becomes healthy or unhealthy. */
  onHealthChange(isHealthy: boolean): void;
};

const relistMs = 1000;
const reconnectMs = 1000;

/** Watches the runtime until the signal is aborted. */
export async function watchRuntime(
  context: RuntimeWatchContext,
  listener: RuntimeListener,
  signal: AbortSignal,
): Promise<void> {
  const { runtime, clock, isEvented, onError } = context;
  if (!isEvented) return relist(context, listener, signal);
  while (!signal.aborted) {
    // A stream without events is healthy, too, unless it ends at once.
    const cancel = clock.setTimer(reconnectMs, () => listener.onHealthChange(true), signal);
    try {
      for await (const { podSandboxStatus } of runtime.getContainerEvents({}, { signal })) {
        const uid = podSandboxStatus?.labels[podUidLabel];
        if (uid !== undefined) listener.onPodChange(uid, podSandboxStatus?.state === 'SANDBOX_READY');
      }
    } catch (error) {
      if (signal.aborted) return;
      if (error instanceof GrpcError && error.code === 'UNIMPLEMENTED') return relist(context, listener, signal);
      listener.onHealthChange(false);
      onError(error);
    } finally {
      cancel();
    }
    await after(clock, reconnectMs, signal).catch(() => {});
    listener.onReconnect();
  }
}

async function relist(
  { runtime, clock, onError }: RuntimeWatchContext,
  listener: RuntimeListener,
  signal: AbortSignal,
): Promise<void> {
  let known = new Map<string, string>();
  while (!signal.aborted) {
    const requestedAt = clock.now();
    try {
      const found = await statesOf(runtime, signal);
      listener.onHealthChange(true);
      for (const uid of new Set([...known.keys(), ...found.keys()])) {
        if (known.get(uid) !== found.get(uid)) listener.onPodChange(uid, found.has(uid));
      }
      known = found;
      listener.onRelist(requestedAt);
    } catch (error) {
      if (signal.aborted) return;
      listener.onHealthChange(false);
      onError(error);
    }
    await after(clock, relistMs, signal).catch(() => {});
  }
}

/** Returns the state of each Pod's sandboxes and containers as one string. */
async function statesOf(runtime: RuntimeService, signal: AbortSignal): Promise<Map<string, string>> {
  const { items } = await runtime.listPodSandbox({}, { signal });
  const { containers } = await runtime.listContainers({}, { signal });
  const states = new Map<string, string>();
  for (const { id, state, labels } of [...items, ...containers]) {
    const uid = labels[podUidLabel];
    if (uid !== undefined) states.set(uid, `${states.get(uid) ?? ''}${id}=${state};`);
  }
  return states;
}
