import assert from 'node:assert/strict';
import { test } from 'node:test';
import { type NodeServiceOptions, runNodeServices } from './node-services.ts';

function logging() {
  const errors: unknown[] = [];
  // The services of these tests use no other option.
  const options = {
    nodeName: 'a',
    log: { error: (facts: unknown) => errors.push(facts) },
  } as unknown as NodeServiceOptions;
  return { errors, options };
}

test('a service that fails is logged, and the others go on', async () => {
  const { errors, options } = logging();
  const stop = new AbortController();
  const ended: string[] = [];
  const failure = new Error('no rules');
  const running = runNodeServices(
    [
      { name: 'proxy', run: () => Promise.reject(failure) },
      {
        name: 'dns',
        run: (_, signal) => new Promise((resolve) => signal.addEventListener('abort', () => resolve())),
      },
    ],
    options,
    stop.signal,
  ).then(() => ended.push('all'));
  await new Promise((resolve) => setImmediate(resolve));
  assert.deepEqual(errors, [{ node: 'a', service: 'proxy', error: failure }]);
  assert.deepEqual(ended, []);
  stop.abort();
  await running;
  assert.deepEqual(ended, ['all']);
});

test('a failure while the node stops is not logged', async () => {
  const { errors, options } = logging();
  await runNodeServices(
    [{ name: 'dns', run: () => Promise.reject(new Error('aborted')) }],
    options,
    AbortSignal.abort(),
  );
  assert.deepEqual(errors, []);
});
