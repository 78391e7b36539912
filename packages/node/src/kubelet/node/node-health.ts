/** Health of a node: what its runtime reports, and the faults that make the node not ready. */
import type { Log } from '@kruise/client/log';
import type { Clock } from '@kruise/values/clock';
import { formatDuration, fromMilliseconds } from '@kruise/values/duration';
import type { Instant } from '@kruise/values/time';
import type { RuntimeCondition, RuntimeFeatures, RuntimeHandler } from '../../cri/messages.ts';
import type { NodeRuntime } from '../../cri/runtime.ts';

/** Health of a node. */
export type NodeHealth = {
  /** Returns name and version of the runtime; empty until `readVersion` has succeeded. */
  runtimeVersion(): { readonly runtimeName: string; readonly runtimeVersion: string };
  handlers(): readonly RuntimeHandler[];
  features(): RuntimeFeatures | undefined;
  /** Returns why the Pod network is not ready; undefined if it is ready. */
  networkFault(): string | undefined;
  /** Returns why the node is not ready. */
  faults(): readonly string[];
  /** Reads the version of the runtime. */
  readVersion(): Promise<void>;
  /** Reads the status of the runtime. */
  check(): Promise<void>;
  /** Sets whether the kubelet receives container events from the runtime. */
  setEventsHealthy(isHealthy: boolean): void;
  /** Marks the node as shutting down. */
  setShuttingDown(): void;
};

/** Dependencies of the health of a node. */
export type HealthContext = {
  readonly runtime: NodeRuntime;
  readonly clock: Clock;
  readonly log: Log;
  readonly nodeName: string;
  /** Called after each check. */
  readonly onChecked: (result: { readonly haveFaultsChanged: boolean }) => void;
};

/** Time without a successful check after which the runtime counts as down. */
const downAfterMs = 30_000;
const relistThresholdMs = 180_000;

/** Creates the health of a node whose network is not ready yet. */
export function createNodeHealth(context: HealthContext, signal: AbortSignal): NodeHealth {
  const { runtime, clock, log, nodeName, onChecked } = context;
  let version = { runtimeName: '', runtimeVersion: '' };
  let handlers: readonly RuntimeHandler[] = [];
  let features: RuntimeFeatures | undefined;
  let networkFault: string | undefined = 'container runtime network not ready: unknown';
  let runtimeFault: string | undefined;
  let shutdownFault: string | undefined;
  let eventsLostSince: Instant | undefined;
  let lastHealthyAt: Instant | undefined;
  let reportedFaults = '';

  const faults = () => [runtimeFault, networkFault, plegFault(), shutdownFault].filter((each) => each !== undefined);

  /** A node that receives no container events cannot manage its containers. */
  function plegFault(): string | undefined {
    const inactiveMs = eventsLostSince === undefined ? 0 : clock.now() - eventsLostSince;
    if (inactiveMs < relistThresholdMs) return undefined;
    const [inactive, limit] = [inactiveMs, relistThresholdMs].map((ms) => formatDuration(fromMilliseconds(ms)));
    return `PLEG is not healthy: pleg was last seen active ${inactive} ago; threshold is ${limit}`;
  }

  return {
    runtimeVersion: () => version,
    handlers: () => handlers,
    features: () => features,
    networkFault: () => networkFault,
    faults,
    async readVersion() {
      version = await runtime.version({ version: '0.1.0' }, { signal });
    },
    async check() {
      const before = reportedFaults;
      try {
        const response = await runtime.status({}, { signal });
        const found = (type: string) => response.status.conditions.find((each) => each.type === type);
        const network = found('NetworkReady');
        networkFault = network?.status ? undefined : `container runtime network not ready: ${faultText(network)}`;
        const ready = found('RuntimeReady');
        handlers = response.runtimeHandlers;
        features = response.features;
        if (ready?.status) {
          lastHealthyAt = clock.now();
          runtimeFault = undefined;
        } else runtimeFault = `container runtime not ready: ${faultText(ready)}`;
      } catch (error) {
        if (signal.aborted) return;
        const isDown = lastHealthyAt === undefined || clock.now() - lastHealthyAt > downAfterMs;
        if (isDown) runtimeFault = 'container runtime is down';
        log.warn({ node: nodeName, error }, 'failed to get runtime status');
      }
      reportedFaults = faults().map(withoutTime).join();
      onChecked({ haveFaultsChanged: reportedFaults !== before });
    },
    setEventsHealthy(isHealthy) {
      eventsLostSince = isHealthy ? undefined : (eventsLostSince ?? clock.now());
    },
    setShuttingDown() {
      shutdownFault = 'node is shutting down';
    },
  };
}

/** Reports whether the runtime supports recursive read-only mounts. */
export function supportsRecursiveReadOnly(handlers: readonly RuntimeHandler[]): boolean {
  return handlers.find(({ name }) => name === '')?.features?.recursiveReadOnlyMounts ?? false;
}

/** Reports whether a runtime handler supports user namespaces; undefined if the runtime does not know the handler. */
export function supportsUserNamespaces(handlers: readonly RuntimeHandler[], handler: string): boolean | undefined {
  const found = handlers.find(({ name }) => name === handler);
  // Older runtimes report no handlers and support no user namespaces.
  return found || handler === '' ? (found?.features?.userNamespaces ?? false) : undefined;
}

/** Removes the duration from a fault: an increasing duration is no status change. */
function withoutTime(fault: string): string {
  return fault.replace(/active \S+ ago/, '');
}

function faultText(condition: RuntimeCondition | undefined): string {
  if (!condition) return '<nil>';
  return `${condition.type}=false reason:${condition.reason} message:${condition.message}`;
}
