/** Simulated node for tests, on its own virtual clock. */
import { seededRandom } from '@kruise/values/random';
import { type VirtualClock, virtualClock } from '@kruise/values/virtual-clock';
import type { ContainerConfig, ContainerStatus, PodSandboxConfig, StringMap } from '../../messages.ts';
import { instantOfNanoseconds } from '../../nanoseconds.ts';
import type { NodeRuntime } from '../../runtime.ts';
import { annotationPrefix } from '../script.ts';
import { createSimulatedRuntime, type SimulatedRuntimeOptions } from '../simulated-runtime.ts';

export type SimulatedNode = {
  readonly clock: VirtualClock;
  readonly runtime: NodeRuntime;
  /** Advances the clock and runs all pending work. */
  advance(durationMs: number): Promise<void>;
  runSandbox(config?: Partial<PodSandboxConfig>): Promise<string>;
  /** Pulls, creates and starts a container, by default in a new sandbox. */
  runContainer(options: RunOptions): Promise<RunningContainer>;
  status(containerId: string): Promise<ContainerStatus>;
  /** Returns the log, with both streams interleaved. */
  log(containerId: string): Promise<string>;
  /** Runs a script with `sh -c` in a running container. */
  sh(
    containerId: string,
    script: string,
  ): Promise<{ readonly stdout: string; readonly stderr: string; readonly exitCode: number }>;
};

export type RunOptions = {
  readonly image?: string;
  readonly command?: readonly string[];
  readonly args?: readonly string[];
  readonly annotations?: StringMap;
  readonly sandboxId?: string;
  readonly config?: Partial<ContainerConfig>;
};

export type RunningContainer = { readonly containerId: string; readonly podSandboxId: string };

export const testStart = Date.UTC(2026, 0, 2, 3, 4, 5);

export function simulatedNode(options: Partial<SimulatedRuntimeOptions> = {}): SimulatedNode {
  const clock = virtualClock(testStart);
  const runtime = createSimulatedRuntime({
    clock,
    random: seededRandom('node'),
    nodeAddress: '192.168.0.1',
    podCidr: '10.244.1.0/24',
    pullBytesPerSecond: Number.POSITIVE_INFINITY,
    ...options,
  });
  let pods = 0;

  const sandboxConfig = (config: Partial<PodSandboxConfig> = {}): PodSandboxConfig => {
    const name = `pod-${++pods}`;
    return {
      metadata: { name, namespace: 'default', uid: `uid-${pods}`, attempt: 0 },
      hostname: name,
      logDirectory: `/var/log/pods/default_${name}_uid-${pods}`,
      ...config,
    };
  };

  return {
    clock,
    runtime,
    advance: (durationMs) => clock.advanceAsync(durationMs),
    async runSandbox(config) {
      const { podSandboxId } = await runtime.runPodSandbox({ config: sandboxConfig(config) });
      return podSandboxId;
    },
    async runContainer({ image = 'busybox', command, args, annotations = {}, sandboxId, config }) {
      const sandbox = sandboxConfig({ annotations });
      const podSandboxId = sandboxId ?? (await runtime.runPodSandbox({ config: sandbox })).podSandboxId;
      const { imageRef } = await runtime.pullImage({ image: { image }, sandboxConfig: sandbox });
      const { containerId } = await runtime.createContainer({
        podSandboxId,
        config: {
          metadata: { name: 'main', attempt: 0 },
          image: { image: imageRef },
          logPath: 'main/0.log',
          linux: { securityContext: { namespaceOptions: { network: 'POD', pid: 'CONTAINER', ipc: 'POD' } } },
          ...(command && { command }),
          ...(args && { args }),
          ...config,
        },
        sandboxConfig: sandbox,
      });
      await runtime.startContainer({ containerId });
      return { containerId, podSandboxId };
    },
    status: async (containerId) => (await runtime.containerStatus({ containerId })).status,
    async log(containerId) {
      let text = '';
      for await (const { content, isPartial } of runtime.logs.read({ containerId })) {
        text += `${Buffer.from(content)}${isPartial ? '' : '\n'}`;
      }
      return text;
    },
    async sh(containerId, script) {
      const { stdout, stderr, exitCode } = await runtime.execSync({ containerId, cmd: ['sh', '-c', script] });
      return { stdout: Buffer.from(stdout).toString(), stderr: Buffer.from(stderr).toString(), exitCode };
    },
  };
}

/** Returns simulation annotations of a Pod. */
export function scripted(values: StringMap): StringMap {
  return Object.fromEntries(Object.entries(values).map(([key, value]) => [`${annotationPrefix}${key}`, value]));
}

/** Returns the runtime in milliseconds, rounded: each timestamp is at least a nanosecond later than the last. */
export function durationMs({ startedAt, finishedAt }: ContainerStatus): number {
  return Math.round(instantOfNanoseconds(finishedAt) - instantOfNanoseconds(startedAt));
}
