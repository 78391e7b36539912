import assert from 'node:assert/strict';
import { test } from 'node:test';
import { defaultConfiguration, readConfiguration } from './configuration.ts';
import { createProfile } from './profile.ts';
import { emptyParts } from './testing/parts.ts';

const header = { apiVersion: 'kubescheduler.config.k8s.io/v1', kind: 'KubeSchedulerConfiguration' };

test('an empty configuration is the default', () => {
  assert.deepEqual(readConfiguration(header), defaultConfiguration);
});

test('common settings apply to profiles that do not override them', () => {
  const { profiles } = readConfiguration({
    ...header,
    percentageOfNodesToScore: 30,
    profiles: [{ schedulerName: 'a' }, { schedulerName: 'b', percentageOfNodesToScore: 70 }],
  });
  assert.deepEqual(
    profiles.map(({ schedulerName, percentageOfNodesToScore }) => [schedulerName, percentageOfNodesToScore]),
    [
      ['a', 30],
      ['b', 70],
    ],
  );
});

test('leader election is configured with durations', () => {
  const leaderElection = {
    leaderElect: false,
    leaseDuration: '1m',
    renewDeadline: '40s',
    retryPeriod: '500ms',
    resourceName: 'x',
  };
  assert.deepEqual(readConfiguration({ ...header, leaderElection }).leaderElection, {
    leaderElect: false,
    leaseDurationSeconds: 60,
    renewDeadlineSeconds: 40,
    retryPeriodSeconds: 0.5,
    resourceName: 'x',
    resourceNamespace: 'kube-system',
  });
});

test('resources managed by extenders are ignored by the scheduler on request', () => {
  const managedResources = [{ name: 'example.com/gpu', ignoredByScheduler: true }, { name: 'example.com/fpga' }];
  const extender = {
    urlPrefix: 'https://e',
    filterVerb: 'filter',
    managedResources,
    httpTimeout: '2s',
    tlsConfig: { insecure: true },
  };
  const { extenders, profiles } = readConfiguration({ ...header, extenders: [extender] });
  assert.deepEqual(profiles[0]?.pluginConfig.NodeResourcesFit?.ignoredResources, ['example.com/gpu']);
  assert.deepEqual(extenders[0]?.managedResources, ['example.com/gpu', 'example.com/fpga']);
  assert.deepEqual([extenders[0]?.httpTimeoutMs, extenders[0]?.tls], [2000, { insecure: true }]);
});

const wrong: readonly (readonly [fields: object, message: RegExp])[] = [
  [{ kind: 'Pod' }, /no kind "Pod" is registered/],
  [{ apiVersion: 'kubescheduler.config.k8s.io/v1beta3' }, /v1beta3/],
  [{ percentageOfNodesToScore: 101 }, /percentageOfNodesToScore: Invalid value: 101/],
  [{ podInitialBackoffSeconds: 0 }, /podInitialBackoffSeconds: Invalid value: 0/],
  [{ podInitialBackoffSeconds: 20 }, /podMaxBackoffSeconds: must be greater than or equal to podInitialBackoffSeconds/],
  [{ profiles: [{}, {}] }, /profiles\[1\].schedulerName: Duplicate value: "default-scheduler"/],
  [
    { profiles: [{ plugins: { score: { enabled: [{}] } } }] },
    /profiles\[0\].plugins.score.enabled\[0\].name: Required value/,
  ],
  [{ profiles: 'all' }, /profiles: must be a list/],
  [{ extenders: [{}] }, /extenders\[0\].urlPrefix: Required value/],
  [{ extenders: [{ urlPrefix: 'http://e', prioritizeVerb: 'p' }] }, /extenders\[0\].weight: .*positive weight/],
  [
    { extenders: ['a', 'b'].map((verb) => ({ urlPrefix: 'http://e', bindVerb: verb })) },
    /only one extender can implement bind/,
  ],
];
for (const [fields, message] of wrong) {
  test(`a configuration with ${JSON.stringify(fields)} is rejected`, () => {
    assert.throws(() => readConfiguration({ ...header, ...fields }), message);
  });
}

const profileWith = (plugins: object) => {
  const [profile] = readConfiguration({ ...header, profiles: [{ plugins }] }).profiles;
  return createProfile(profile!, emptyParts());
};
const filterNames = (plugins: object) => profileWith(plugins).filters.map(({ name }) => name);
const weights = (plugins: object) =>
  Object.fromEntries(profileWith(plugins).scorers.map(({ plugin, weight }) => [plugin.name, weight]));

test('by default, every plugin is enabled at its extension points, in order', () => {
  assert.deepEqual(filterNames({}), [
    'NodeUnschedulable',
    'NodeName',
    'TaintToleration',
    'NodeAffinity',
    'NodePorts',
    'NodeResourcesFit',
    'VolumeRestrictions',
    'NodeVolumeLimits',
    'VolumeBinding',
    'VolumeZone',
    'PodTopologySpread',
    'InterPodAffinity',
  ]);
  assert.deepEqual(weights({}), {
    TaintToleration: 3,
    NodeAffinity: 2,
    NodeResourcesFit: 1,
    PodTopologySpread: 2,
    InterPodAffinity: 2,
    NodeResourcesBalancedAllocation: 1,
    ImageLocality: 1,
  });
  assert.deepEqual(
    profileWith({}).preEnqueue.map(({ name }) => name),
    ['SchedulingGates', 'DefaultPreemption'],
  );
});

test('a plugin can be disabled at one extension point, or at all', () => {
  assert.equal('ImageLocality' in weights({ score: { disabled: [{ name: 'ImageLocality' }] } }), false);
  assert.equal(filterNames({ multiPoint: { disabled: [{ name: 'NodePorts' }] } }).includes('NodePorts'), false);
  assert.equal(profileWith({ postFilter: { disabled: [{ name: '*' }] } }).preemption, undefined);
  assert.notEqual(profileWith({}).preemption, undefined);
});

test('a plugin can have another weight, and comes first where it is enabled explicitly', () => {
  const plugins = { score: { enabled: [{ name: 'NodeResourcesFit', weight: 7 }] } };
  assert.deepEqual(Object.entries(weights(plugins))[0], ['NodeResourcesFit', 7]);
  assert.equal(weights({ multiPoint: { enabled: [{ name: 'NodeResourcesFit', weight: 5 }] } }).NodeResourcesFit, 5);
});

test('only enabled plugins are left if all others are disabled', () => {
  const plugins = { filter: { enabled: [{ name: 'NodePorts' }], disabled: [{ name: '*' }] } };
  assert.deepEqual(filterNames(plugins), ['NodePorts']);
});

test('an unknown plugin is rejected', () => {
  assert.throws(() => profileWith({ filter: { enabled: [{ name: 'Magic' }] } }), /plugin "Magic" does not exist/);
});
