import assert from 'node:assert/strict';
import { existsSync, mkdirSync, mkdtempSync, readdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach, beforeEach, describe, test } from 'node:test';
import type { Pod } from '@kruise/api/core/pod';
import { silentLog } from '@kruise/client/log';
import { virtualClock } from '@kruise/values/virtual-clock';
import { makeContainer, makePod } from '../fixtures.ts';
import { type CgroupFiles, machineCgroupFiles } from './cgroup-files.ts';
import { createCgroups, hierarchiesOf } from './cgroup-hierarchies.ts';
import { createPodCgroups, type PodCgroupSettings } from './pod-cgroups.ts';

const Mi = 2 ** 20;

test('hierarchies of cgroup v1 are found once each, with those of systemd and cgroup v2 beside them', () => {
  const table = [
    '30 25 0:26 / /sys/fs/cgroup/memory rw,relatime - cgroup cgroup rw,memory',
    '31 25 0:27 / /sys/fs/cgroup/cpu,cpuacct rw,relatime - cgroup cgroup rw,cpu,cpuacct',
    '32 25 0:28 / /sys/fs/cgroup/systemd rw,relatime - cgroup cgroup rw,name=systemd',
    '33 25 0:29 / /sys/fs/cgroup/unified rw,relatime - cgroup2 cgroup2 rw',
    '34 25 0:26 / /rootfs/sys/fs/cgroup/memory rw,relatime - cgroup cgroup rw,memory',
    '35 25 0:30 / /sys/fs/cgroup rw - tmpfs tmpfs rw',
    '',
  ].join('\n');
  assert.deepEqual(hierarchiesOf(table), {
    isUnified: false,
    mounts: [
      { path: '/sys/fs/cgroup/memory', controllers: ['memory'] },
      { path: '/sys/fs/cgroup/cpu,cpuacct', controllers: ['cpu', 'cpuacct'] },
      { path: '/sys/fs/cgroup/systemd', controllers: [] },
      { path: '/sys/fs/cgroup/unified', controllers: [] },
    ],
  });
});

test('a machine with cgroup v2 alone has one hierarchy', () => {
  const table = '30 25 0:26 / /sys/fs/cgroup rw,relatime - cgroup2 cgroup2 rw,nsdelegate';
  assert.deepEqual(hierarchiesOf(table), { isUnified: true, mounts: [{ path: '/sys/fs/cgroup', controllers: [] }] });
});

const files = {
  cpu: { 'cpu.shares': '1024', 'cpu.cfs_period_us': '100000', 'cpu.cfs_quota_us': '-1' },
  memory: { 'memory.limit_in_bytes': '9223372036854771712' },
  pids: { 'pids.max': 'max' },
  cpuset: { 'cpuset.cpus': '', 'cpuset.mems': '' },
  unified: {
    'cgroup.controllers': 'cpu memory pids rdma',
    'cgroup.subtree_control': '',
    'cpu.weight': '100',
    'cpu.max': 'max 100000',
    'memory.max': 'max',
    'pids.max': 'max',
  },
} as const;

/** Files of a temporary directory with what the kernel does: a new cgroup has its files, and loses them with itself. */
function treeFiles(root: string, killed: number[]): CgroupFiles {
  return {
    ...machineCgroupFiles,
    async makeDirectory(path) {
      if (existsSync(path)) return;
      mkdirSync(path);
      fill(path, path.slice(root.length + 1).split('/')[0] as keyof typeof files);
    },
    async removeDirectory(path) {
      if (!existsSync(path)) return true;
      const hasChildren = readdirSync(path, { withFileTypes: true }).some((each) => each.isDirectory());
      if (hasChildren || readFileSync(join(path, 'cgroup.procs'), 'utf8') !== '') return false;
      rmSync(path, { recursive: true });
      return true;
    },
    kill(pid) {
      killed.push(pid);
      for (const name of readdirSync(root, { recursive: true, encoding: 'utf8' })) {
        const file = join(root, name);
        if (!name.endsWith('cgroup.procs')) continue;
        const left = readFileSync(file, 'utf8').split('\n');
        writeFileSync(file, left.filter((line) => line !== String(pid)).join('\n'));
      }
    },
  };
}

function fill(path: string, controller: keyof typeof files): void {
  writeFileSync(join(path, 'cgroup.procs'), '');
  for (const [name, content] of Object.entries(files[controller])) writeFileSync(join(path, name), content);
}

const resources = (cpu: string, memory: string) => ({ requests: { cpu, memory }, limits: { cpu, memory } });
const guaranteed = (cpu: string, memory: string): Pod =>
  makePod({
    metadata: { uid: '00000000-aaaa' },
    containers: [makeContainer('c', { resources: resources(cpu, memory) })],
  });
const burstable = (uid: string, cpu: string): Pod =>
  makePod({ metadata: { uid }, containers: [makeContainer('c', { resources: { requests: { cpu } } })] });

for (const version of ['v1', 'v2'] as const) {
  describe(`cgroups of Pods under cgroup ${version}`, () => {
    const isUnified = version === 'v2';
    const names = isUnified ? (['unified'] as const) : (['cpu', 'memory', 'pids', 'cpuset'] as const);
    let root = '';
    let killed: number[] = [];

    beforeEach(() => {
      root = mkdtempSync(join(tmpdir(), 'kruise-cgroups-'));
      killed = [];
      for (const name of names) {
        mkdirSync(join(root, name));
        fill(join(root, name), name);
      }
      if (!isUnified) {
        writeFileSync(join(root, 'cpuset', 'cpuset.cpus'), '0-3\n');
        writeFileSync(join(root, 'cpuset', 'cpuset.mems'), '0\n');
      }
    });
    afterEach(() => rmSync(root, { recursive: true }));

    const mounts = () =>
      names.map((name) => ({ path: join(root, name), controllers: name === 'unified' ? [] : [name] }));
    const start = async (settings: Partial<PodCgroupSettings> = {}, overrides: Partial<CgroupFiles> = {}) => {
      const clock = virtualClock(0);
      const access = { ...treeFiles(root, killed), ...overrides };
      const cgroups = createPodCgroups(
        { cgroups: createCgroups(clock, access, { isUnified, mounts: mounts() }), clock, log: silentLog },
        {
          place: { driver: 'CGROUPFS', root: '/node' },
          limits: {
            enforcesCpuLimits: true,
            cpuPeriodMicroseconds: 100_000,
            maxPids: 100,
            hugePageSizes: ['2MB'],
          },
          capacity: { cpu: '4', memory: '1Gi', pid: '1000' },
          enforced: new Set(['pods']),
          kubeReserved: { memory: '256Mi', cpu: '1' },
          systemReserved: { pid: '200' },
          ...settings,
        },
      );
      await cgroups.create();
      return { cgroups, clock };
    };
    const read = (controller: 'cpu' | 'memory' | 'pids' | 'cpuset', path: string, v1: string, v2 = v1) =>
      readFileSync(join(root, isUnified ? 'unified' : controller, 'node/kubepods', path, isUnified ? v2 : v1), 'utf8');
    const limitsOf = (path: string) => [
      read('cpu', path, 'cpu.shares', 'cpu.weight'),
      read('cpu', path, 'cpu.cfs_quota_us', 'cpu.max'),
      read('memory', path, 'memory.limit_in_bytes', 'memory.max'),
      read('pids', path, 'pids.max'),
    ];
    const shares = (v1: number, v2: number) => String(isUnified ? v2 : v1);
    const quota = (value: number) => (isUnified ? `${value} 100000` : String(value));
    const noQuota = isUnified ? 'max 100000' : '-1';
    const noMemory = isUnified ? 'max' : '-1';

    test('all Pods are limited to the allocatable resources, with an event', async () => {
      const { cgroups } = await start();
      const events: string[] = [];
      await cgroups.enforceAllocatable((...event) => events.push(event.join(' ')), new AbortController().signal);
      assert.deepEqual(limitsOf(''), [shares(3072, 118), noQuota, String(768 * Mi), '800']);
      assert.deepEqual(events, ['Normal NodeAllocatableEnforced Updated Node Allocatable limit across pods']);
      assert.equal(read('cpu', 'besteffort', 'cpu.shares', 'cpu.weight'), shares(2, 1));
    });

    test('a refused limit is retried every minute', async () => {
      let isRefused = true;
      const { write } = machineCgroupFiles;
      const { cgroups, clock } = await start(
        {},
        {
          async write(path, content) {
            if (isRefused && content === String(768 * Mi)) throw new Error('EBUSY');
            await write(path, content);
          },
        },
      );
      const reasons: string[] = [];
      await cgroups.enforceAllocatable((_, reason) => reasons.push(reason), new AbortController().signal);
      assert.deepEqual(reasons, ['FailedNodeAllocatableEnforcement']);
      isRefused = false;
      await clock.advance(60_000);
      while (reasons.length < 2) await new Promise((resolve) => setImmediate(resolve));
      assert.deepEqual(reasons[1], 'NodeAllocatableEnforced');
      assert.equal(limitsOf('')[2], String(768 * Mi));
    });

    test('without enforcement all Pods have the whole machine', async () => {
      const { cgroups } = await start({ enforced: new Set() });
      const events: unknown[] = [];
      await cgroups.enforceAllocatable((...event) => events.push(event), new AbortController().signal);
      assert.deepEqual(limitsOf('').slice(2), [String(1024 * Mi), '1000']);
      assert.deepEqual(events, []);
    });

    test('a Pod gets its limits, grows before its containers and shrinks after', async () => {
      const { cgroups } = await start();
      const path = 'pod00000000-aaaa';
      await cgroups.prepare(guaranteed('100m', '64Mi'));
      assert.deepEqual(limitsOf(path), [shares(102, 4), quota(10_000), String(64 * Mi), '100']);
      await cgroups.prepare(guaranteed('200m', '32Mi'));
      assert.deepEqual(limitsOf(path).slice(1, 3), [quota(20_000), String(64 * Mi)]);
      await cgroups.settle(guaranteed('200m', '32Mi'));
      assert.deepEqual(limitsOf(path).slice(1, 3), [quota(20_000), String(32 * Mi)]);
    });

    test('a restarted kubelet does not shrink a Pod before its containers', async () => {
      const first = await start();
      await first.cgroups.prepare(guaranteed('200m', '64Mi'));
      const { cgroups } = await start();
      await cgroups.prepare(guaranteed('100m', '32Mi'));
      assert.deepEqual(limitsOf('pod00000000-aaaa').slice(1, 3), [quota(20_000), String(64 * Mi)]);
      await cgroups.settle(guaranteed('100m', '32Mi'));
      assert.deepEqual(limitsOf('pod00000000-aaaa').slice(1, 3), [quota(10_000), String(32 * Mi)]);
    });

    test('the class of Burstable Pods has the sum of their requests', async () => {
      const { cgroups } = await start();
      const one = burstable('00000000-bbbb', '500m');
      await Promise.all([cgroups.prepare(one), cgroups.prepare(burstable('00000000-cccc', '1500m'))]);
      assert.equal(limitsOf('burstable')[0], shares(2048, 79));
      assert.deepEqual(limitsOf('burstable/pod00000000-bbbb'), [shares(512, 20), noQuota, noMemory, '100']);
      await cgroups.remove(one);
      assert.equal(limitsOf('burstable')[0], shares(1536, 59));
    });

    test('a removed Pod takes the processes that are left with it', async () => {
      const { cgroups } = await start();
      const pod = guaranteed('100m', '64Mi');
      await cgroups.prepare(pod);
      const at = join(root, names[0], 'node/kubepods/pod00000000-aaaa');
      mkdirSync(join(at, 'container'));
      writeFileSync(join(at, 'cgroup.procs'), '1234');
      writeFileSync(join(at, 'container', 'cgroup.procs'), '4321');
      await cgroups.remove(pod);
      assert.deepEqual(killed, [4321, 1234]);
      assert.equal(await cgroups.exists(pod), false);
      await cgroups.remove(pod);
    });

    test('cgroups of unknown Pods without processes are removed', async () => {
      const { cgroups } = await start();
      const pods = ['00000000-bbbb', '00000000-cccc', '00000000-dddd'].map((uid) => burstable(uid, '1'));
      for (const pod of pods) await cgroups.prepare(pod);
      const busy = join(root, names[0], 'node/kubepods/burstable/pod00000000-dddd');
      writeFileSync(join(busy, 'cgroup.procs'), '99');
      await cgroups.removeOrphans((uid) => uid === '00000000-bbbb');
      assert.deepEqual(await Promise.all(pods.slice(0, 2).map(cgroups.exists)), [true, false]);
      assert(existsSync(busy));
      assert.deepEqual(killed, []);
    });

    if (isUnified) {
      test('the controllers are enabled in every parent', async () => {
        const { cgroups } = await start();
        await cgroups.prepare(guaranteed('100m', '64Mi'));
        for (const path of ['', 'node', 'node/kubepods']) {
          const enabled = readFileSync(join(root, 'unified', path, 'cgroup.subtree_control'), 'utf8');
          assert.equal(enabled, '+cpu +memory +pids');
        }
      });
    } else {
      test('a cgroup has the CPUs and the memory nodes of its parent', async () => {
        const { cgroups } = await start();
        await cgroups.prepare(guaranteed('100m', '64Mi'));
        assert.equal(read('cpuset', 'pod00000000-aaaa', 'cpuset.cpus'), '0-3');
        assert.equal(read('cpuset', 'pod00000000-aaaa', 'cpuset.mems'), '0');
      });
    }
  });
}
