import assert from 'node:assert/strict';
import { existsSync, mkdirSync, mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { test } from 'node:test';
import { cgroupMounts, podUidOf, removeCgroup, removePodCgroups } from './pod-cgroups.ts';

test('the hierarchies of both cgroup versions are found in the mount table', () => {
  const table = [
    '30 25 0:26 / /sys/fs/cgroup/memory rw,relatime - cgroup cgroup rw,memory',
    '31 25 0:27 / /sys/fs/cgroup/unified rw,relatime - cgroup2 cgroup rw',
    '32 25 0:28 / /sys/fs/cgroup rw - tmpfs tmpfs rw',
    '',
  ].join('\n');
  assert.deepEqual(cgroupMounts(table), ['/sys/fs/cgroup/memory', '/sys/fs/cgroup/unified']);
});

for (const [name, uid] of [
  ['pod0f3a1c52-1111-2222-3333-444455556666', '0f3a1c52-1111-2222-3333-444455556666'],
  ['burstable', undefined],
  ['pod../../x', undefined],
] as const) {
  test(`the cgroup ${name} belongs to ${uid ? 'a Pod' : 'no Pod'}`, () => {
    assert.equal(podUidOf(name), uid);
  });
}

test('the cgroups of deleted Pods are removed, those of other Pods stay', async () => {
  const mount = mkdtempSync(join(tmpdir(), 'kruise-cgroups-'));
  try {
    const [gone, kept] = ['pod00000000-aaaa', 'pod11111111-bbbb'];
    for (const tier of ['', 'burstable', 'besteffort']) {
      for (const name of [gone, kept])
        mkdirSync(join(mount, 'root/kubepods', tier, name, 'container'), { recursive: true });
    }
    await removePodCgroups([mount], '/root', (uid) => uid === '11111111-bbbb');
    for (const tier of ['', 'burstable', 'besteffort']) {
      assert(!existsSync(join(mount, 'root/kubepods', tier, gone)));
      assert(existsSync(join(mount, 'root/kubepods', tier, kept, 'container')));
    }
    await removeCgroup(join(mount, 'root'));
    assert(!existsSync(join(mount, 'root')));
    await removeCgroup(join(mount, 'root'));
  } finally {
    rmSync(mount, { recursive: true, force: true });
  }
});
