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

/** Creates a Table whose rows have an age cell without a declared column, as in Kubernetes. */
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
    text(
      'Type',
      'type determines how the Service is exposed. Defaults to ClusterIP. Valid options are ExternalName, ClusterIP, NodePort, and LoadBalancer. "ClusterIP" allocates a cluster-internal IP address for load-balancing to endpoints. Endpoints are determined by the selector or if that is not specified, by manual construction of an Endpoints object or EndpointSlice objects. If clusterIP is "None", no virtual IP is allocated and the endpoints are published as a set of endpoints rather than a virtual IP. "NodePort" builds on ClusterIP and allocates a port on every node which routes to the same endpoints as the clusterIP. "LoadBalancer" builds on NodePort and creates an external load-balancer (if supported in the current cloud) which routes to the same endpoints as the clusterIP. "ExternalName" aliases this service to the specified externalName. Several other fields do not apply to ExternalName services. More info: https://kubernetes.io/docs/concepts/services-networking/service/#publishing-services-service-types',
      ({ spec }) => spec?.type ?? '',
    ),
    text(
      'Cluster-IP',
      'clusterIP is the IP address of the service and is usually assigned randomly. If an address is specified manually, is in-range (as per system configuration), and is not in use, it will be allocated to the service; otherwise creation of the service will fail. This field may not be changed through updates unless the type field is also being changed to ExternalName (which requires this field to be blank) or the type field is being changed from ExternalName (in which case this field may optionally be specified, as describe above).  Valid values are "None", empty string (""), or a valid IP address. Setting this to "None" makes a "headless service" (no virtual IP), which is useful when direct endpoint connections are preferred and proxying is not required.  Only applies to types ClusterIP, NodePort, and LoadBalancer. If this field is specified when creating a Service of type ExternalName, creation will fail. This field will be wiped when updating a Service to type ExternalName. More info: https://kubernetes.io/docs/concepts/services-networking/service/#virtual-ips-and-service-proxies',
      ({ spec }) => spec?.clusterIPs?.[0] || '<none>',
    ),
    text(
      'External-IP',
      'externalIPs is a list of IP addresses for which nodes in the cluster will also accept traffic for this service.  These IPs are not managed by Kubernetes.  The user is responsible for ensuring that traffic arrives at a node with this IP.  A common example is external load-balancers that are not part of the Kubernetes system.',
      externalAddress,
    ),
    text(
      'Port(s)',
      'The list of ports that are exposed by this service. More info: https://kubernetes.io/docs/concepts/services-networking/service/#virtual-ips-and-service-proxies',
      servicePorts,
    ),
    ageColumn,
    wide(
      text(
        'Selector',
        'Route service traffic to pods with label keys and values matching this selector. If empty or not present, the service is assumed to have an external process managing its endpoints, which Kubernetes will not modify. Only applies to types ClusterIP, NodePort, and LoadBalancer. Ignored if type is ExternalName. More info: https://kubernetes.io/docs/concepts/services-networking/service/',
        ({ spec }) => labels(spec?.selector),
      ),
    ),
  ]),
  Endpoints: tableOfColumns([
    nameColumn,
    text(
      'Endpoints',
      'The set of all endpoints is the union of all subsets. Addresses are placed into subsets according to the IPs they share. A single address with multiple ports, some of which are ready and some of which are not (because they come from different containers) will result in the address being displayed in different subsets for the different ports. No address will appear in both Addresses and NotReadyAddresses in the same subset. Sets of addresses and ports that comprise a service.',
      endpointAddresses,
    ),
    ageColumn,
  ]),
  EndpointSlice: tableOfColumns([
    nameColumn,
    text(
      'AddressType',
      'addressType specifies the type of address carried by this EndpointSlice. All addresses in this slice must be the same type. This field is immutable after creation. The following address types are currently supported: * IPv4: Represents an IPv4 Address. * IPv6: Represents an IPv6 Address. * FQDN: Represents a Fully Qualified Domain Name.',
      ({ addressType }) => addressType ?? '',
    ),
    text(
      'Ports',
      'ports specifies the list of network ports exposed by each endpoint in this slice. Each port must have a unique name. When ports is empty, it indicates that there are no defined ports. When a port is defined with a nil port value, it indicates "all ports". Each slice may include a maximum of 100 ports.',
      slicePorts,
    ),
    text(
      'Endpoints',
      'endpoints is a list of unique endpoints in this slice. Each slice may include a maximum of 1000 endpoints.',
      sliceEndpoints,
    ),
    ageColumn,
  ]),
  Ingress: tableOfColumns([
    nameColumn,
    text(
      'Class',
      'The name of the IngressClass resource that should be used for additional configuration',
      ({ spec, metadata }) =>
        spec?.ingressClassName ?? metadata.annotations?.['kubernetes.io/ingress.class'] ?? '<none>',
    ),
    text('Hosts', 'Hosts that incoming requests are matched against before the ingress rule', ingressHosts),
    text('Address', 'Address is a list containing ingress points for the load-balancer', ingressAddress),
    text('Ports', 'Ports of TLS configurations that open', ({ spec }) =>
      (spec?.tls ?? []).length > 0 ? '80, 443' : '80',
    ),
    ageColumn,
  ]),
  IngressClass: tableOfColumns([
    nameColumn,
    text('Controller', 'Controller that is responsible for handling this class', ({ spec }) => spec?.controller ?? ''),
    text('Parameters', 'A reference to a resource with additional parameters', ({ spec }) => {
      const parameters = spec?.parameters;
      if (!parameters) return '<none>';
      return `${parameters.kind}${parameters.apiGroup ? `.${parameters.apiGroup}` : ''}/${parameters.name}`;
    }),
    ageColumn,
  ]),
  NetworkPolicy: tableOfColumns([
    nameColumn,
    text(
      'Pod-Selector',
      'Selects the pods to which this NetworkPolicy object applies.  The array of ingress rules is applied to any pods selected by this field. Multiple network policies can select the same set of pods.  In this case, the ingress rules for each are combined additively. This field is NOT optional and follows standard label selector semantics. An empty podSelector matches all pods in this namespace.',
      ({ spec }) => selector(spec?.podSelector),
    ),
    ageColumn,
  ]),
  ServiceCIDR: tableOfColumns([
    nameColumn,
    text(
      'CIDRs',
      'CIDRs defines the IP blocks in CIDR notation (e.g. "192.168.0.0/24" or "2001:db8::/64") from which to assign service cluster IPs. Max of two CIDRs is allowed, one of each IP family. This field is immutable.',
      ({ spec }) => (spec?.cidrs ?? []).join(','),
    ),
    ageColumn,
  ]),
  IPAddress: withAgeUnnamed([
    nameColumn,
    text(
      'ParentRef',
      'ParentRef references the resource that an IPAddress is attached to. An IPAddress must reference a parent object.',
      ({ spec }) => {
        const parent = spec?.parentRef;
        if (!parent) return '';
        const resource = parent.group ? `${parent.resource}.${parent.group}` : parent.resource;
        return `${resource}/${parent.namespace ? `${parent.namespace}/` : ''}${parent.name}`;
      },
    ),
  ]),
};
