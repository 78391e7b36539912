import assert from 'node:assert/strict';
import { test } from 'node:test';
import { cgroupPath, podCgroupPath, podUidOf } from './cgroup-paths.ts';

const uid = '0f3a1c52-1111-2222-3333-444455556666';
const escaped = uid.replaceAll('-', '_');

for (const [driver, root, qosClass, expected] of [
  ['CGROUPFS', '', 'Guaranteed', `/kubepods/pod${uid}`],
  ['CGROUPFS', '/', 'Burstable', `/kubepods/burstable/pod${uid}`],
  ['CGROUPFS', '/nodes/a', 'BestEffort', `/nodes/a/kubepods/besteffort/pod${uid}`],
  ['SYSTEMD', '', 'Guaranteed', `/kubepods.slice/kubepods-pod${escaped}.slice`],
  ['SYSTEMD', '', 'Burstable', `/kubepods.slice/kubepods-burstable.slice/kubepods-burstable-pod${escaped}.slice`],
] as const) {
  test(`a ${qosClass} Pod below ${root || 'the root'} under the driver ${driver} has its path`, () => {
    const path = podCgroupPath({ driver, root }, qosClass, uid);
    assert.equal(path, expected);
    assert.equal(podUidOf(path.slice(path.lastIndexOf('/') + 1)), uid);
  });
}

test('the root of a kubelet is a slice of its own under systemd', () => {
  assert.equal(
    cgroupPath({ driver: 'SYSTEMD', root: '/kruise-1' }, ['kubepods']),
    '/kruise_1.slice/kruise_1-kubepods.slice',
  );
});

for (const name of ['burstable', 'kubepods-burstable.slice', 'pod../../x', 'podcast', 'system.slice']) {
  test(`the cgroup ${name} belongs to no Pod`, () => assert.equal(podUidOf(name), undefined));
}
