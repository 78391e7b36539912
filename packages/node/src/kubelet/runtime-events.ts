/** Hears from a runtime what happens to Pods: by its events, or where there are none by asking every second. */
import { GrpcError } from '@kruise/client/grpc/status';
import { after, type Clock } from '@kruise/values/clock';
import type { Instant } from '@kruise/values/time';
import type { RuntimeService } from '../cri/runtime.ts';
import { podUidLabel } from './sandbox-config.ts';

/** What is listened with. */
export type ListenContext = {
  readonly runtime: RuntimeService;
  readonly clock: Clock;
  /** Whether its events are listened to, if it has any. */
  readonly isEvented: boolean;
  readonly onError: (error: unknown) => void;
};

/** Who is told. */
export type RuntimeListener = {
  /** Something happened to a Pod, of which there may be something left. */
  changed(uid: string, isThere: boolean): void;
  /** Anything may have happened while nobody listened. */
  missed(): void;
  /** All there is was asked for at this time. */
  listed(askedAt: Instant): void;
  /** Whether the runtime is heard from now on. */
  heard(isHeard: boolean): void;
};

const relistMs = 1000;
const reconnectMs = 1000;

/** Tells what happens until the signal is aborted. */
export async function followRuntime(
  context: ListenContext,
  listener: RuntimeListener,
  signal: AbortSignal,
): Promise<void> {
  const { runtime, clock, isEvented, onError } = context;
  if (!isEvented) return relist(context, listener, signal);
  while (!signal.aborted) {
    // One who has nothing to tell is heard as well as others, unless he breaks off at once.
    const cancel = clock.setTimer(reconnectMs, () => listener.heard(true), signal);
    try {
      for await (const { podSandboxStatus } of runtime.getContainerEvents({}, { signal })) {
        const uid = podSandboxStatus?.labels[podUidLabel];
        if (uid !== undefined) listener.changed(uid, podSandboxStatus?.state === 'SANDBOX_READY');
      }
    } catch (error) {
      if (signal.aborted) return;
      if (error instanceof GrpcError && error.code === 'UNIMPLEMENTED') return relist(context, listener, signal);
      listener.heard(false);
      onError(error);
    } finally {
      cancel();
    }
    await after(clock, reconnectMs, signal).catch(() => {});
    listener.missed();
  }
}

async function relist(
  { runtime, clock, onError }: ListenContext,
  listener: RuntimeListener,
  signal: AbortSignal,
): Promise<void> {
  let known = new Map<string, string>();
  while (!signal.aborted) {
    const askedAt = clock.now();
    try {
      const found = await statesOf(runtime, signal);
      listener.heard(true);
      for (const uid of new Set([...known.keys(), ...found.keys()])) {
        if (known.get(uid) !== found.get(uid)) listener.changed(uid, found.has(uid));
      }
      known = found;
      listener.listed(askedAt);
    } catch (error) {
      if (signal.aborted) return;
      listener.heard(false);
      onError(error);
    }
    await after(clock, relistMs, signal).catch(() => {});
  }
}

/** All that is of each Pod, and in which state, as one text. */
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
