import { isSame } from '@kruise/machinery/json-value';
import type { KubeObject } from '../object.ts';
import type { Writer } from './writer.ts';

/** Where clients inside the cluster find the server. */
export type ServerAddress = {
  /** The Service's own address. */
  readonly clusterIp: string;
  /** An address at which others reach this server; there may be none. */
  readonly ip: string | undefined;
  readonly port: number;
};

const metadata = { name: 'kubernetes', namespace: 'default' };

function service({ clusterIp, port }: ServerAddress): KubeObject {
  return {
    apiVersion: 'v1',
    kind: 'Service',
    metadata: { ...metadata, labels: { component: 'apiserver', provider: 'kubernetes' } },
    spec: {
      type: 'ClusterIP',
      clusterIP: clusterIp,
      ipFamilyPolicy: 'SingleStack',
      sessionAffinity: 'None',
      ports: [{ name: 'https', protocol: 'TCP', port: 443, targetPort: port }],
    },
  };
}

const endpointPort = (port: number) => ({ name: 'https', port, protocol: 'TCP' });

function endpoints(ip: string, port: number): KubeObject {
  return {
    apiVersion: 'v1',
    kind: 'Endpoints',
    metadata: { ...metadata, labels: { 'endpointslice.kubernetes.io/skip-mirror': 'true' } },
    subsets: [{ addresses: [{ ip }], ports: [endpointPort(port)] }],
  };
}

function endpointSlice(ip: string, port: number): KubeObject {
  return {
    apiVersion: 'discovery.k8s.io/v1',
    kind: 'EndpointSlice',
    metadata: { ...metadata, labels: { 'kubernetes.io/service-name': 'kubernetes' } },
    addressType: ip.includes(':') ? 'IPv6' : 'IPv4',
    endpoints: [{ addresses: [ip], conditions: { ready: true } }],
    ports: [endpointPort(port)],
  };
}

/** Makes the Service that stands for the server, and says where it leads; puts right what is not so any more. */
export async function keepKubernetesService(writer: Writer, address: ServerAddress): Promise<void> {
  await keep(writer, service(address), (existing) => {
    const spec = existing.spec as { readonly ports?: unknown };
    const { ports } = service(address).spec as { readonly ports: unknown };
    return isSame(spec.ports, ports) ? undefined : { ...existing, spec: { ...spec, ports } };
  });
  const { ip, port } = address;
  if (ip === undefined) return;
  const wantedEndpoints = endpoints(ip, port);
  await keep(writer, wantedEndpoints, (existing) =>
    isSame(existing.subsets, wantedEndpoints.subsets) ? undefined : { ...existing, subsets: wantedEndpoints.subsets },
  );
  const slice = endpointSlice(ip, port);
  await keep(writer, slice, (existing) => {
    const isRight = isSame(existing.endpoints, slice.endpoints) && isSame(existing.ports, slice.ports);
    return isRight ? undefined : { ...existing, endpoints: slice.endpoints, ports: slice.ports };
  });
}

async function keep(
  writer: Writer,
  wanted: KubeObject,
  repair: (existing: KubeObject) => KubeObject | undefined,
): Promise<void> {
  const existing = writer.current(wanted);
  if (!existing) return writer.create(wanted);
  const repaired = repair(existing);
  if (repaired) await writer.update(repaired);
}
