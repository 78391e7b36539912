import assert from 'node:assert/strict';
import { connect } from 'node:http2';
import { test } from 'node:test';
import { setFlagsFromString } from 'node:v8';
import { runInNewContext } from 'node:vm';
import { createMetrics } from '@kruise/client/metrics';
import { credentialsIn, rawRequests } from '../testing/raw-requests.ts';
import { startTestServer } from '../testing/test-server.ts';

setFlagsFromString('--expose-gc');
const collectGarbage = runInNewContext('gc') as () => void;

function heapUsed(): number {
  collectGarbage();
  return process.memoryUsage().heapUsed;
}

const pathBytes = 256 * 1024;

test('requests for long unknown paths leave nothing in memory', async () => {
  const metrics = createMetrics();
  await using server = await startTestServer({ https: true, metrics });
  const ask = rawRequests(server, { anonymous: true });
  const long = (id: number) => `${id}-${'x'.repeat(pathBytes)}`;
  const paths = [
    (id: number) => `/${long(id)}`,
    (id: number) => `/api/v1/${long(id)}`,
    (id: number) => `/api/v1/namespaces/${long(id)}/pods`,
    (id: number) => `/api/v1/namespaces/default/pods/a/${long(id)}`,
    (id: number) => `/apis/${long(id)}/v1/things`,
  ];
  try {
    for (const path of paths) assert.equal((await ask(path(0))).code, 403);
    const before = heapUsed();
    const seriesBefore = metrics.text().length;
    for (let id = 1; id <= 40; id++) {
      for (const path of paths) assert.equal((await ask(path(id))).code, 403);
    }
    const growth = heapUsed() - before;
    assert.ok(growth < 8 << 20, `200 requests left ${growth} bytes`);
    assert.ok(metrics.text().length - seriesBefore < 1024);
  } finally {
    ask.close();
  }
});

test('a request with headers beyond a megabyte is rejected', async () => {
  await using server = await startTestServer({ https: true });
  const ask = rawRequests(server, { anonymous: true });
  const { ca } = credentialsIn(server);
  const session = connect(server.url, { ca });
  try {
    assert.equal((await ask(`/${'x'.repeat(1 << 19)}`)).code, 403);
    assert.equal((await ask(`/${'x'.repeat((1 << 20) + 1)}`)).code, 431);
    await assert.rejects(
      new Promise((resolve, reject) => {
        const stream = session.request({ ':path': `/${'x'.repeat((1 << 20) + 1)}` });
        stream.once('response', resolve);
        stream.once('error', reject);
      }),
    );
    assert.equal((await ask('/livez')).code, 200);
  } finally {
    session.destroy();
    ask.close();
  }
});
