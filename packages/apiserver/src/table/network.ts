import { ageColumn, type Loose, labels, nameColumn, some, tableOfColumns, text, wide } from './cells.ts';
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

/** What one metric is at, and where it should be. */
function metricTarget(metric: Loose, current: Loose): string {
  const target = metric[targetKeys[metric.type as keyof typeof targetKeys]]?.target ?? {};
  const now = current?.[targetKeys[metric.type as keyof typeof targetKeys]]?.current;
  const average = (suffix = '') => `${now?.averageValue ?? '<unknown>'}/${target.averageValue}${suffix}`;
  switch (metric.type) {
    case 'Resource':
    case 'ContainerResource': {
      const { name } = metric[targetKeys[metric.type as 'Resource']];
      if (target.averageValue != null) return `${name}: ${average()}`;
      const percent = now?.averageUtilization == null ? '<unknown>' : `${now.averageUtilization}%`;
      return `${name}: ${percent}/${target.averageUtilization == null ? '<auto>' : `${target.averageUtilization}%`}`;
    }
    case 'Pods':
      return average();
    case 'Object':
    case 'External':
      if (target.averageValue != null) return average(' (avg)');
      return `${now?.value ?? '<unknown>'}/${target.value}`;
    default:
      return '<unknown type>';
  }
}

const targetKeys = {
  Resource: 'resource',
  ContainerResource: 'containerResource',
  Pods: 'pods',
  Object: 'object',
  External: 'external',
} as const;

function scaleTargets({ spec, status }: Loose): string {
  const metrics: Loose[] = spec?.metrics ?? [];
  if (metrics.length === 0) return '<none>';
  return some(
    metrics.map((metric, index) => metricTarget(metric, status?.currentMetrics?.[index])),
    2,
    ', ',
  );
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
  HorizontalPodAutoscaler: tableOfColumns([
    nameColumn,
    text('Reference', 'What it scales.', ({ spec }) => `${spec?.scaleTargetRef?.kind}/${spec?.scaleTargetRef?.name}`),
    text('Targets', 'Where its metrics are, and where they should be.', scaleTargets),
    text('MinPods', 'The fewest Pods.', ({ spec }) =>
      spec?.minReplicas == null ? '<unset>' : String(spec.minReplicas),
    ),
    text('MaxPods', 'The most Pods.', ({ spec }) => spec?.maxReplicas ?? 0),
    text('Replicas', 'How many Pods there are.', ({ status }) => status?.currentReplicas ?? 0),
    ageColumn,
  ]),
};
