import assert from 'node:assert/strict';
import { test } from 'node:test';
import type { Namespace } from '@kruise/api/core/namespace';
import type {
  ResourceDistribution,
  ResourceDistributionStatus,
  ResourceDistributionTargets,
} from '@kruise/api/kruise/resourcedistribution';
import { type Action, type CreateAction, flattenSteps, type UpdateAction } from '@kruise/client/actions';
import type { Outcome } from '@kruise/client/execute';
import { formatTime, instantOf } from '@kruise/values/time';
import { copyFor, type Resource } from './copy.ts';
import { decide } from './decide.ts';

const now = instantOf(2026, 1, 1);

function distributionOf(
  targets: ResourceDistributionTargets,
  status?: ResourceDistributionStatus,
): ResourceDistribution {
  return {
    apiVersion: 'apps.kruise.io/v1beta1',
    kind: 'ResourceDistribution',
    metadata: { name: 'shared', uid: 'uid', generation: 3 },
    spec: {
      resource: { apiVersion: 'v1', kind: 'ConfigMap', metadata: { name: 'settings' }, data: { a: '1' } },
      targets,
    },
    ...(status ? { status } : {}),
  };
}

const namespaceOf = (name: string, labels: { [label: string]: string } = {}): Namespace => ({
  apiVersion: 'v1',
  kind: 'Namespace',
  metadata: { name, labels },
});
const namespaces = [
  namespaceOf('a', { team: 'x' }),
  namespaceOf('b', { team: 'x' }),
  namespaceOf('c'),
  namespaceOf('kube-system', { team: 'x' }),
  {
    ...namespaceOf('leaving', { team: 'x' }),
    metadata: { name: 'leaving', labels: { team: 'x' }, deletionTimestamp: formatTime(now) },
  },
];
const names = (...list: readonly string[]) => ({ list: list.map((name) => ({ name })) });
const included = (...list: readonly string[]): ResourceDistributionTargets => ({ includedNamespaces: names(...list) });

const where = (action: Action) =>
  'object' in action ? `${action.type} in ${action.object.metadata.namespace}` : action.type;

function decided(
  distribution: ResourceDistribution,
  there: { readonly [namespace: string]: Resource } = {},
  fail: (action: Action) => string | undefined = () => undefined,
) {
  const { actions: steps, status } = decide({ distribution, namespaces, find: (name) => there[name] }, now);
  const actions = flattenSteps(steps);
  const failures = actions.flatMap((action) => {
    const error = fail(action);
    return error === undefined ? [] : [{ action, error }];
  });
  const outcome: Outcome = { failures, isStale: false, written: new Map() };
  const result = (status as ((outcome: Outcome) => ResourceDistributionStatus) | undefined)?.(outcome);
  const { desired = 0, succeeded = 0, failed = 0, conditions = [] } = result ?? {};
  return {
    does: actions.map(where),
    actions,
    figures: `${desired}: ${succeeded} ok, ${failed} failed`,
    faults: conditions
      .filter((condition) => condition.status === 'True')
      .map(({ type, failedNamespaces = [], reason }) => `${type} in ${failedNamespaces.join()}: ${reason}`),
    conditions,
  };
}

const copyIn = (namespace: string, data = { a: '1' }): Resource => ({
  ...copyFor(distributionOf({}), namespace),
  data,
});
const foreign: Resource = { apiVersion: 'v1', kind: 'ConfigMap', metadata: { name: 'settings' }, data: { mine: '1' } };
const gone = 'namespace not found or is terminating';

const cases: readonly {
  readonly is: string;
  readonly targets: ResourceDistributionTargets;
  readonly there?: { readonly [namespace: string]: Resource };
  readonly does: readonly string[];
  readonly figures: string;
  readonly faults?: readonly string[];
}[] = [
  {
    is: 'copies into namespaces by name',
    targets: included('b', 'a'),
    does: ['create in a', 'create in b'],
    figures: '2: 2 ok, 0 failed',
  },
  {
    is: 'copies into all namespaces except for system namespaces',
    targets: { allNamespaces: true, includedNamespaces: names('kube-system') },
    does: ['create in a', 'create in b', 'create in c'],
    figures: '4: 3 ok, 1 failed',
    faults: [`NamespaceNotExists in leaving: ${gone}`],
  },
  {
    is: 'copies into namespaces by label, without excluded ones',
    targets: { namespaceSelector: { matchLabels: { team: 'x' } }, excludedNamespaces: names('a', 'leaving') },
    does: ['create in b'],
    figures: '1: 1 ok, 0 failed',
  },
  { is: 'copies nowhere without targets', targets: { namespaceSelector: {} }, does: [], figures: '0: 0 ok, 0 failed' },
  {
    is: 'reports missing namespaces',
    targets: included('a', 'nowhere'),
    there: { a: copyIn('a') },
    does: [],
    figures: '2: 1 ok, 1 failed',
    faults: [`NamespaceNotExists in nowhere: ${gone}`],
  },
  {
    is: 'restores changed copies',
    targets: included('a'),
    there: { a: copyIn('a', { a: 'other' }) },
    does: ['update in a'],
    figures: '1: 1 ok, 0 failed',
  },
  {
    is: 'leaves objects of other owners alone, and reports the conflict',
    targets: included('a'),
    there: { a: foreign, b: foreign },
    does: [],
    figures: '1: 0 ok, 1 failed',
    faults: [
      'ConflictOccurred in a: conflict with existing resources because of the same namespace, group, version, kind and name',
    ],
  },
  {
    is: 'deletes copies outside of the targets',
    targets: included('a'),
    there: { a: copyIn('a'), b: copyIn('b'), leaving: copyIn('leaving') },
    does: ['remove in b'],
    figures: '1: 1 ok, 0 failed',
  },
];
for (const { is, targets, there, does, figures, faults = [] } of cases) {
  test(`a distribution ${is}`, () => {
    const result = decided(distributionOf(targets), there);
    assert.deepEqual([result.does, result.figures, result.faults], [does, figures, faults]);
  });
}

test('an error in a namespace is reported, and does not affect other namespaces', () => {
  const { actions, figures, faults } = decided(distributionOf(included('a', 'b')), { c: copyIn('c') }, (action) =>
    where(action) === 'create in b' ? undefined : 'no',
  );
  assert.ok(actions.every((action) => 'isIndependent' in action && action.isIndependent));
  assert.equal(figures, '2: 1 ok, 1 failed');
  assert.deepEqual(faults, ['CreateResourceFailed in a: no', 'DeleteResourceFailed in c: no']);
});

test('a copy names its source and is owned by the distribution', () => {
  const [action] = decided(distributionOf(included('a'))).actions;
  const { metadata } = (action as CreateAction).object;
  assert.deepEqual(metadata.annotations, {
    'kruise.io/resourcedistribution.resource.from': 'shared',
    // Hash of the JSON text with sorted keys, as the server sends it.
    'kruise.io/resourcedistribution.resource.hashcode':
      '1edb1d46c96d085438db75bbc4c3b953b805a054e4989beaf5dc3fcdd993baf7',
  });
  assert.equal(metadata.ownerReferences?.[0]?.uid, 'uid');
});

test('additions of others to a copy stay when it is restored', () => {
  const changed = copyIn('a', { a: 'other' });
  const there = {
    ...changed,
    metadata: { ...changed.metadata, labels: { mine: '1' }, finalizers: ['example.com/hold'] },
  };
  const [action] = decided(distributionOf(included('a')), { a: there }).actions;
  const { metadata } = (action as UpdateAction).object;
  assert.deepEqual(
    [metadata.labels, metadata.finalizers, metadata.resourceVersion],
    [{ mine: '1' }, ['example.com/hold'], undefined],
  );
});

test('all six conditions are set, with their transition times', () => {
  const before = formatTime(now - 60_000);
  const known = [
    { type: 'NamespaceNotExists' as const, status: 'False' as const, lastTransitionTime: before, reason: 'Succeeded' },
    { type: 'ConflictOccurred' as const, status: 'True' as const, lastTransitionTime: before, reason: 'conflict' },
  ];
  const { conditions } = decided(distributionOf(included('a'), { conditions: known }));
  assert.equal(conditions.length, 6);
  const since = (type: string) => conditions.find((each) => each.type === type)?.lastTransitionTime;
  assert.deepEqual([since('NamespaceNotExists'), since('ConflictOccurred')], [before, formatTime(now)]);
});
