import { ageColumn, condition, flag, integer, type Loose, nameColumn, tableOfColumns, text, wide } from './cells.ts';
import type { TableColumns } from './table.ts';

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
  Lease: tableOfColumns([
    nameColumn,
    text('Holder', 'Who holds it.', ({ spec }) => spec?.holderIdentity ?? ''),
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
};
