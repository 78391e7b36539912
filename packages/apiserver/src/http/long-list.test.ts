import assert from 'node:assert/strict';
import { once } from 'node:events';
import { connect, type IncomingHttpHeaders, type OutgoingHttpHeaders } from 'node:http2';
import { buffer, text } from 'node:stream/consumers';
import { test } from 'node:test';
import { gunzipSync } from 'node:zlib';
import { type ConfigMap, configMap } from '@kruise/api/core/configmap';
import { credentialsIn, rawRequests } from '../testing/raw-requests.ts';
import { type Listening, startTestServer, type TestServer } from '../testing/test-server.ts';

const namespace = 'default';
const path = `/api/v1/namespaces/${namespace}/configmaps`;

test('a list of many chunks is complete over each protocol, for several clients at a time', async () => {
  await using server = await startTestServer({ https: true });
  // More than a connection buffers, with characters of one to four bytes.
  const written = Array.from({ length: 100 }, (_, index) => 'aé語🙂'.repeat(8_000 + index));
  for (const [index, letters] of written.entries()) {
    const name = `settings-${String(index).padStart(3, '0')}`;
    await server.client.create(configMap, { metadata: { name, namespace }, data: { letters } });
  }
  const ask = rawRequests(server);
  const session = connect(server.url, credentialsIn(server));
  const answers = await Promise.all([
    ask(path).then((answer) => answer.text),
    ask(path).then((answer) => answer.text),
    text(session.request({ ':path': path })),
    text(session.request({ ':path': path })),
  ]);
  session.close();
  ask.close();
  for (const answer of answers) {
    const { items } = JSON.parse(answer) as { items: ConfigMap[] };
    assert.deepEqual(
      items.map(({ data }) => data?.letters),
      written,
    );
  }
});

/** Sends a request with these headers over HTTP/2, and returns the body undecoded. */
async function fetchRaw(server: Listening, asked: OutgoingHttpHeaders, query = ''): Promise<Raw> {
  const session = connect(server.url, credentialsIn(server));
  try {
    const stream = session.request({ ':path': `${path}${query}`, ...asked });
    const [headers] = (await once(stream, 'response')) as [IncomingHttpHeaders];
    return { headers, body: await buffer(stream) };
  } finally {
    session.close();
  }
}

type Raw = { readonly headers: IncomingHttpHeaders; readonly body: Buffer };

async function createMany(server: TestServer, count: number, data: { readonly [key: string]: string }): Promise<void> {
  for (let index = 0; index < count; index++) {
    await server.client.create(configMap, { metadata: { name: `settings-${index}`, namespace }, data });
  }
}

test('a long list is compressed for clients that accept gzip, in each encoding', async () => {
  await using server = await startTestServer({ https: true });
  await createMany(server, 200, { letters: 'aé語🙂'.repeat(2_000) });
  // Both lists must have the same revision, whatever else the server writes.
  const { metadata } = await server.client.list(configMap, { namespace });
  const query = `?resourceVersion=${metadata?.resourceVersion}&resourceVersionMatch=Exact`;
  for (const accept of ['application/json', 'application/vnd.kubernetes.protobuf']) {
    const plain = await fetchRaw(server, { accept }, query);
    const packed = await fetchRaw(server, { accept, 'accept-encoding': 'deflate, gzip;q=0.9' }, query);
    assert.equal(plain.headers['content-encoding'], undefined);
    assert.equal(packed.headers['content-encoding'], 'gzip');
    assert.match(String(packed.headers.vary), /Accept-Encoding/);
    assert.ok(packed.body.length * 20 < plain.body.length, `${packed.body.length} of ${plain.body.length} bytes`);
    assert.ok(gunzipSync(packed.body).equals(plain.body), accept);
  }
});

test('a list of many small objects is not compressed', async () => {
  await using server = await startTestServer({ https: true });
  await createMany(server, 100, { a: 'b' });
  for (const accept of ['application/json', 'application/vnd.kubernetes.protobuf']) {
    const { headers, body } = await fetchRaw(server, { accept, 'accept-encoding': 'gzip' });
    assert.equal(headers['content-encoding'], undefined, accept);
    assert.equal(Number(headers['content-length']), body.length);
    assert.equal(String(body).split('settings-').length - 1, 100);
  }
});
