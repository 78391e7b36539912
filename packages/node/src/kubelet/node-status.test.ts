import assert from 'node:assert/strict';
import { test } from 'node:test';
import { node as nodeKind } from '@kruise/api/core/node';
import { startTestNode } from './testing/test-node.ts';

/** How often a node is written in a minute in which others change it once a second. */
async function writesIn(images: readonly string[]): Promise<number> {
  await using node = await startTestNode({ runtime: { images } });
  const { client } = node.server;
  const reference = { name: 'node-1' };
  await node.pass(5);
  const { metadata } = await client.get(nodeKind, reference);
  const stop = new AbortController();
  let writes = 0;
  const watching = (async () => {
    const { resourceVersion = '' } = metadata;
    for await (const _ of client.watch(nodeKind, { resourceVersion, signal: stop.signal })) writes++;
  })();
  for (let second = 0; second < 60; second++) {
    const annotations = { touched: String(second) };
    await client.patch(nodeKind, reference, { metadata: { annotations } }, { type: 'merge' });
    await node.pass(1);
  }
  stop.abort();
  await watching;
  return writes;
}

for (const images of [[], ['nginx:1.25']]) {
  test(`a node with ${images.length} images that has said how it is says it no more, whatever others do to it`, async () => {
    assert.equal(await writesIn(images), 60, 'only the others wrote');
  });
}

test('a node whose last image is gone says that it has none', async () => {
  await using node = await startTestNode({ runtime: { images: ['nginx:1.25'] } });
  const imagesOf = async () => (await node.server.client.get(nodeKind, { name: 'node-1' })).status?.images ?? [];
  await node.pass(5);
  assert.equal((await imagesOf()).length, 1);
  await node.runtime.removeImage({ image: { image: 'nginx:1.25' } });
  await node.pass(40);
  assert.deepEqual(await imagesOf(), []);
});
