import type { FlowSchemaSpec, Subject } from '@kruise/api/flowcontrol/flowschema';
import type { PriorityLevelConfigurationSpec } from '@kruise/api/flowcontrol/prioritylevelconfiguration';
import { isSame } from '@kruise/machinery/json-value';
import type { KubeObject } from '../object.ts';

const apiVersion = 'flowcontrol.apiserver.k8s.io/v1';
const autoUpdate = 'apf.kubernetes.io/autoupdate-spec';

/** Mandatory objects: the server cannot classify requests without them, so every change to them is reverted. */
const mandatory = new Set(['exempt', 'catch-all']);

const level = (
  nominalConcurrencyShares: number,
  lendablePercent: number,
  queues?: { readonly queues: number; readonly handSize: number },
): PriorityLevelConfigurationSpec => ({
  type: 'Limited',
  limited: {
    nominalConcurrencyShares,
    limitResponse: queues
      ? { type: 'Queue', queuing: { queues: queues.queues, handSize: queues.handSize, queueLengthLimit: 50 } }
      : { type: 'Reject' },
    lendablePercent,
  },
});

const levels: { readonly [name: string]: PriorityLevelConfigurationSpec } = {
  exempt: { type: 'Exempt', exempt: { nominalConcurrencyShares: 0, lendablePercent: 0 } },
  'catch-all': level(5, 0),
  system: level(30, 33, { queues: 64, handSize: 6 }),
  'node-high': level(40, 25, { queues: 64, handSize: 6 }),
  'leader-election': level(10, 0, { queues: 16, handSize: 4 }),
  'workload-high': level(40, 50, { queues: 128, handSize: 6 }),
  'workload-low': level(100, 90, { queues: 128, handSize: 6 }),
  'global-default': level(20, 50, { queues: 128, handSize: 6 }),
};

const group = (name: string): Subject => ({ kind: 'Group', group: { name } });
const user = (name: string): Subject => ({ kind: 'User', user: { name } });
const account = (name: string): Subject => ({
  kind: 'ServiceAccount',
  serviceAccount: { namespace: 'kube-system', name },
});
const everyone = [group('system:unauthenticated'), group('system:authenticated')];

type Rule = NonNullable<FlowSchemaSpec['rules']>[number];
type ResourceRule = NonNullable<Rule['resourceRules']>[number];
type PathRule = NonNullable<Rule['nonResourceRules']>[number];

const anyResource: ResourceRule = {
  verbs: ['*'],
  apiGroups: ['*'],
  resources: ['*'],
  clusterScope: true,
  namespaces: ['*'],
};
const anyPath: PathRule = { verbs: ['*'], nonResourceURLs: ['*'] };
const everything = { resourceRules: [anyResource], nonResourceRules: [anyPath] };
const inNamespaces = (verbs: readonly string[], apiGroup: string, ...resources: readonly string[]): ResourceRule => ({
  verbs,
  apiGroups: [apiGroup],
  resources,
  namespaces: ['*'],
});
const lockVerbs = ['get', 'create', 'update'];
const leases = inNamespaces(lockVerbs, 'coordination.k8s.io', 'leases');

function schema(
  matchingPrecedence: number,
  priorityLevel: string,
  distinguisher: 'ByUser' | 'ByNamespace' | undefined,
  subjects: readonly Subject[],
  rules: Omit<Rule, 'subjects'>,
): FlowSchemaSpec {
  return {
    priorityLevelConfiguration: { name: priorityLevel },
    matchingPrecedence,
    ...(distinguisher === undefined ? {} : { distinguisherMethod: { type: distinguisher } }),
    rules: [{ subjects, ...rules }],
  };
}

const schemas: { readonly [name: string]: FlowSchemaSpec } = {
  exempt: schema(1, 'exempt', undefined, [group('system:masters')], everything),
  probes: schema(2, 'exempt', undefined, everyone, {
    nonResourceRules: [{ verbs: ['get'], nonResourceURLs: ['/healthz', '/readyz', '/livez'] }],
  }),
  'system-leader-election': schema(
    100,
    'leader-election',
    'ByUser',
    [user('system:kube-controller-manager'), user('system:kube-scheduler'), account('*')],
    { resourceRules: [leases] },
  ),
  'endpoint-controller': schema(
    150,
    'workload-high',
    'ByUser',
    [
      user('system:kube-controller-manager'),
      account('endpoint-controller'),
      account('endpointslicemirroring-controller'),
    ],
    { resourceRules: [inNamespaces(lockVerbs, '', 'endpoints')] },
  ),
  'workload-leader-election': schema(200, 'leader-election', 'ByUser', [account('*')], {
    resourceRules: [inNamespaces(lockVerbs, '', 'endpoints', 'configmaps'), leases],
  }),
  'system-node-high': schema(400, 'node-high', 'ByUser', [group('system:nodes')], {
    resourceRules: [
      { verbs: ['*'], apiGroups: [''], resources: ['nodes', 'nodes/status'], clusterScope: true, namespaces: ['*'] },
      inNamespaces(['*'], 'coordination.k8s.io', 'leases'),
    ],
  }),
  'system-nodes': schema(500, 'system', 'ByUser', [group('system:nodes')], everything),
  'kube-controller-manager': schema(
    800,
    'workload-high',
    'ByNamespace',
    [user('system:kube-controller-manager')],
    everything,
  ),
  'kube-scheduler': schema(800, 'workload-high', 'ByNamespace', [user('system:kube-scheduler')], everything),
  'kube-system-service-accounts': schema(900, 'workload-high', 'ByNamespace', [account('*')], everything),
  'service-accounts': schema(9000, 'workload-low', 'ByUser', [group('system:serviceaccounts')], everything),
  'global-default': schema(9900, 'global-default', 'ByUser', everyone, everything),
  'catch-all': schema(10000, 'catch-all', 'ByUser', everyone, everything),
};

/** Returns the spec of a mandatory FlowSchema or PriorityLevelConfiguration. */
export function mandatorySpec(kind: 'FlowSchema' | 'PriorityLevelConfiguration', name: string): unknown {
  return mandatory.has(name) ? (kind === 'FlowSchema' ? schemas : levels)[name] : undefined;
}

const made = (kind: string, name: string, spec: object): KubeObject => ({
  apiVersion,
  kind,
  metadata: { name, annotations: { [autoUpdate]: 'true' } },
  spec,
});

/** Creates the default PriorityLevelConfigurations and FlowSchemas. */
export function defaultFlowControl(): readonly KubeObject[] {
  return [
    ...Object.entries(levels).map(([name, spec]) => made('PriorityLevelConfiguration', name, spec)),
    ...Object.entries(schemas).map(([name, spec]) => made('FlowSchema', name, spec)),
  ];
}

/**
 * Returns the reconciled FlowSchema or PriorityLevelConfiguration if an update is needed. The server maintains its
 * objects until an administrator disables auto-update.
 */
export function reconcileFlowControl(existing: KubeObject, expected: KubeObject): KubeObject | undefined {
  const isMandatory = mandatory.has(expected.metadata.name ?? '');
  const annotation = existing.metadata.annotations?.[autoUpdate];
  // An unmodified object without the annotation predates the annotation.
  const isOurs =
    isMandatory || annotation === 'true' || (annotation === undefined && existing.metadata.generation === 1);
  const wanted = isOurs ? specOf(existing, expected) : existing.spec;
  const mark = String(isOurs);
  if (annotation === mark && isSame(existing.spec, wanted)) return undefined;
  const annotations = { ...existing.metadata.annotations, [autoUpdate]: mark };
  return { ...existing, metadata: { ...existing.metadata, annotations }, spec: wanted };
}

/** The administrator may configure the exempt level's concurrency limits even though the level is mandatory. */
function specOf(existing: KubeObject, expected: KubeObject): unknown {
  const spec = existing.spec as { readonly exempt?: unknown } | undefined;
  const isExempt = expected.kind === 'PriorityLevelConfiguration' && expected.metadata.name === 'exempt';
  return isExempt && spec?.exempt ? { ...(expected.spec as object), exempt: spec.exempt } : expected.spec;
}
