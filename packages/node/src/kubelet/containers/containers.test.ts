import assert from 'node:assert/strict';
import { test } from 'node:test';
import { virtualClock } from '@kruise/values/virtual-clock';
import { makeContainer, makePod } from '../fixtures.ts';
import { createBackOff } from './back-off.ts';
import { containerHash } from './containers.ts';
import { cgroupParentOf, oomScoreOf, quotaOf, sharesOf } from './linux-resources.ts';
import { credentialsFor } from './pull-secrets.ts';
import { dnsConfigOf, hostnameOf, type NodeSettings, sandboxConfigOf } from './sandbox-config.ts';

test('the container hash depends on name and image', () => {
  assert.equal(containerHash({ name: 'test_container', image: 'foo/image:v1' }), '8e45cbd0');
  assert.equal(containerHash(makeContainer('c', { env: [{ name: 'A' }] })), containerHash(makeContainer('c')));
});

test('the backoff doubles up to five minutes and resets after ten', () => {
  const clock = virtualClock();
  const backOff = createBackOff(clock);
  const delays: number[] = [];
  for (let time = 0; time < 8; time++) {
    backOff.advance('c', clock.now());
    delays.push(backOff.delayOf('c') / 1000);
    clock.advance(backOff.delayOf('c'));
  }
  assert.deepEqual(delays, [10, 20, 40, 80, 160, 300, 300, 300]);
  clock.advance(600_001);
  assert.equal(backOff.isWaiting('c', clock.now()), false);
  backOff.advance('c', clock.now());
  assert.equal(backOff.delayOf('c'), 10_000);
});

test('CPU is converted to shares and quota', () => {
  assert.deepEqual([0, 1, 100, 1000, 1_000_000].map(sharesOf), [2, 2, 102, 1024, 262_144]);
  assert.deepEqual(
    [0, 1, 10, 1500].map((milli) => quotaOf(milli)),
    [0, 1000, 1000, 150_000],
  );
});

const capacity = 1000 * 2 ** 20;
const scoreRows: readonly (readonly [
  name: string,
  qosClass: 'Guaranteed' | 'Burstable' | 'BestEffort',
  request: string | undefined,
  score: number,
])[] = [
  ['a Guaranteed Pod has the lowest OOM score', 'Guaranteed', '500Mi', -997],
  ['a BestEffort Pod has the highest OOM score', 'BestEffort', undefined, 1000],
  ['a Pod that requests half of the memory has half of the OOM score', 'Burstable', '500Mi', 500],
  ['a Pod that requests almost nothing has an OOM score just below BestEffort', 'Burstable', '1Ki', 999],
  ['a Pod that requests all memory has the lowest Burstable OOM score', 'Burstable', '1000Mi', 3],
];
for (const [name, qosClass, request, score] of scoreRows) {
  test(name, () => {
    const container = makeContainer('c', request ? { resources: { requests: { memory: request } } } : {});
    assert.equal(oomScoreOf(makePod({ containers: [container], status: { qosClass } }), container, capacity), score);
  });
}

test('a Pod has a parent cgroup by QoS class', () => {
  const pod = makePod({ metadata: { uid: 'a-b' }, status: { qosClass: 'Burstable' } });
  assert.equal(cgroupParentOf(pod, 'CGROUPFS'), '/kubepods/burstable/poda-b');
  assert.equal(
    cgroupParentOf(pod, 'SYSTEMD'),
    '/kubepods.slice/kubepods-burstable.slice/kubepods-burstable-poda_b.slice',
  );
  const guaranteed = makePod({ metadata: { uid: 'a-b' }, status: { qosClass: 'Guaranteed' } });
  assert.equal(cgroupParentOf(guaranteed, 'SYSTEMD'), '/kubepods.slice/kubepods-poda_b.slice');
  assert.equal(cgroupParentOf(guaranteed, 'CGROUPFS', '/kruise-1'), '/kruise-1/kubepods/poda-b');
  assert.equal(
    cgroupParentOf(guaranteed, 'SYSTEMD', '/kruise-1'),
    '/kruise_1.slice/kruise_1-kubepods.slice/kruise_1-kubepods-poda_b.slice',
  );
});

const settings: NodeSettings = {
  cgroupDriver: 'CGROUPFS',
  hasUnifiedCgroups: true,
  clusterDns: ['10.96.0.10'],
  clusterDomain: 'cluster.local',
  hostDns: { servers: ['1.1.1.1'], searches: ['example.com'], options: ['ndots:1'] },
  rootDirectory: '/var/lib/kubelet',
  podLogsDirectory: '/var/log/pods',
  containerLogsDirectory: '/var/log/containers',
};

test('a Pod uses the cluster DNS unless it uses the host network', () => {
  assert.deepEqual(dnsConfigOf(makePod(), settings), {
    servers: ['10.96.0.10'],
    searches: ['default.svc.cluster.local', 'svc.cluster.local', 'cluster.local', 'example.com'],
    options: ['ndots:5'],
  });
  assert.deepEqual(dnsConfigOf(makePod({ hostNetwork: true }), settings).servers, ['1.1.1.1']);
  assert.deepEqual(
    dnsConfigOf(makePod({ hostNetwork: true, dnsPolicy: 'ClusterFirstWithHostNet' }), settings).servers,
    ['10.96.0.10'],
  );
  const dnsConfig = { nameservers: ['9.9.9.9'], options: [{ name: 'ndots', value: '2' }] };
  assert.deepEqual(dnsConfigOf(makePod({ dnsPolicy: 'None', dnsConfig }), settings), {
    servers: ['9.9.9.9'],
    searches: [],
    options: ['ndots:2'],
  });
});

const hostnameRows: readonly (readonly [
  name: string,
  pod: Parameters<typeof makePod>[0],
  hostname: string | undefined,
])[] = [
  ['the name of the Pod by default', {}, 'web'],
  ['its spec.hostname', { hostname: 'one' }, 'one'],
  ['the short name by default', { hostname: 'one', subdomain: 'cluster' }, 'one'],
  [
    'the FQDN with setHostnameAsFQDN',
    { hostname: 'one', subdomain: 'cluster', setHostnameAsFQDN: true },
    'one.cluster.default.svc.cluster.local',
  ],
  ['unset for the host network', { hostNetwork: true }, undefined],
];
for (const [name, fixture, hostname] of hostnameRows) {
  test(`the hostname of a Pod is ${name}`, () =>
    assert.equal(sandboxConfigOf(makePod(fixture), 0, settings).hostname, hostname));
}

test('an FQDN that exceeds the kernel limit is an error', () => {
  const fixture = { hostname: 'a'.repeat(40), subdomain: 'cluster', setHostnameAsFQDN: true };
  assert.throws(
    () => sandboxConfigOf(makePod(fixture), 0, settings),
    /FQDN a{40}\.cluster\.default\.svc\.cluster\.local is too long \(64 characters is the max, 74 characters requested\)$/,
  );
});

test('a hostname that is too long is truncated', () => {
  const long = `${'a'.repeat(62)}-${'b'.repeat(10)}`;
  assert.equal(hostnameOf(makePod({ metadata: { name: long } }), 'cluster.local').hostname, 'a'.repeat(62));
});

test('credentials come from the most specific matching registry path', () => {
  const auths = {
    'https://index.docker.io/v1/': { auth: Buffer.from('hub:1').toString('base64') },
    'registry.example.com': { username: 'wide', password: '2' },
    'registry.example.com/team': { username: 'narrow', password: '3' },
    '*.example.org': { username: 'star', password: '4' },
  };
  const secret = {
    apiVersion: 'v1',
    kind: 'Secret',
    metadata: {},
    type: 'kubernetes.io/dockerconfigjson',
    data: { '.dockerconfigjson': Buffer.from(JSON.stringify({ auths })).toString('base64') },
  };
  const usersFor = (image: string) => credentialsFor(image, [secret]).map(({ username }) => username);
  assert.deepEqual(usersFor('nginx'), ['hub']);
  assert.deepEqual(usersFor('registry.example.com/team/app:1'), ['narrow', 'wide']);
  assert.deepEqual(usersFor('registry.example.com/other/app:1'), ['wide']);
  assert.deepEqual(usersFor('a.example.org/app:1'), ['star']);
  assert.deepEqual(usersFor('quay.io/app:1'), []);
});

/** Returns a pull Secret with the given `auths`. */
function pullSecret(auths: unknown) {
  return {
    apiVersion: 'v1',
    kind: 'Secret',
    metadata: {},
    type: 'kubernetes.io/dockerconfigjson',
    data: { '.dockerconfigjson': Buffer.from(JSON.stringify({ auths })).toString('base64') },
  };
}

test('stars in the registry name of a pull Secret do not block the kubelet', () => {
  const image = `${'a'.repeat(60)}.example.com/app:1`;
  const startedAt = process.threadCpuUsage();
  const secret = pullSecret({ [`${'*a'.repeat(28)}*b.example.com`]: { username: 'me' } });
  assert.deepEqual(credentialsFor(image, [secret]), []);
  assert.ok(process.threadCpuUsage(startedAt).user < 1_000_000);
});

test('a malformed pull Secret provides no credentials', () => {
  for (const auths of [null, 'x', [], { 'a.example.com': null }, { 'a.example.com': { auth: 5 } }]) {
    const users = credentialsFor('a.example.com/app', [pullSecret(auths)]).map(({ username }) => username);
    assert.ok(users.every((user) => user === ''));
  }
});
