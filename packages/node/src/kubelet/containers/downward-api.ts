/** Downward API: Pod fields and container resources for environment variables and files. */
import type { Container } from '@kruise/api/core/container';
import type { Pod } from '@kruise/api/core/pod';
import type { ObjectFieldSelector, ResourceFieldSelector } from '@kruise/api/core/value-source';
import type { ResourceList } from '@kruise/machinery/resource-list';
import { compareStrings, quote } from '@kruise/values/go-syntax';
import { milliValue, parseQuantity, quantitySign, quantityValue } from '@kruise/values/quantity';

/** Pod and node data that only the node has. */
export type DownwardContext = {
  readonly podIPs: readonly string[];
  readonly hostIPs: readonly string[];
  /** Allocatable resources of the node, used for containers without a limit. */
  readonly allocatable: ResourceList;
};

/** Returns a Pod field as text. */
export function fieldOf(pod: Pod, { fieldPath }: ObjectFieldSelector, { podIPs, hostIPs }: DownwardContext): string {
  const { metadata, spec } = pod;
  switch (fieldPath) {
    case 'metadata.name':
      return metadata.name ?? '';
    case 'metadata.namespace':
      return metadata.namespace ?? '';
    case 'metadata.uid':
      return metadata.uid ?? '';
    case 'metadata.labels':
      return linesOf(metadata.labels);
    case 'metadata.annotations':
      return linesOf(metadata.annotations);
    case 'spec.nodeName':
      return spec?.nodeName ?? '';
    case 'spec.serviceAccountName':
      return spec?.serviceAccountName ?? '';
    case 'status.hostIP':
      return hostIPs[0] ?? '';
    case 'status.hostIPs':
      return hostIPs.join(',');
    case 'status.podIP':
      return podIPs[0] ?? '';
    case 'status.podIPs':
      return podIPs.join(',');
  }
  const [, map, key = ''] = /^metadata\.(labels|annotations)\['(.*)'\]$/s.exec(fieldPath) ?? [];
  if (map === 'labels') return metadata.labels?.[key] ?? '';
  if (map === 'annotations') return metadata.annotations?.[key] ?? '';
  throw new Error(`unsupported fieldPath: ${fieldPath}`);
}

function linesOf(map: { readonly [key: string]: string } | undefined): string {
  return Object.entries(map ?? {})
    .sort(([a], [b]) => compareStrings(a, b))
    .map(([key, value]) => `${key}=${quote(value)}`)
    .join('\n');
}

/** Returns a container resource in units of the divisor, rounded up. */
export function resourceFieldOf(
  { resources }: Container,
  { resource, divisor }: ResourceFieldSelector,
  { allocatable }: DownwardContext,
): string {
  const [, field, name = ''] = /^(limits|requests)\.(cpu|memory|ephemeral-storage|hugepages-.+)$/.exec(resource) ?? [];
  if (field !== 'limits' && field !== 'requests') throw new Error(`unsupported container resource : ${resource}`);
  const inherited = field === 'limits' && !name.startsWith('hugepages-') ? allocatable[name] : undefined;
  const amount = parseQuantity(resources?.[field]?.[name] ?? inherited ?? '0');
  const given = parseQuantity(divisor ?? '0');
  const unit = quantitySign(given) === 0 ? parseQuantity('1') : given;
  const value = name === 'cpu' ? milliValue : quantityValue;
  return String(Math.ceil(value(amount) / value(unit)));
}
