import assert from 'node:assert/strict';
import { test } from 'node:test';
import type { Container } from '@kruise/api/core/container';
import type { Pod } from '@kruise/api/core/pod';
import type { PodSpec } from '@kruise/api/core/pod-spec';
import type { SidecarContainer, SidecarSet, SidecarSetSpec } from '@kruise/api/kruise/sidecarset';
import { instantOf } from '@kruise/values/time';
import { withSidecarsOf } from './inject.ts';
import { defaultSidecarSet } from './webhook/default.ts';

const now = instantOf(2026, 1, 1);
const side = (more: object = {}) => ({ name: 'side', image: 'side:v1', ...more }) as SidecarContainer;
const set = (spec: SidecarSetSpec = {}, name = 'set'): SidecarSet => ({
  ...defaultSidecarSet({
    apiVersion: 'apps.kruise.io/v1beta1',
    kind: 'SidecarSet',
    metadata: { name },
    spec: { selector: { matchLabels: { app: 'web' } }, containers: [side()], ...spec },
  }),
  status: { matchedPods: 0, updatedPods: 0, readyPods: 0, latestRevision: `${name}-1` },
});
const main = (more: object = {}) => ({ name: 'main', image: 'app:v1', ...more }) as Container;
const pod = (spec: Partial<PodSpec> = {}, metadata: Partial<Pod['metadata']> = {}): Pod => ({
  apiVersion: 'v1',
  kind: 'Pod',
  metadata: { name: 'a', namespace: 'default', ...metadata },
  spec: { containers: [main()], ...spec },
});
const inject = (into: Pod, sets: readonly SidecarSet[], sortsByName = false) =>
  withSidecarsOf(into, sets, { sortsByName, now });
const names = (list: readonly { readonly name?: string }[] | undefined) =>
  (list ?? []).map(({ name }) => name).join(' ');
const sidecarOf = ({ spec }: Pod, name = 'side') => spec?.containers.find((each) => each.name === name);
const envOf = (container: Container | undefined) =>
  (container?.env ?? []).map(({ name, value }) => (value === undefined ? name : `${name}=${value}`));

test('an injected Pod is marked with the SidecarSet, its hash and the time', () => {
  const { metadata, spec } = inject(pod(), [set()]);
  const time = '"updateTimestamp":"2026-01-01T00:00:00Z"';
  const sidecars = '"sidecarSetName":"set","sidecarList":["side"]';
  const [hash, bare] = Object.values(set().metadata.annotations ?? {});
  assert.deepEqual(metadata.annotations, {
    'kruise.io/sidecarset-hash': `{"set":{${time},"hash":"${hash}",${sidecars},"controllerRevision":"set-1"}}`,
    'kruise.io/sidecarset-hash-without-image': `{"set":{${time},"hash":"${bare}",${sidecars}}}`,
    'kruise.io/sidecarset-injected-list': 'set',
  });
  assert.deepEqual(spec?.containers[0], {
    name: 'side',
    image: 'side:v1',
    env: [{ name: 'IS_INJECTED', value: 'true' }],
    resources: {},
    terminationMessagePath: '/dev/termination-log',
    terminationMessagePolicy: 'File',
    imagePullPolicy: 'IfNotPresent',
  });
});

const after = { podInjectPolicy: 'AfterAppContainer' };
const places: {
  name: string;
  sets: readonly SidecarSet[];
  own?: readonly Container[];
  sorted?: boolean;
  order: string;
}[] = [
  { name: "sidecars are placed before the Pod's containers", sets: [set()], order: 'side main' },
  {
    name: "sidecars are placed after the Pod's containers",
    sets: [set({ containers: [side(after)] })],
    order: 'main side',
  },
  {
    name: 'sidecars keep the order of their SidecarSets',
    sets: [
      set({ containers: [side({ name: 'z' }), side({ name: 'b' })] }),
      set({ containers: [side({ name: 'a' })] }, 'two'),
    ],
    order: 'z b a main',
  },
  {
    name: 'sidecars are sorted by name',
    sets: [set({ containers: [side({ name: 'c' }), side({ name: 'a', ...after }), side({ name: 'b' })] })],
    own: [main(), main({ name: 'other' })],
    sorted: true,
    order: 'b c main other a',
  },
  {
    name: 'a container of the same name is replaced in its position',
    sets: [set()],
    own: [main(), side({ image: 'x' })],
    order: 'main side',
  },
];
for (const { name, sets, own = [main()], sorted = false, order } of places) {
  test(`${name}: ${order}`, () => {
    const { spec } = inject(pod({ containers: own }), sets, sorted);
    assert.equal(names(spec?.containers), order);
    assert.ok(!spec?.containers.some(({ image }) => image === 'x'));
  });
}

test('init containers come after those of the Pod by default, sorted by name', () => {
  const initContainers = [
    side({ name: 'b' }),
    side({ name: 'a' }),
    side({ name: 'c', podInjectPolicy: 'BeforeAppContainer' }),
  ];
  const { spec } = inject(pod({ initContainers: [main({ name: 'own' })] }), [set({ initContainers })]);
  assert.equal(names(spec?.initContainers), 'c own a b');
  assert.deepEqual(envOf(spec?.initContainers?.[2]), ['IS_INJECTED=true']);
});

test('used volumes are added, and those of the Pod stay', () => {
  const volumeMounts = ['logs', 'shared', 'unknown'].map((name) => ({ name, mountPath: `/${name}` }));
  const volumes = [{ name: 'unused' }, { name: 'shared', emptyDir: { medium: 'Memory' } }, { name: 'logs' }];
  const { spec } = inject(pod({ volumes: [{ name: 'shared' }] }), [
    set({ containers: [side({ volumeMounts })], volumes }),
  ]);
  assert.deepEqual(spec?.volumes, [{ name: 'shared' }, { name: 'logs', emptyDir: {} }]);
});

test('secrets are added once each, those of the Pod first', () => {
  const { spec } = inject(pod({ imagePullSecrets: [{ name: 'own' }] }), [
    set({ imagePullSecrets: [{ name: 'pull' }, { name: 'own' }, { name: 'pull' }] }),
  ]);
  assert.equal(names(spec?.imagePullSecrets), 'own pull');
});

test('mounts with free paths are shared, with the variables of their paths', () => {
  const app = main({
    env: [
      { name: 'POD_NAME', value: 'a' },
      { name: 'OD_NAME', value: 'b' },
      { name: 'OTHER', value: 'c' },
    ],
    volumeMounts: [
      { name: 'data', mountPath: '/data' },
      { name: 'conf', mountPath: '/conf', subPathExpr: 'foo/$(POD_NAME)/$(OD_NAME)/$(MISSING)' },
      { name: 'plain', mountPath: '/plain', subPathExpr: 'foo' },
      { name: 'dev', mountPath: '/dev/x' },
    ],
  });
  const sidecar = side({
    shareVolumePolicy: { type: 'enabled' },
    volumeMounts: [{ name: 'own', mountPath: '/data' }],
    volumeDevices: [{ name: 'block', devicePath: '/dev/x' }],
  });
  const made = sidecarOf(inject(pod({ containers: [app] }), [set({ containers: [sidecar] })]));
  assert.equal(names(made?.volumeMounts), 'own conf plain');
  assert.deepEqual(envOf(made), ['IS_INJECTED=true', 'POD_NAME=a', 'OD_NAME=b']);
});

test('mounts of other sidecars are not shared', () => {
  const injected = main({
    name: 'x',
    env: [{ name: 'IS_INJECTED', value: 'true' }],
    volumeMounts: [{ name: 'v', mountPath: '/v' }],
  });
  const sidecar = side({ shareVolumePolicy: { type: 'enabled' } });
  const made = sidecarOf(inject(pod({ containers: [main(), injected] }), [set({ containers: [sidecar] })]));
  assert.equal(made?.volumeMounts, undefined);
});

test('devices are shared only on request', () => {
  const app = main({
    volumeDevices: [
      { name: 'app', devicePath: '/dev/a' },
      { name: 'app', devicePath: '/dev/own' },
    ],
  });
  const own = { volumeDevices: [{ name: 'own', devicePath: '/dev/own' }] };
  const devices = (more: object) =>
    sidecarOf(
      inject(pod({ containers: [app] }), [set({ containers: [side({ ...own, ...more })] })]),
    )?.volumeDevices?.map(({ devicePath }) => devicePath);
  assert.deepEqual(devices({}), ['/dev/own']);
  assert.deepEqual(devices({ shareVolumeDevicePolicy: { type: 'disabled' } }), ['/dev/own']);
  assert.deepEqual(devices({ shareVolumeDevicePolicy: { type: 'enabled' } }), ['/dev/own', '/dev/a']);
});

test('variables are transferred by the name of a container, or by a label or annotation with that name', () => {
  const app = main({ env: ['A', 'B', 'C'].map((name) => ({ name, value: `main ${name}` })) });
  const second = main({ name: 'second', env: [{ name: 'D', value: 'second D' }] });
  const from = (fieldPath: string) => ({
    sourceContainerNameFrom: { fieldRef: { fieldPath } },
    sourceContainerName: 'x',
  });
  const transferEnv = [
    { sourceContainerName: 'main', envName: 'A' },
    { sourceContainerName: 'main', envNames: ['C', 'B', 'MISSING'] },
    { ...from("metadata.labels['source']"), envName: 'D' },
    { ...from("metadata.annotations['nobody']"), envName: 'E' },
    { ...from('metadata.name'), envName: 'A' },
  ];
  const sidecar = side({ env: [{ name: 'A', value: 'own' }], transferEnv });
  const given = pod({ containers: [app, second] }, { labels: { source: 'second' } });
  assert.deepEqual(envOf(sidecarOf(inject(given, [set({ containers: [sidecar] })]))), [
    'A=own',
    'IS_INJECTED=true',
    'B=main B',
    'C=main C',
    'D=second D',
  ]);
});

const hot = side({ upgradeStrategy: { upgradeType: 'HotUpgrade', hotUpgradeEmptyImage: 'empty:v1' } });

test('a hot-upgrade sidecar becomes two containers, of which the first works', () => {
  const working = 'kruise.io/sidecarset-working-hotupgrade-container';
  const { metadata, spec } = inject(pod({}, { annotations: { [working]: '{"z":"z-2"}' } }), [
    set({ containers: [hot] }),
  ]);
  assert.deepEqual(
    spec?.containers.map(({ name, image }) => `${name} ${image}`),
    ['side-1 side:v1', 'side-2 empty:v1', 'main app:v1'],
  );
  assert.deepEqual(spec?.containers[1]?.env?.slice(1), [
    {
      name: 'SIDECARSET_VERSION',
      valueFrom: { fieldRef: { fieldPath: "metadata.annotations['version.sidecarset.kruise.io/side-2']" } },
    },
    {
      name: 'SIDECARSET_VERSION_ALT',
      valueFrom: { fieldRef: { fieldPath: "metadata.annotations['versionalt.sidecarset.kruise.io/side-2']" } },
    },
  ]);
  const { annotations = {} } = metadata;
  assert.equal(annotations[working], '{"side":"side-1","z":"z-2"}');
  const versions = ['version', 'versionalt'].flatMap((word) =>
    ['side-1', 'side-2'].map((name) => annotations[`${word}.sidecarset.kruise.io/${name}`]),
  );
  assert.deepEqual(versions, ['1', '0', '0', '1']);
});

test('only restartable init containers become pairs', () => {
  const initContainers = [
    { ...hot, name: 'ends' },
    { ...hot, name: 'native', restartPolicy: 'Always' } as SidecarContainer,
  ];
  const { metadata, spec } = inject(pod(), [set({ initContainers })]);
  assert.equal(names(spec?.initContainers), 'ends native-1 native-2');
  assert.match(metadata.annotations?.['kruise.io/sidecarset-hash'] ?? '', /"sidecarList":\["native","side"\]/);
});

test('older marks are kept and rewritten', () => {
  const annotations = {
    'kruise.io/sidecarset-hash': '{"old":"x"}',
    'kruise.io/sidecarset-hash-without-image': '{"old":"y"}',
    'kruise.io/sidecarset-injected-list': 'old',
  };
  const { metadata } = inject(pod({}, { annotations }), [set()]);
  const expected = '{"old":{"updateTimestamp":null,"hash":"x","sidecarSetName":"old","sidecarList":null},"set":{';
  assert.ok(metadata.annotations?.['kruise.io/sidecarset-hash']?.startsWith(expected));
  assert.equal(metadata.annotations?.['kruise.io/sidecarset-injected-list'], 'old,set');
});

test('unreadable marks are an error that names the annotation', () => {
  const annotations = { 'kruise.io/sidecarset-hash': 'what?' };
  assert.throws(
    () => inject(pod({}, { annotations }), [set()]),
    /pod\(default\/a\) invalid annotations\[kruise.io\/sidecarset-hash\] value what\?/,
  );
});

const metadata: {
  policy: 'Retain' | 'Overwrite' | 'MergePatchJson';
  has?: string;
  patch: string;
  gives: string | RegExp;
}[] = [
  { policy: 'Retain', patch: 'new', gives: 'new' },
  { policy: 'Retain', has: 'old', patch: 'new', gives: 'old' },
  { policy: 'Overwrite', has: 'old', patch: 'new', gives: 'new' },
  { policy: 'MergePatchJson', patch: '{"envoy": 2}', gives: '{"envoy": 2}' },
  { policy: 'MergePatchJson', has: '', patch: '{"envoy": 2}', gives: '{"envoy": 2}' },
  { policy: 'MergePatchJson', has: '{"log-agent":1}', patch: '{"envoy":2}', gives: '{"envoy":2,"log-agent":1}' },
  { policy: 'MergePatchJson', has: '{"a":1}', patch: '{"a":null}', gives: '{}' },
  { policy: 'MergePatchJson', has: '[1]', patch: '{"a":1}', gives: '{"a":1}' },
  { policy: 'MergePatchJson', has: 'no json', patch: '{}', gives: /^Invalid JSON Document$/ },
  { policy: 'MergePatchJson', has: 'null', patch: '{}', gives: /^Invalid JSON Document$/ },
  { policy: 'MergePatchJson', has: '{}', patch: 'no json', gives: /^Invalid JSON Patch$/ },
  { policy: 'MergePatchJson', has: '{}', patch: '1', gives: /^Invalid JSON Patch$/ },
];
for (const { policy, has, patch, gives } of metadata) {
  test(`${policy} of ${patch} on ${has} is ${gives}`, () => {
    const given = pod({}, has === undefined ? {} : { annotations: { key: has } });
    const run = () =>
      inject(given, [set({ patchPodMetadata: [{ annotations: { key: patch }, patchPolicy: policy }] })]);
    if (typeof gives === 'string') assert.equal(run().metadata.annotations?.['key'], gives);
    else assert.throws(run, { name: 'ParseError', message: gives });
  });
}

type Amounts = { readonly [resource: string]: string };
const sized = (name: string, limits: Amounts, requests: Amounts = {}) =>
  main({ name, resources: { limits, requests } });
const two = [
  sized('main', { cpu: '200m', memory: '600Mi' }, { cpu: '50m', memory: '100Mi' }),
  sized('large', { cpu: '400m', memory: '200Mi' }, { cpu: '100m' }),
];
const expressions = {
  limits: { cpu: 'max(cpu*50%,50m)', memory: 'memory*30%' },
  requests: { cpu: 'max(cpu*50%,50m)' },
};
const policies: {
  name: string;
  mode?: string;
  pattern?: string;
  containers?: readonly Container[];
  init?: readonly Container[];
  expr?: object;
  gives: object | RegExp;
}[] = [
  {
    name: 'one container',
    pattern: '^main$',
    gives: { limits: { cpu: '100m', memory: '180Mi' }, requests: { cpu: '50m' } },
  },
  { name: 'the sum of two', gives: { limits: { cpu: '300m', memory: '240Mi' }, requests: { cpu: '75m' } } },
  {
    name: 'the greatest of two',
    mode: 'max',
    gives: { limits: { cpu: '200m', memory: '180Mi' }, requests: { cpu: '50m' } },
  },
  {
    name: 'one without a limit',
    containers: [two[0]!, sized('large', { memory: '200Mi' })],
    gives: { limits: { memory: '240Mi' }, requests: { cpu: '50m' } },
  },
  {
    name: 'no limit even where the expression is constant',
    containers: [main()],
    expr: { limits: { memory: '100Mi' }, requests: { memory: '100Mi' } },
    gives: { requests: { memory: '100Mi' } },
  },
  {
    name: 'missing requests',
    containers: [main()],
    expr: { requests: { cpu: 'cpu*10%', memory: 'memory*10% + 10Mi' } },
    gives: { requests: { cpu: '0', memory: '10Mi' } },
  },
  { name: 'numbers of cores', expr: { limits: { cpu: '0.5' } }, gives: { limits: { cpu: '500m' } } },
  {
    name: 'native sidecars of the Pod, and no other init containers',
    init: [{ ...sized('native', { cpu: '400m' }), restartPolicy: 'Always' }, sized('ends', { cpu: '9' })],
    expr: { limits: { cpu: 'cpu' } },
    gives: { limits: { cpu: '1' } },
  },
  { name: 'an unknown way of measuring', mode: 'mean', gives: { requests: { cpu: '50m' } } },
  { name: 'no container at all', pattern: '^x$', gives: /^no containers match the regex pattern "\^x\$"$/ },
  {
    name: 'a bad pattern',
    pattern: '(',
    gives: /^failed to get target containers: invalid regex pattern "\(": error parsing/,
  },
  {
    name: 'values that cannot be multiplied',
    expr: { limits: { cpu: 'cpu*cpu' } },
    gives: /^failed to evaluate CPU limits expression: failed to parse expression "cpu\*cpu": multiplication of two/,
  },
  {
    name: 'less than nothing',
    expr: { requests: { memory: 'memory - 9Gi' } },
    gives: /^failed to evaluate memory requests expression: .*: calculation result is negative: /,
  },
];
for (const { name, mode = 'sum', pattern = '.*', containers = two, init = [], expr = expressions, gives } of policies) {
  test(`resources by ${name}`, () => {
    const resourcesPolicy = { targetContainersMode: mode, targetContainersNameRegex: pattern, resourcesExpr: expr };
    const other = set({ containers: [side({ name: 'other', resources: { limits: { cpu: '64' } } })] }, 'other');
    const run = () =>
      inject(pod({ containers, initContainers: init }), [other, set({ containers: [side({ resourcesPolicy })] })]);
    if (gives instanceof RegExp) assert.throws(run, { name: 'ParseError', message: gives });
    else assert.deepEqual(sidecarOf(run())?.resources, gives);
  });
}
