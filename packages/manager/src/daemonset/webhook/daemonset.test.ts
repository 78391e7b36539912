import assert from 'node:assert/strict';
import { test } from 'node:test';
import { type DaemonSet, type DaemonSetV1alpha1, daemonSet, daemonSetV1alpha1 } from '@kruise/api/kruise/daemonset';
import { summary } from '@kruise/schema/field-error';
import { featureGates } from '../../configuration/feature-gates.ts';
import { defaultDaemonSet } from './default.ts';
import { validateDaemonSet, validateDaemonSetUpdate } from './validate.ts';

const gates = featureGates();
type Spec = Partial<DaemonSet['spec']>;
const template = { metadata: { labels: { app: 'web' } }, spec: { containers: [{ name: 'main', image: 'app:v1' }] } };

function setOf(spec: object = {}): DaemonSet {
  return {
    apiVersion: 'apps.kruise.io/v1beta1',
    kind: 'DaemonSet',
    metadata: { name: 'web', namespace: 'default', uid: 'set-uid', resourceVersion: '1' },
    spec: { selector: { matchLabels: { app: 'web' } }, template, ...spec },
  };
}

const filled = (spec: object = {}) => defaultDaemonSet(daemonSet, setOf(spec)) as DaemonSet;
// The versions name the types of rolling updates differently.
const filledV1alpha1 = (spec: object = {}) =>
  defaultDaemonSet(daemonSetV1alpha1, setOf(spec) as DaemonSetV1alpha1) as DaemonSetV1alpha1;
const rolling = (rollingUpdate: object): Spec => ({ updateStrategy: { type: 'RollingUpdate', rollingUpdate } });
/** Returns all errors as one text; empty if there is none. */
function faults(set: DaemonSet): string {
  const found = [...validateDaemonSet(set, { version: 'v1beta1', gates })];
  return found.length === 0 ? '' : summary(found);
}

test('a minimal DaemonSet updates one node at a time, and its template gets no defaults', () => {
  const { burstReplicas, revisionHistoryLimit, updateStrategy, template: kept } = filled().spec;
  assert.deepEqual([burstReplicas, revisionHistoryLimit], [250, 10]);
  assert.deepEqual(updateStrategy, {
    type: 'RollingUpdate',
    rollingUpdate: { rollingUpdateType: 'Standard', maxUnavailable: 1, maxSurge: 0 },
  });
  assert.equal(kept.spec?.restartPolicy, undefined);
});

test('if one limit is set, the other gets no default', () => {
  assert.deepEqual(filled(rolling({ maxSurge: 1 })).spec.updateStrategy?.rollingUpdate, {
    rollingUpdateType: 'Standard',
    maxSurge: 1,
  });
});

test('Surging becomes a maxSurge of one', () => {
  const surging = rolling({ rollingUpdateType: 'Surging' });
  assert.deepEqual(filledV1alpha1(surging).spec.updateStrategy?.rollingUpdate, {
    rollingUpdateType: 'Standard',
    maxSurge: 1,
    maxUnavailable: 0,
  });
  assert.equal(filled(surging).spec.updateStrategy?.rollingUpdate?.rollingUpdateType, 'Surging');
});

test('OnDelete gets no rolling update defaults', () => {
  assert.deepEqual(filled({ updateStrategy: { type: 'OnDelete' } }).spec.updateStrategy, { type: 'OnDelete' });
});

const accepted: { readonly name: string; readonly spec: object }[] = [
  { name: 'a minimal one', spec: {} },
  { name: 'a surge', spec: rolling({ maxSurge: 1, maxUnavailable: 0 }) },
  { name: 'in place', spec: rolling({ rollingUpdateType: 'InPlaceIfPossible' }) },
  { name: 'a share that is kept', spec: rolling({ partition: '30%' }) },
  { name: 'a hook before deletion', spec: { lifecycle: { preDelete: { labelsHandler: { a: 'b' } } } } },
];
for (const { name, spec } of accepted) test(`${name} is accepted`, () => assert.equal(faults(filled(spec)), ''));

const refused: { readonly name: string; readonly spec: object; readonly fault: RegExp }[] = [
  {
    name: 'both limits',
    spec: rolling({ maxSurge: 1, maxUnavailable: 1 }),
    fault: /may not be set when maxUnavailable is non-zero/,
  },
  {
    name: 'neither limit',
    spec: rolling({ maxSurge: 0, maxUnavailable: 0 }),
    fault: /maxUnavailable: Required value: cannot be 0 when maxSurge is 0/,
  },
  { name: 'more than all', spec: rolling({ maxUnavailable: '200%' }), fault: /must not be greater than 100%/ },
  {
    name: 'a surge in place',
    spec: rolling({ rollingUpdateType: 'InPlaceIfPossible', maxSurge: 1, maxUnavailable: 0 }),
    fault: /must be 0 for InPlaceIfPossible type/,
  },
  {
    name: 'an unknown type',
    spec: rolling({ rollingUpdateType: 'X' }),
    fault: /rollingUpdate\.rollingUpdate\.type: Unsupported value: "X"/,
  },
  {
    name: 'Surging in v1beta1',
    spec: rolling({ rollingUpdateType: 'Surging' }),
    fault: /supported values: "Standard", "InPlaceIfPossible"/,
  },
  {
    name: 'a partition below zero',
    spec: rolling({ partition: -1 }),
    fault: /rollingUpdate\.rollingUpdate\.partition: Invalid value: -1/,
  },
  {
    name: 'a partition that is none',
    spec: rolling({ partition: 'x' }),
    fault: /partition: Invalid value: .*a valid percent string/,
  },
  {
    name: 'an unknown strategy',
    spec: { updateStrategy: { type: 'X' } },
    fault: /spec\.updateStrategy: Unsupported value/,
  },
  {
    name: 'a hook around updates',
    spec: { lifecycle: { inPlaceUpdate: {} } },
    fault: /inPlaceUpdate hook has not supported yet/,
  },
  { name: 'an empty selector', spec: { selector: {} }, fault: /empty selector is invalid for daemonset/ },
  {
    name: 'a selector that does not fit',
    spec: { selector: { matchLabels: { a: 'b' } } },
    fault: /does not match template `labels`/,
  },
  { name: 'readiness before it began', spec: { minReadySeconds: -1 }, fault: /minReadySeconds: Invalid value: -1/ },
  {
    name: 'Pods that end',
    spec: { template: { ...template, spec: { ...template.spec, restartPolicy: 'OnFailure' } } },
    fault: /restartPolicy: Unsupported value: "OnFailure"/,
  },
  {
    name: 'no containers',
    spec: { template: { ...template, spec: { containers: [] } } },
    fault: /spec\.template\.spec\.containers: Required value/,
  },
];
for (const { name, spec, fault } of refused)
  test(`${name} is refused`, () => assert.match(faults(filled(spec)), fault));

test('the selector is immutable, all other fields are mutable', () => {
  const old = filled();
  const rules = { version: 'v1beta1', gates } as const;
  const other = { metadata: { labels: { app: 'x' } }, spec: template.spec };
  const moved = { ...old, spec: { ...old.spec, selector: { matchLabels: { app: 'x' } }, template: other } };
  const found = [...validateDaemonSetUpdate(moved, old, rules)];
  assert.deepEqual(
    found.map(({ field, reason }) => [field, reason]),
    [['spec', 'FieldValueForbidden']],
  );
  const changed = { ...old, spec: { ...old.spec, burstReplicas: 1, minReadySeconds: 3, scaleStrategy: {} } };
  assert.deepEqual([...validateDaemonSetUpdate(changed, old, rules)], []);
});
