import assert from 'node:assert/strict';
import { test } from 'node:test';
import { healthResponse, ping, serveHealth } from './health.ts';
import { createMetrics } from './metrics.ts';

const failing = () => {
  throw new Error('the password is hunter2');
};

const cases = [
  { name: 'all checks pass', checks: { ping }, url: '/readyz', code: 200, text: 'ok' },
  {
    name: 'verbose output lists each check',
    checks: { ping, caches: ping },
    url: '/readyz?verbose',
    code: 200,
    text: '[+]ping ok\n[+]caches ok\nreadyz check passed\n',
  },
  {
    name: 'a failed check is listed without its reason',
    checks: { ping, caches: failing },
    url: '/readyz',
    code: 500,
    text: '[+]ping ok\n[-]caches failed: reason withheld\nreadyz check failed\n',
  },
  {
    name: 'a check can be excluded',
    checks: { ping, caches: failing },
    url: '/readyz?verbose&exclude=caches',
    code: 200,
    text: '[+]ping ok\n[+]caches excluded: ok\nreadyz check passed\n',
  },
  {
    name: 'an unknown check cannot be excluded',
    checks: { ping },
    url: '/readyz?verbose&exclude=other',
    code: 200,
    text: '[+]ping ok\nwarn: some health checks cannot be excluded: no matches for "other"\nreadyz check passed\n',
  },
  {
    name: 'a single check can be requested',
    checks: { ping, caches: failing },
    url: '/readyz/ping',
    code: 200,
    text: 'ok',
  },
  {
    name: 'a single check returns the reason of its failure',
    checks: { caches: async () => Promise.reject(new Error('empty')) },
    url: '/readyz/caches',
    code: 500,
    text: 'internal server error: empty\n',
  },
  {
    name: 'an unknown check is not found',
    checks: { ping },
    url: '/readyz/toString',
    code: 404,
    text: '404 page not found\n',
  },
];
for (const { name, checks, url, code, text } of cases) {
  test(name, async () => assert.deepEqual(await healthResponse('readyz', checks, url), { code, text }));
}

test('health and metrics are served together', async () => {
  const metrics = createMetrics();
  metrics.counter('things_total', 'Things.').of().increase();
  const server = await serveHealth({ port: 0, metrics, ready: { failing } });
  const get = async (path: string) => {
    const response = await fetch(`http://127.0.0.1:${server.port}${path}`);
    return [response.status, (await response.text()).split('\n')[0]];
  };
  assert.deepEqual(await get('/healthz'), [200, 'ok']);
  assert.deepEqual(await get('/livez?verbose'), [200, '[+]ping ok']);
  assert.deepEqual(await get('/readyz'), [500, '[-]failing failed: reason withheld']);
  assert.deepEqual(await get('/metrics'), [200, '# HELP things_total Things.']);
  assert.deepEqual(await get('/'), [404, '404 page not found']);
  await server.close();
});
