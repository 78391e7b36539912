import assert from 'node:assert/strict';
import { test } from 'node:test';
import { makeContainer, makePod } from '../fixtures.ts';
import { linuxResourcesOf, quotaOf, resizableResources, swapOf } from './linux-resources.ts';

const Gi = 2 ** 30;
const unified = { hasUnifiedCgroups: true, memoryCapacity: 8 * Gi };
const limited = { ...unified, swap: { behavior: 'LimitedSwap', capacityBytes: 4 * Gi } } as const;
const requests = makeContainer('c', { resources: { requests: { memory: '2Gi' } } });
const full = { cpu: '1', memory: '2Gi' };

for (const [title, pod, container, settings, expected] of [
  ['a Burstable Pod a share of the swap', {}, requests, limited, Gi],
  ['a BestEffort Pod none', {}, makeContainer('c'), limited, 0],
  ['a Guaranteed Pod none', {}, makeContainer('c', { resources: { requests: full, limits: full } }), limited, 0],
  ['a critical Pod none', { priority: 2_000_001_000 }, requests, limited, 0],
  [
    'a container with equal request and limit none',
    {},
    makeContainer('c', { resources: { requests: { memory: '1Gi' }, limits: { memory: '1Gi' } } }),
    limited,
    0,
  ],
  ['any Pod none without LimitedSwap', {}, requests, { ...limited, swap: { ...limited.swap, behavior: 'NoSwap' } }, 0],
  ['any Pod what the kernel gives under cgroup v1', {}, requests, { ...limited, hasUnifiedCgroups: false }, undefined],
  ['any Pod what the kernel gives without swap accounting', {}, requests, unified, undefined],
] as const) {
  test(`the kubelet gives ${title}`, () => {
    assert.equal(swapOf(makePod({ ...pod, containers: [container] }), container, settings), expected);
  });
}

test('the swap limit of a container is a file of cgroup v2', () => {
  const pod = makePod({ containers: [requests] });
  assert.deepEqual(linuxResourcesOf(pod, requests, limited).unified, {
    'memory.oom.group': '1',
    'memory.swap.max': String(Gi),
  });
  assert.equal(linuxResourcesOf(pod, requests, { ...limited, hasUnifiedCgroups: false }).unified, undefined);
});

test('the limit of memory and swap is the memory limit under cgroup v1, and changes with it', () => {
  const swap = { behavior: 'NoSwap', capacityBytes: 0 } as const;
  const linux = resizableResources({ limits: { memory: '1Gi' } }, { hasUnifiedCgroups: false, swap });
  assert.deepEqual([linux.memoryLimitInBytes, linux.memorySwapLimitInBytes], [Gi, Gi]);
  assert.equal(resizableResources({}, { hasUnifiedCgroups: false, swap }).memorySwapLimitInBytes, undefined);
});

test('CPU limits have the configured period, or are not enforced', () => {
  const settings = (isEnforced: boolean) => ({
    hasUnifiedCgroups: false,
    cpuQuota: { isEnforced, periodMicroseconds: 20_000 },
  });
  const of = (isEnforced: boolean) => {
    const { cpuPeriod, cpuQuota } = resizableResources({ limits: { cpu: '500m' } }, settings(isEnforced));
    return [cpuPeriod, cpuQuota];
  };
  assert.deepEqual(
    [of(true), of(false)],
    [
      [20_000, 10_000],
      [20_000, undefined],
    ],
  );
  assert.equal(quotaOf(1, 20_000), 1000);
});

test('a container may use only the huge pages of its limits', () => {
  const container = makeContainer('c', { resources: { limits: { 'hugepages-2Mi': '4Mi' } } });
  const { hugepageLimits } = linuxResourcesOf(makePod({ containers: [container] }), container, {
    ...unified,
    hugePageSizes: ['2MB', '1GB'],
  });
  assert.deepEqual(hugepageLimits, [
    { pageSize: '2MB', limit: 4 * 2 ** 20 },
    { pageSize: '1GB', limit: 0 },
  ]);
});
