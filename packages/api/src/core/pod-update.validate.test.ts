import assert from 'node:assert/strict';
import { test } from 'node:test';
import { formatErrors, type Json, somePod, withContainer } from './pod.fixtures.ts';
import {
  validatePodEphemeralContainersUpdate,
  validatePodResize,
  validatePodStatusUpdate,
  validatePodUpdate,
} from './pod.validate.ts';

const immutable =
  'spec: Forbidden: pod updates may not change fields other than `spec.containers[*].image`,`spec.initContainers[*].image`,`spec.activeDeadlineSeconds`,`spec.tolerations` (only additions to existing tolerations),`spec.terminationGracePeriodSeconds` (allow it to be set to 1 if it was previously negative)';
const gated = { schedulingGates: [{ name: 'a' }, { name: 'b' }] };

const updates: readonly {
  readonly name: string;
  readonly old: Json;
  readonly now: Json;
  readonly faults: readonly string[];
}[] = [
  {
    name: 'an image may change',
    old: {},
    now: { containers: [{ name: 'main', image: 'nginx:2', imagePullPolicy: 'IfNotPresent' }] },
    faults: [],
  },
  { name: 'a toleration may be added', old: {}, now: { tolerations: [{ key: 'a', operator: 'Exists' }] }, faults: [] },
  {
    name: 'a toleration may not be removed',
    old: { tolerations: [{ key: 'a', operator: 'Exists' }] },
    now: {},
    faults: ['spec.tolerations: Forbidden: existing toleration can not be modified except its tolerationSeconds'],
  },
  { name: 'a deadline may be set', old: {}, now: { activeDeadlineSeconds: 5 }, faults: [] },
  {
    name: 'a deadline may not be put off',
    old: { activeDeadlineSeconds: 5 },
    now: { activeDeadlineSeconds: 6 },
    faults: ['spec.activeDeadlineSeconds: Invalid value: 6: must be less than or equal to previous value'],
  },
  {
    name: 'a deadline may not be removed',
    old: { activeDeadlineSeconds: 5 },
    now: {},
    faults: ['spec.activeDeadlineSeconds: Invalid value: "null": must not update from a positive integer to nil value'],
  },
  { name: 'the node may not change', old: { nodeName: 'a' }, now: { nodeName: 'b' }, faults: [immutable] },
  {
    name: 'containers may not come or go',
    old: {},
    now: { containers: [] },
    faults: [
      'spec.containers: Required value',
      'spec.containers: Forbidden: pod updates may not add or remove containers',
    ],
  },
  { name: 'a scheduling gate may be removed', old: gated, now: { schedulingGates: [{ name: 'b' }] }, faults: [] },
  {
    name: 'a scheduling gate may not be added',
    old: {},
    now: { schedulingGates: [{ name: 'c' }] },
    faults: ["spec.schedulingGates[0].name: Forbidden: only deletion is allowed, but found new scheduling gate 'c'"],
  },
  {
    name: 'a gated Pod may be bound to fewer nodes',
    old: gated,
    now: { ...gated, nodeSelector: { a: 'b' } },
    faults: [],
  },
  {
    name: 'a gated Pod may not be bound to other nodes',
    old: { ...gated, nodeSelector: { a: 'b' } },
    now: { ...gated, nodeSelector: { a: 'c' } },
    faults: [
      'spec.nodeSelector: Invalid value: map[string]string{"a":"c"}: only additions to spec.nodeSelector are allowed (no mutations or deletions)',
    ],
  },
  {
    name: 'only a gated Pod may be bound to fewer nodes',
    old: {},
    now: { nodeSelector: { a: 'b' } },
    faults: [immutable],
  },
];
for (const { name, old, now, faults } of updates) {
  test(`in an update of a Pod, ${name}`, () => {
    assert.deepEqual(formatErrors(validatePodUpdate(somePod(now), somePod(old))), faults);
  });
}

test('the name of a Pod is immutable', () => {
  const renamed = somePod({}, { metadata: { name: 'two' } });
  assert.deepEqual(formatErrors(validatePodUpdate(renamed, somePod())), [
    'metadata.name: Invalid value: "two": field is immutable',
  ]);
});

const ended = {
  name: 'main',
  state: { terminated: { exitCode: 1 } },
  ready: false,
  restartCount: 0,
  image: '',
  imageID: '',
};
const running = { ...ended, state: { running: {} } };
const statuses: readonly {
  readonly name: string;
  readonly policy: string;
  readonly old: Json;
  readonly now: Json;
  readonly faults: readonly string[];
}[] = [
  {
    name: 'a container that is restarted runs again',
    policy: 'OnFailure',
    old: { containerStatuses: [ended] },
    now: { containerStatuses: [running] },
    faults: [],
  },
  {
    name: 'a container that ended for good does not',
    policy: 'Never',
    old: { containerStatuses: [ended] },
    now: { containerStatuses: [running] },
    faults: ['status.containerStatuses[0].state: Forbidden: may not be transitioned to non-terminated state'],
  },
  {
    name: 'the class of service stays',
    policy: 'Always',
    old: { qosClass: 'BestEffort' },
    now: { qosClass: 'Burstable' },
    faults: ['status.qosClass: Invalid value: "Burstable": field is immutable'],
  },
  {
    name: 'there is an address of each family',
    policy: 'Always',
    old: {},
    now: { podIPs: [{ ip: '10.0.0.1' }, { ip: 'fd00::1' }] },
    faults: [],
  },
  {
    name: 'the first of its host\u2019s addresses is its address',
    policy: 'Always',
    old: {},
    now: { hostIP: '10.0.0.1', hostIPs: [{ ip: '10.0.0.2' }] },
    faults: ['status.hostIPs[0].ip: Invalid value: "10.0.0.2": must be equal to `hostIP`'],
  },
];
for (const { name, policy, old, now, faults } of statuses) {
  test(`in the status of a Pod, ${name}`, () => {
    const pods = [now, old].map((status) => somePod({ restartPolicy: policy }, { status }));
    assert.deepEqual(formatErrors(validatePodStatusUpdate(pods[0]!, pods[1]!)), faults);
  });
}

test('an ephemeral container may be added, and stays as it is', () => {
  const debugged = somePod({ ephemeralContainers: [{ name: 'debug', image: 'busybox:1' }] });
  const other = somePod({ ephemeralContainers: [{ name: 'debug', image: 'busybox:2' }] });
  assert.deepEqual(formatErrors(validatePodEphemeralContainersUpdate(debugged, somePod())), []);
  assert.deepEqual(formatErrors(validatePodEphemeralContainersUpdate(other, debugged)), [
    'spec.ephemeralContainers: Forbidden: existing ephemeral containers "debug" may not be changed',
  ]);
  assert.deepEqual(formatErrors(validatePodEphemeralContainersUpdate(somePod(), debugged)), [
    'spec.ephemeralContainers: Forbidden: existing ephemeral containers "debug" may not be removed\n',
  ]);
});

const sized = (requests: Json, limits: Json = {}) => withContainer({ resources: { requests, limits } });
const resizes = [
  { name: 'more may be requested', old: sized({ cpu: '1' }), now: sized({ cpu: '2' }), faults: [] },
  {
    name: 'a request may not be removed',
    old: sized({ cpu: '1', memory: '1Gi' }),
    now: sized({ cpu: '1' }),
    faults: ['spec.containers[0].resources.requests: Forbidden: resource requests cannot be removed'],
  },
  {
    name: 'less memory means a restart',
    old: sized({ memory: '1Gi' }, { memory: '2Gi' }),
    now: sized({ memory: '1Gi' }, { memory: '1536Mi' }),
    faults: [
      'spec.containers[0].resources.limits[memory]: Forbidden: memory limits cannot be decreased unless resizePolicy is RestartContainer',
    ],
  },
  {
    name: 'the class of service stays',
    old: sized({ cpu: '1' }),
    now: sized({ cpu: '1', memory: '1Gi' }, { cpu: '1', memory: '1Gi' }),
    faults: [
      'spec: Invalid value: "": Pod QOS Class may not change as a result of resizing',
      'spec.containers[0].resources.limits[memory]: Forbidden: memory limits cannot be added unless resizePolicy is RestartContainer',
    ],
  },
];
for (const { name, old, now, faults } of resizes) {
  test(`in a resize of a Pod, ${name}`, () => {
    assert.deepEqual(formatErrors(validatePodResize(now, old)), faults);
  });
}
