import assert from 'node:assert/strict';
import { test } from 'node:test';
import { defaultConfiguration, readConfiguration } from './configuration.ts';
import { createProfile } from './profile.ts';
import { emptyParts } from './testing/parts.ts';

const header = { apiVersion: 'kubescheduler.config.k8s.io/v1', kind: 'KubeSchedulerConfiguration' };

test('a configuration that says nothing is the default', () => {
  assert.deepEqual(readConfiguration(header), defaultConfiguration);
});

test('what is said of all profiles holds where a profile says nothing else', () => {
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

test('the election is configured in words of time', () => {
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

test('what extenders see to is not the business of the scheduler, if they say so', () => {
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
  test(`a configuration with ${JSON.stringify(fields)} is refused`, () => {
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

test('by default every plugin has its part, in order', () => {
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

test('a plugin can be taken out of one part, or of all', () => {
  assert.equal('ImageLocality' in weights({ score: { disabled: [{ name: 'ImageLocality' }] } }), false);
  assert.equal(filterNames({ multiPoint: { disabled: [{ name: 'NodePorts' }] } }).includes('NodePorts'), false);
  assert.equal(profileWith({ postFilter: { disabled: [{ name: '*' }] } }).preemption, undefined);
  assert.notEqual(profileWith({}).preemption, undefined);
});

test('a plugin can be given another weight, and comes first where it is named', () => {
  const plugins = { score: { enabled: [{ name: 'NodeResourcesFit', weight: 7 }] } };
  assert.deepEqual(Object.entries(weights(plugins))[0], ['NodeResourcesFit', 7]);
  assert.equal(weights({ multiPoint: { enabled: [{ name: 'NodeResourcesFit', weight: 5 }] } }).NodeResourcesFit, 5);
});

test('only what is named is left where all else is taken out', () => {
  const plugins = { filter: { enabled: [{ name: 'NodePorts' }], disabled: [{ name: '*' }] } };
  assert.deepEqual(filterNames(plugins), ['NodePorts']);
});

test('a plugin that does not exist is refused', () => {
  assert.throws(() => profileWith({ filter: { enabled: [{ name: 'Magic' }] } }), /plugin "Magic" does not exist/);
});
