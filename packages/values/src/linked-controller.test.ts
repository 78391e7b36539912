import assert from 'node:assert/strict';
import { getEventListeners } from 'node:events';
import { test } from 'node:test';
import { linkedController } from './linked-controller.ts';

test('is aborted with the first of its signals, for the same reason', () => {
  const [one, other] = [new AbortController(), new AbortController()];
  const linked = linkedController(one.signal, other.signal);
  assert.equal(linked.signal.aborted, false);
  other.abort('enough');
  assert.equal(linked.signal.reason, 'enough');
  one.abort('too late');
  assert.equal(linked.signal.reason, 'enough');
});

test('is aborted from the beginning where one of its signals is', () => {
  const { signal } = new AbortController();
  assert.equal(linkedController(signal, AbortSignal.abort('long ago')).signal.reason, 'long ago');
  assert.equal(getEventListeners(signal, 'abort').length, 0);
});

test('leaves nothing behind in signals that outlive it', () => {
  const { signal } = new AbortController();
  const linked = linkedController(signal);
  assert.equal(getEventListeners(signal, 'abort').length, 1);
  linked.abort();
  assert.equal(getEventListeners(signal, 'abort').length, 0);
});
