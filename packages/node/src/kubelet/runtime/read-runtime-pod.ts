/** Reads the sandboxes and containers of a Pod from the runtime. */
import type { ContainerStatus, PodSandboxStatus } from '../../cri/messages.ts';
import { instantOfNanoseconds } from '../../cri/nanoseconds.ts';
import type { NodeRuntime } from '../../cri/runtime.ts';
import { readContainerAnnotations } from '../containers/container-config.ts';
import { actualResourcesOf } from '../containers/linux-resources.ts';
import { podUidLabel } from '../containers/sandbox-config.ts';
import { isNotFoundError } from './runtime-error.ts';
import type { RuntimeContainer, RuntimePod, RuntimeSandbox } from './runtime-pod.ts';

/** Returns the sandbox IDs of a Pod. */
export async function sandboxIdsOf(runtime: NodeRuntime, uid: string): Promise<string[]> {
  const { items } = await runtime.listPodSandbox({ filter: { labelSelector: { [podUidLabel]: uid } } });
  return items.map(({ id }) => id);
}

/** Reads the containers of some sandboxes. Containers that are already known as exited are not read again. */
export async function readRuntimePod(
  runtime: NodeRuntime,
  sandboxIds: readonly string[],
  known: RuntimePod,
): Promise<RuntimePod> {
  const sandboxes: PodSandboxStatus[] = [];
  const found: { readonly sandboxId: string; readonly status: ContainerStatus }[] = [];
  for (const id of sandboxIds) {
    try {
      const { status, containersStatuses } = await runtime.podSandboxStatus({ podSandboxId: id });
      sandboxes.push(status);
      const statuses = containersStatuses.length > 0 ? containersStatuses : await statusesIn(runtime, id);
      for (const each of statuses) found.push({ sandboxId: id, status: each });
    } catch (error) {
      // A sandbox that disappears during the read is skipped.
      if (!isNotFoundError(error)) throw error;
    }
  }
  const containers: RuntimeContainer[] = [];
  if (found.length > 1) found.sort((a, b) => newestFirst(a.status, b.status));
  for (const { sandboxId, status } of found) {
    const before = known.containers.find(({ id }) => id === status.id);
    if (before?.state === 'exited') containers.push(before);
    else if (status.state !== 'CONTAINER_EXITED') containers.push(containerOf(sandboxId, status, status.message));
    else containers.push(containerOf(sandboxId, status, await terminationMessageOf(runtime, status)));
  }
  if (sandboxes.length > 1) sandboxes.sort(newestFirst);
  return { sandboxes: sandboxes.map(sandboxOf), containers };
}

/** Compares nanoseconds, because two instances may be created within the same millisecond. */
function newestFirst(a: { readonly createdAt: bigint }, b: { readonly createdAt: bigint }): number {
  return a.createdAt < b.createdAt ? 1 : a.createdAt > b.createdAt ? -1 : 0;
}

async function statusesIn(runtime: NodeRuntime, podSandboxId: string): Promise<ContainerStatus[]> {
  const { containers } = await runtime.listContainers({ filter: { podSandboxId } });
  const responses = await Promise.all(containers.map(({ id }) => runtime.containerStatus({ containerId: id })));
  return responses.map(({ status }) => status);
}

function sandboxOf({ id, metadata, state, createdAt, network, linux }: PodSandboxStatus): RuntimeSandbox {
  const ips: string[] = [];
  if (network?.ip) ips.push(network.ip);
  for (const { ip } of network?.additionalIps ?? []) if (ip !== '') ips.push(ip);
  return {
    id,
    attempt: metadata.attempt,
    isReady: state === 'SANDBOX_READY',
    createdAt: instantOfNanoseconds(createdAt),
    isHostNetwork: linux?.namespaces?.options?.network === 'NODE',
    ips,
  };
}

const states = {
  CONTAINER_CREATED: 'created',
  CONTAINER_RUNNING: 'running',
  CONTAINER_EXITED: 'exited',
  CONTAINER_UNKNOWN: 'unknown',
} as const;

function containerOf(sandboxId: string, status: ContainerStatus, message: string): RuntimeContainer {
  const resources = actualResourcesOf(status.resources?.linux);
  const user = status.user?.linux;
  return {
    id: status.id,
    name: status.metadata.name,
    sandboxId,
    state: states[status.state],
    createdAt: instantOfNanoseconds(status.createdAt),
    startedAt: instantOfNanoseconds(status.startedAt),
    finishedAt: instantOfNanoseconds(status.finishedAt),
    exitCode: status.exitCode,
    reason: status.reason,
    message,
    ...readContainerAnnotations(status.annotations),
    image: imageNameOf(status.image),
    imageRef: status.imageRef,
    ...(resources ? { resources } : {}),
    ...(user ? { user } : {}),
  };
}

/** Returns the image name that the runtime reports; if that is only an ID, the name from the Pod spec. */
function imageNameOf({ image, userSpecifiedImage }: ContainerStatus['image']): string {
  return /^(sha256:)?[0-9a-f]{64}$/.test(image) ? userSpecifiedImage || image : image;
}

const maxMessageBytes = 4096;
const maxLogLines = 80;
const maxLogBytes = 2048;

/** Returns the termination message of a container, or the end of its log if the policy is FallbackToLogsOnError. */
async function terminationMessageOf(runtime: NodeRuntime, status: ContainerStatus): Promise<string> {
  const { annotations, mounts, message, reason, exitCode } = status;
  const path = annotations['io.kubernetes.container.terminationMessagePath'];
  // The kubelet's own file is mounted last, over any volume that the Pod mounts there.
  const file = path ? mounts.findLast(({ containerPath }) => containerPath === path)?.hostPath : undefined;
  let terminationMessage = file ? await readFileIfExists(runtime, file) : '';
  const policy = annotations['io.kubernetes.container.terminationMessagePolicy'];
  if (
    terminationMessage === '' &&
    policy === 'FallbackToLogsOnError' &&
    exitCode !== 0 &&
    reason !== 'ContainerCannotRun'
  ) {
    terminationMessage = await tailLog(runtime, status.id);
  }
  if (message === '') return terminationMessage;
  return terminationMessage === '' ? message : `${message}: ${terminationMessage}`;
}

async function readFileIfExists({ files }: NodeRuntime, path: string): Promise<string> {
  try {
    return Buffer.from(await files.readFile(path, { tailBytes: maxMessageBytes })).toString();
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code === 'ENOENT') return '';
    return `Error on reading termination log ${path}: ${(error as Error).message}`;
  }
}

async function tailLog({ logs }: NodeRuntime, containerId: string): Promise<string> {
  const chunks: Uint8Array[] = [];
  try {
    for await (const { content, isPartial } of logs.read({ containerId, tailLines: maxLogLines })) {
      chunks.push(content);
      if (!isPartial) chunks.push(Buffer.from('\n'));
    }
  } catch (error) {
    if (!isNotFoundError(error)) throw error;
  }
  return Buffer.concat(chunks).subarray(-maxLogBytes).toString();
}
