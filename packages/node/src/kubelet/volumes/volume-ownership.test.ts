import assert from 'node:assert/strict';
import { test } from 'node:test';
import { simulatedNode } from '../../cri/simulated/testing/simulated-node.ts';
import { setVolumeGroup } from './volume-ownership.ts';

test('OnRootMismatch skips a volume whose root already has the group', async () => {
  const { files } = simulatedNode().runtime;
  await files.makeDirectory('/volume');
  const access = { group: 2000, isReadOnly: false, onlyOnMismatch: true };
  const groupOf = async (name: string) => (await files.stat(`/volume/${name}`))?.gid;
  await files.writeFile('/volume/before', '');
  await setVolumeGroup(files, '/volume', access);
  await files.writeFile('/volume/after', '');
  await files.changeOwner('/volume/after', { gid: 0 });
  await setVolumeGroup(files, '/volume', access);
  assert.deepEqual([await groupOf('before'), await groupOf('after')], [2000, 0]);
  await setVolumeGroup(files, '/volume', { ...access, onlyOnMismatch: false });
  assert.equal(await groupOf('after'), 2000);
});

test('the target of a symbolic link in a volume keeps its owner', async () => {
  const { files } = simulatedNode().runtime;
  await files.makeDirectory('/volume');
  await files.writeFile('/elsewhere', '', { mode: 0o600 });
  await files.symlink('/volume/link', { target: '/elsewhere' });
  await setVolumeGroup(files, '/volume', { group: 2000, isReadOnly: false });
  const { gid, mode } = (await files.stat('/elsewhere'))!;
  assert.deepEqual([gid, mode], [0, 0o600]);
});
