import assert from 'node:assert/strict';
import { test } from 'node:test';
import type { CsiCapability } from './csi-client.ts';
import { nodeIdsOf, withDriver } from './csi-node.ts';
import { VolumeCapability_AccessMode_Mode as Mode } from './generated/csi_pb.ts';
import { checkPlugin } from './plugin-registry.ts';
import { accessModeOf, checkLifecycle, shouldSetGroup } from './volume-capability.ts';

const modes: readonly [string | undefined, old: Mode, current: Mode][] = [
  ['ReadWriteOnce', Mode.SINGLE_NODE_WRITER, Mode.SINGLE_NODE_MULTI_WRITER],
  ['ReadWriteOncePod', Mode.SINGLE_NODE_WRITER, Mode.SINGLE_NODE_SINGLE_WRITER],
  ['ReadOnlyMany', Mode.MULTI_NODE_READER_ONLY, Mode.MULTI_NODE_READER_ONLY],
  ['ReadWriteMany', Mode.MULTI_NODE_MULTI_WRITER, Mode.MULTI_NODE_MULTI_WRITER],
];
for (const [mode, old, current] of modes) {
  test(`a volume of access mode ${mode} is known to old and current drivers`, () => {
    const spec = { accessModes: mode === undefined ? [] : [mode] } as Parameters<typeof accessModeOf>[0];
    assert.equal(accessModeOf(spec, new Set()), old);
    assert.equal(accessModeOf(spec, new Set<CsiCapability>(['singleNodeMultiWriter'])), current);
  });
}

const volume = { policy: undefined, fsType: 'ext4', accessModes: ['ReadWriteOnce'], isReadOnly: false };
const groups: readonly [title: string, inputs: Parameters<typeof shouldSetGroup>[0], isSet: boolean][] = [
  ['is set on an exclusive volume with a file system', volume, true],
  ['is set on a volume of one Pod', { ...volume, accessModes: ['ReadWriteOncePod'] }, true],
  ['is not set on a volume without a known file system', { ...volume, fsType: '' }, false],
  ['is not set on a shared volume', { ...volume, accessModes: ['ReadWriteMany'] }, false],
  ['is set on any volume by the policy File', { ...volume, policy: 'File', fsType: '', accessModes: [] }, true],
  ['is not set by the policy None', { ...volume, policy: 'None' }, false],
  ['is not set on a read-only volume', { ...volume, policy: 'File', isReadOnly: true }, false],
];
for (const [title, inputs, isSet] of groups) {
  test(`the group ${title}`, () => assert.equal(shouldSetGroup(inputs), isSet));
}

test('a driver without a CSIDriver object supports persistent volumes only', () => {
  checkLifecycle('d', undefined, 'Persistent');
  assert.throws(() => checkLifecycle('d', undefined, 'Ephemeral'), /only supports \["Persistent"\]/);
});

test('a driver that registers again replaces its entry', () => {
  const once = withDriver([{ name: 'other', nodeID: 'o' }], { name: 'd', nodeId: '1', maxVolumes: 3, topology: {} });
  const twice = withDriver(once, { name: 'd', nodeId: '2', maxVolumes: 0, topology: { zone: 'a' } });
  assert.deepEqual(twice, [
    { name: 'other', nodeID: 'o' },
    { name: 'd', nodeID: '2', topologyKeys: ['zone'] },
  ]);
});

test('the annotation of node IDs keeps those of other drivers, and ends with the last one', () => {
  assert.equal(nodeIdsOf('{"a":"1"}', 'b', '2'), '{"a":"1","b":"2"}');
  assert.equal(nodeIdsOf('{"a":"1"}', 'a', undefined), undefined);
  assert.equal(nodeIdsOf('no JSON', 'a', '1'), '{"a":"1"}');
});

const rejected: readonly [title: string, name: string, endpoint: string, versions: readonly string[]][] = [
  ['a name that leads out of its directory', '..', '/s', ['1.0.0']],
  ['a name with a slash', 'a/b', '/s', ['1.0.0']],
  ['an empty name', '', '/s', ['1.0.0']],
  ['a name of more than 63 characters', 'a'.repeat(64), '/s', ['1.0.0']],
  ['a relative endpoint', 'a', 's', ['1.0.0']],
  ['an unknown version', 'a', '/s', ['0.3.0', '10.0.0']],
];
for (const [title, name, endpoint, versions] of rejected) {
  test(`a plugin with ${title} is rejected`, () => assert.throws(() => checkPlugin({ name, endpoint }, versions)));
}

test('a plugin of version 1 is accepted', () =>
  checkPlugin({ name: 'hostpath.csi.k8s.io', endpoint: '/s' }, ['1.0.0']));
