import { isSame } from '@kruise/machinery/json-value';
import type { KubeObject } from '../object.ts';
import type { Writer } from './writer.ts';

/** Address of the server for clients inside the cluster. */
export type ServerAddress = {
  /** Cluster IP of the Service. */
  readonly clusterIp: string;
  /** Address at which other hosts reach this server, if any. */
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

/** Creates and repairs the `kubernetes` Service and its endpoints. */
export async function maintainKubernetesService(writer: Writer, address: ServerAddress): Promise<void> {
  const { ip, port } = address;
  await Promise.all([
    createOrRepair(writer, service(address), withPorts),
    ...(ip === undefined ? [] : [createOrRepair(writer, endpoints(ip, port), withSubsets)]),
    ...(ip === undefined ? [] : [createOrRepair(writer, endpointSlice(ip, port), withEndpoints)]),
  ]);
}

/** Returns the existing object with missing fields added; undefined if nothing is missing. */
type Repair = (existing: KubeObject, wanted: KubeObject) => KubeObject | undefined;

const withPorts: Repair = (existing, wanted) => {
  const spec = existing.spec as { readonly ports?: unknown };
  const { ports } = wanted.spec as { readonly ports: unknown };
  return isSame(spec.ports, ports) ? undefined : { ...existing, spec: { ...spec, ports } };
};

const withSubsets: Repair = (existing, { subsets }) =>
  isSame(existing.subsets, subsets) ? undefined : { ...existing, subsets };

const withEndpoints: Repair = (existing, wanted) => {
  const isCurrent = isSame(existing.endpoints, wanted.endpoints) && isSame(existing.ports, wanted.ports);
  return isCurrent ? undefined : { ...existing, endpoints: wanted.endpoints, ports: wanted.ports };
};

async function createOrRepair(writer: Writer, wanted: KubeObject, repair: Repair): Promise<void> {
  const existing = writer.current(wanted);
  if (!existing) return writer.create(wanted);
  const repaired = repair(existing, wanted);
  if (repaired) await writer.update(repaired);
}
