import type { Pod } from '@kruise/api/core/pod';
import type { ContainerRecreateRequest } from '@kruise/api/kruise/containerrecreaterequest';
import { recreatePodUidLabel } from '@kruise/api/kruise/well-known';
import type { NewEvent } from '@kruise/client/actions';
import type { NodeRuntime } from '@kruise/node/cri/runtime';
import { fieldPathOf } from '@kruise/node/kubelet/containers/containers';
import { killContainer } from '@kruise/node/kubelet/containers/kill';
import type { Clock } from '@kruise/values/clock';
import type { Found } from './states.ts';

export type StopDependencies = {
  readonly runtime: NodeRuntime;
  readonly clock: Clock;
  readonly record: (event: NewEvent) => void;
};

const defaultGraceSeconds = 30;

/** Stops a container as the kubelet does: with its preStop hook first. The kubelet starts it again. */
export async function stopContainer(
  { runtime, clock, record }: StopDependencies,
  request: ContainerRecreateRequest,
  { name, found }: { readonly name: string; readonly found: Found },
  signal: AbortSignal,
): Promise<void> {
  const pod = podOf(request);
  const podIP = await addressOf(runtime, found.podSandboxId, signal);
  await killContainer(
    {
      runtime,
      clock,
      podIP: () => podIP,
      record: (of, type, reason, message) => record({ about: pod, fieldPath: fieldPathOf(of), type, reason, message }),
    },
    {
      pod,
      target: { id: found.id, name },
      message: `Stopping container ${name} by ContainerRecreateRequest ${request.metadata.name}`,
    },
    signal,
  );
}

/** Returns a Pod with the fields that the request has. */
function podOf({ metadata, spec }: ContainerRecreateRequest): Pod {
  return {
    apiVersion: 'v1',
    kind: 'Pod',
    metadata: {
      name: spec.podName,
      namespace: metadata.namespace ?? '',
      uid: metadata.labels?.[recreatePodUidLabel] ?? '',
    },
    spec: {
      terminationGracePeriodSeconds: Number(spec.strategy?.terminationGracePeriodSeconds ?? defaultGraceSeconds),
      containers: spec.containers.map(({ name, ports, preStop }) => ({
        name,
        ...(ports ? { ports } : {}),
        ...(preStop ? { lifecycle: { preStop } } : {}),
      })),
    },
  };
}

/** Returns the Pod IP for hooks; undefined if the runtime cannot report it. */
async function addressOf(runtime: NodeRuntime, podSandboxId: string, signal: AbortSignal): Promise<string> {
  const { status } = await runtime.podSandboxStatus({ podSandboxId }, { signal });
  return status.network?.ip ?? '';
}
