import assert from 'node:assert/strict';
import { test } from 'node:test';
import type { Container } from '@kruise/api/core/container';
import type { Image } from '../../cri/messages.ts';
import { makeContainer, makePod, type PodFixture } from '../fixtures.ts';
import { type ContainerInputs, containerConfigOf } from './container-config.ts';
import type { NodeSettings } from './sandbox-config.ts';

const settings: NodeSettings = {
  cgroupDriver: 'CGROUPFS',
  hasUnifiedCgroups: true,
  clusterDns: ['10.96.0.10'],
  clusterDomain: 'cluster.local',
  hostDns: { servers: [], searches: [], options: [] },
  rootDirectory: '/var/lib/kubelet',
  podLogsDirectory: '/var/log/pods',
  containerLogsDirectory: '/var/log/containers',
};

/** Returns the configuration of a container `c` of a Pod. */
function configOf(container: Partial<Container> = {}, pod: PodFixture = {}, more: Partial<ContainerInputs> = {}) {
  const own = makeContainer('c', container);
  return containerConfigOf({
    pod: makePod({ containers: [own], ...pod }),
    container: own,
    restartCount: 0,
    imageRef: 'sha256:abc',
    image: undefined,
    environment: new Map([['WHO', 'world']]),
    mounts: [],
    settings,
    memoryCapacity: 2 ** 30,
    targetId: undefined,
    ...more,
  });
}
const imageOf = (more: Partial<Image>): Image => ({
  id: 'sha256:abc',
  repoTags: [],
  repoDigests: [],
  size: 1,
  username: '',
  pinned: false,
  ...more,
});
const securityOf = (container: Container['securityContext'], pod: PodFixture['securityContext'] = {}, image?: Image) =>
  configOf({ securityContext: container ?? {} }, { securityContext: pod ?? {} }, { image }).linux!.securityContext!;

test('a container config has the resolved image and the requested image name', () => {
  assert.deepEqual(configOf({ image: 'nginx' }).image, { image: 'sha256:abc', userSpecifiedImage: 'nginx' });
});

test('a container has its attempt, a log path and the four Pod labels', () => {
  const { metadata, logPath, labels } = configOf({}, { metadata: { labels: { app: 'web' } } }, { restartCount: 3 });
  assert.deepEqual([metadata, logPath], [{ name: 'c', attempt: 3 }, 'c/3.log']);
  assert.deepEqual(labels, {
    'io.kubernetes.pod.name': 'web',
    'io.kubernetes.pod.namespace': 'default',
    'io.kubernetes.pod.uid': 'uid-1',
    'io.kubernetes.container.name': 'c',
  });
});

test('container annotations record the spec hash and the restart count', () => {
  const { annotations } = configOf(
    { image: 'foo/image:v1', terminationMessagePath: '/dev/termination-log', terminationMessagePolicy: 'File' },
    {},
    { restartCount: 2 },
  );
  const { 'io.kubernetes.container.hash': hash, ...others } = annotations!;
  assert.match(hash!, /^[1-9a-f][0-9a-f]*$/);
  assert.deepEqual(others, {
    'io.kubernetes.container.restartCount': '2',
    'io.kubernetes.container.terminationMessagePath': '/dev/termination-log',
    'io.kubernetes.container.terminationMessagePolicy': 'File',
  });
});

test('container annotations record grace periods, hooks and ports if present', () => {
  const { annotations } = configOf(
    { lifecycle: { preStop: { exec: { command: ['a', '<b>'] } } }, ports: [{ containerPort: 80, protocol: 'TCP' }] },
    { metadata: { deletionGracePeriodSeconds: 5 }, terminationGracePeriodSeconds: 30 },
  );
  assert.equal(annotations!['io.kubernetes.pod.deletionGracePeriod'], '5');
  assert.equal(annotations!['io.kubernetes.pod.terminationGracePeriod'], '30');
  assert.equal(annotations!['io.kubernetes.container.preStopHandler'], '{"exec":{"command":["a","\\u003cb\\u003e"]}}');
  assert.equal(annotations!['io.kubernetes.container.ports'], '[{"containerPort":80,"protocol":"TCP"}]');
});

test('commands and arguments expand environment variables', () => {
  const { command, args, envs } = configOf({ command: ['echo', '$(WHO)'], args: ['$(NOBODY)', '$$(WHO)'] });
  assert.deepEqual(
    [command, args],
    [
      ['echo', 'world'],
      ['$(NOBODY)', '$(WHO)'],
    ],
  );
  assert.deepEqual(envs, [{ key: 'WHO', value: 'world' }]);
});

const namespaceRows: readonly (readonly [name: string, pod: PodFixture, targetId: string | undefined, is: object])[] = [
  ['its own process namespace', {}, undefined, { network: 'POD', ipc: 'POD', pid: 'CONTAINER' }],
  [
    'the process namespace of its Pod',
    { shareProcessNamespace: true },
    undefined,
    { network: 'POD', ipc: 'POD', pid: 'POD' },
  ],
  [
    'the namespaces of the node',
    { hostNetwork: true, hostIPC: true, hostPID: true },
    undefined,
    { network: 'NODE', ipc: 'NODE', pid: 'NODE' },
  ],
  [
    'the process namespace of its target container',
    {},
    'abc',
    { network: 'POD', ipc: 'POD', pid: 'TARGET', targetId: 'abc' },
  ],
  [
    'the shared process namespace of its Pod, whatever its target is',
    { shareProcessNamespace: true },
    'abc',
    { network: 'POD', ipc: 'POD', pid: 'POD' },
  ],
];
for (const [name, pod, targetId, expected] of namespaceRows) {
  test(`a container has ${name}`, () => {
    assert.deepEqual(configOf({}, pod, { targetId }).linux?.securityContext?.namespaceOptions, expected);
  });
}

const userRows: readonly (readonly [
  name: string,
  own: object,
  shared: object,
  image: Image | undefined,
  is: object,
])[] = [
  ['its own runAsUser', { runAsUser: 5 }, { runAsUser: 6 }, imageOf({ uid: 7 }), { runAsUser: 5 }],
  ['the runAsUser of its Pod', {}, { runAsUser: 6 }, imageOf({ uid: 7 }), { runAsUser: 6 }],
  ['the numeric user of its image', {}, {}, imageOf({ uid: 7 }), { runAsUser: 7 }],
  ['the named user of its image', {}, {}, imageOf({ username: 'web' }), { runAsUsername: 'web' }],
  ['root by default', {}, {}, imageOf({}), { runAsUser: 0 }],
];
for (const [name, own, shared, image, expected] of userRows) {
  test(`a container runs as ${name}`, () => {
    const { runAsUser, runAsUsername } = securityOf(own, shared, image);
    const found = { ...(runAsUser === undefined ? {} : { runAsUser }), ...(runAsUsername ? { runAsUsername } : {}) };
    assert.deepEqual(found, expected);
  });
}

const where = '(pod: "web_default(uid-1)", container: c)';
const rootRows: readonly (readonly [name: string, own: object, image: Image | undefined, message: string])[] = [
  ['as 0', { runAsUser: 0 }, undefined, `container's runAsUser breaks non-root policy ${where}`],
  [
    'as the default user of its image',
    {},
    imageOf({ uid: 0 }),
    `container has runAsNonRoot and image will run as root ${where}`,
  ],
  [
    'as a non-numeric user',
    {},
    imageOf({ username: 'web' }),
    `container has runAsNonRoot and image has non-numeric user (web), cannot verify user is non-root ${where}`,
  ],
];
for (const [name, own, image, message] of rootRows) {
  test(`a container with runAsNonRoot does not run ${name}`, () => {
    const securityContext = { runAsNonRoot: true, ...own };
    assert.throws(() => configOf({ securityContext }, {}, { image }), { message });
  });
}

test('a container with runAsNonRoot runs as a non-root user', () => {
  assert.equal(securityOf({ runAsNonRoot: true, runAsUser: 5 }).runAsUser, 5);
  assert.equal(securityOf({}, { runAsNonRoot: true }, imageOf({ uid: 7 })).runAsUser, 7);
});

const seccompRows: readonly (readonly [name: string, own: object, shared: object, is: object])[] = [
  ['Unconfined by default', {}, {}, { profileType: 'Unconfined' }],
  ['that of its Pod', {}, { seccompProfile: { type: 'RuntimeDefault' } }, { profileType: 'RuntimeDefault' }],
  [
    'its own',
    { seccompProfile: { type: 'Unconfined' } },
    { seccompProfile: { type: 'RuntimeDefault' } },
    { profileType: 'Unconfined' },
  ],
  [
    'a file on the node',
    { seccompProfile: { type: 'Localhost', localhostProfile: 'a/b.json' } },
    {},
    { profileType: 'Localhost', localhostRef: '/var/lib/kubelet/seccomp/a/b.json' },
  ],
];
for (const [name, own, shared, expected] of seccompRows) {
  test(`the seccomp profile of a container is ${name}`, () => {
    assert.deepEqual(securityOf(own, shared).seccomp, expected);
  });
}

const apparmorRows = [
  [{ type: 'RuntimeDefault' }, { profileType: 'RuntimeDefault' }, 'runtime/default'],
  [{ type: 'Unconfined' }, { profileType: 'Unconfined' }, 'unconfined'],
  [{ type: 'Localhost', localhostProfile: 'web' }, { profileType: 'Localhost', localhostRef: 'web' }, 'localhost/web'],
] as const;
for (const [appArmorProfile, profile, text] of apparmorRows) {
  test(`the AppArmor profile of a container is set in both fields: ${text}`, () => {
    const { apparmor, apparmorProfile } = securityOf({ appArmorProfile });
    assert.deepEqual([apparmor, apparmorProfile], [profile, text]);
  });
}

test('some paths are masked and some are read-only', () => {
  const masked = securityOf({});
  assert.deepEqual(masked.maskedPaths, [
    '/proc/asound',
    '/proc/acpi',
    '/proc/kcore',
    '/proc/keys',
    '/proc/latency_stats',
    '/proc/timer_list',
    '/proc/timer_stats',
    '/proc/sched_debug',
    '/proc/scsi',
    '/sys/firmware',
    '/sys/devices/virtual/powercap',
  ]);
  assert.deepEqual(masked.readonlyPaths, ['/proc/bus', '/proc/fs', '/proc/irq', '/proc/sys', '/proc/sysrq-trigger']);
  const { maskedPaths = [], readonlyPaths = [] } = securityOf({ procMount: 'Unmasked' });
  assert.deepEqual([...maskedPaths, ...readonlyPaths], []);
});

test('noNewPrivs is set only if privilege escalation is disallowed', () => {
  assert.equal(securityOf({}).noNewPrivs, false);
  assert.equal(securityOf({ allowPrivilegeEscalation: true }).noNewPrivs, false);
  assert.equal(securityOf({ allowPrivilegeEscalation: false }).noNewPrivs, true);
});

test('a container has the supplemental groups of its Pod', () => {
  const { supplementalGroups, supplementalGroupsPolicy } = securityOf(
    {},
    { fsGroup: 7, supplementalGroups: [8, 9], supplementalGroupsPolicy: 'Strict' },
  );
  assert.deepEqual([supplementalGroups, supplementalGroupsPolicy], [[7, 8, 9], 'Strict']);
});

test('container resources are converted to cgroup settings', () => {
  const resources = { requests: { cpu: '500m', memory: '512Mi' }, limits: { cpu: '1', memory: '1Gi' } };
  assert.deepEqual(configOf({ resources }).linux?.resources, {
    cpuShares: 512,
    cpuPeriod: 100_000,
    cpuQuota: 100_000,
    memoryLimitInBytes: 2 ** 30,
    oomScoreAdj: 500,
    unified: { 'memory.oom.group': '1' },
  });
});

test('a missing request defaults to the limit, and a missing limit means unlimited', () => {
  assert.equal(configOf({ resources: { limits: { cpu: '2' } } }).linux?.resources?.cpuShares, 2048);
  const { cpuQuota = 0, memoryLimitInBytes = 0 } = configOf({}).linux!.resources!;
  assert.deepEqual([cpuQuota, memoryLimitInBytes], [0, 0]);
});
