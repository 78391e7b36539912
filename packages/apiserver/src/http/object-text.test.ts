import assert from 'node:assert/strict';
import { test } from 'node:test';
import { keepStoredText, storedText } from '../stored-text.ts';
import { rawRequests } from '../testing/raw-requests.ts';
import { startTestServer } from '../testing/test-server.ts';

const objects = [
  {
    name: 'with characters, keys and escapes of all kinds',
    path: '/api/v1/namespaces/default/configmaps',
    object: { metadata: { name: 'a' }, data: { '10': 'ä', '9': '<b>&\u2028', 'a.b': '"uid":"1"' } },
  },
  {
    name: 'whose name contains uid',
    path: '/apis/rbac.authorization.k8s.io/v1/clusterroles',
    object: { metadata: { name: 'a"uid":"b' }, rules: [] },
  },
  {
    name: 'with annotations and lists',
    path: '/api/v1/namespaces/default/services',
    object: {
      metadata: { name: 'web', annotations: { note: '"uid":"2"' } },
      spec: { selector: { app: 'web' }, ports: [{ port: 80 }] },
    },
  },
];
for (const { name, path, object } of objects) {
  test(`an object ${name} has the same text in the write response, a watch and a list`, async (context) => {
    await using server = await startTestServer({ https: true });
    const ask = rawRequests(server);
    context.after(() => ask.close());
    const headers = { 'content-type': 'application/json' };
    const created = await ask(path, { method: 'POST', headers, body: JSON.stringify(object) });
    assert.equal(created.code, 201, created.text);
    const read = await ask(`${path}/${encodeURIComponent(object.metadata.name)}`);
    assert.equal(read.text, created.text);
    // List items are serialized again, and omit kind and apiVersion.
    const list = await ask(`${path}?fieldSelector=${encodeURIComponent(`metadata.name=${object.metadata.name}`)}`);
    const ofList = list.text.slice(list.text.indexOf('"items":[{') + '"items":[{'.length, list.text.lastIndexOf(']}'));
    const [, kind, rest] = /^\{("kind":"\w+","apiVersion":"[\w./]+"),(.*)\n$/s.exec(created.text)!;
    assert.equal(ofList, rest);
    const { resourceVersion } = JSON.parse(list.text).metadata;
    const since = Number(JSON.parse(created.text).metadata.resourceVersion) - 1;
    const watch = await ask(`${path}?watch=1&resourceVersion=${since}&timeoutSeconds=1`);
    assert.ok(Number(resourceVersion) > since);
    assert.ok(watch.text.includes(`{"type":"ADDED","object":{${kind},${rest}}\n`), watch.text);
  });
}

const stored = (name: string, length = 0) => {
  const metadata = { name, uid: `uid-${name}`, creationTimestamp: null };
  const text = Buffer.from(JSON.stringify({ kind: 'Pod', metadata, data: 'x'.repeat(length) }));
  return { object: { apiVersion: 'v1', kind: 'Pod', metadata: { ...metadata, resourceVersion: '7' } }, text };
};

test('a kept text gets its resourceVersion, prefix and suffix', () => {
  const { object, text } = stored('a');
  assert.equal(storedText(object, '[', ']'), undefined);
  keepStoredText(object, text);
  const metadata = '{"name":"a","uid":"uid-a","resourceVersion":"7","creationTimestamp":null}';
  assert.equal(String(storedText(object, '[', ']')), `[{"kind":"Pod","metadata":${metadata},"data":""}]`);
});

test('the text of an old write is not kept', () => {
  const first = stored('first');
  keepStoredText(first.object, first.text);
  for (let index = 0; index < 20; index++) {
    const { object, text } = stored(`large-${index}`, 2 ** 20);
    keepStoredText(object, text);
    assert.ok(storedText(object, '', ''));
  }
  assert.equal(storedText(first.object, '', ''), undefined);
});
