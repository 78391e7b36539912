import assert from 'node:assert/strict';
import { test } from 'node:test';
import { setImmediate } from 'node:timers/promises';
import type { ApiRequest, Transport } from '@kruise/client/transport';
import { createRequestQueue, withFairQueue } from './fair-queue.ts';

const request: ApiRequest = { method: 'GET', path: '/version' };

/** A server that answers at once, and how often it was asked. */
function instantServer() {
  const asked: string[] = [];
  const transport: Transport = {
    async request({ path }) {
      asked.push(path);
      return { code: 200, object: path, warnings: [] };
    },
    async *watch() {},
  };
  return { asked, transport };
}

test('requests that follow each other let the process look at its sockets now and then', async () => {
  const { asked, transport } = instantServer();
  const { request: ask } = withFairQueue(createRequestQueue(), transport);
  let isOver = false;
  const working = (async () => {
    for (let i = 0; i < 10_000; i++) await ask(request);
    isOver = true;
  })();
  let turns = 0;
  while (!isOver) {
    await setImmediate();
    turns++;
  }
  await working;
  assert.equal(asked.length, 10_000);
  assert.ok(turns > 50, `sockets were looked at ${turns} times`);
});

test('a few requests are not queued', async () => {
  const { asked, transport } = instantServer();
  const { request: ask } = withFairQueue(createRequestQueue(), transport);
  for (let i = 0; i < 20; i++) void ask(request);
  assert.equal(asked.length, 20);
});

test('queued requests are sent in order', async () => {
  const { asked, transport } = instantServer();
  const { request: ask } = withFairQueue(createRequestQueue(), transport);
  const paths = Array.from({ length: 1000 }, (_, index) => `/${index}`);
  const answers = await Promise.all(paths.map((path) => ask({ ...request, path })));
  assert.deepEqual(asked, paths);
  assert.deepEqual(
    answers.map(({ object }) => object),
    paths,
  );
});

test('a writer with few requests does not wait behind a writer with many', async () => {
  const { asked, transport } = instantServer();
  const { request: ask } = withFairQueue(createRequestQueue(), transport);
  const write = (fieldManager: string) => ask({ ...request, path: `/${fieldManager}`, query: { fieldManager } });
  const flood = Array.from({ length: 1000 }, () => write('flood'));
  const others = Array.from({ length: 10 }, () => write('brook'));
  await Promise.all(others);
  assert.ok(asked.length <= 2 * 128, `${asked.length} were asked before`);
  await Promise.all(flood);
  assert.equal(asked.length, 1010);
});

test('background requests are sent after others and do not starve', async () => {
  const { asked, transport } = instantServer();
  const { request: ask } = withFairQueue(createRequestQueue(), transport);
  const events = Array.from({ length: 500 }, () => ask({ ...request, path: '/event', isBackground: true }));
  const others = Array.from({ length: 500 }, () => ask(request));
  await Promise.all(others);
  const isEvent = (path: string) => path === '/event';
  assert.ok(asked.slice(0, 128).every(isEvent), 'they were there first');
  assert.equal(asked.slice(128, 384).filter(isEvent).length, 16);
  await Promise.all(events);
  assert.equal(asked.length, 1000);
});
