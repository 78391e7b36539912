import assert from 'node:assert/strict';
import { test } from 'node:test';
import { startTestNode } from '../testing/test-node.ts';
import { defaultImageGCPolicy, imagesToRemove } from './image-gc.ts';

const now = 1_000_000_000;

function known(
  id: string,
  more: { used?: boolean; pinned?: boolean; ageMs?: number; idleMs?: number; size?: number } = {},
) {
  const { used = false, pinned = false, ageMs = 600_000, idleMs = 0, size = 10 } = more;
  const image = { id, repoTags: [], repoDigests: [], size, username: '', pinned };
  return { image, isUsed: used, firstSeenAt: now - ageMs, lastUsedAt: now - idleMs };
}

const rows: readonly (readonly [
  name: string,
  usedBytes: number,
  images: ReturnType<typeof known>[],
  removed: string,
])[] = [
  ['nothing is removed below the high threshold', 84, [known('a')], ''],
  ['the least recently used image is removed first', 85, [known('a', { idleMs: 1 }), known('b', { idleMs: 2 })], 'b'],
  ['images are removed down to the low threshold', 95, [known('a', { idleMs: 1 }), known('b', { idleMs: 2 })], 'b a'],
  ['images in use are kept', 90, [known('a', { used: true }), known('b')], 'b'],
  ['pinned images are kept', 90, [known('a', { pinned: true })], ''],
  ['recently pulled images are kept', 90, [known('a', { ageMs: 119_999 })], ''],
];
for (const [name, usedBytes, images, removed] of rows) {
  test(name, () => {
    const found = imagesToRemove(images, { usedBytes, capacityBytes: 100 }, defaultImageGCPolicy, now);
    assert.equal(found.map(({ id }) => id).join(' '), removed);
  });
}

for (const [name, storage, event] of [
  [
    'a node that cannot free enough disk space records an event',
    '50M',
    /^Warning FreeDiskSpaceFailed: Failed to garbage collect required amount of images\. Attempted to free \d+ bytes, but only found \d+ bytes eligible to free\.$/,
  ],
  [
    'a node without disk capacity records an event',
    '0',
    /^Warning InvalidDiskCapacity: invalid capacity 0 on image filesystem$/,
  ],
] as const) {
  test(name, async () => {
    await using node = await startTestNode({
      kubelet: { capacity: { 'ephemeral-storage': storage }, evictionHard: [] },
    });
    await node.create({});
    await node.advance(700);
    const events = await node.events('node-1');
    assert.ok(
      events.some((each) => event.test(each)),
      events.join('\n'),
    );
    assert.ok(events.some((each) => each.startsWith('Warning ImageGCFailed: ')));
  });
}

test('a node without disk space garbage-collects unused images', async () => {
  await using node = await startTestNode({ kubelet: { capacity: { 'ephemeral-storage': '150M' } } });
  await node.create({});
  await node.waitUntil('web', (pod) => pod?.status?.phase === 'Running');
  assert.equal((await node.runtime.listImages({})).images.length, 3);
  await node.advance(700);
  const { images } = await node.runtime.listImages({});
  assert.ok(images.length < 3);
  assert.ok(images.some(({ repoTags }) => repoTags.includes('docker.io/library/nginx:1.25')));
});
