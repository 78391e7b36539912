import assert from 'node:assert/strict';
import { describe, test } from 'node:test';
import { type APIService, apiService } from './apiregistration/apiservice.ts';
import { defaultAPIService, validateAPIService } from './apiregistration/apiservice.validate.ts';
import { type Lease, lease } from './coordination/lease.ts';
import { prepareLease, validateLease } from './coordination/lease.validate.ts';
import { type Event as CoreEvent, event as coreEvent } from './core/event.ts';
import { fromCoreEvent, toCoreEvent } from './events/event.conversion.ts';
import { type Event, event } from './events/event.ts';
import { type Json, objectsOf, testErrors, testUpdateErrors } from './meta/kind.fixtures.ts';
import { type RuntimeClass, runtimeClass } from './node/runtimeclass.ts';
import { validateRuntimeClass, validateRuntimeClassUpdate } from './node/runtimeclass.validate.ts';
import { type PodDisruptionBudget, podDisruptionBudget } from './policy/poddisruptionbudget.ts';
import {
  validatePodDisruptionBudget,
  validatePodDisruptionBudgetStatusUpdate,
} from './policy/poddisruptionbudget.validate.ts';
import { type PriorityClass, priorityClass } from './scheduling/priorityclass.ts';
import {
  defaultPriorityClass,
  validatePriorityClass,
  validatePriorityClassUpdate,
} from './scheduling/priorityclass.validate.ts';

describe('a PodDisruptionBudget', () => {
  const make = objectsOf<PodDisruptionBudget>(podDisruptionBudget, {});
  testErrors((spec) => make({ spec }), validatePodDisruptionBudget, [
    ['needs a limit', { minAvailable: '50%' }, []],
    [
      'has only one of the limits',
      { minAvailable: 1, maxUnavailable: 1 },
      [
        'spec: Invalid value: policy.PodDisruptionBudgetSpec{MinAvailable:1, MaxUnavailable:1}: minAvailable and maxUnavailable cannot be both set',
      ],
    ],
    [
      'keeps all at most',
      { minAvailable: '101%' },
      [
        'spec.minAvailable: Invalid value: intstr.IntOrString{Type:1, IntVal:0, StrVal:"101%"}: must not be greater than 100%',
      ],
    ],
  ]);
  testErrors((status) => make({ status }), validatePodDisruptionBudgetStatusUpdate, [
    [
      'counts nothing below nothing',
      { disruptionsAllowed: -1, currentHealthy: 0, desiredHealthy: 0, expectedPods: 0 },
      ['status.disruptionsAllowed: Invalid value: -1: must be greater than or equal to 0'],
    ],
  ]);
});

describe('a PriorityClass', () => {
  const make = objectsOf<PriorityClass>(priorityClass, { value: 1 }, defaultPriorityClass);
  testErrors(make, validatePriorityClass, [
    ['has a value', { value: 1_000_000_000 }, []],
    [
      'stays below those of the system',
      { value: 1_000_000_001 },
      ['value: Forbidden: maximum allowed value of a user defined priority is 1000000000'],
    ],
    [
      'of the system is one that is known',
      { metadata: { name: 'system-mine' } },
      [
        "metadata.name: Forbidden: priority class names with 'system-' prefix are reserved for system use only. error: system-mine is not a known system priority class",
      ],
    ],
    ['of the system has its value', { metadata: { name: 'system-node-critical' }, value: 2_000_001_000 }, []],
  ]);
  testUpdateErrors(make, validatePriorityClassUpdate, [
    ['keeps its value', {}, { value: 2 }, ['value: Forbidden: may not be changed in an update.']],
  ]);
});

describe('a RuntimeClass', () => {
  const make = objectsOf<RuntimeClass>(runtimeClass, { handler: 'runc' });
  const toleration = { key: 'a', operator: 'Exists' };
  testErrors(make, validateRuntimeClass, [
    ['names a handler', {}, []],
    [
      'tolerates a taint once',
      { scheduling: { tolerations: [toleration, toleration] } },
      [
        'scheduling.tolerations[1]: Duplicate value: core.Toleration{Key:"a", Operator:"Exists", Value:"", Effect:"", TolerationSeconds:(*int64)(nil)}',
      ],
    ],
  ]);
  testUpdateErrors(make, validateRuntimeClassUpdate, [
    ['keeps its handler', {}, { handler: 'other' }, ['handler: Invalid value: "other": field is immutable']],
  ]);
});

describe('a Lease', () => {
  const make = objectsOf<Lease>(lease, {});
  testErrors((spec) => make({ spec }), validateLease, [
    ['may be free', {}, []],
    [
      'lasts a while',
      { leaseDurationSeconds: 0 },
      ['spec.leaseDurationSeconds: Invalid value: 0: must be greater than 0'],
    ],
  ]);
  test('drops the strategy unless it was stored with one', () => {
    const draft = structuredClone(make({ spec: { strategy: 'OldestEmulationVersion' } })) as never;
    prepareLease(draft);
    assert.equal((draft as Lease).spec?.strategy, undefined);
  });
});

describe('an APIService', () => {
  const make = objectsOf<APIService>(apiService, { metadata: { name: 'v1.a.example.com' } }, defaultAPIService);
  const sound = { group: 'a.example.com', version: 'v1', groupPriorityMinimum: 100, versionPriority: 100 };
  const withSpec = (spec: Json) => make({ spec: { ...sound, ...spec } });
  testErrors(withSpec, validateAPIService, [
    ['is of a version of a group', {}, []],
    [
      'is named after them',
      { version: 'v2' },
      ['metadata.name: Invalid value: "v1.a.example.com": must be `spec.version+"."+spec.group`: "v2.a.example.com"'],
    ],
    [
      'of this server has no CA bundle',
      { insecureSkipTLSVerify: true },
      ['spec.insecureSkipTLSVerify: Invalid value: true: local APIServices may not have insecureSkipTLSVerify'],
    ],
    [
      'elsewhere is at a Service',
      { service: {} },
      ['spec.service.namespace: Required value', 'spec.service.name: Required value'],
    ],
  ]);
});

test('an event is the same in both groups', () => {
  const make = objectsOf<Event>(event, { regarding: { kind: 'Pod', name: 'p' }, note: 'n', reportingController: 'c' });
  const object = make({ eventTime: '2024-01-01T00:00:00.000000Z', deprecatedCount: 3 });
  const core = toCoreEvent(object) as CoreEvent;
  assert.deepEqual(core.involvedObject, { kind: 'Pod', name: 'p' });
  assert.equal(core.message, 'n');
  assert.equal(core.reportingComponent, 'c');
  assert.deepEqual(fromCoreEvent(core), object);
  const old = objectsOf<CoreEvent>(coreEvent, { involvedObject: {}, count: 2, source: { component: 'k' } })();
  assert.deepEqual(toCoreEvent(fromCoreEvent(old)), old);
});
