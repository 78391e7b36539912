import assert from 'node:assert/strict';
import { test } from 'node:test';
import { makeContainer, makePod, type PodFixture, sidecar } from '../fixtures.ts';
import { cgroupParentOf, oomScoreOf } from './linux-resources.ts';
import { dnsConfigOf, logLinkOf, type NodeSettings, sandboxConfigOf } from './sandbox-config.ts';

const settings: NodeSettings = {
  cgroupDriver: 'SYSTEMD',
  hasUnifiedCgroups: true,
  clusterDns: ['10.96.0.10'],
  clusterDomain: 'cluster.local',
  hostDns: { servers: ['1.1.1.1'], searches: ['example.com'], options: ['ndots:1'] },
  rootDirectory: '/var/lib/kubelet',
  podLogsDirectory: '/var/log/pods',
  containerLogsDirectory: '/var/log/containers',
};
const configOf = (pod: PodFixture = {}, attempt = 0) => sandboxConfigOf(makePod(pod), attempt, settings);

test('a sandbox has the name, attempt, labels, annotations and log directory of its Pod', () => {
  const labels = { app: 'web', 'io.kubernetes.pod.name': 'forged' };
  const annotations = { 'kubernetes.io/config.source': 'api' };
  const config = configOf({ metadata: { labels, annotations } }, 2);
  assert.deepEqual(config.metadata, { name: 'web', namespace: 'default', uid: 'uid-1', attempt: 2 });
  assert.deepEqual(config.labels, {
    app: 'web',
    'io.kubernetes.pod.name': 'web',
    'io.kubernetes.pod.namespace': 'default',
    'io.kubernetes.pod.uid': 'uid-1',
  });
  assert.deepEqual(config.annotations, annotations);
  assert.equal(config.logDirectory, '/var/log/pods/default_web_uid-1');
});

test('a sandbox has the hostname of its Pod unless it uses the host network', () => {
  assert.equal(configOf().hostname, 'web');
  assert.equal(configOf({ hostname: 'other' }).hostname, 'other');
  assert.equal(configOf({ hostNetwork: true }).hostname, undefined);
  const full = configOf({ hostname: 'a', subdomain: 'b', setHostnameAsFQDN: true }).hostname;
  assert.equal(full, 'a.b.default.svc.cluster.local');
});

test('a sandbox maps the ports of its regular containers', () => {
  const web = makeContainer('c', {
    ports: [
      { containerPort: 80, hostPort: 8080, hostIP: '127.0.0.1' },
      { containerPort: 53, protocol: 'UDP' },
    ],
  });
  const init = sidecar('i', { ports: [{ containerPort: 1, hostPort: 1 }] });
  assert.deepEqual(configOf({ containers: [web], initContainers: [init] }).portMappings, [
    { containerPort: 80, protocol: 'TCP', hostPort: 8080, hostIp: '127.0.0.1' },
    { containerPort: 53, protocol: 'UDP' },
  ]);
});

test('a sandbox is privileged if any container is, and always has the default seccomp profile', () => {
  const privileged = (is: boolean) => [makeContainer('i', { securityContext: { privileged: is } })];
  const securityOf = (is: boolean) => configOf({ initContainers: privileged(is) }).linux?.securityContext;
  assert.deepEqual(securityOf(false), { privileged: false, seccomp: { profileType: 'RuntimeDefault' } });
  assert.equal(securityOf(true)?.privileged, true);
});

test('a sandbox has the security context of its Pod', () => {
  const securityContext = { runAsUser: 1, runAsGroup: 2, fsGroup: 3, supplementalGroups: [4] };
  assert.deepEqual(configOf({ securityContext }).linux?.securityContext, {
    privileged: false,
    seccomp: { profileType: 'RuntimeDefault' },
    namespaceOptions: { network: 'POD', ipc: 'POD', pid: 'CONTAINER' },
    runAsUser: 1,
    runAsGroup: 2,
    supplementalGroups: [3, 4],
    supplementalGroupsPolicy: 'Merge',
  });
});

test('a sandbox has the sysctls, overhead and resources of its Pod', () => {
  const { linux } = configOf({
    securityContext: { sysctls: [{ name: 'net/core/somaxconn', value: '1024' }] },
    overhead: { cpu: '100m', memory: '64Mi' },
    containers: [makeContainer('c', { resources: { requests: { cpu: '1' }, limits: { cpu: '1', memory: '1Gi' } } })],
  });
  assert.deepEqual(linux?.sysctls, { 'net.core.somaxconn': '1024' });
  assert.deepEqual(linux?.overhead, {
    cpuShares: 102,
    cpuPeriod: 100_000,
    cpuQuota: 10_000,
    memoryLimitInBytes: 64 * 2 ** 20,
  });
  assert.deepEqual(linux?.resources, {
    cpuShares: 1024,
    cpuPeriod: 100_000,
    cpuQuota: 100_000,
    memoryLimitInBytes: 2 ** 30,
  });
});

const groupRows = [
  ['Guaranteed', '/kubepods/poda-b', '/kubepods.slice/kubepods-poda_b.slice'],
  [
    'Burstable',
    '/kubepods/burstable/poda-b',
    '/kubepods.slice/kubepods-burstable.slice/kubepods-burstable-poda_b.slice',
  ],
  [
    'BestEffort',
    '/kubepods/besteffort/poda-b',
    '/kubepods.slice/kubepods-besteffort.slice/kubepods-besteffort-poda_b.slice',
  ],
] as const;
for (const [qosClass, cgroupfs, systemd] of groupRows) {
  test(`a ${qosClass} Pod has the cgroup parent of its QoS class`, () => {
    const pod = makePod({ metadata: { uid: 'a-b' }, status: { qosClass } });
    assert.deepEqual([cgroupParentOf(pod, 'CGROUPFS'), cgroupParentOf(pod, 'SYSTEMD')], [cgroupfs, systemd]);
  });
}

test('a sidecar has at most the OOM score of its regular containers, and a node-critical Pod the lowest', () => {
  const capacity = 1000 * 2 ** 20;
  const asking = (memory: string) => ({ resources: { requests: { memory } } });
  const helper = sidecar('s', asking('10Mi'));
  const containers = [makeContainer('a', asking('400Mi')), makeContainer('b', asking('200Mi'))];
  const pod = makePod({ containers, initContainers: [helper], status: { qosClass: 'Burstable' } });
  assert.equal(oomScoreOf(pod, helper, capacity), 800);
  assert.equal(oomScoreOf(pod, containers[0]!, capacity), 600);
  const critical = makePod({ priorityClassName: 'system-node-critical', priority: 2_000_001_000 });
  assert.equal(oomScoreOf(critical, makeContainer('c'), capacity), -997);
});

test('a log symlink has the names of its container, truncated to the file name limit', () => {
  const id = 'f'.repeat(64);
  assert.equal(logLinkOf(makePod(), { name: 'c', id }, settings), `/var/log/containers/web_default_c-${id}.log`);
  const long = logLinkOf(makePod({ metadata: { name: 'p'.repeat(253) } }), { name: 'c', id }, settings);
  assert.equal(long.slice('/var/log/containers/'.length).length, 255);
  assert.match(long, /\.log$/);
});

const dnsRows: readonly (readonly [name: string, pod: PodFixture, expected: object])[] = [
  [
    'is extended by its dnsConfig',
    { dnsConfig: { nameservers: ['9.9.9.9', '10.96.0.10'], searches: ['cluster.local', 'x.org'] } },
    {
      servers: ['10.96.0.10', '9.9.9.9'],
      searches: ['default.svc.cluster.local', 'svc.cluster.local', 'cluster.local', 'example.com', 'x.org'],
      options: ['ndots:5'],
    },
  ],
  [
    'has at most three servers',
    { dnsConfig: { nameservers: ['1', '2', '3'] }, dnsPolicy: 'None' },
    { servers: ['1', '2', '3'], searches: [], options: [] },
  ],
  [
    'is that of the node with the policy Default',
    { dnsPolicy: 'Default' },
    { servers: ['1.1.1.1'], searches: ['example.com'], options: ['ndots:1'] },
  ],
  [
    'overrides options by name, with or without values',
    { dnsConfig: { options: [{ name: 'ndots', value: '2' }, { name: 'edns0' }] } },
    {
      servers: ['10.96.0.10'],
      searches: ['default.svc.cluster.local', 'svc.cluster.local', 'cluster.local', 'example.com'],
      options: ['ndots:2', 'edns0'],
    },
  ],
];
for (const [name, pod, expected] of dnsRows) {
  test(`the DNS config of a Pod ${name}`, () => assert.deepEqual(dnsConfigOf(makePod(pod), settings), expected));
}

test('search domains are limited to 32 names and 2048 characters', () => {
  const many = Array.from({ length: 40 }, (_, index) => `d${index}.org`);
  assert.equal(dnsConfigOf(makePod({ dnsConfig: { searches: many } }), settings).searches?.length, 32);
  const long = Array.from({ length: 20 }, (_, index) => `${'x'.repeat(200)}${index}.org`);
  const searches = dnsConfigOf(makePod({ dnsConfig: { searches: long } }), settings).searches ?? [];
  assert.ok(searches.join(' ').length <= 2048 && searches.length > 10);
});
