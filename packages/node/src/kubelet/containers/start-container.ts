/** Starts one container of a Pod: image pull, create, start, postStart hook. */
import type { ConfigMap } from '@kruise/api/core/configmap';
import type { Container } from '@kruise/api/core/container';
import type { ContainerStatus, Pod } from '@kruise/api/core/pod';
import type { Secret } from '@kruise/api/core/secret';
import type { Mount, PodSandboxConfig } from '../../cri/messages.ts';
import type { NodeContext } from '../node/node-context.ts';
import { nextRestartCount } from '../pods/container-statuses.ts';
import { runHook } from '../probes/probe-handlers.ts';
import { descriptionOf } from '../runtime/runtime-error.ts';
import { newestOf, type RuntimePod } from '../runtime/runtime-pod.ts';
import { mountsOf } from '../volumes/mounts.ts';
import type { MountedVolume } from '../volumes/volumes.ts';
import type { BackOff } from './back-off.ts';
import { containerConfigOf } from './container-config.ts';
import { fieldPathOf, type PodContainer } from './containers.ts';
import type { DownwardContext } from './downward-api.ts';
import { environmentOf } from './environment.ts';
import { StartError } from './images.ts';
import { killContainer } from './kill.ts';
import { logDirectoryOf, logLinkOf, userNamespaceOf } from './sandbox-config.ts';

/** Pod context of a container start. */
export type StartContext = {
  readonly pod: Pod;
  /** Container statuses that were reported last. */
  readonly statuses: readonly ContainerStatus[];
  readonly runtimePod: RuntimePod;
  readonly sandboxId: string;
  readonly sandboxConfig: PodSandboxConfig;
  readonly facts: DownwardContext;
  readonly volumes: ReadonlyMap<string, MountedVolume>;
  readonly pullSecrets: readonly Secret[];
  readonly pullBackOff: BackOff;
  readonly pullErrors: Map<string, string>;
};

/** Starts a container. Throws `StartError`, whose reason is shown in the container status. */
export async function startContainer(
  node: NodeContext,
  context: StartContext,
  podContainer: PodContainer,
  signal: AbortSignal,
): Promise<void> {
  const { pod, runtimePod, sandboxId, sandboxConfig, facts } = context;
  const { container } = podContainer;
  const { runtime, clock } = node;
  const record = (type: 'Normal' | 'Warning', reason: string, message: string) =>
    node.record(pod, type, reason, message, fieldPathOf(podContainer));
  const fail = (reason: string, error: unknown, containerId?: string): StartError => {
    signal.throwIfAborted();
    const message = descriptionOf(error);
    // The container ID is replaced by the name, so that the events of all attempts are aggregated.
    const lastStatus = containerId === undefined ? message : message.replaceAll(containerId, container.name);
    record('Warning', 'Failed', `Error: ${lastStatus}`);
    return new StartError(reason, message, { cause: error });
  };

  const localImage = await node.images
    .ensureImageExists({
      pod,
      container,
      sandboxConfig,
      secrets: context.pullSecrets,
      backOff: context.pullBackOff,
      lastErrors: context.pullErrors,
      record,
      signal,
    })
    .catch((error: unknown) => {
      signal.throwIfAborted();
      if (error instanceof StartError) record('Warning', 'Failed', `Error: ${error.reason}`);
      throw error;
    });

  const restartCount = await restartCountOf(node, context, container);
  const config = await configure().catch((error: unknown) => {
    throw fail('CreateContainerConfigError', error);
  });
  const containerId = await runtime
    .createContainer({ podSandboxId: sandboxId, config, sandboxConfig }, { signal })
    .then((response) => response.containerId)
    .catch((error: unknown) => {
      throw fail('CreateContainerError', error);
    });
  record('Normal', 'Created', `Created container: ${container.name}`);
  node.allocations.actuate(pod.metadata.uid ?? '', container);
  // Removes instances that were created but never started: a delayed start of one would run the container twice.
  for (const { id, name, state } of runtimePod.containers) {
    if (name === container.name && state === 'created') await runtime.removeContainer({ containerId: id }, { signal });
  }
  await runtime.startContainer({ containerId }, { signal }).catch((error: unknown) => {
    throw fail('RunContainerError', error, containerId);
  });
  record('Normal', 'Started', `Started container ${container.name}`);
  await linkLog(node, context, { containerName: container.name, containerId, restartCount });
  const postStart = container.lifecycle?.postStart;
  if (!postStart) return;
  const podIP = facts.podIPs[0] ?? '';
  try {
    const warn = (reason: string, message: string) => record('Warning', reason, message);
    await runHook(runtime, clock, postStart, { container, containerId, podIP, warn }, signal);
  } catch (error) {
    signal.throwIfAborted();
    record('Warning', 'FailedPostStartHook', 'PostStartHook failed');
    const target = { ...unobservedContainer, id: containerId, name: container.name, sandboxId };
    await killContainer(
      { runtime, clock, record: (_, type, reason, message) => record(type, reason, message), podIP: () => podIP },
      { pod, target, message: 'FailedPostStartHook' },
      signal,
    );
    throw new StartError('PostStartHookError', descriptionOf(error), { cause: error });
  }

  async function configure() {
    const { namespace = '' } = pod.metadata;
    const environment = await environmentFor(node, pod, container, facts, namespace);
    const mounts: readonly Mount[] = await mountsOf(node, context, container, environment);
    const target = pod.spec?.ephemeralContainers?.find(({ name }) => name === container.name)?.targetContainerName;
    return containerConfigOf({
      pod,
      container,
      restartCount,
      imageRef: localImage.ref,
      image: localImage.image,
      environment,
      mounts,
      settings: node.settings,
      memoryCapacity: node.memoryCapacity(),
      targetId: target ? newestOf(runtimePod, target)?.id : undefined,
      userNamespace: userNamespaceOf(sandboxConfig),
    });
  }
}

type Started = { readonly containerName: string; readonly containerId: string; readonly restartCount: number };

/** Creates the log symlink for runtimes that write log files. */
async function linkLog({ runtime, settings }: NodeContext, { pod }: StartContext, started: Started): Promise<void> {
  const { containerName, containerId, restartCount } = started;
  const target = `${logDirectoryOf(pod, settings)}/${containerName}/${restartCount}.log`;
  if (!(await runtime.files.stat(target))) return;
  const link = logLinkOf(pod, { name: containerName, id: containerId }, settings);
  await runtime.files.makeDirectory(settings.containerLogsDirectory, { mode: 0o755 });
  await runtime.files.remove(link);
  await runtime.files.symlink(link, { target });
}

const unobservedContainer = {
  state: 'running',
  createdAt: 0,
  startedAt: 0,
  finishedAt: 0,
  exitCode: 0,
  reason: '',
  message: '',
  hash: '',
  restartCount: 0,
  image: '',
  imageRef: '',
} as const;

/** Collects the objects that the variables refer to, then builds the environment. */
async function environmentFor(
  node: NodeContext,
  pod: Pod,
  container: Container,
  facts: DownwardContext,
  namespace: string,
) {
  const { sources } = node;
  const configMaps = new Set<string>();
  const secrets = new Set<string>();
  for (const { configMapRef, secretRef } of container.envFrom ?? []) {
    if (configMapRef?.name) configMaps.add(configMapRef.name);
    if (secretRef?.name) secrets.add(secretRef.name);
  }
  for (const { valueFrom } of container.env ?? []) {
    if (valueFrom?.configMapKeyRef?.name) configMaps.add(valueFrom.configMapKeyRef.name);
    if (valueFrom?.secretKeyRef?.name) secrets.add(valueFrom.secretKeyRef.name);
  }
  const foundMaps = new Map<string, ConfigMap | undefined>();
  for (const name of configMaps) foundMaps.set(name, await sources.configMap(namespace, name));
  const foundSecrets = new Map<string, Secret | undefined>();
  for (const name of secrets) foundSecrets.set(name, await sources.secret(namespace, name));
  return environmentOf(pod, container, facts, {
    configMap: (name) => foundMaps.get(name),
    secret: (name) => foundSecrets.get(name),
    services: await sources.services(namespace),
  });
}

/**
 * Returns the restart count: one more than the last instance; without one, the count according to the logs and the Pod
 * status.
 */
async function restartCountOf(node: NodeContext, context: StartContext, { name }: Container): Promise<number> {
  const before = newestOf(context.runtimePod, name);
  if (before) return before.restartCount + 1;
  const lastStatus = context.statuses.find((each) => each.name === name);
  return Math.max(lastStatus ? nextRestartCount(lastStatus) : 0, await countLogs(node, context, name));
}

async function countLogs({ runtime, settings }: NodeContext, { pod }: StartContext, name: string): Promise<number> {
  const folder = `${logDirectoryOf(pod, settings)}/${name}`;
  if (!(await runtime.files.stat(folder))) return 0;
  const counts = (await runtime.files.list(folder)).flatMap((file) => {
    const [, count] = /^(\d+)\.log/.exec(file) ?? [];
    return count === undefined ? [] : [Number(count)];
  });
  return counts.length === 0 ? 0 : Math.max(...counts) + 1;
}
