import assert from 'node:assert/strict';
import { test } from 'node:test';
import { healthChecks, reportHealth } from './health.ts';

const healthy = {
  storeAnswers: async () => {},
  cachesFollow: () => {},
  isStarted: () => true,
  isStopping: () => false,
};
const quiet = { verbose: false, exclude: [] };

async function report(endpoint: string, state: Partial<typeof healthy>, question: Partial<typeof quiet> = {}) {
  const checks = healthChecks({ ...healthy, ...state })[endpoint]!;
  return reportHealth(endpoint, checks, { ...quiet, ...question });
}

test('a healthy server returns only ok', async () => {
  for (const endpoint of ['healthz', 'livez', 'readyz']) {
    assert.deepEqual(await report(endpoint, {}), { code: 200, body: 'ok', failed: [] });
  }
});

test('a server that shuts down is live but not ready', async () => {
  const stopping = { isStopping: () => true };
  assert.equal((await report('livez', stopping)).code, 200);
  const { code, body } = await report('readyz', stopping);
  assert.equal(code, 500);
  assert.match(body, /\[-\]shutdown failed: reason withheld\nreadyz check failed\n$/);
});

test('an unreachable store fails every endpoint, without a reason', async () => {
  const storeAnswers = async () => {
    throw new Error('secret host refused the connection');
  };
  const { code, body, failed } = await report('livez', { storeAnswers });
  assert.equal(code, 500);
  assert.doesNotMatch(body, /secret/);
  assert.deepEqual(
    failed.map(({ name }) => name),
    ['etcd'],
  );
  assert.equal((await report('livez', { storeAnswers }, { exclude: ['etcd'] as never })).code, 200);
});

test('verbose output lists every check, including excluded ones', async () => {
  const { body } = await report('livez', {}, { verbose: true, exclude: ['ping'] as never });
  assert.match(body, /^\[\+\]ping excluded: ok\n\[\+\]log ok\n\[\+\]etcd ok\n/);
  assert.match(body, /\nlivez check passed\n$/);
});

test('an unknown excluded check is reported', async () => {
  const { body } = await report('livez', {}, { verbose: true, exclude: ['b', 'a'] as never });
  assert.match(body, /\nwarn: some health checks cannot be excluded: no matches for "a","b"\nlivez check passed\n$/);
});
