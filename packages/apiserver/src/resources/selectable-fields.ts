import type { Kind } from '@kruise/schema/kind';
import type { KubeObject } from '../object.ts';
import type { SelectableFields } from '../resource.ts';

type Readers = SelectableFields['fields'];
type Loose = { readonly [field: string]: unknown };

const part = (object: KubeObject, name: string) => (object[name] ?? {}) as Loose;
const text = (value: unknown) => (value === undefined || value === null ? '' : String(value));
const flag = (value: unknown) => (value === true ? 'true' : 'false');
const spec = (field: string) => (object: KubeObject) => text(part(object, 'spec')[field]);
const status = (field: string) => (object: KubeObject) => text(part(object, 'status')[field]);

/** Returns the fields of the object that an event refers to, with the prefix of its API group. */
function aboutFields(name: string): Readers {
  const fields = ['kind', 'namespace', 'name', 'uid', 'apiVersion', 'resourceVersion', 'fieldPath'];
  return Object.fromEntries(
    fields.map((field) => [`${name}.${field}`, (object: KubeObject) => text(part(object, name)[field])]),
  );
}

function firstPodIP(object: KubeObject): string {
  const [first] = (part(object, 'status').podIPs ?? []) as readonly { readonly ip?: string }[];
  return first?.ip ?? '';
}

/** Selectable fields besides name and namespace, by kind. */
const readers: { readonly [kind: string]: Readers } = {
  Pod: {
    'spec.nodeName': spec('nodeName'),
    'spec.host': spec('nodeName'),
    'spec.restartPolicy': spec('restartPolicy'),
    'spec.schedulerName': spec('schedulerName'),
    'spec.serviceAccountName': spec('serviceAccountName'),
    'spec.hostNetwork': (object) => flag(part(object, 'spec').hostNetwork),
    'status.phase': status('phase'),
    'status.podIP': firstPodIP,
    'status.podIPs': () => '',
    'status.nominatedNodeName': status('nominatedNodeName'),
  },
  Node: { 'spec.unschedulable': (object) => flag(part(object, 'spec').unschedulable) },
  Namespace: { 'status.phase': status('phase') },
  Secret: { type: (object) => text(object.type) },
  Service: { 'spec.clusterIP': spec('clusterIP'), 'spec.type': spec('type') },
  ReplicationController: { 'status.replicas': (object) => String(part(object, 'status').replicas ?? 0) },
  Event: {
    ...aboutFields('involvedObject'),
    reason: (object) => text(object.reason),
    reportingComponent: (object) => text(object.reportingComponent),
    source: (object) => text(part(object, 'source').component) || text(object.reportingComponent),
    type: (object) => text(object.type),
  },
  'Event.events.k8s.io': {
    ...aboutFields('regarding'),
    reason: (object) => text(object.reason),
    reportingController: (object) => text(object.reportingController),
    type: (object) => text(object.type),
  },
  Job: { 'status.successful': (object) => String(part(object, 'status').succeeded ?? 0) },
  CertificateSigningRequest: { 'spec.signerName': spec('signerName') },
};

const withoutNamespace = new Set(['Node', 'Namespace', 'CertificateSigningRequest']);

/** Returns the selectable fields of a built-in kind. */
export function selectableFieldsOf({ kind, group }: Kind): SelectableFields {
  const id = kind === 'Event' && group !== '' ? `${kind}.${group}` : kind;
  const fields = readers[id];
  return {
    namespaced: !withoutNamespace.has(kind),
    fields: fields ?? {},
    unsupported: (path) => {
      if (!fields) {
        return `${JSON.stringify(path)} is not a known field selector: only "metadata.name", "metadata.namespace"`;
      }
      if (kind === 'Job') return `field label ${JSON.stringify(path)} not supported for Job`;
      return `field label not supported: ${path}`;
    },
  };
}
