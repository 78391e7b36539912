/** Builds the CRI sandbox configuration of a Pod. */

import type { Pod } from '@kruise/api/core/pod';
import { milliValue, parseQuantity, quantityValue } from '@kruise/values/quantity';
import { trimTrailing } from '@kruise/values/trim';
import type {
  DnsConfig,
  LinuxSandboxSecurityContext,
  NamespaceOption,
  PodSandboxConfig,
  PortMapping,
  StringMap,
  UserNamespace,
} from '../../cri/messages.ts';
import { isHostNetwork } from '../runtime/runtime-pod.ts';
import {
  type ContainerLimitSettings,
  cgroupParentOf,
  podLinuxResources,
  quotaOf,
  sharesOf,
} from './linux-resources.ts';

/** Node settings that affect sandboxes and containers. */
export type NodeSettings = ContainerLimitSettings & {
  readonly cgroupDriver: 'SYSTEMD' | 'CGROUPFS';
  /** Parent of the cgroups of Pods; the root cgroup if absent. */
  readonly cgroupRoot?: string;
  /** False if Pods have no cgroups of their own below those of the QoS classes. */
  readonly cgroupsPerQos?: boolean;
  readonly clusterDns: readonly string[];
  readonly clusterDomain: string;
  /** DNS configuration from the node's resolv.conf. */
  readonly hostDns: Required<DnsConfig>;
  /** Root directory of the kubelet: `/var/lib/kubelet`. */
  readonly rootDirectory: string;
  /** Directory of Pod logs: `/var/log/pods`. */
  readonly podLogsDirectory: string;
  /** Directory of the log symlinks that log collectors read: `/var/log/containers`. */
  readonly containerLogsDirectory: string;
};

/** Label by which the runtime's sandboxes and containers of a Pod are found. */
export const podUidLabel = 'io.kubernetes.pod.uid';

export function podLabels({ metadata }: Pod): StringMap {
  return {
    'io.kubernetes.pod.name': metadata.name ?? '',
    'io.kubernetes.pod.namespace': metadata.namespace ?? '',
    [podUidLabel]: metadata.uid ?? '',
  };
}

/** Returns the sandbox configuration of a Pod. */
export function sandboxConfigOf(
  pod: Pod,
  attempt: number,
  settings: NodeSettings,
  userNamespace?: UserNamespace,
): PodSandboxConfig {
  const { metadata, spec } = pod;
  const { name = '', namespace = '', uid = '' } = metadata;
  const hostname = isHostNetwork(pod) ? undefined : kernelHostnameOf(pod, settings.clusterDomain);
  return {
    metadata: { name, namespace, uid, attempt },
    ...(hostname === undefined ? {} : { hostname }),
    logDirectory: logDirectoryOf(pod, settings),
    dnsConfig: dnsConfigOf(pod, settings),
    portMappings: portMappingsOf(pod),
    labels: { ...metadata.labels, ...podLabels(pod) },
    annotations: metadata.annotations ?? {},
    linux: {
      cgroupParent:
        settings.cgroupsPerQos === false
          ? (settings.cgroupRoot ?? '')
          : cgroupParentOf(pod, settings.cgroupDriver, settings.cgroupRoot),
      securityContext: sandboxSecurityOf(pod, userNamespace),
      sysctls: Object.fromEntries(
        (spec?.securityContext?.sysctls ?? []).map((each) => [each.name.replaceAll('/', '.'), each.value]),
      ),
      resources: podLinuxResources(pod),
      ...(spec?.overhead ? { overhead: overheadOf(spec.overhead) } : {}),
    },
  };
}

function overheadOf({ cpu, memory }: { readonly [name: string]: string }) {
  const milli = cpu === undefined ? 0 : milliValue(parseQuantity(cpu));
  return {
    cpuShares: sharesOf(milli),
    ...(milli === 0 ? {} : { cpuPeriod: 100_000, cpuQuota: quotaOf(milli) }),
    ...(memory === undefined ? {} : { memoryLimitInBytes: quantityValue(parseQuantity(memory)) }),
  };
}

/** Returns the log directory of a Pod. */
export function logDirectoryOf({ metadata }: Pod, { podLogsDirectory }: NodeSettings): string {
  return `${podLogsDirectory}/${metadata.namespace}_${metadata.name}_${metadata.uid}`;
}

/** Returns the path of a container's log symlink, which contains the Pod and container names for log collectors. */
export function logLinkOf(
  { metadata }: Pod,
  { name: containerName, id }: { readonly name: string; readonly id: string },
  { containerLogsDirectory }: NodeSettings,
): string {
  const name = `${metadata.name}_${metadata.namespace}_${containerName}-${id}`.slice(0, maxFileName - 4);
  return `${containerLogsDirectory}/${name}.log`;
}

const maxFileName = 255;

function portMappingsOf({ spec }: Pod): PortMapping[] {
  return (spec?.containers ?? []).flatMap(({ ports = [] }) =>
    ports.map(({ containerPort, hostPort, hostIP, protocol }) => ({
      containerPort,
      protocol: protocol === 'UDP' || protocol === 'SCTP' ? protocol : 'TCP',
      ...(hostPort ? { hostPort } : {}),
      ...(hostIP ? { hostIp: hostIP } : {}),
    })),
  );
}

/** Returns the user namespace that a sandbox was configured with, if it has its own. */
export function userNamespaceOf({ linux }: PodSandboxConfig): UserNamespace | undefined {
  return linux?.securityContext?.namespaceOptions?.usernsOptions;
}

/** Returns the namespace options of a Pod's containers. */
export function namespacesOf({ spec }: Pod, userNamespace: UserNamespace | undefined): NamespaceOption {
  return {
    ...(userNamespace ? { usernsOptions: userNamespace } : {}),
    network: spec?.hostNetwork ? 'NODE' : 'POD',
    ipc: spec?.hostIPC ? 'NODE' : 'POD',
    pid: spec?.hostPID ? 'NODE' : spec?.shareProcessNamespace ? 'POD' : 'CONTAINER',
  };
}

/** Returns the supplemental groups of all containers of a Pod. */
export function supplementalGroupsOf({ spec }: Pod): number[] {
  const { fsGroup, supplementalGroups = [] } = spec?.securityContext ?? {};
  return [...(fsGroup == null ? [] : [fsGroup]), ...supplementalGroups];
}

function sandboxSecurityOf(pod: Pod, userNamespace: UserNamespace | undefined): LinuxSandboxSecurityContext {
  const { spec } = pod;
  const isPrivileged = [...(spec?.initContainers ?? []), ...(spec?.containers ?? [])].some(
    ({ securityContext }) => securityContext?.privileged,
  );
  const defaults = { privileged: isPrivileged, seccomp: { profileType: 'RuntimeDefault' } } as const;
  // Without a user namespace in the security context, the sandbox would run with the node's users even if the Pod has
  // no securityContext.
  const securityContext = spec?.securityContext ?? (userNamespace ? {} : undefined);
  if (!securityContext) return defaults;
  const { runAsUser, runAsGroup, supplementalGroupsPolicy, seLinuxOptions } = securityContext;
  return {
    ...defaults,
    namespaceOptions: namespacesOf(pod, userNamespace),
    ...(runAsUser == null ? {} : { runAsUser }),
    ...(runAsGroup == null ? {} : { runAsGroup }),
    supplementalGroups: supplementalGroupsOf(pod),
    supplementalGroupsPolicy: supplementalGroupsPolicy === 'Strict' ? 'Strict' : 'Merge',
    ...(seLinuxOptions ? { selinuxOptions: seLinuxOptions } : {}),
  };
}

const maxHostnameLength = 63;
const maxKernelHostnameLength = 64;

/** Returns the hostname of a Pod and its DNS domain. */
export function hostnameOf({ metadata, spec }: Pod, clusterDomain: string): { hostname: string; domain: string } {
  const hostname = trimTrailing((spec?.hostname || metadata.name || '').slice(0, maxHostnameLength), '-.');
  const domain = spec?.subdomain ? `${spec.subdomain}.${metadata.namespace}.svc.${clusterDomain}` : '';
  return { hostname, domain };
}

function kernelHostnameOf(pod: Pod, clusterDomain: string): string {
  const { hostname, domain } = hostnameOf(pod, clusterDomain);
  if (!pod.spec?.setHostnameAsFQDN || domain === '') return hostname;
  const full = `${hostname}.${domain}`;
  if (full.length <= maxKernelHostnameLength) return full;
  throw new Error(
    `failed to construct FQDN from Pod hostname and cluster domain, FQDN ${full} is too long (64 characters is the max, ${full.length} characters requested)`,
  );
}

const maxNameservers = 3;
const maxSearches = 32;
const maxSearchLength = 2048;

/** Returns the DNS configuration of a Pod. */
export function dnsConfigOf({ metadata, spec }: Pod, settings: NodeSettings): DnsConfig {
  const { clusterDns, clusterDomain, hostDns } = settings;
  const policy = spec?.dnsPolicy ?? 'ClusterFirst';
  const isCluster =
    policy === 'ClusterFirstWithHostNet' || (policy === 'ClusterFirst' && !spec?.hostNetwork && clusterDns.length > 0);
  const cluster = ['', 'svc.', `${metadata.namespace}.svc.`].reverse().map((prefix) => prefix + clusterDomain);
  const base: Required<DnsConfig> =
    policy === 'None'
      ? { servers: [], searches: [], options: [] }
      : isCluster
        ? { servers: clusterDns, searches: [...cluster, ...hostDns.searches], options: ['ndots:5'] }
        : hostDns;
  const extra = spec?.dnsConfig;
  const options = new Map<string, string>();
  for (const option of base.options) options.set(option.split(':')[0]!, option);
  for (const { name = '', value } of extra?.options ?? []) options.set(name, value == null ? name : `${name}:${value}`);
  return {
    servers: unique([...base.servers, ...(extra?.nameservers ?? [])]).slice(0, maxNameservers),
    searches: limitSearches(unique([...base.searches, ...(extra?.searches ?? [])])),
    options: [...options.values()],
  };
}

function unique(items: readonly string[]): string[] {
  return [...new Set(items)];
}

function limitSearches(searches: readonly string[]): string[] {
  const kept = searches.slice(0, maxSearches);
  while (kept.join(' ').length > maxSearchLength) kept.pop();
  return kept;
}
