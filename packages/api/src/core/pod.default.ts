import type { Draft } from '@kruise/schema/draft';
import type { Container } from './container.ts';
import type { Pod, PodStatus } from './pod.ts';
import { defaultPodSpec, dropInitContainerAnnotations } from './pod-spec.default.ts';
import { defaultResourceList, defaultResources, requestLimits } from './resources.default.ts';

export function defaultPod(pod: Draft<Pod>): void {
  const spec = (pod.spec ??= { containers: [] });
  dropInitContainerAnnotations(pod.metadata);
  for (const container of spec.containers ?? []) requestLimits(container.resources);
  for (const container of spec.initContainers ?? []) requestLimits(container.resources);
  spec.enableServiceLinks ??= true;
  if (spec.hostNetwork) {
    for (const container of spec.containers ?? []) openHostPorts(container);
    for (const container of spec.initContainers ?? []) openHostPorts(container);
  }
  defaultPodSpec(spec);
  // A negative grace period used to kill a Pod immediately. It means one second now.
  if (spec.terminationGracePeriodSeconds! < 0) spec.terminationGracePeriodSeconds = 1;
  if (pod.status !== undefined) defaultPodStatus(pod.status);
}

/** With hostNetwork, the host port defaults to the container port. */
function openHostPorts({ ports }: Draft<Container>): void {
  for (const port of ports ?? []) port.hostPort ||= port.containerPort;
}

function defaultPodStatus(status: Draft<PodStatus>): void {
  for (const container of status.initContainerStatuses ?? []) defaultStatusResources(container);
  for (const container of status.containerStatuses ?? []) defaultStatusResources(container);
  for (const container of status.ephemeralContainerStatuses ?? []) defaultStatusResources(container);
  mirrorPodIP(status);
}

type ContainerStatuses = NonNullable<Draft<PodStatus>['containerStatuses']>;

function defaultStatusResources({ allocatedResources, resources }: ContainerStatuses[number]): void {
  defaultResourceList(allocatedResources);
  defaultResources(resources);
}

/** `podIP` is the first of `podIPs`. If they differ, `podIP` wins, because an old kubelet sets only `podIP`. */
function mirrorPodIP(status: Draft<PodStatus>): void {
  const first = status.podIPs?.[0]?.ip;
  if (status.podIP && status.podIP !== first) status.podIPs = [{ ip: status.podIP }];
  else if (first) status.podIP = first;
}
