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

const addressesDescription =
  "List of addresses reachable to the node. Queried from cloud provider, if available. More info: https://kubernetes.io/docs/reference/node/node-status/#addresses Note: This field is declared as mergeable, but the merge key is not sufficiently unique, which can cause data corruption when it is merged. Callers should instead use a full-replacement patch. See https://pr.k8s.io/79391 for an example. Consumers should assume that addresses can change during the lifetime of a Node. However, there are some exceptions where this may not be possible, such as Pods that inherit a Node's address in its own status or consumers of the downward API (status.hostIP).";
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
    text('Status', 'The status of the namespace', ({ status }) => status?.phase ?? ''),
    ageColumn,
  ]),
  Node: tableOfColumns([
    nameColumn,
    text('Status', 'The status of the node', nodeStatus),
    text('Roles', 'The roles of the node', nodeRoles),
    ageColumn,
    text('Version', 'Kubelet Version reported by the node.', ({ status }) => status?.nodeInfo?.kubeletVersion ?? ''),
    wide(text('Internal-IP', addressesDescription, address('InternalIP'))),
    wide(text('External-IP', addressesDescription, address('ExternalIP'))),
    wide(
      text(
        'OS-Image',
        'OS Image reported by the node from /etc/os-release (e.g. Debian GNU/Linux 7 (wheezy)).',
        nodeInfo('osImage'),
      ),
    ),
    wide(
      text(
        'Kernel-Version',
        "Kernel Version reported by the node from 'uname -r' (e.g. 3.16.0-0.bpo.4-amd64).",
        nodeInfo('kernelVersion'),
      ),
    ),
    wide(
      text(
        'Container-Runtime',
        'ContainerRuntime Version reported by the node through runtime remote API (e.g. containerd://1.4.2).',
        nodeInfo('containerRuntimeVersion'),
      ),
    ),
  ]),
  Secret: tableOfColumns([
    nameColumn,
    text(
      'Type',
      'Used to facilitate programmatic handling of secret data. More info: https://kubernetes.io/docs/concepts/configuration/secret/#secret-types',
      ({ type }) => type ?? '',
    ),
    text(
      'Data',
      "Data contains the secret data. Each key must consist of alphanumeric characters, '-', '_' or '.'. The serialized form of the secret data is a base64 encoded string, representing the arbitrary (possibly non-string) data value here. Described in https://tools.ietf.org/html/rfc4648#section-4",
      ({ data }) => Object.keys(data ?? {}).length,
    ),
    ageColumn,
  ]),
  ConfigMap: tableOfColumns([
    nameColumn,
    text(
      'Data',
      "Data contains the configuration data. Each key must consist of alphanumeric characters, '-', '_' or '.'. Values with non-UTF-8 byte sequences must use the BinaryData field. The keys stored in Data must not overlap with the keys in the BinaryData field, this is enforced during validation process.",
      ({ data, binaryData }) => Object.keys(data ?? {}).length + Object.keys(binaryData ?? {}).length,
    ),
    ageColumn,
  ]),
  ServiceAccount: tableOfColumns([
    nameColumn,
    text(
      'Secrets',
      'Secrets is a list of the secrets in the same namespace that pods running using this ServiceAccount are allowed to use. Pods are only limited to this list if this service account has a "kubernetes.io/enforce-mountable-secrets" annotation set to "true". The "kubernetes.io/enforce-mountable-secrets" annotation is deprecated since v1.32. Prefer separate namespaces to isolate access to mounted secrets. This field should not be used to find auto-generated service account token secrets for use outside of pods. Instead, tokens can be requested directly using the TokenRequest API, or service account token secrets can be manually created. More info: https://kubernetes.io/docs/concepts/configuration/secret',
      ({ secrets }) => (secrets ?? []).length,
    ),
    ageColumn,
  ]),
  ComponentStatus: tableOfColumns([
    nameColumn,
    text('Status', 'Status of the component conditions', ({ conditions }) => {
      const healthy = (conditions ?? []).find((each: Loose) => each.type === 'Healthy');
      if (!healthy) return 'Unknown';
      return healthy.status === 'True' ? 'Healthy' : healthy.status === 'False' ? 'Unhealthy' : 'Unknown';
    }),
    text('Message', 'Message of the component conditions', ({ conditions }) => conditions?.[0]?.message ?? ''),
    text('Error', 'Error of the component conditions', ({ conditions }) => conditions?.[0]?.error ?? ''),
  ]),
  ResourceQuota: tableOfColumns([
    nameColumn,
    text(
      'Request',
      'Request represents a minimum amount of cpu/memory that a container may consume.',
      quotaCell(false),
    ),
    text(
      'Limit',
      'Limits control the maximum amount of cpu/memory that a container may use independent of contention on the node.',
      quotaCell(true),
    ),
    ageColumn,
  ]),
  PodDisruptionBudget: tableOfColumns([
    nameColumn,
    text('Min Available', 'The minimum number of pods that must be available.', ({ spec }) =>
      spec?.minAvailable == null ? 'N/A' : String(spec.minAvailable),
    ),
    text('Max Unavailable', 'The maximum number of pods that may be unavailable.', ({ spec }) =>
      spec?.maxUnavailable == null ? 'N/A' : String(spec.maxUnavailable),
    ),
    integer(
      'Allowed Disruptions',
      'Calculated number of pods that may be disrupted at this time.',
      ({ status }) => status?.disruptionsAllowed ?? 0,
    ),
    ageColumn,
  ]),
  Lease: tableOfColumns([
    nameColumn,
    text(
      'Holder',
      'holderIdentity contains the identity of the holder of a current lease. If Coordinated Leader Election is used, the holder identity must be equal to the elected LeaseCandidate.metadata.name field.',
      ({ spec }) => spec?.holderIdentity ?? '',
    ),
    ageColumn,
  ]),
  PriorityClass: tableOfColumns([
    nameColumn,
    integer(
      'Value',
      'value represents the integer value of this priority class. This is the actual priority that pods receive when they have the name of this class in their pod spec.',
      ({ value }) => value ?? 0,
    ),
    flag(
      'Global-Default',
      'globalDefault specifies whether this PriorityClass should be considered as the default priority for pods that do not have any priority class. Only one PriorityClass can be marked as `globalDefault`. However, if more than one PriorityClasses exists with their `globalDefault` field set to true, the smallest value of such global default PriorityClasses will be used as the default priority.',
      ({ globalDefault }) => globalDefault ?? false,
    ),
    ageColumn,
    text(
      'PreemptionPolicy',
      'preemptionPolicy is the Policy for preempting pods with lower priority. One of Never, PreemptLowerPriority. Defaults to PreemptLowerPriority if unset.',
      ({ preemptionPolicy }) => preemptionPolicy ?? 'PreemptLowerPriority',
    ),
  ]),
  RuntimeClass: tableOfColumns([nameColumn, text('Handler', '', ({ handler }) => handler ?? ''), ageColumn]),
};
