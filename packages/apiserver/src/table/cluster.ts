import { humanDuration } from '@kruise/values/human-duration';
import {
  age,
  ageColumn,
  type Column,
  flag,
  integer,
  type Loose,
  nameColumn,
  selector,
  tableOfColumns,
  text,
  wide,
} from './cells.ts';
import type { TableColumns } from './table.ts';

const condition = (object: Loose, type: string): Loose =>
  (object.status?.conditions ?? []).find((each: Loose) => each.type === type);

const terminatingOr = (object: Loose, otherwise: string): string =>
  object.metadata.deletionTimestamp ? 'Terminating' : otherwise;

const modeNames: readonly (readonly [string, string])[] = [
  ['ReadWriteOnce', 'RWO'],
  ['ReadOnlyMany', 'ROX'],
  ['ReadWriteMany', 'RWX'],
  ['ReadWriteOncePod', 'RWOP'],
];

function accessModes(modes: readonly string[] | undefined): string {
  return modeNames
    .filter(([mode]) => modes?.includes(mode))
    .map(([, short]) => short)
    .join(',');
}

const betaClass = 'volume.beta.kubernetes.io/storage-class';
const storageClass = ({ metadata, spec }: Loose) => metadata.annotations?.[betaClass] ?? spec?.storageClassName ?? '';

function nodeStatus(node: Loose): string {
  const ready = condition(node, 'Ready');
  const shown = ready ? (ready.status === 'True' ? 'Ready' : 'NotReady') : 'Unknown';
  return node.spec?.unschedulable ? `${shown},SchedulingDisabled` : shown;
}

function nodeRoles({ metadata }: Loose): string {
  const roles = new Set<string>();
  for (const [key, value] of Object.entries<string>(metadata.labels ?? {})) {
    if (key.startsWith('node-role.kubernetes.io/')) {
      const role = key.slice('node-role.kubernetes.io/'.length);
      if (role !== '') roles.add(role);
    } else if (key === 'kubernetes.io/role' && value !== '') roles.add(value);
  }
  return [...roles].sort().join(',') || '<none>';
}

const address =
  (type: string) =>
  ({ status }: Loose) =>
    (status?.addresses ?? []).find((each: Loose) => each.type === type)?.address ?? '<none>';
const nodeInfo =
  (field: string) =>
  ({ status }: Loose) =>
    status?.nodeInfo?.[field] || '<unknown>';

function quotaCell(limits: boolean) {
  return ({ status }: Loose): string =>
    Object.keys(status?.hard ?? {})
      .sort()
      .filter((name) => name.startsWith('limits.') === limits)
      .map((name) => `${name}: ${status.used?.[name] ?? '0'}/${status.hard[name]}`)
      .join(', ');
}

const defaultClass = [
  'storageclass.kubernetes.io/is-default-class',
  'storageclass.beta.kubernetes.io/is-default-class',
];

function subjects(kind: string) {
  return (binding: Loose): string =>
    (binding.subjects ?? [])
      .filter((subject: Loose) => subject.kind === kind)
      .map(({ name, namespace }: Loose) => (kind === 'ServiceAccount' ? `${namespace ?? ''}/${name}` : name))
      .join(', ');
}

const binding = tableOfColumns([
  nameColumn,
  text('Role', 'What may be done.', ({ roleRef }) => `${roleRef?.kind}/${roleRef?.name}`),
  ageColumn,
  wide(text('Users', 'Users who may.', subjects('User'))),
  wide(text('Groups', 'Groups who may.', subjects('Group'))),
  wide(text('ServiceAccounts', 'Service accounts that may.', subjects('ServiceAccount'))),
]);

const webhooks = tableOfColumns([
  nameColumn,
  integer('Webhooks', 'How many webhooks are called.', ({ webhooks: all }) => (all ?? []).length),
  ageColumn,
]);

function requestCondition({ status }: Loose): string {
  const types = new Set((status?.conditions ?? []).map(({ type }: Loose) => type));
  const verdict = types.has('Denied') ? 'Denied' : types.has('Approved') ? 'Approved' : 'Pending';
  return `${verdict}${types.has('Failed') ? ',Failed' : ''}${status?.certificate ? ',Issued' : ''}`;
}

function paramReference({ spec }: Loose): string {
  const reference = spec?.paramRef;
  if (!reference) return '<unset>';
  if (reference.name) return `${reference.namespace ?? '*'}/${reference.name}`;
  return reference.selector ? selector(reference.selector) : '<unset>';
}

function eventTimes(event: Loose, nowMs: number): { readonly first: string; readonly last: string } {
  const firstTime = event.firstTimestamp ?? event.deprecatedFirstTimestamp ?? event.eventTime;
  const first = age(firstTime, nowMs);
  const lastTime = event.series?.lastObservedTime ?? event.lastTimestamp ?? event.deprecatedLastTimestamp;
  return { first, last: lastTime ? age(lastTime, nowMs) : first };
}

function eventSource(event: Loose): string {
  const source = event.source ?? event.deprecatedSource ?? {};
  const component = source.component || event.reportingComponent || event.reportingController || '';
  const host = source.host || event.reportingInstance || '';
  return host === '' ? component : `${component}, ${host}`;
}

const about = (event: Loose) => event.involvedObject ?? event.regarding ?? {};

const eventTable = tableOfColumns([
  text('Last Seen', 'How long ago it last happened.', (event, nowMs) => eventTimes(event, nowMs).last),
  text('Type', 'Whether all is well.', ({ type }) => type ?? ''),
  text('Reason', 'Why it happened, in a word.', ({ reason }) => reason ?? ''),
  text(
    'Object',
    'What it happened to.',
    (event) => `${(about(event).kind ?? '').toLowerCase()}/${about(event).name ?? ''}`,
  ),
  wide(text('Subobject', 'The part it happened to.', (event) => about(event).fieldPath ?? '')),
  wide(text('Source', 'Who tells.', eventSource)),
  text('Message', 'What happened.', (event) => (event.message ?? event.note ?? '').trim()),
  wide(text('First Seen', 'How long ago it first happened.', (event, nowMs) => eventTimes(event, nowMs).first)),
  wide(
    text(
      'Count',
      'How often it happened.',
      (event) => event.series?.count ?? ((event.count ?? event.deprecatedCount) || 1),
    ),
  ),
  { ...wide(nameColumn), doc: 'The name of the event.' },
]);

const limited =
  (read: (limited: Loose) => unknown) =>
  ({ spec }: Loose) => {
    const value = spec?.limited ? read(spec.limited) : undefined;
    return value ?? '<none>';
  };

/** Flow schemas as they are asked: by precedence, then by name. */
function byPrecedence(a: Loose, b: Loose): number {
  const difference = (a.spec?.matchingPrecedence ?? 0) - (b.spec?.matchingPrecedence ?? 0);
  return difference || (a.metadata.name < b.metadata.name ? -1 : 1);
}

/** A table whose rows have an age that no column is declared for, as Kubernetes has it. */
function withAgeUnnamed(columns: readonly Column[]): TableColumns {
  const declared = tableOfColumns(columns);
  return {
    ...declared,
    cells: (object, nowMs) => [...declared.cells(object, nowMs), age(object.metadata.creationTimestamp, nowMs)],
  };
}

export const clusterTables: { readonly [kind: string]: TableColumns } = {
  Namespace: tableOfColumns([
    nameColumn,
    text('Status', 'Whether it is in use or going.', ({ status }) => status?.phase ?? ''),
    ageColumn,
  ]),
  Node: tableOfColumns([
    nameColumn,
    text('Status', 'Whether the node takes Pods.', nodeStatus),
    text('Roles', 'What the node is for.', nodeRoles),
    ageColumn,
    text('Version', 'The version of its kubelet.', ({ status }) => status?.nodeInfo?.kubeletVersion ?? ''),
    wide(text('Internal-IP', 'Its address inside the cluster.', address('InternalIP'))),
    wide(text('External-IP', 'Its address outside.', address('ExternalIP'))),
    wide(text('OS-Image', 'The system it runs.', nodeInfo('osImage'))),
    wide(text('Kernel-Version', 'The kernel it runs.', nodeInfo('kernelVersion'))),
    wide(text('Container-Runtime', 'What runs its containers.', nodeInfo('containerRuntimeVersion'))),
  ]),
  Event: eventTable,
  Secret: tableOfColumns([
    nameColumn,
    text('Type', 'What it is used for.', ({ type }) => type ?? ''),
    text('Data', 'How many entries it has.', ({ data }) => Object.keys(data ?? {}).length),
    ageColumn,
  ]),
  ConfigMap: tableOfColumns([
    nameColumn,
    text(
      'Data',
      'How many entries it has.',
      ({ data, binaryData }) => Object.keys(data ?? {}).length + Object.keys(binaryData ?? {}).length,
    ),
    ageColumn,
  ]),
  ServiceAccount: tableOfColumns([
    nameColumn,
    text('Secrets', 'How many secrets it may use.', ({ secrets }) => (secrets ?? []).length),
    ageColumn,
  ]),
  PersistentVolume: tableOfColumns([
    nameColumn,
    text('Capacity', 'How much it holds.', ({ spec }) => spec?.capacity?.storage ?? ''),
    text('Access Modes', 'How it can be mounted.', ({ spec }) => accessModes(spec?.accessModes)),
    text(
      'Reclaim Policy',
      'What becomes of it when its claim goes.',
      ({ spec }) => spec?.persistentVolumeReclaimPolicy ?? '',
    ),
    text('Status', 'Whether it is free, taken or going.', (volume) =>
      terminatingOr(volume, volume.status?.phase ?? ''),
    ),
    text('Claim', 'The claim it is bound to.', ({ spec }) =>
      spec?.claimRef ? `${spec.claimRef.namespace ?? ''}/${spec.claimRef.name ?? ''}` : '',
    ),
    text('StorageClass', 'Its class.', storageClass),
    text(
      'VolumeAttributesClass',
      'The class of its attributes.',
      ({ spec }) => spec?.volumeAttributesClassName ?? '<unset>',
    ),
    text('Reason', 'Why it is in its status.', ({ status }) => status?.reason ?? ''),
    ageColumn,
    wide(text('VolumeMode', 'Whether it has a file system.', ({ spec }) => spec?.volumeMode ?? '<unset>')),
  ]),
  PersistentVolumeClaim: tableOfColumns([
    nameColumn,
    text('Status', 'Whether it is bound.', (claim) => terminatingOr(claim, claim.status?.phase ?? '')),
    text('Volume', 'The volume it is bound to.', ({ spec }) => spec?.volumeName ?? ''),
    text('Capacity', 'How much the volume holds.', ({ spec, status }) =>
      spec?.volumeName ? (status?.capacity?.storage ?? '0') : '',
    ),
    text('Access Modes', 'How the volume can be mounted.', ({ spec, status }) =>
      spec?.volumeName ? accessModes(status?.accessModes) : '',
    ),
    text('StorageClass', 'The class asked for.', storageClass),
    text(
      'VolumeAttributesClass',
      'The class of attributes asked for.',
      ({ spec }) => spec?.volumeAttributesClassName ?? '<unset>',
    ),
    ageColumn,
    wide(text('VolumeMode', 'Whether the volume has a file system.', ({ spec }) => spec?.volumeMode ?? '<unset>')),
  ]),
  ComponentStatus: tableOfColumns([
    nameColumn,
    text('Status', 'Whether it is healthy.', ({ conditions }) => {
      const healthy = (conditions ?? []).find((each: Loose) => each.type === 'Healthy');
      if (!healthy) return 'Unknown';
      return healthy.status === 'True' ? 'Healthy' : healthy.status === 'False' ? 'Unhealthy' : 'Unknown';
    }),
    text('Message', 'What it says of itself.', ({ conditions }) => conditions?.[0]?.message ?? ''),
    text('Error', 'What is wrong.', ({ conditions }) => conditions?.[0]?.error ?? ''),
  ]),
  ResourceQuota: tableOfColumns([
    nameColumn,
    text('Request', 'What may be requested, and how much of it is.', quotaCell(false)),
    text('Limit', 'What limits may add up to, and how much they do.', quotaCell(true)),
    ageColumn,
  ]),
  PodDisruptionBudget: tableOfColumns([
    nameColumn,
    text('Min Available', 'How many Pods must stay.', ({ spec }) =>
      spec?.minAvailable == null ? 'N/A' : String(spec.minAvailable),
    ),
    text('Max Unavailable', 'How many Pods may be away.', ({ spec }) =>
      spec?.maxUnavailable == null ? 'N/A' : String(spec.maxUnavailable),
    ),
    integer(
      'Allowed Disruptions',
      'How many Pods may be evicted now.',
      ({ status }) => status?.disruptionsAllowed ?? 0,
    ),
    ageColumn,
  ]),
  RoleBinding: binding,
  ClusterRoleBinding: binding,
  CertificateSigningRequest: tableOfColumns([
    nameColumn,
    ageColumn,
    text('SignerName', 'Who is to sign.', ({ spec }) => spec?.signerName || '<none>'),
    text('Requestor', 'Who asked.', ({ spec }) => spec?.username ?? ''),
    text('RequestedDuration', 'For how long.', ({ spec }) =>
      spec?.expirationSeconds == null ? '<none>' : humanDuration(spec.expirationSeconds * 1000),
    ),
    text('Condition', 'How far it has come.', requestCondition),
  ]),
  Lease: tableOfColumns([
    nameColumn,
    text('Holder', 'Who holds it.', ({ spec }) => spec?.holderIdentity ?? ''),
    ageColumn,
  ]),
  StorageClass: tableOfColumns([
    {
      ...nameColumn,
      cell: ({ metadata }) =>
        defaultClass.some((key) => metadata.annotations?.[key] === 'true')
          ? `${metadata.name} (default)`
          : metadata.name,
    },
    text('Provisioner', 'What makes its volumes.', ({ provisioner }) => provisioner ?? ''),
    text(
      'ReclaimPolicy',
      'What becomes of a volume when its claim goes.',
      ({ reclaimPolicy }) => reclaimPolicy ?? 'Delete',
    ),
    text('VolumeBindingMode', 'When a volume is made.', ({ volumeBindingMode }) => volumeBindingMode ?? 'Immediate'),
    text(
      'AllowVolumeExpansion',
      'Whether volumes can grow.',
      ({ allowVolumeExpansion }) => allowVolumeExpansion ?? false,
    ),
    ageColumn,
  ]),
  PriorityClass: tableOfColumns([
    nameColumn,
    integer('Value', 'How important its Pods are.', ({ value }) => value ?? 0),
    flag('Global-Default', 'Whether it is for Pods that name no class.', ({ globalDefault }) => globalDefault ?? false),
    ageColumn,
    text(
      'PreemptionPolicy',
      'Whether its Pods may displace others.',
      ({ preemptionPolicy }) => preemptionPolicy ?? 'PreemptLowerPriority',
    ),
  ]),
  RuntimeClass: tableOfColumns([
    nameColumn,
    text('Handler', 'How its containers are run.', ({ handler }) => handler ?? ''),
    ageColumn,
  ]),
  VolumeAttachment: tableOfColumns([
    nameColumn,
    { ...text('Attacher', 'What attaches it.', ({ spec }) => spec?.attacher ?? ''), format: 'name' },
    text('PV', 'The volume.', ({ spec }) => spec?.source?.persistentVolumeName ?? ''),
    text('Node', 'The node.', ({ spec }) => spec?.nodeName ?? ''),
    flag('Attached', 'Whether it is attached.', ({ status }) => status?.attached ?? false),
    ageColumn,
  ]),
  CSINode: tableOfColumns([
    nameColumn,
    integer('Drivers', 'How many drivers the node has.', ({ spec }) => (spec?.drivers ?? []).length),
    ageColumn,
  ]),
  CSIDriver: tableOfColumns([
    nameColumn,
    flag(
      'AttachRequired',
      'Whether volumes are attached before they are mounted.',
      ({ spec }) => spec?.attachRequired ?? true,
    ),
    flag('PodInfoOnMount', 'Whether the driver is told of the Pod.', ({ spec }) => spec?.podInfoOnMount ?? false),
    flag(
      'StorageCapacity',
      'Whether the driver says how much room there is.',
      ({ spec }) => spec?.storageCapacity ?? false,
    ),
    text('TokenRequests', 'Whom the driver gets tokens for.', ({ spec }) => {
      const requests: Loose[] = spec?.tokenRequests ?? [];
      return requests.length === 0 ? '<unset>' : requests.map(({ audience }) => audience).join(',');
    }),
    flag('RequiresRepublish', 'Whether mounts are renewed.', ({ spec }) => spec?.requiresRepublish ?? false),
    text(
      'Modes',
      'What kinds of volumes it makes.',
      ({ spec }) => (spec?.volumeLifecycleModes ?? []).join(',') || '<none>',
    ),
    ageColumn,
  ]),
  MutatingWebhookConfiguration: webhooks,
  ValidatingWebhookConfiguration: webhooks,
  ValidatingAdmissionPolicy: tableOfColumns([
    nameColumn,
    integer('Validations', 'How many rules it has.', ({ spec }) => (spec?.validations ?? []).length),
    text('ParamKind', 'The kind its rules take parameters from.', ({ spec }) =>
      spec?.paramKind ? `${spec.paramKind.apiVersion}/${spec.paramKind.kind}` : '<unset>',
    ),
    ageColumn,
  ]),
  ValidatingAdmissionPolicyBinding: tableOfColumns([
    nameColumn,
    text('PolicyName', 'The policy it puts in force.', ({ spec }) => spec?.policyName ?? ''),
    text('ParamRef', 'The parameters it hands over.', paramReference),
    ageColumn,
  ]),
  FlowSchema: tableOfColumns(
    [
      nameColumn,
      text(
        'PriorityLevel',
        'How its requests are treated.',
        ({ spec }) => spec?.priorityLevelConfiguration?.name ?? '',
      ),
      text('MatchingPrecedence', 'Which schema is asked first.', ({ spec }) => spec?.matchingPrecedence ?? 0),
      text('DistinguisherMethod', 'What tells flows apart.', ({ spec }) => spec?.distinguisherMethod?.type ?? '<none>'),
      ageColumn,
      text(
        'MissingPL',
        'Whether its priority level does not exist.',
        (schema) => condition(schema, 'Dangling')?.status ?? '?',
      ),
    ],
    { order: byPrecedence },
  ),
  PriorityLevelConfiguration: tableOfColumns([
    nameColumn,
    text('Type', 'Whether requests are limited.', ({ spec }) => spec?.type ?? ''),
    text(
      'NominalConcurrencyShares',
      'Its share of all requests.',
      ({ spec }) => spec?.limited?.nominalConcurrencyShares ?? spec?.exempt?.nominalConcurrencyShares ?? '<none>',
    ),
    text(
      'Queues',
      'How many queues there are.',
      limited(({ limitResponse }) => limitResponse?.queuing?.queues),
    ),
    text(
      'HandSize',
      'How many queues a flow is dealt.',
      limited(({ limitResponse }) => limitResponse?.queuing?.handSize),
    ),
    text(
      'QueueLengthLimit',
      'How long a queue may grow.',
      limited(({ limitResponse }) => limitResponse?.queuing?.queueLengthLimit),
    ),
    ageColumn,
  ]),
  APIService: tableOfColumns([
    nameColumn,
    text('Service', 'What serves it.', ({ spec }) =>
      spec?.service ? `${spec.service.namespace}/${spec.service.name}` : 'Local',
    ),
    text('Available', 'Whether it can be reached.', (service) => {
      const available = condition(service, 'Available');
      if (!available) return 'Unknown';
      return available.status === 'True' ? 'True' : `${available.status} (${available.reason})`;
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
