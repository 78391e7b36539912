import assert from 'node:assert/strict';
import { test } from 'node:test';
import { codecOf } from '@kruise/schema/codec';
import type { Draft } from '@kruise/schema/draft';
import type { Cause } from '@kruise/schema/field-error';
import type { Kind, KubernetesObject } from '@kruise/schema/kind';
import { formatErrors, type Json } from '../core/pod.fixtures.ts';
import { defaultReplicationController } from '../core/replicationcontroller.default.ts';
import { replicationController } from '../core/replicationcontroller.ts';
import { validateReplicationController } from '../core/replicationcontroller.validate.ts';
import { controllerRevision } from './controllerrevision.ts';
import { validateControllerRevision, validateControllerRevisionUpdate } from './controllerrevision.validate.ts';
import { defaultDaemonSet } from './daemonset.default.ts';
import { prepareDaemonSetForCreate, prepareDaemonSetForUpdate } from './daemonset.strategy.ts';
import { type DaemonSet, daemonSet } from './daemonset.ts';
import { validateDaemonSet } from './daemonset.validate.ts';
import { defaultDeployment } from './deployment.default.ts';
import {
  prepareDeploymentForCreate,
  prepareDeploymentForUpdate,
  prepareDeploymentStatusUpdate,
} from './deployment.strategy.ts';
import { type Deployment, deployment } from './deployment.ts';
import { validateDeployment, validateDeploymentStatusUpdate, validateDeploymentUpdate } from './deployment.validate.ts';
import { defaultReplicaSet } from './replicaset.default.ts';
import { replicaSet } from './replicaset.ts';
import { validateReplicaSet, validateReplicaSetUpdate } from './replicaset.validate.ts';
import { defaultStatefulSet } from './statefulset.default.ts';
import { prepareStatefulSetForCreate } from './statefulset.strategy.ts';
import { type StatefulSet, statefulSet } from './statefulset.ts';
import { validateStatefulSet, validateStatefulSetUpdate } from './statefulset.validate.ts';

const labels = { app: 'a' };
const template = { metadata: { labels }, spec: { containers: [{ name: 'main', image: 'nginx:1' }] } };
const metadata = { name: 'one', namespace: 'default', resourceVersion: '1', generation: 1 };
const base = { selector: { matchLabels: labels }, template };

function make<T extends KubernetesObject>(
  kind: Kind<T>,
  fill: (draft: Draft<T>) => void,
  spec: Json,
  rest: Json = {},
): T {
  const codec = codecOf(kind.root);
  const draft = codec.fromJson({ metadata, spec, ...rest }) as Draft<T>;
  fill(draft);
  return codec.canonical(draft as T);
}

const someDeployment = (spec: Json = {}, rest: Json = {}) =>
  make(deployment, defaultDeployment, { ...base, ...spec }, rest);
const someReplicaSet = (spec: Json = {}) => make(replicaSet, defaultReplicaSet, { ...base, ...spec });
const someStatefulSet = (spec: Json = {}) => make(statefulSet, defaultStatefulSet, { ...base, ...spec });
const someDaemonSet = (spec: Json = {}) => make(daemonSet, defaultDaemonSet, { ...base, ...spec });
const someController = (spec: Json = {}) =>
  make(replicationController, defaultReplicationController, { template, ...spec });

const mismatch =
  'spec.template.metadata.labels: Invalid value: map[string]string{"app":"a"}: `selector` does not match template `labels`';
const noEnd = 'spec.template.spec.restartPolicy: Unsupported value: "Never": supported values: "Always"';
const ending = { ...template, spec: { ...template.spec, restartPolicy: 'Never' } };
const rolling = (rollingUpdate: Json) => ({ type: 'RollingUpdate', rollingUpdate });

type Row = { readonly name: string; readonly causes: Iterable<Cause>; readonly faults: readonly string[] };

const rows: readonly Row[] = [
  { name: 'a Deployment', causes: validateDeployment(someDeployment()), faults: [] },
  {
    name: 'a Deployment without selector',
    causes: validateDeployment(make(deployment, defaultDeployment, { template })),
    faults: ['spec.selector: Required value', mismatch],
  },
  {
    name: 'a Deployment that selects everything',
    causes: validateDeployment(someDeployment({ selector: {} })),
    faults: ['spec.selector: Invalid value: v1.LabelSelector{}: empty selector is invalid for deployment'],
  },
  {
    name: 'a Deployment that selects other Pods',
    causes: validateDeployment(someDeployment({ selector: { matchLabels: { app: 'b' } } })),
    faults: [mismatch],
  },
  {
    name: 'a Deployment of Pods that end',
    causes: validateDeployment(someDeployment({ template: ending })),
    faults: [noEnd],
  },
  {
    name: 'fewer replicas than none',
    causes: validateDeployment(someDeployment({ replicas: -1 })),
    faults: ['spec.replicas: Invalid value: -1: must be greater than or equal to 0'],
  },
  {
    name: 'a Deployment that cannot move',
    causes: validateDeployment(someDeployment({ strategy: rolling({ maxUnavailable: 0, maxSurge: '0%' }) })),
    faults: [
      'spec.strategy.rollingUpdate.maxUnavailable: Invalid value: intstr.IntOrString{Type:0, IntVal:0, StrVal:""}: may not be 0 when `maxSurge` is 0',
    ],
  },
  {
    name: 'more than all at once',
    causes: validateDeployment(someDeployment({ strategy: rolling({ maxUnavailable: '101%' }) })),
    faults: [
      'spec.strategy.rollingUpdate.maxUnavailable: Invalid value: intstr.IntOrString{Type:1, IntVal:0, StrVal:"101%"}: must not be greater than 100%',
    ],
  },
  {
    name: 'an unknown strategy',
    causes: validateDeployment(someDeployment({ strategy: { type: 'Magic' } })),
    faults: [
      'spec.strategy: Unsupported value: apps.DeploymentStrategy{Type:"Magic"}: supported values: "Recreate", "RollingUpdate"',
    ],
  },
  {
    name: 'a rolling update of the type Recreate',
    causes: validateDeployment(someDeployment({ strategy: { type: 'Recreate', rollingUpdate: {} } })),
    faults: ["spec.strategy.rollingUpdate: Forbidden: may not be specified when strategy `type` is 'Recreate'"],
  },
  {
    name: 'a deadline before anything can be ready',
    causes: validateDeployment(someDeployment({ minReadySeconds: 600 })),
    faults: ['spec.progressDeadlineSeconds: Invalid value: 600: must be greater than minReadySeconds'],
  },
  {
    name: 'more replicas',
    causes: validateDeploymentUpdate(someDeployment({ replicas: 5 }), someDeployment()),
    faults: [],
  },
  {
    name: 'another selector',
    causes: validateDeploymentUpdate(
      someDeployment({ selector: { matchLabels: labels, matchExpressions: [{ key: 'app', operator: 'Exists' }] } }),
      someDeployment(),
    ),
    faults: [
      'spec.selector: Invalid value: v1.LabelSelector{MatchLabels:map[string]interface {}{"app":"a"}, MatchExpressions:[]interface {}{map[string]interface {}{"key":"app", "operator":"Exists"}}}: field is immutable',
    ],
  },
  {
    name: 'a status with more ready replicas than there are',
    causes: validateDeploymentStatusUpdate(
      someDeployment({}, { status: { replicas: 1, readyReplicas: 2 } }),
      someDeployment(),
    ),
    faults: ['status.readyReplicas: Invalid value: 2: cannot be greater than status.replicas'],
  },
  {
    name: 'fewer collisions than before',
    causes: validateDeploymentStatusUpdate(someDeployment(), someDeployment({}, { status: { collisionCount: 1 } })),
    faults: ['status.collisionCount: Invalid value: 0: cannot be decremented'],
  },
  { name: 'a ReplicaSet', causes: validateReplicaSet(someReplicaSet()), faults: [] },
  {
    name: 'a ReplicaSet of Pods that end',
    causes: validateReplicaSet(someReplicaSet({ template: ending })),
    faults: [noEnd],
  },
  {
    name: 'an update of such a ReplicaSet, reported twice,',
    causes: validateReplicaSetUpdate(someReplicaSet({ template: ending }), someReplicaSet()),
    faults: [noEnd, noEnd],
  },
  { name: 'a ReplicationController', causes: validateReplicationController(someController()), faults: [] },
  {
    name: 'a ReplicationController without template',
    causes: validateReplicationController(
      make(replicationController, defaultReplicationController, { selector: labels }),
    ),
    faults: ['spec.template: Required value'],
  },
  { name: 'a StatefulSet', causes: validateStatefulSet(someStatefulSet({ serviceName: 's' })), faults: [] },
  {
    name: 'a StatefulSet named as no Pod can be',
    causes: validateStatefulSet({ ...someStatefulSet(), metadata: { ...metadata, name: 'a.b' } }),
    faults: ['metadata.name: Invalid value: "a.b": must not contain dots'],
  },
  {
    name: 'an unknown policy',
    causes: validateStatefulSet(someStatefulSet({ podManagementPolicy: 'x' })),
    faults: ["spec.podManagementPolicy: Invalid value: \"x\": must be 'OrderedReady' or 'Parallel'"],
  },
  {
    name: 'a StatefulSet\u2019s Pod template without image, which is checked at the creation of Pods,',
    causes: validateStatefulSet(
      someStatefulSet({ template: { metadata: { labels }, spec: { containers: [{ name: 'main' }] } } }),
    ),
    faults: [],
  },
  {
    name: 'more replicas of a StatefulSet',
    causes: validateStatefulSetUpdate(someStatefulSet({ replicas: 2 }), someStatefulSet()),
    faults: [],
  },
  {
    name: 'another Service of a StatefulSet',
    causes: validateStatefulSetUpdate(someStatefulSet({ serviceName: 'b' }), someStatefulSet()),
    faults: [
      "spec: Forbidden: updates to statefulset spec for fields other than 'replicas', 'ordinals', 'template', 'updateStrategy', 'revisionHistoryLimit', 'persistentVolumeClaimRetentionPolicy' and 'minReadySeconds' are forbidden",
    ],
  },
  { name: 'a DaemonSet', causes: validateDaemonSet(someDaemonSet()), faults: [] },
  {
    name: 'a DaemonSet with both maxSurge and maxUnavailable',
    causes: validateDaemonSet(someDaemonSet({ updateStrategy: rolling({ maxUnavailable: 1, maxSurge: 1 }) })),
    faults: [
      'spec.updateStrategy.rollingUpdate.maxSurge: Invalid value: intstr.IntOrString{Type:0, IntVal:1, StrVal:""}: may not be set when maxUnavailable is non-zero',
    ],
  },
  {
    name: 'a DaemonSet that cannot move',
    causes: validateDaemonSet(someDaemonSet({ updateStrategy: rolling({ maxUnavailable: 0 }) })),
    faults: ['spec.updateStrategy.rollingUpdate.maxUnavailable: Required value: cannot be 0 when maxSurge is 0'],
  },
];
for (const { name, causes, faults } of rows) {
  test(`${name} is ${faults.length === 0 ? 'accepted' : 'refused'}`, () => {
    assert.deepEqual(formatErrors(causes), faults);
  });
}

test('the data of a ControllerRevision is required and immutable', () => {
  const revision = (data: unknown) => codecOf(controllerRevision.root).fromJson({ metadata, data, revision: 1 });
  assert.deepEqual(formatErrors(validateControllerRevision(revision({ a: 1 }))), []);
  assert.deepEqual(formatErrors(validateControllerRevision(revision(undefined))), [
    'data: Required value: data is mandatory',
  ]);
  const [fault] = formatErrors(validateControllerRevisionUpdate(revision({ a: 2 }), revision({ a: 1 })));
  assert.match(fault!, /^data: Invalid value: .*: field is immutable$/);
});

function drafted<T>(object: T): Draft<T> {
  return structuredClone(object) as Draft<T>;
}

test('a new Deployment has no status and generation 1', () => {
  const draft: Draft<Deployment> = drafted(someDeployment({}, { status: { replicas: 3 } }));
  prepareDeploymentForCreate(draft);
  assert.deepEqual([draft.status, draft.metadata.generation], [undefined, 1]);
});

test('only a change of spec or annotations increments the generation of a Deployment', () => {
  const old = someDeployment({}, { status: { replicas: 3 } });
  const generationAfter = (change: (draft: Draft<Deployment>) => void) => {
    const draft: Draft<Deployment> = drafted(old);
    change(draft);
    prepareDeploymentForUpdate(draft, old);
    return draft.metadata.generation;
  };
  assert.equal(
    generationAfter((draft) => (draft.spec!.replicas = 9)),
    2,
  );
  assert.equal(
    generationAfter((draft) => (draft.metadata.annotations = { a: 'b' })),
    2,
  );
  assert.equal(
    generationAfter((draft) => (draft.metadata.labels = { a: 'b' })),
    1,
  );
  assert.equal(
    generationAfter((draft) => (draft.status = {})),
    1,
  );
});

test("an update of a Deployment's status changes neither its spec nor its labels", () => {
  const old = someDeployment();
  const draft: Draft<Deployment> = drafted(
    someDeployment({ replicas: 9 }, { metadata: { ...metadata, labels: { a: 'b' } }, status: { replicas: 1 } }),
  );
  prepareDeploymentStatusUpdate(draft, old);
  assert.deepEqual([draft.spec, draft.metadata.labels, draft.status], [old.spec, undefined, { replicas: 1 }]);
});

test('a DaemonSet counts the changes of its template in an annotation', () => {
  const annotation = 'deprecated.daemonset.template.generation';
  const first: Draft<DaemonSet> = drafted(someDaemonSet());
  prepareDaemonSetForCreate(first);
  assert.equal(first.metadata.annotations![annotation], '1');
  const second: Draft<DaemonSet> = drafted(first);
  second.spec!.template.spec!.hostNetwork = true;
  prepareDaemonSetForUpdate(second, first);
  assert.deepEqual([second.metadata.annotations![annotation], second.metadata.generation], ['2', 2]);
});

test('a StatefulSet drops maxUnavailable', () => {
  const draft: Draft<StatefulSet> = drafted(someStatefulSet({ updateStrategy: rolling({ maxUnavailable: 2 }) }));
  prepareStatefulSetForCreate(draft);
  assert.deepEqual(draft.spec!.updateStrategy, rolling({ partition: 0 }));
});
