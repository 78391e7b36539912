import assert from 'node:assert/strict';
import { describe, test } from 'node:test';
import { type Json, objectsOf, testErrors, testUpdateErrors } from '../meta/kind.fixtures.ts';
import { type ConfigMap, configMap } from './configmap.ts';
import { validateConfigMap, validateConfigMapUpdate } from './configmap.validate.ts';
import { type Endpoints, endpoints } from './endpoints.ts';
import { defaultEndpoints, validateEndpoints } from './endpoints.validate.ts';
import { type Event, event } from './event.ts';
import { validateEvent, validateStrictEvent, validateStrictEventUpdate } from './event.validate.ts';
import { defaultLimitRange } from './limitrange.default.ts';
import { type LimitRange, limitRange } from './limitrange.ts';
import { validateLimitRange } from './limitrange.validate.ts';
import { defaultNamespace } from './namespace.default.ts';
import { type Namespace, namespace } from './namespace.ts';
import { validateNamespace, validateNamespaceStatusUpdate } from './namespace.validate.ts';
import { defaultNode } from './node.default.ts';
import { type Node, node } from './node.ts';
import { validateNode, validateNodeUpdate } from './node.validate.ts';
import { defaultPersistentVolume } from './persistentvolume.default.ts';
import { type PersistentVolume, persistentVolume } from './persistentvolume.ts';
import {
  preparePersistentVolumeStatusUpdate,
  validatePersistentVolume,
  validatePersistentVolumeUpdate,
} from './persistentvolume.validate.ts';
import { type ResourceQuota, resourceQuota } from './resourcequota.ts';
import { validateResourceQuota, validateResourceQuotaUpdate } from './resourcequota.validate.ts';
import { defaultSecret } from './secret.default.ts';
import { type Secret, secret } from './secret.ts';
import { validateSecret, validateSecretUpdate } from './secret.validate.ts';
import { secretWarnings } from './secret.warnings.ts';

const once = 'field is immutable when `immutable` is set';

describe('a ConfigMap', () => {
  const make = objectsOf<ConfigMap>(configMap, {});
  testErrors(make, validateConfigMap, [
    ['holds texts and bytes', { data: { a: 'b' }, binaryData: { c: 'AAAA' } }, []],
    [
      'has each key once',
      { data: { a: 'b' }, binaryData: { a: 'AAAA' } },
      ['data[a]: Invalid value: "a": duplicate of key present in binaryData'],
    ],
    [
      'holds a mebibyte at most',
      { data: { a: 'x'.repeat(2 ** 20 + 1) } },
      [': Too long: may not be more than 1048576 bytes'],
    ],
    ['holds a mebibyte', { data: { a: 'x'.repeat(2 ** 20) } }, []],
  ]);
  testUpdateErrors(make, validateConfigMapUpdate, [
    ['may change', { data: { a: '1' } }, { data: { a: '2' } }, []],
    ['may become immutable', {}, { immutable: true }, []],
    [
      'that is immutable stays as it is',
      { immutable: true, data: { a: '1' } },
      { data: { a: '2' } },
      [`immutable: Forbidden: ${once}`, `data: Forbidden: ${once}`],
    ],
  ]);
});

describe('a Secret', () => {
  const make = objectsOf<Secret>(secret, {}, defaultSecret);
  testErrors(make, validateSecret, [
    ['may be empty', {}, []],
    [
      'for TLS has a certificate and a key',
      { type: 'kubernetes.io/tls' },
      ['data[tls.crt]: Required value', 'data[tls.key]: Required value'],
    ],
    [
      'for a registry is JSON',
      { type: 'kubernetes.io/dockerconfigjson', stringData: { '.dockerconfigjson': '[]' } },
      [
        'data[.dockerconfigjson]: Invalid value: "<secret contents redacted>": json: cannot unmarshal array into Go value of type map[string]interface {}',
      ],
    ],
    [
      'of an account names it',
      { type: 'kubernetes.io/service-account-token' },
      ['metadata.annotations[kubernetes.io/service-account.name]: Required value'],
    ],
  ]);
  testUpdateErrors(make, validateSecretUpdate, [
    ['keeps its type', {}, { type: 'other' }, ['type: Invalid value: "other": field is immutable']],
  ]);

  test('moves stringData into data', () => {
    assert.deepEqual(make({ data: { a: 'Yg==' }, stringData: { a: 'c', d: 'e' } }).data, { a: 'Yw==', d: 'ZQ==' });
  });
  test('for TLS is warned about if certificate and key do not match', () => {
    const faulty = make({ type: 'kubernetes.io/tls', stringData: { 'tls.crt': 'x', 'tls.key': 'y' } });
    assert.deepEqual([...secretWarnings(faulty)], ['tls: failed to find any PEM data in certificate input']);
  });
});

describe('Endpoints', () => {
  const make = objectsOf<Endpoints>(endpoints, {}, defaultEndpoints);
  const subset = (given: Json) => make({ subsets: [{ addresses: [{ ip: '10.0.0.1' }], ...given }] });
  testErrors(subset, validateEndpoints, [
    ['have addresses', {}, []],
    [
      'have an address, ready or not',
      { addresses: [] },
      ['subsets[0]: Required value: must specify `addresses` or `notReadyAddresses`'],
    ],
    [
      'are not of the link',
      { addresses: [{ ip: '169.254.1.1' }] },
      [
        'subsets[0].addresses[0].ip: Invalid value: "169.254.1.1": may not be in the link-local range (169.254.0.0/16, fe80::/10)',
      ],
    ],
    [
      'name ports where there are several',
      { ports: [{ port: 1, name: 'a' }, { port: 2 }] },
      ['subsets[0].ports[1].name: Required value'],
    ],
  ]);
});

describe('a Namespace', () => {
  const make = objectsOf<Namespace>(namespace, {}, defaultNamespace);
  testErrors(make, validateNamespace, [
    ['is named by a label', {}, []],
    [
      'has finalizers with a domain',
      { spec: { finalizers: ['mine'] } },
      ['spec.finalizers: Invalid value: "mine": name is neither a standard finalizer name nor is it fully qualified'],
    ],
  ]);
  testUpdateErrors(make, validateNamespaceStatusUpdate, [
    [
      'does not end without being deleted',
      {},
      { status: { phase: 'Terminating' } },
      ['status.Phase: Invalid value: "Terminating": may only be \'Active\' if `deletionTimestamp` is empty'],
    ],
  ]);
  test('carries its name as a label', () => {
    assert.deepEqual(make().metadata.labels, { 'kubernetes.io/metadata.name': 'one' });
  });
});

describe('a Node', () => {
  const make = objectsOf<Node>(node, {}, defaultNode);
  const taint = { key: 'a', value: 'b', effect: 'NoSchedule' };
  testErrors(make, validateNode, [
    ['may say nothing', {}, []],
    [
      'has taints of a known effect',
      { spec: { taints: [{ key: 'a', effect: '' }] } },
      ['metadata.taints[0].effect: Required value'],
    ],
    [
      'has each taint once',
      { spec: { taints: [taint, taint] } },
      [
        'metadata.taints[1]: Duplicate value: core.Taint{Key:"a", Value:"b", Effect:"NoSchedule", TimeAdded:<nil>}: taints must be unique by key and effect pair',
      ],
    ],
    [
      'has one block of each family',
      { spec: { podCIDRs: ['10.0.0.0/24', '10.0.1.0/24'] } },
      [
        'spec.podCIDRs: Invalid value: []string{"10.0.0.0/24", "10.0.1.0/24"}: may specify no more than one CIDR for each IP family',
      ],
    ],
    [
      'cannot have less than nothing',
      { status: { capacity: { cpu: '-1' } } },
      [
        'status.capacity.cpu: Invalid value: "-1": must be greater than or equal to 0',
        'status.allocatable.cpu: Invalid value: "-1": must be greater than or equal to 0',
      ],
    ],
  ]);
  testUpdateErrors(make, validateNodeUpdate, [
    ['may be given a block', {}, { spec: { podCIDR: '10.0.0.0/24' } }, []],
    [
      'keeps its block',
      { spec: { podCIDR: '10.0.0.0/24' } },
      { spec: { podCIDR: '10.0.1.0/24' } },
      ['spec.podCIDRs: Forbidden: node updates may not change podCIDR except from "" to valid'],
    ],
    [
      'keeps the name its provider knows it by',
      { spec: { providerID: 'a' } },
      { spec: { providerID: 'b' } },
      ['spec.providerID: Forbidden: node updates may not change providerID except from "" to valid'],
    ],
  ]);
  test('defaults allocatable to capacity', () => {
    assert.deepEqual(make({ status: { capacity: { cpu: '2' } } }).status?.allocatable, { cpu: '2' });
  });
});

describe('a PersistentVolume', () => {
  const sound = { capacity: { storage: '1Gi' }, accessModes: ['ReadWriteOnce'], hostPath: { path: '/data' } };
  const make = objectsOf<PersistentVolume>(persistentVolume, {}, defaultPersistentVolume);
  const withSpec = (spec: Json) => make({ spec: { ...sound, ...spec } });
  const csi = { hostPath: null, csi: { driver: 'a.example.com', volumeHandle: 'v' } };
  testErrors(withSpec, validatePersistentVolume, [
    ['has a size, modes and a source', {}, []],
    ['has modes', { accessModes: [] }, ['spec.accessModes: Required value']],
    [
      'has a capacity of 64 bits',
      { capacity: { storage: '9223372036854775808' } },
      ['spec.capacity[storage]: Invalid value: -9223372036854775808: must be a valid resource quantity'],
    ],
    [
      'has a size',
      { capacity: { storage: '0' } },
      ['spec.capacity[storage]: Invalid value: "0": must be greater than zero'],
    ],
    ['comes from somewhere', { hostPath: null }, ['spec: Required value: must specify a volume type']],
    [
      'comes from one source',
      { nfs: { server: 'a', path: '/' } },
      ['spec.nfs: Forbidden: may not specify more than 1 volume type'],
    ],
    [
      'of one node needs a node affinity',
      { hostPath: null, local: { path: '/data' } },
      ['spec.nodeAffinity: Required value: Local volume requires node affinity'],
    ],
    [
      'does not recycle the root of a node',
      { hostPath: { path: '/x/..' }, persistentVolumeReclaimPolicy: 'Recycle' },
      [
        'spec.hostPath.path: Invalid value: "/x/..": must not contain \'..\'',
        "spec.persistentVolumeReclaimPolicy: Forbidden: may not be 'recycle' for a hostPath mount of '/'",
      ],
    ],
    [
      'names whole secrets',
      { ...csi, csi: { ...csi.csi, nodePublishSecretRef: { name: 'a' } } },
      ['spec.csi.nodePublishSecretRef.namespace: Required value'],
    ],
  ]);
  testUpdateErrors(withSpec, validatePersistentVolumeUpdate, [
    ['may grow', {}, { capacity: { storage: '2Gi' } }, []],
    [
      'keeps its source',
      {},
      { hostPath: { path: '/other' } },
      ['spec.persistentvolumesource: Forbidden: spec.persistentvolumesource is immutable after creation'],
    ],
    [
      'may be given a secret for growing',
      csi,
      { ...csi, csi: { ...csi.csi, controllerExpandSecretRef: { name: 'a', namespace: 'b' } } },
      [],
    ],
  ]);
  test('records when its phase changes', () => {
    const before = make({ spec: sound, status: { phase: 'Pending', lastPhaseTransitionTime: '2024-01-01T00:00:00Z' } });
    const draft = structuredClone({ ...before, status: { ...before.status, phase: 'Bound' } }) as never;
    preparePersistentVolumeStatusUpdate(draft, before, '2024-02-02T00:00:00Z');
    assert.equal((draft as PersistentVolume).status?.lastPhaseTransitionTime, '2024-02-02T00:00:00Z');
  });
});

describe('a ResourceQuota', () => {
  const make = objectsOf<ResourceQuota>(resourceQuota, {});
  const withSpec = (spec: Json) => make({ spec });
  testErrors(withSpec, validateResourceQuota, [
    ['limits known resources', { hard: { pods: '1', 'requests.cpu': '1', 'count/widgets.example.com': '3' } }, []],
    [
      'counts in whole numbers',
      { hard: { pods: '1500m' } },
      [
        'spec.hard[pods]: Invalid value: resource.Quantity{i:resource.int64Amount{value:1500, scale:-3}, d:resource.infDecAmount{Dec:(*inf.Dec)(nil)}, s:"1500m", Format:"DecimalSI"}: must be an integer',
      ],
    ],
    [
      'counts no volumes among Pods of a scope',
      { hard: { persistentvolumeclaims: '1' }, scopes: ['BestEffort'] },
      ['spec.scopes: Invalid value: []core.ResourceQuotaScope{"BestEffort"}: unsupported scope applied to resource'],
    ],
    [
      'is not for opposites',
      { scopes: ['Terminating', 'NotTerminating'] },
      ['spec.scopes: Invalid value: []core.ResourceQuotaScope{"Terminating", "NotTerminating"}: conflicting scopes'],
    ],
    [
      'selects priorities by name',
      { scopeSelector: { matchExpressions: [{ scopeName: 'PriorityClass', operator: 'In' }] } },
      [
        "spec.scopeSelector.matchExpressions.values: Required value: must be at least one value when `operator` is 'In' or 'NotIn' for scope selector",
      ],
    ],
  ]);
  testUpdateErrors(withSpec, validateResourceQuotaUpdate, [
    [
      'keeps its scopes',
      { scopes: ['BestEffort'] },
      {},
      ['spec.scopes: Invalid value: []core.ResourceQuotaScope(nil): field is immutable'],
    ],
  ]);
});

describe('a LimitRange', () => {
  const make = objectsOf<LimitRange>(limitRange, {}, defaultLimitRange);
  const withLimit = (limit: Json) => make({ spec: { limits: [{ type: 'Container', ...limit }] } });
  const quantity = (value: number) =>
    `resource.Quantity{i:resource.int64Amount{value:${value}, scale:0}, d:resource.infDecAmount{Dec:(*inf.Dec)(nil)}, s:"${value}", Format:"DecimalSI"}`;
  testErrors(withLimit, validateLimitRange, [
    ['has a least and a most', { min: { cpu: '1' }, max: { cpu: '2' } }, []],
    [
      'has no more for the least than for the most',
      { min: { cpu: '2' }, max: { cpu: '1' }, default: { cpu: '2' }, defaultRequest: { cpu: '2' } },
      [
        `spec.limits[0].min[cpu]: Invalid value: ${quantity(2)}: min value 2 is greater than max value 1`,
        `spec.limits[0].defaultRequest[cpu]: Invalid value: ${quantity(2)}: default request value 2 is greater than max value 1`,
        `spec.limits[0].default[cpu]: Invalid value: ${quantity(1)}: default value 2 is greater than max value 1`,
      ],
    ],
    [
      'of Pods fills in nothing',
      { type: 'Pod', default: { cpu: '1' } },
      ["spec.limits[0].default: Forbidden: may not be specified when `type` is 'Pod'"],
    ],
    [
      'of PVCs limits storage',
      { type: 'PersistentVolumeClaim', max: { cpu: '1' } },
      [
        'spec.limits[0].limits: Required value: either minimum or maximum storage value is required, but neither was provided',
      ],
    ],
    [
      'is of a known type',
      { type: 'Odd' },
      ['spec.limits[0].type: Invalid value: "Odd": must be a standard limit type or fully qualified'],
    ],
  ]);
  test('defaults the limit to the maximum, and the request to the limit', () => {
    const [limit] = withLimit({ max: { cpu: '2' }, min: { memory: '1' } }).spec?.limits ?? [];
    assert.deepEqual(limit?.default, { cpu: '2' });
    assert.deepEqual(limit?.defaultRequest, { cpu: '2', memory: '1' });
  });
});

describe('an Event', () => {
  const make = objectsOf<Event>(event, { involvedObject: { kind: 'Pod', name: 'p', namespace: 'default' } });
  const full = {
    eventTime: '2024-01-01T00:00:00.000000Z',
    reportingComponent: 'example.com/c',
    reportingInstance: 'c-1',
    action: 'Binding',
    reason: 'Bound',
    type: 'Normal',
  };
  testErrors(make, validateEvent, [
    ['of the old form needs little', {}, []],
    [
      'is in the namespace of its object',
      { involvedObject: { namespace: 'other' } },
      ['involvedObject.namespace: Invalid value: "other": does not match event.namespace'],
    ],
    [
      'with a time needs a controller, an action and a reason',
      { eventTime: full.eventTime },
      [
        'reportingComponent: Required value',
        'reportingComponent: Invalid value: "": name part must be non-empty',
        "reportingComponent: Invalid value: \"\": name part must consist of alphanumeric characters, '-', '_' or '.', and must start and end with an alphanumeric character (e.g. 'MyName',  or 'my.name',  or '123-abc', regex used for validation is '([A-Za-z0-9][-A-Za-z0-9_.]*)?[A-Za-z0-9]')",
        'reportingInstance: Required value',
        'action: Required value',
        'reason: Required value',
      ],
    ],
  ]);
  testErrors(make, validateStrictEvent, [
    ['of today is whole', full, []],
    [
      'of today leaves the old fields alone',
      { ...full, count: 1, source: { component: 'c' } },
      ['count: Invalid value: "": needs to be unset', 'source: Invalid value: "": needs to be unset'],
    ],
    [
      'that repeats has happened twice',
      { ...full, series: { count: 1, lastObservedTime: full.eventTime } },
      ['series.count: Invalid value: "": should be at least 2'],
    ],
  ]);
  testUpdateErrors(make, validateStrictEventUpdate, [
    ['may come to repeat', full, { ...full, series: { count: 2, lastObservedTime: full.eventTime } }, []],
    ['keeps its reason', full, { ...full, reason: 'Other' }, ['reason: Invalid value: "Other": field is immutable']],
  ]);
});
