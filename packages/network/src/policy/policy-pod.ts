/** Facts of a Pod that NetworkPolicy depends on. Status updates that change none of them cost nothing. */
import type { Pod } from '@kruise/api/core/pod';
import type { KubernetesObject } from '@kruise/client/object-key';
import type { Labels } from '@kruise/machinery/label-selector';
import { isPodFinished } from '@kruise/machinery/pods';
import { formatAddress, parseLegacyAddress, unmap } from '@kruise/values/address';
import type { Protocol } from './compiled-policy.ts';

export type PolicyPod = {
  readonly namespace: string;
  readonly name: string;
  readonly labels: Labels;
  readonly nodeName: string;
  /** Addresses in canonical form. */
  readonly addresses: readonly string[];
  /** Named ports of all containers. */
  readonly ports: readonly NamedPort[];
  readonly isTerminating: boolean;
  readonly createdAt: string;
};

export type NamedPort = { readonly name: string; readonly protocol: Protocol; readonly port: number };

/**
 * Returns the facts of a Pod. Pods in the network of their node and Pods that have finished have none: the addresses
 * of the former are those of the node, and the addresses of the latter may already belong to another Pod.
 */
export function policyPodOf(pod: Pod): PolicyPod | undefined {
  const { metadata, spec, status } = pod;
  if (spec?.hostNetwork || isPodFinished(pod)) return undefined;
  const { namespace = '', name = '', labels } = metadata;
  const addresses = status?.podIPs?.map(({ ip }) => ip) ?? (status?.podIP ? [status.podIP] : []);
  const ports = new Map<string, NamedPort>();
  for (const container of [...(spec?.initContainers ?? []), ...(spec?.containers ?? [])]) {
    for (const { name: portName, protocol = 'TCP', containerPort } of container.ports ?? []) {
      const key = `${portName}/${protocol}`;
      // The API server admits these protocols only.
      const port = { name: portName ?? '', protocol: protocol as Protocol, port: containerPort };
      if (portName && !ports.has(key)) ports.set(key, port);
    }
  }
  return {
    namespace,
    name,
    labels,
    nodeName: spec?.nodeName ?? '',
    addresses: [...new Set(addresses.flatMap((each) => canonicalAddress(each ?? '') ?? []))],
    ports: [...ports.values()],
    isTerminating: metadata.deletionTimestamp != null,
    createdAt: metadata.creationTimestamp ?? '',
  };
}

/**
 * Returns an object with only those fields that the network of a node reads: a cache of all Pods of a large cluster is
 * mostly containers and conditions.
 */
export function trimForNetwork(object: KubernetesObject): KubernetesObject {
  const { managedFields: _fields, annotations: _annotations, ...metadata } = object.metadata;
  if (object.kind !== 'Pod') return { ...object, metadata };
  const { apiVersion, kind, spec, status } = object as Pod;
  const portsOf = (containers: NonNullable<Pod['spec']>['containers'] | undefined) =>
    (containers ?? []).flatMap(({ name, ports }) => (ports?.some((port) => port.name) ? [{ name, ports }] : []));
  const trimmed: Pod = {
    apiVersion,
    kind,
    metadata,
    spec: {
      ...(spec?.nodeName === undefined ? {} : { nodeName: spec.nodeName }),
      ...(spec?.hostNetwork ? { hostNetwork: true } : {}),
      containers: [...portsOf(spec?.initContainers), ...portsOf(spec?.containers)],
    },
    status: {
      ...(status?.phase === undefined ? {} : { phase: status.phase }),
      ...(status?.podIP === undefined ? {} : { podIP: status.podIP }),
      ...(status?.podIPs === undefined ? {} : { podIPs: status.podIPs }),
    },
  };
  return trimmed as KubernetesObject;
}

/** Returns an address in canonical form; undefined if the text is not an address. */
export function canonicalAddress(text: string): string | undefined {
  const address = parseLegacyAddress(text);
  return address && formatAddress(unmap(address));
}

/** Reports whether two versions of a Pod are equal for NetworkPolicy. */
export function isSamePolicyPod(a: PolicyPod | undefined, b: PolicyPod | undefined): boolean {
  return a === b || (a !== undefined && b !== undefined && JSON.stringify(a) === JSON.stringify(b));
}

/**
 * Orders Pods with the same address: the Pod that has it comes first. A terminating Pod may have released the address
 * already, and a Pod that was created later cannot have had it before.
 */
export function compareOwners(a: PolicyPod, b: PolicyPod): number {
  if (a.isTerminating !== b.isTerminating) return a.isTerminating ? 1 : -1;
  return a.createdAt === b.createdAt ? 0 : a.createdAt > b.createdAt ? -1 : 1;
}
