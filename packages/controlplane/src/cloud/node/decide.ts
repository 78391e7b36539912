import type { Node, NodeAddress } from '@kruise/api/core/node';
import { type Action, patch, record, sequence, update } from '@kruise/client/actions';
import type { Decision } from '@kruise/client/controller';
import { isSame } from '@kruise/machinery/json-value';
import { outdatedLabels } from '../../controllers/node-labels.ts';
import type { InstanceMetadata } from '../provider.ts';

export type Observed = { readonly node: Node; readonly metadata: InstanceMetadata | undefined };

/** Taint of a node that registered before the cloud initialized it; no Pods are scheduled to the node. */
export const uninitializedKey = 'node.cloudprovider.kubernetes.io/uninitialized';

/** Deprecated beta labels and the stable labels whose values they mirror. */
const copiedLabels = {
  'topology.kubernetes.io/zone': 'failure-domain.beta.kubernetes.io/zone',
  'topology.kubernetes.io/region': 'failure-domain.beta.kubernetes.io/region',
  'node.kubernetes.io/instance-type': 'beta.kubernetes.io/instance-type',
} as const;

const ownLabels = /(^|\.)(kubernetes|k8s)\.io\//;

export function isUninitialized({ spec }: Node): boolean {
  return spec?.taints?.some(({ key }) => key === uninitializedKey) ?? false;
}

/** Refresh interval: addresses may change while an instance runs, without a notification. */
const refreshSeconds = 300;

export function decide({ node, metadata }: Observed): Decision<Node['status']> {
  if (isUninitialized(node)) return { actions: metadata ? initialize(node, metadata) : [] };
  const labels = outdatedLabels(node, copiedLabels);
  return {
    actions: sequence([...(labels ? [patch(node, { metadata: { labels } })] : []), ...addressesOf(node, metadata)]),
    requeueAfterSeconds: refreshSeconds,
  };
}

function initialize(node: Node, metadata: InstanceMetadata): readonly Action[] {
  const { providerId, instanceType, zone, region } = metadata;
  const known = {
    ...both('node.kubernetes.io/instance-type', instanceType),
    ...both('topology.kubernetes.io/zone', zone),
    ...both('topology.kubernetes.io/region', region),
  };
  const present = node.metadata.labels ?? {};
  const further = Object.entries(metadata.labels ?? {}).filter(
    ([key]) => !ownLabels.test(key) && present[key] === undefined,
  );
  const initialized: Node = {
    ...node,
    metadata: { ...node.metadata, labels: { ...present, ...known, ...Object.fromEntries(further) } },
    spec: {
      ...node.spec,
      ...(node.spec?.providerID ? {} : { providerID: providerId }),
      taints: (node.spec?.taints ?? []).filter(({ key }) => key !== uninitializedKey),
    },
  };
  return [
    update(initialized),
    ...addressesOf(node, metadata),
    record({ about: node, type: 'Normal', reason: 'Synced', message: 'Node synced successfully' }),
  ];
}

function both(label: keyof typeof copiedLabels, value: string | undefined): Readonly<Record<string, string>> {
  return value ? { [label]: value, [copiedLabels[label]]: value } : {};
}

/** Sets the addresses that the cloud reports, if any, and keeps the hostname that the node reported. */
function addressesOf(node: Node, metadata: InstanceMetadata | undefined): readonly Action[] {
  const reported = metadata?.addresses ?? [];
  if (reported.length === 0) return [];
  const isHostname = ({ type }: NodeAddress) => type === 'Hostname';
  const hostnames = reported.some(isHostname) ? [] : (node.status?.addresses ?? []).filter(isHostname);
  const addresses = [...reported, ...hostnames];
  if (isSame(addresses, node.status?.addresses)) return [];
  // Strategic merge uses the address type as the key, which is not unique, so the patch replaces the whole list.
  return [{ ...patch(node, { status: { addresses } }), subresource: 'status' }];
}
