import assert from 'node:assert/strict';
import { test } from 'node:test';
import type { Pod } from '@kruise/api/core/pod';
import fc from 'fast-check';
import { makeContainer, makePod, sidecar } from '../fixtures.ts';
import {
  type CgroupLimits,
  cpuRequestOf,
  largerLimits,
  limitFilesV1,
  limitFilesV2,
  nodeCgroupLimits,
  parseLimit,
  podCgroupLimits,
  weightOf,
} from './cgroup-limits.ts';

const none = Number.POSITIVE_INFINITY;
const Mi = 2 ** 20;
const settings = { enforcesCpuLimits: true, cpuPeriodMicroseconds: 100_000, maxPids: none, hugePageSizes: [] };

const container = (requests: object, limits: object, name = 'c') =>
  makeContainer(name, { resources: { requests: { ...requests }, limits: { ...limits } } });
const small = { cpu: '100m', memory: '64Mi' };
const overhead = { cpu: '50m', memory: '32Mi' };

const cases: readonly (readonly [string, Pod, number, number, number])[] = [
  ['Pod without resources has the smallest share', makePod(), 2, none, none],
  ['Guaranteed Pod has its limits', makePod({ containers: [container(small, small)] }), 102, 10_000, 64 * Mi],
  [
    'Pod has the sum of its containers',
    makePod({ containers: [container(small, small), container(small, small, 'd')] }),
    204,
    20_000,
    128 * Mi,
  ],
  ['Burstable Pod without limits has none', makePod({ containers: [container(small, {})] }), 102, none, none],
  [
    'Pod with one unlimited container is unlimited',
    makePod({ containers: [container(small, small), container(small, { memory: '64Mi' }, 'd')] }),
    204,
    none,
    128 * Mi,
  ],
  [
    'Pod with an unlimited sidecar is unlimited',
    makePod({ containers: [container(small, small)], initContainers: [sidecar('s')] }),
    102,
    none,
    none,
  ],
  [
    'Pod has the resources of its largest init container',
    makePod({
      containers: [container(small, small)],
      initContainers: [container({ cpu: '1', memory: '1Mi' }, { cpu: '1', memory: '1Mi' }, 'i')],
    }),
    1024,
    100_000,
    64 * Mi,
  ],
  ['Pod has its overhead, too', makePod({ containers: [container(small, small)], overhead }), 153, 15_000, 96 * Mi],
  [
    'Pod-level resources replace the sum of the containers',
    makePod({
      containers: [container(small, {})],
      resources: { requests: { cpu: '500m' }, limits: { cpu: '1', memory: '1Gi' } },
    }),
    512,
    100_000,
    1024 * Mi,
  ],
  [
    'overhead is added to Pod-level resources',
    makePod({ containers: [container(small, {})], resources: { limits: { memory: '64Mi' } }, overhead }),
    153,
    none,
    96 * Mi,
  ],
];
for (const [title, pod, cpuShares, cpuQuotaMicroseconds, memoryBytes] of cases) {
  test(`a ${title}`, () => {
    assert.deepEqual(podCgroupLimits(pod, settings), {
      cpuShares,
      cpuPeriodMicroseconds: 100_000,
      cpuQuotaMicroseconds,
      memoryBytes,
      pids: none,
      hugePages: {},
    });
  });
}

test('settings of the node change the limits of a Pod', () => {
  const pod = makePod({ containers: [container({}, { ...small, 'hugepages-2Mi': '4Mi' })] });
  const limits = podCgroupLimits(pod, {
    enforcesCpuLimits: false,
    cpuPeriodMicroseconds: 20_000,
    maxPids: 100,
    hugePageSizes: ['2MB', '1GB'],
  });
  assert.equal(limits.cpuQuotaMicroseconds, none);
  assert.equal(limits.pids, 100);
  assert.deepEqual(limits.hugePages, { '2MB': 4 * Mi, '1GB': 0 });
  const fast = { ...settings, cpuPeriodMicroseconds: 20_000 };
  assert.equal(podCgroupLimits(pod, fast).cpuQuotaMicroseconds, 2000);
});

test('the CPU request of a Pod is that of its containers, or its own', () => {
  assert.equal(cpuRequestOf(makePod({ containers: [container(small, {})] })), 100);
  assert.equal(cpuRequestOf(makePod({ resources: { requests: { cpu: '2' } } })), 2000);
});

test('all Pods have the resources that are not reserved', () => {
  const capacity = { cpu: '4', memory: '8Gi', pid: '32768', 'hugepages-2Mi': '64Mi', pods: '110' };
  assert.deepEqual(
    nodeCgroupLimits(capacity, [
      { cpu: '500m', memory: '1Gi' },
      { memory: '1Gi', pid: '768' },
    ]),
    {
      cpuShares: 3584,
      memoryBytes: 6 * 2 ** 30,
      pids: 32_000,
      hugePages: { '2MB': 64 * Mi },
    },
  );
  assert.deepEqual(nodeCgroupLimits({ memory: '1Gi' }, [{ memory: '2Gi' }]), { memoryBytes: 0 });
});

const full: CgroupLimits = {
  cpuShares: 102,
  cpuPeriodMicroseconds: 100_000,
  cpuQuotaMicroseconds: 10_000,
  memoryBytes: 64 * Mi,
  pids: 50,
  hugePages: { '2MB': 0 },
};
const unlimited: CgroupLimits = {
  cpuShares: 2,
  cpuPeriodMicroseconds: 100_000,
  cpuQuotaMicroseconds: none,
  memoryBytes: none,
  pids: none,
};
const text = (files: ReturnType<typeof limitFilesV1>) => files.map(({ file, content }) => `${file}=${content}`);

for (const [title, files, expected] of [
  [
    'limits under cgroup v1',
    limitFilesV1(full),
    [
      'cpu.shares=102',
      'cpu.cfs_period_us=100000',
      'cpu.cfs_quota_us=10000',
      'memory.limit_in_bytes=67108864',
      'pids.max=50',
      'hugetlb.2MB.limit_in_bytes=0',
    ],
  ],
  [
    'no limits under cgroup v1',
    limitFilesV1(unlimited),
    ['cpu.shares=2', 'cpu.cfs_period_us=100000', 'cpu.cfs_quota_us=-1', 'memory.limit_in_bytes=-1', 'pids.max=max'],
  ],
  [
    'limits under cgroup v2',
    limitFilesV2(full),
    ['cpu.weight=4', 'cpu.max=10000 100000', 'memory.max=67108864', 'pids.max=50', 'hugetlb.2MB.max=0'],
  ],
  [
    'no limits under cgroup v2',
    limitFilesV2(unlimited),
    ['cpu.weight=1', 'cpu.max=max 100000', 'memory.max=max', 'pids.max=max'],
  ],
  ['nothing under cgroup v1', limitFilesV1({}), []],
  ['nothing under cgroup v2', limitFilesV2({}), []],
] as const) {
  test(`the files of ${title} have their contents`, () => assert.deepEqual(text(files), expected));
}

test('CPU shares become weights in order, from 1 to 10000', () => {
  assert.deepEqual([2, 1024, 262_144, 500_000, 0].map(weightOf), [1, 39, 10_000, 10_000, 1]);
  const shares = fc.integer({ min: 2, max: 262_144 });
  fc.assert(fc.property(shares, shares, (a, b) => a > b || weightOf(a) <= weightOf(b)));
});

for (const [content, expected] of [
  ['max\n', none],
  ['max 100000\n', none],
  ['-1\n', none],
  ['9223372036854771712\n', none],
  ['10000 100000\n', 10_000],
  ['67108864\n', 64 * Mi],
] as const) {
  test(`the content ${JSON.stringify(content)} is read`, () => assert.equal(parseLimit(content), expected));
}

test('the larger limits hold for what has grown and for what will shrink', () => {
  assert.deepEqual(largerLimits({ cpuQuotaMicroseconds: 20_000, memoryBytes: 1 }, full), {
    ...full,
    cpuQuotaMicroseconds: 20_000,
  });
  assert.equal(largerLimits({ memoryBytes: none }, full).memoryBytes, none);
});
