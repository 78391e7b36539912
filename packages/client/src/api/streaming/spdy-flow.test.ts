import assert from 'node:assert/strict';
import { test } from 'node:test';
import { connectionWindowBytes, createFlowControl, defaultWindowBytes, maxFrameBytes } from './spdy-flow.ts';

test('a peer without windows is sent whole frames', () => {
  const flow = createFlowControl();
  flow.recordSent(10 * defaultWindowBytes);
  assert.equal(flow.isEnabled(), false);
  assert.equal(flow.roomFor(-1), maxFrameBytes);
  assert.equal(flow.recordReceived(connectionWindowBytes), 0);
});

test('the smaller window of the stream and the connection limits what is sent', () => {
  const flow = createFlowControl();
  assert.equal(flow.setInitialWindow(100_000), 100_000 - defaultWindowBytes);
  assert.equal(flow.initialWindow(), 100_000);
  assert.equal(flow.roomFor(1000), 1000);
  assert.equal(flow.roomFor(100_000), defaultWindowBytes);
  flow.recordSent(defaultWindowBytes);
  assert.equal(flow.roomFor(100_000), 0);
  flow.grow(500);
  assert.equal(flow.roomFor(100_000), 500);
});

test('received bytes are acknowledged once half of the window of the connection is used', () => {
  const flow = createFlowControl();
  flow.setInitialWindow(defaultWindowBytes);
  assert.equal(flow.recordReceived(connectionWindowBytes / 2), 0);
  assert.equal(flow.recordReceived(1), connectionWindowBytes / 2 + 1);
  assert.equal(flow.recordReceived(1), 0);
});

test('a window beyond the protocol is rejected', () => {
  assert.throws(() => createFlowControl().setInitialWindow(0x80000000), /flow control window overflow/);
});

test('a change wakes all waiting writers once', async () => {
  const flow = createFlowControl();
  const waits = [flow.changed(), flow.changed()];
  flow.wake();
  await Promise.all(waits);
  const pending = flow.changed();
  assert.equal(await Promise.race([pending.then(() => 'woken'), Promise.resolve('pending')]), 'pending');
});
