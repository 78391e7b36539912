import {
  age,
  ageColumn,
  type Column,
  type Loose,
  labels,
  nameColumn,
  selector,
  some,
  tableOfColumns,
  text,
  wide,
} from './cells.ts';
import type { TableColumns } from './table.ts';

function externalAddress({ spec, status }: Loose): string {
  const external: string[] = spec?.externalIPs ?? [];
  switch (spec?.type) {
    case 'ClusterIP':
    case 'NodePort':
      return external.join(',') || '<none>';
    case 'LoadBalancer': {
      const ingress: Loose[] = status?.loadBalancer?.ingress ?? [];
      const own = [...new Set(ingress.map(({ ip, hostname }) => ip || hostname).filter(Boolean))].sort();
      return [...own, ...external].join(',') || '<pending>';
    }
    case 'ExternalName':
      return spec.externalName ?? '';
    default:
      return '<unknown>';
  }
}

function servicePorts({ spec }: Loose): string {
  const ports: Loose[] = spec?.ports ?? [];
  const texts = ports.map(
    ({ port, nodePort, protocol }) => `${nodePort ? `${port}:${nodePort}` : port}/${protocol ?? 'TCP'}`,
  );
  return texts.join(',') || '<none>';
}

function endpointAddresses({ subsets }: Loose): string {
  if (!subsets || subsets.length === 0) return '<none>';
  const texts: string[] = [];
  for (const { addresses = [], ports = [] } of subsets as Loose[]) {
    if (ports.length === 0) texts.push(...addresses.map(({ ip }: Loose) => ip));
    for (const { port } of ports as Loose[])
      texts.push(...addresses.map(({ ip }: Loose) => (ip.includes(':') ? `[${ip}]:${port}` : `${ip}:${port}`)));
  }
  return some(texts, 3) || '<none>';
}

function slicePorts({ ports }: Loose): string {
  if (!ports || ports.length === 0) return '<unset>';
  return some(
    ports.map(({ name, port }: Loose) => (port == null ? name || '*' : String(port))),
    3,
  );
}

function sliceEndpoints({ endpoints }: Loose): string {
  if (!endpoints || endpoints.length === 0) return '<unset>';
  return some(
    endpoints.flatMap(({ addresses }: Loose) => addresses ?? []),
    3,
  );
}

function ingressHosts({ spec }: Loose): string {
  const hosts = ((spec?.rules ?? []) as Loose[]).map(({ host }) => host).filter(Boolean);
  return hosts.length === 0 ? '*' : some(hosts, 3);
}

function ingressAddress({ status }: Loose): string {
  const ingress: Loose[] = status?.loadBalancer?.ingress ?? [];
  return [...new Set(ingress.map(({ ip, hostname }) => ip || hostname).filter(Boolean))].sort().join(',');
}

/** A table whose rows have an age that no column is declared for, as Kubernetes has it. */
function withAgeUnnamed(columns: readonly Column[]): TableColumns {
  const declared = tableOfColumns(columns);
  return {
    ...declared,
    cells: (object, nowMs) => [...declared.cells(object, nowMs), age(object.metadata.creationTimestamp, nowMs)],
  };
}

export const networkTables: { readonly [kind: string]: TableColumns } = {
  Service: tableOfColumns([
    nameColumn,
    text('Type', 'How it is reached.', ({ spec }) => spec?.type ?? ''),
    text('Cluster-IP', 'Its address inside the cluster.', ({ spec }) => spec?.clusterIPs?.[0] || '<none>'),
    text('External-IP', 'Its addresses outside.', externalAddress),
    text('Port(s)', 'The ports it answers on.', servicePorts),
    ageColumn,
    wide(text('Selector', 'The Pods behind it.', ({ spec }) => labels(spec?.selector))),
  ]),
  Endpoints: tableOfColumns([nameColumn, text('Endpoints', 'Where its traffic goes.', endpointAddresses), ageColumn]),
  EndpointSlice: tableOfColumns([
    nameColumn,
    text('AddressType', 'The kind of its addresses.', ({ addressType }) => addressType ?? ''),
    text('Ports', 'Its ports.', slicePorts),
    text('Endpoints', 'Its addresses.', sliceEndpoints),
    ageColumn,
  ]),
  Ingress: tableOfColumns([
    nameColumn,
    text(
      'Class',
      'Who serves it.',
      ({ spec, metadata }) =>
        spec?.ingressClassName ?? metadata.annotations?.['kubernetes.io/ingress.class'] ?? '<none>',
    ),
    text('Hosts', 'The hosts it is for.', ingressHosts),
    text('Address', 'Where it is reached.', ingressAddress),
    text('Ports', 'The ports it is reached at.', ({ spec }) => ((spec?.tls ?? []).length > 0 ? '80, 443' : '80')),
    ageColumn,
  ]),
  IngressClass: tableOfColumns([
    nameColumn,
    text('Controller', 'What serves Ingresses of this class.', ({ spec }) => spec?.controller ?? ''),
    text('Parameters', 'More about the controller.', ({ spec }) => {
      const parameters = spec?.parameters;
      if (!parameters) return '<none>';
      return `${parameters.kind}${parameters.apiGroup ? `.${parameters.apiGroup}` : ''}/${parameters.name}`;
    }),
    ageColumn,
  ]),
  NetworkPolicy: tableOfColumns([
    nameColumn,
    text('Pod-Selector', 'The Pods it is for.', ({ spec }) => selector(spec?.podSelector)),
    ageColumn,
  ]),
  ServiceCIDR: tableOfColumns([
    nameColumn,
    text('CIDRs', 'The addresses Services are given.', ({ spec }) => (spec?.cidrs ?? []).join(',')),
    ageColumn,
  ]),
  IPAddress: withAgeUnnamed([
    nameColumn,
    text('ParentRef', 'What has the address.', ({ spec }) => {
      const parent = spec?.parentRef;
      if (!parent) return '';
      const resource = parent.group ? `${parent.resource}.${parent.group}` : parent.resource;
      return `${resource}/${parent.namespace ? `${parent.namespace}/` : ''}${parent.name}`;
    }),
  ]),
};
