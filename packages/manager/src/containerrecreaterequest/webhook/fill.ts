/** Validation of ContainerRecreateRequests, and the fields that are filled in from the Pod. */
import type { Container } from '@kruise/api/core/container';
import type { Node } from '@kruise/api/core/node';
import type { ContainerStatus, Pod } from '@kruise/api/core/pod';
import type {
  ContainerRecreateRequest,
  ContainerRecreateRequestContainer,
  ContainerRecreateRequestV1alpha1,
} from '@kruise/api/kruise/containerrecreaterequest';
import { recreateActiveLabel, recreateNodeNameLabel, recreatePodUidLabel } from '@kruise/api/kruise/well-known';
import { findCondition } from '@kruise/machinery/conditions';
import { isPodActive } from '@kruise/machinery/pods';

/** A request in either version. Both are filled in alike. */
export type AnyRequest = ContainerRecreateRequest | ContainerRecreateRequestV1alpha1;

const shortestDeadlineSeconds = 3;

/** Returns an error of the request that does not depend on the Pod; undefined if it is valid. */
export function faultOfRequest({ spec }: AnyRequest): string | undefined {
  const { podName, containers, activeDeadlineSeconds: deadline, strategy = {} } = spec;
  const { terminationGracePeriodSeconds: grace, unreadyGracePeriodSeconds: unready, failurePolicy } = strategy;
  if (!podName) return 'podName can not be empty';
  if (!containers?.length) return 'containers list can not be null';
  if (deadline !== undefined && deadline < shortestDeadlineSeconds)
    return 'activeDeadlineSeconds can not be less than 3s';
  if (grace !== undefined && grace < 0) return 'terminationGracePeriodSeconds must be non-negative integer';
  if (unready !== undefined && unready < 0) return 'unreadyGracePeriodSeconds must be non-negative integer';
  if (failurePolicy && failurePolicy !== 'Fail' && failurePolicy !== 'Ignore')
    return `unknown failurePolicy ${failurePolicy}`;
  return undefined;
}

/** Returns the reason why no container of a Pod can be restarted now; undefined if containers can be restarted. */
export function faultOfPod(pod: Pod): string | undefined {
  // SidecarTerminator has completed the Pod, although its sidecars may still run.
  const isEnding = findCondition(pod.status?.conditions, 'SidecarTerminated') !== undefined;
  if (!isPodActive(pod) && !isEnding) return 'not allowed to recreate containers in an inactive Pod';
  return pod.spec?.nodeName ? undefined : 'not allowed to recreate containers in a pending Pod';
}

/** Returns an error of the containers of a request; undefined if they are valid. */
export function faultOfContainers({ spec }: AnyRequest, pod: Pod): string | undefined {
  const names = new Set<string>();
  for (const { name, preStop, ports, statusContext } of spec.containers) {
    if (names.has(name)) return `can not recreate ${name} multi times`;
    names.add(name);
    if (preStop || ports?.length || statusContext) {
      return 'preStop, ports, statusContext in container are ready-only fields';
    }
    if (!containerOf(pod, name)) return `container ${name} not found in Pod`;
    const status = statusOf(pod, name);
    if (!status) return `not found ${name} containerStatus in Pod Status`;
    if (!status.containerID) {
      return `no containerID in ${name} containerStatus, maybe the container has not been initialized`;
    }
  }
  return undefined;
}

/** Returns the request with the required facts about the Pod, its node and its containers. */
export function filledIn<T extends AnyRequest>(request: T, pod: Pod, node: Node): T {
  const { metadata, spec } = request;
  const { strategy = {} } = spec;
  const grace = strategy.terminationGracePeriodSeconds ?? pod.spec?.terminationGracePeriodSeconds;
  const { type } = node.metadata.labels ?? {};
  return {
    ...request,
    metadata: {
      ...metadata,
      labels: {
        ...metadata.labels,
        [recreateActiveLabel]: 'true',
        [recreateNodeNameLabel]: pod.spec?.nodeName ?? '',
        [recreatePodUidLabel]: pod.metadata.uid ?? '',
        // The provider of virtual nodes handles the request.
        ...(type === 'virtual-kubelet' ? { type } : {}),
      },
    },
    spec: {
      ...spec,
      containers: spec.containers.map((each) => ({ ...each, ...factsOf(pod, each.name) })),
      strategy: {
        ...strategy,
        failurePolicy: strategy.failurePolicy || 'Fail',
        ...(grace === undefined ? {} : { terminationGracePeriodSeconds: grace }),
      },
    },
  };
}

/** Returns the identity of a container and the way to stop it. */
function factsOf(pod: Pod, name: string): Omit<ContainerRecreateRequestContainer, 'name'> {
  const { lifecycle, ports } = containerOf(pod, name)!;
  const { containerID = '', restartCount } = statusOf(pod, name)!;
  const { exec, httpGet, tcpSocket } = lifecycle?.preStop ?? {};
  const preStop = { ...(exec ? { exec } : {}), ...(httpGet ? { httpGet } : {}), ...(tcpSocket ? { tcpSocket } : {}) };
  return {
    ...(lifecycle?.preStop ? { preStop } : {}),
    ...(httpGet && ports ? { ports } : {}),
    statusContext: { containerID, restartCount },
  };
}

function containerOf({ spec }: Pod, name: string): Container | undefined {
  return [...(spec?.initContainers ?? []), ...(spec?.containers ?? [])].find((each) => each.name === name);
}

function statusOf({ status }: Pod, name: string): ContainerStatus | undefined {
  return status?.containerStatuses?.find((each) => each.name === name);
}
