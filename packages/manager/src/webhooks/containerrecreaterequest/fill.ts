/** What a ContainerRecreateRequest must ask for, and what is noted in it of the Pod (operations.md §A5). */
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

/** A request in either version: they are filled in alike. */
export type AnyRequest = ContainerRecreateRequest | ContainerRecreateRequestV1alpha1;

const shortestDeadlineSeconds = 3;

/** What is wrong with a request whatever the Pod; undefined if nothing is. */
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

/** Why nothing can be restarted in a Pod now; undefined if it can. */
export function faultOfPod(pod: Pod): string | undefined {
  // A Pod whose sidecars are being ended is over, and they are not.
  const isEnding = findCondition(pod.status?.conditions, 'SidecarTerminated') !== undefined;
  if (!isPodActive(pod) && !isEnding) return 'not allowed to recreate containers in an inactive Pod';
  return pod.spec?.nodeName ? undefined : 'not allowed to recreate containers in a pending Pod';
}

/** What is wrong with the containers of a request; undefined if nothing is. */
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

/** The request with what is to be known of the Pod, its node and its containers. */
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
        // Where nodes are but a name, their provider sees to it.
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

/** How a container is to be stopped, and which one it is. */
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
