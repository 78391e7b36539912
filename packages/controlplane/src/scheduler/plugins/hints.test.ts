import assert from 'node:assert/strict';
import { test } from 'node:test';
import type { Node } from '@kruise/api/core/node';
import type { Pod } from '@kruise/api/core/pod';
import { podInfoOf } from '../cluster/pod-info.ts';
import type { ClusterEvent, EventResource } from '../events.ts';
import { nodeEvents, podEvents } from '../events.ts';
import { pluginsOf } from '../profile.ts';
import { nodeIn, nodeOf, type PodTraits, podOf } from '../testing/fixtures.ts';
import { profileIn } from '../testing/schedule-result.ts';

const unschedulable = [{ key: 'node.kubernetes.io/unschedulable', operator: 'Exists' as const }];
const gpu = { key: 'gpu', value: 'a100', effect: 'NoSchedule' as const };
const port = (hostPort: number) => ({ hostPorts: [{ hostPort }] });

/** Returns the plugins whose queueing hint says that an event may help a Pod they rejected. */
function helped(pod: Pod, events: readonly ClusterEvent[]): readonly string[] {
  const found = new Set<string>();
  for (const { name, events: registered } of pluginsOf(profileIn())) {
    for (const { resource, actions, helps } of registered ?? []) {
      for (const event of events) {
        if (event.resource !== resource || !actions.includes(event.action)) continue;
        if (helps?.(podInfoOf(pod), event) ?? true) found.add(name);
      }
    }
  }
  return [...found].sort();
}
const added = (node: Node): readonly ClusterEvent[] => [{ resource: 'Node', action: 'Add', after: node }];
const deleted = (pod: Pod): readonly ClusterEvent[] => [{ resource: 'Pod', action: 'Delete', before: pod }];

const update = (resource: EventResource, before: unknown, after: unknown): readonly ClusterEvent[] => [
  { resource, action: 'Update', before, after },
];

const registrations: { readonly [plugin: string]: readonly string[] } = {
  SchedulingGates: ['Pod UpdatePodSchedulingGatesEliminated'],
  NodeUnschedulable: ['Node Add', 'Node UpdateNodeTaint', 'Pod UpdatePodToleration'],
  NodeName: ['Node Add'],
  TaintToleration: ['Node Add', 'Node UpdateNodeTaint', 'Pod UpdatePodToleration'],
  NodeAffinity: ['Node Add', 'Node UpdateNodeLabel'],
  NodePorts: ['Node Add', 'Pod Delete'],
  NodeResourcesFit: ['Node Add', 'Node UpdateNodeAllocatable', 'Pod Delete', 'Pod UpdatePodScaleDown'],
  VolumeRestrictions: ['Node Add', 'PersistentVolumeClaim Add', 'Pod Delete'],
  NodeVolumeLimits: [
    'CSINode Add',
    'CSINode Update',
    'PersistentVolumeClaim Add',
    'Pod Delete',
    'VolumeAttachment Delete',
  ],
  VolumeBinding: [
    'CSIDriver Update',
    'CSINode Add',
    'CSINode Update',
    'CSIStorageCapacity Add',
    'CSIStorageCapacity Update',
    'Node Add',
    'Node UpdateNodeLabel',
    'PersistentVolume Add',
    'PersistentVolume Update',
    'PersistentVolumeClaim Add',
    'PersistentVolumeClaim Update',
    'StorageClass Add',
    'StorageClass Update',
  ],
  VolumeZone: [
    'Node Add',
    'Node UpdateNodeLabel',
    'PersistentVolume Add',
    'PersistentVolume Update',
    'PersistentVolumeClaim Add',
    'PersistentVolumeClaim Update',
    'StorageClass Add',
  ],
  PodTopologySpread: [
    'Node Add',
    'Node Delete',
    'Node UpdateNodeLabel',
    'Node UpdateNodeTaint',
    'Pod Add',
    'Pod Delete',
    'Pod UpdatePodLabel',
    'Pod UpdatePodToleration',
  ],
  InterPodAffinity: ['Node Add', 'Node UpdateNodeLabel', 'Pod Add', 'Pod Delete', 'Pod UpdatePodLabel'],
};
for (const [plugin, expected] of Object.entries(registrations)) {
  test(`${plugin} registers for ${expected.join(', ')}`, () => {
    const found = pluginsOf(profileIn()).find(({ name }) => name === plugin);
    const waits = (found?.events ?? []).flatMap(({ resource, actions }) =>
      actions.map((each) => `${resource} ${each}`),
    );
    assert.deepEqual(waits.sort(), expected);
  });
}

test('no other plugin registers for events', () => {
  const waiting = pluginsOf(profileIn()).filter(({ events }) => events?.length);
  assert.deepEqual(waiting.map(({ name }) => name).sort(), Object.keys(registrations).sort());
});

/** Node-local plugins. */
const simple = ['NodeAffinity', 'NodeName', 'NodePorts', 'NodeResourcesFit', 'NodeUnschedulable', 'TaintToleration'];
const onlyOf = (plugins: readonly string[]) => plugins.filter((plugin) => simple.includes(plugin));

type Hint = readonly [name: string, pod: PodTraits, events: readonly ClusterEvent[], plugins: readonly string[]];
const one = podOf('p');
const hints: Hint[] = [
  ['a feasible node', {}, added(nodeOf('n')), simple],
  [
    'a closed node',
    {},
    added(nodeOf('n', { unschedulable: true })),
    simple.filter((name) => name !== 'NodeUnschedulable'),
  ],
  ['a tainted node', {}, added(nodeOf('n', { taints: [gpu] })), simple.filter((name) => name !== 'TaintToleration')],
  [
    'a node that is too small',
    { requests: { cpu: '5' } },
    added(nodeOf('n')),
    simple.filter((name) => name !== 'NodeResourcesFit'),
  ],
  [
    'a node that the Pod does not select',
    { nodeSelector: { a: 'b' } },
    added(nodeOf('n')),
    simple.filter((name) => name !== 'NodeAffinity'),
  ],
  [
    'a node that was uncordoned',
    {},
    nodeEvents(nodeOf('n', { unschedulable: true }), nodeOf('n')),
    ['NodeUnschedulable'],
  ],
  ['a node whose taint was removed', {}, nodeEvents(nodeOf('n', { taints: [gpu] }), nodeOf('n')), ['TaintToleration']],
  [
    'a node that got a label that the Pod selects',
    { nodeSelector: { a: 'b' } },
    nodeEvents(nodeOf('n'), nodeOf('n', { labels: { a: 'b' } })),
    ['NodeAffinity'],
  ],
  [
    'a node that got a label that the Pod does not select',
    {},
    nodeEvents(nodeOf('n'), nodeOf('n', { labels: { a: 'b' } })),
    [],
  ],
  [
    'a node that grew',
    { requests: { cpu: '5' } },
    nodeEvents(nodeOf('n'), nodeOf('n', { allocatable: { cpu: '8' } })),
    ['NodeResourcesFit'],
  ],
  [
    'a node that grew in a resource that the Pod does not request',
    { requests: { cpu: '1' } },
    nodeEvents(nodeOf('n'), nodeOf('n', { allocatable: { memory: '9Gi' } })),
    [],
  ],
  ['a heartbeat', {}, nodeEvents(nodeOf('n'), nodeOf('n')), []],
  ['a deleted Pod with a node', {}, deleted(podOf('x', { on: 'n' })), ['NodeResourcesFit']],
  ['a deleted Pod without a node', {}, deleted(podOf('x')), []],
  [
    'a deleted Pod with the requested host port',
    port(80),
    deleted(podOf('x', { on: 'n', ...port(80) })),
    ['NodePorts', 'NodeResourcesFit'],
  ],
  [
    'a Pod that was scaled down',
    { requests: { cpu: '1' } },
    podEvents(podOf('x', { on: 'n', requests: { cpu: '2' } }), podOf('x', { on: 'n', requests: { cpu: '1' } })),
    ['NodeResourcesFit'],
  ],
  [
    'a Pod that was scaled up',
    { requests: { cpu: '1' } },
    podEvents(podOf('x', { on: 'n', requests: { cpu: '1' } }), podOf('x', { on: 'n', requests: { cpu: '2' } })),
    [],
  ],
  [
    'a toleration of its own',
    {},
    podEvents(one, { ...one, spec: { ...one.spec!, tolerations: unschedulable } }),
    ['NodeUnschedulable', 'TaintToleration'],
  ],
];
for (const [name, pod, events, plugins] of hints) {
  test(`${name} may help a Pod rejected by ${plugins.join(', ') || 'none'}`, () => {
    assert.deepEqual(onlyOf(helped(podOf('p', pod), events)), plugins);
  });
}

const zone = 'topology.kubernetes.io/zone';
const web = { matchLabels: { app: 'web' } };
const like = { app: 'web' };
const near: PodTraits = {
  affinity: {
    podAffinity: { requiredDuringSchedulingIgnoredDuringExecution: [{ topologyKey: zone, labelSelector: web }] },
  },
};
const far: PodTraits = {
  affinity: {
    podAntiAffinity: { requiredDuringSchedulingIgnoredDuringExecution: [{ topologyKey: zone, labelSelector: web }] },
  },
};
const farFromBoth: PodTraits = {
  affinity: {
    podAntiAffinity: {
      requiredDuringSchedulingIgnoredDuringExecution: [
        { topologyKey: zone, labelSelector: web },
        { topologyKey: zone, labelSelector: { matchLabels: { app: 'db' } } },
      ],
    },
  },
};
const spread = (nodeTaintsPolicy: 'Honor' | 'Ignore' = 'Ignore'): PodTraits => ({
  labels: like,
  topologySpreadConstraints: [
    { maxSkew: 1, topologyKey: zone, whenUnsatisfiable: 'DoNotSchedule', labelSelector: web, nodeTaintsPolicy },
  ],
});
const claiming = (claimName = 'data'): PodTraits => ({
  volumes: [{ name: 'v', persistentVolumeClaim: { claimName } }],
});
const disk = (pdName: string): PodTraits => ({ volumes: [{ name: 'v', gcePersistentDisk: { pdName } }] });
const came = (pod: Pod): readonly ClusterEvent[] => [{ resource: 'Pod', action: 'Add', after: pod }];
const made = (resource: EventResource, after: object): readonly ClusterEvent[] => [{ resource, action: 'Add', after }];
const placed = (labels: { readonly [key: string]: string }, more: PodTraits = {}) =>
  podOf('x', { on: 'n', labels, ...more });
const relabelled = (from: { readonly [key: string]: string }, to: { readonly [key: string]: string }) =>
  podEvents(placed(from), placed(to));
const named = (name: string, namespace?: string) => ({ metadata: { name, ...(namespace ? { namespace } : {}) } });
const classOf = (volumeBindingMode: string, ...zones: readonly string[]) => ({
  ...named('c'),
  volumeBindingMode,
  allowedTopologies: [{ matchLabelExpressions: [{ key: zone, values: zones }] }],
});
const csiNode = (count: number, plugins = '') => ({
  metadata: { name: 'n', annotations: { 'storage.alpha.kubernetes.io/migrated-plugins': plugins } },
  spec: { drivers: [{ name: 'd', nodeID: 'n', allocatable: { count } }] },
});
const driverOf = (storageCapacity: boolean) => ({ ...named('d'), spec: { storageCapacity } });
const inline: PodTraits = { volumes: [{ name: 'v', csi: { driver: 'd' } }] };
const room = (capacity: string) => ({ ...named('r', 'default'), storageClassName: 'c', capacity });
const volumeIn = (value: string) => ({ metadata: { name: 'v', labels: { [zone]: value } } });

type PluginHint = readonly [
  plugin: string,
  name: string,
  pod: PodTraits,
  events: readonly ClusterEvent[],
  helps: boolean,
];
const pluginHints: PluginHint[] = [
  ['InterPodAffinity', 'a Pod that came to be near to', near, came(placed(like)), true],
  ['InterPodAffinity', 'a Pod that came and is another', near, came(placed({ app: 'db' })), false],
  ['InterPodAffinity', 'a Pod that became one to be near to', near, relabelled({ app: 'db' }, like), true],
  ['InterPodAffinity', 'a Pod that is none of those any more', near, relabelled(like, { app: 'db' }), false],
  ['InterPodAffinity', 'a Pod that left, and is to be far from', far, deleted(placed(like)), true],
  ['InterPodAffinity', 'a Pod that is none of those to be far from', far, relabelled(like, { app: 'db' }), true],
  ['InterPodAffinity', 'a Pod that left and minded it', { labels: like }, deleted(placed({}, far)), true],
  ['InterPodAffinity', 'a Pod that left and minded nobody', { labels: like }, deleted(placed({})), false],
  ['InterPodAffinity', 'one of two to be far from that left', farFromBoth, deleted(placed(like)), true],
  ['InterPodAffinity', 'any node, if it minds nobody itself', { labels: like }, added(nodeOf('n')), true],
  ['InterPodAffinity', 'a node in a zone', near, added(nodeIn('a', 'n')), true],
  ['InterPodAffinity', 'a node in no zone', near, added(nodeOf('n')), false],
  ['InterPodAffinity', 'a node that moved', near, nodeEvents(nodeIn('a', 'n'), nodeIn('b', 'n')), true],
  ['InterPodAffinity', 'another label', near, nodeEvents(nodeOf('n'), nodeOf('n', { labels: { a: 'b' } })), false],

  ['PodTopologySpread', 'a Pod of its like that came', spread(), came(placed(like)), true],
  ['PodTopologySpread', 'a Pod of its like that left', spread(), deleted(placed(like)), true],
  ['PodTopologySpread', 'a Pod that is another', spread(), deleted(placed({ app: 'db' })), false],
  ['PodTopologySpread', 'a Pod elsewhere', spread(), deleted(placed(like, { namespace: 'other' })), false],
  ['PodTopologySpread', 'a Pod that became one of its like', spread(), relabelled({}, like), true],
  ['PodTopologySpread', 'a Pod with another label', spread(), relabelled(like, { ...like, a: 'b' }), false],
  ['PodTopologySpread', 'a node in a zone', spread(), added(nodeIn('a', 'n')), true],
  ['PodTopologySpread', 'a node in no zone', spread(), added(nodeOf('n')), false],
  [
    'PodTopologySpread',
    'a node that is gone',
    spread(),
    [{ resource: 'Node', action: 'Delete', before: nodeIn('a', 'n') }],
    true,
  ],
  ['PodTopologySpread', 'a node that moved', spread(), nodeEvents(nodeIn('a', 'n'), nodeIn('b', 'n')), true],
  [
    'PodTopologySpread',
    'a node whose taint went',
    spread(),
    nodeEvents(nodeIn('a', 'n', { taints: [gpu] }), nodeIn('a', 'n')),
    true,
  ],
  [
    'PodTopologySpread',
    'a toleration of its own, where taints count',
    spread('Honor'),
    podEvents(podOf('p', spread('Honor')), podOf('p', { ...spread('Honor'), tolerations: unschedulable })),
    true,
  ],
  [
    'PodTopologySpread',
    'a toleration of its own, where they do not',
    spread(),
    podEvents(podOf('p', spread()), podOf('p', { ...spread(), tolerations: unschedulable })),
    false,
  ],

  ['VolumeBinding', 'its claim', claiming(), made('PersistentVolumeClaim', named('data', 'default')), true],
  ['VolumeBinding', 'the claim of another', claiming(), made('PersistentVolumeClaim', named('x', 'default')), false],
  [
    'VolumeBinding',
    'a claim of that name elsewhere',
    claiming(),
    made('PersistentVolumeClaim', named('data', 'other')),
    false,
  ],
  [
    'VolumeBinding',
    'a change of its claim',
    claiming(),
    update('PersistentVolumeClaim', named('data', 'default'), named('data', 'default')),
    true,
  ],
  ['VolumeBinding', 'a volume', claiming(), made('PersistentVolume', named('v')), true],
  ['VolumeBinding', 'a change of a volume', claiming(), update('PersistentVolume', named('v'), named('v')), true],
  ['VolumeBinding', 'a class', claiming(), made('StorageClass', classOf('Immediate')), true],
  [
    'VolumeBinding',
    'a class that is for other zones now',
    claiming(),
    update('StorageClass', classOf('Immediate', 'a'), classOf('Immediate', 'b')),
    true,
  ],
  [
    'VolumeBinding',
    'a class that is for the same',
    claiming(),
    update('StorageClass', classOf('Immediate', 'a'), classOf('Immediate', 'a')),
    false,
  ],
  ['VolumeBinding', 'any node', claiming(), added(nodeOf('n')), true],
  [
    'VolumeBinding',
    'any label of a node',
    claiming(),
    nodeEvents(nodeOf('n'), nodeOf('n', { labels: { a: 'b' } })),
    true,
  ],
  ['VolumeBinding', 'what drivers a node has', claiming(), made('CSINode', csiNode(1)), true],
  [
    'VolumeBinding',
    'a driver that sees to what was built in',
    claiming(),
    update('CSINode', csiNode(1), csiNode(1, 'kubernetes.io/aws-ebs')),
    true,
  ],
  ['VolumeBinding', 'more volumes of a driver', claiming(), update('CSINode', csiNode(1), csiNode(2)), false],
  [
    'VolumeBinding',
    'a driver that no longer tells its room',
    inline,
    update('CSIDriver', driverOf(true), driverOf(false)),
    true,
  ],
  ['VolumeBinding', 'a driver that does now', inline, update('CSIDriver', driverOf(false), driverOf(true)), false],
  ['VolumeBinding', 'room', claiming(), made('CSIStorageCapacity', room('1Gi')), true],
  ['VolumeBinding', 'more room', claiming(), update('CSIStorageCapacity', room('1Gi'), room('2Gi')), true],
  ['VolumeBinding', 'less room', claiming(), update('CSIStorageCapacity', room('2Gi'), room('1Gi')), false],

  ['VolumeZone', 'its claim', claiming(), made('PersistentVolumeClaim', named('data', 'default')), true],
  ['VolumeZone', 'the claim of another', claiming(), made('PersistentVolumeClaim', named('x', 'default')), false],
  ['VolumeZone', 'a volume', claiming(), made('PersistentVolume', volumeIn('a')), true],
  ['VolumeZone', 'a volume that moved', claiming(), update('PersistentVolume', volumeIn('a'), volumeIn('b')), true],
  ['VolumeZone', 'one that did not', claiming(), update('PersistentVolume', volumeIn('a'), volumeIn('a')), false],
  [
    'VolumeZone',
    'a class that waits for Pods',
    claiming(),
    made('StorageClass', classOf('WaitForFirstConsumer')),
    true,
  ],
  ['VolumeZone', 'a class that does not', claiming(), made('StorageClass', classOf('Immediate')), false],
  ['VolumeZone', 'any node', claiming(), added(nodeOf('n')), true],

  ['VolumeRestrictions', 'a Pod that left with its disk', disk('d'), deleted(placed({}, disk('d'))), true],
  ['VolumeRestrictions', 'a Pod that left with another', disk('d'), deleted(placed({}, disk('e'))), false],
  ['VolumeRestrictions', 'a Pod that left its claim', claiming(), deleted(placed({}, claiming())), true],
  ['VolumeRestrictions', 'its claim', claiming(), made('PersistentVolumeClaim', named('data', 'default')), true],
  ['VolumeRestrictions', 'any node', disk('d'), added(nodeOf('n')), true],

  ['NodeVolumeLimits', 'what drivers a node has', claiming(), made('CSINode', csiNode(1)), true],
  ['NodeVolumeLimits', 'more volumes of a driver', claiming(), update('CSINode', csiNode(1), csiNode(2)), true],
  ['NodeVolumeLimits', 'fewer', claiming(), update('CSINode', csiNode(2), csiNode(1)), false],
  ['NodeVolumeLimits', 'a Pod that left with a claim', claiming(), deleted(placed({}, claiming('x'))), true],
  ['NodeVolumeLimits', 'a Pod that left without', claiming(), deleted(placed({})), false],
  ['NodeVolumeLimits', 'its claim', claiming(), made('PersistentVolumeClaim', named('data', 'default')), true],
  [
    'NodeVolumeLimits',
    'a volume that is not attached any more',
    claiming(),
    [{ resource: 'VolumeAttachment', action: 'Delete', before: named('a') }],
    true,
  ],

  [
    'SchedulingGates',
    'its last gate gone',
    {},
    podEvents(podOf('p', { schedulingGates: [{ name: 'a' }] }), podOf('p')),
    true,
  ],
  [
    'SchedulingGates',
    'the gate of another gone',
    {},
    podEvents(podOf('x', { schedulingGates: [{ name: 'a' }] }), podOf('x')),
    false,
  ],
];
for (const [plugin, name, pod, events, helps] of pluginHints) {
  test(`${plugin} requeues a Pod ${helps ? 'for' : 'not for'} ${name}`, () => {
    assert.equal(helped(podOf('p', pod), events).includes(plugin), helps);
  });
}

test('a Pod of a namespace selected by labels may help', () => {
  const namespaces = [
    { apiVersion: 'v1', kind: 'Namespace', metadata: { name: 'other', labels: { team: 'y' } } },
  ] as const;
  const { podAffinity } = near.affinity!;
  const [term] = podAffinity!.requiredDuringSchedulingIgnoredDuringExecution!;
  const selecting = { ...term!, namespaceSelector: { matchLabels: { team: 'y' } } };
  const affinity = { podAffinity: { requiredDuringSchedulingIgnoredDuringExecution: [selecting] } };
  const found = pluginsOf(profileIn({ world: { namespaces } })).find(({ name }) => name === 'InterPodAffinity');
  const [registered] = found?.events ?? [];
  const helps = (namespace: string) =>
    registered?.helps?.(podInfoOf(podOf('p', { affinity })), came(placed(like, { namespace }))[0]!);
  assert.deepEqual([helps('other'), helps('default')], [true, false]);
});
