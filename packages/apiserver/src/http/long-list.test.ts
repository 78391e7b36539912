import assert from 'node:assert/strict';
import { connect } from 'node:http2';
import { text } from 'node:stream/consumers';
import { test } from 'node:test';
import { type ConfigMap, configMap } from '@kruise/api/core/configmap';
import { credentialsIn, rawRequests } from '../testing/raw-requests.ts';
import { startTestServer } from '../testing/test-server.ts';

const namespace = 'default';
const path = `/api/v1/namespaces/${namespace}/configmaps`;

test('a list of many pieces comes whole over each protocol, to several at a time', async () => {
  await using server = await startTestServer({ https: true });
  // More than a connection takes at once, in letters of one to four bytes.
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
