import assert from 'node:assert/strict';
import { test } from 'node:test';
import { compile } from '../compile.ts';
import { kubernetesEnvironment } from '../environments.ts';
import { toJson } from '../json-values.ts';
import { ApplyObject, misnamedObjects } from './mutation.ts';

function evaluate(text: string) {
  const program = compile(kubernetesEnvironment({ mutation: true }), text);
  assert.ok(program.ok, program.ok ? '' : program.message);
  const outcome = program.evaluate({});
  assert.ok('value' in outcome, 'error' in outcome ? outcome.error : '');
  return outcome.value;
}

const results = [
  { text: 'Object{spec: Object.spec{replicas: 3, tags: ["a"]}}', json: { spec: { replicas: 3, tags: ['a'] } } },
  {
    text: 'Object{metadata: Object.metadata{labels: {"a.b/c": "d"}}}',
    json: { metadata: { labels: { 'a.b/c': 'd' } } },
  },
  {
    text: '[JSONPatch{op: "add", path: "/a", value: {"b": 1}}, JSONPatch{op: "move", from: "/a", path: "/b"}]',
    json: [
      { op: 'add', path: '/a', value: { b: 1 } },
      { op: 'move', path: '/b', from: '/a' },
    ],
  },
  { text: '"/labels/" + jsonpatch.escapeKey("a/b~c")', json: '/labels/a~1b~0c' },
];
for (const { text, json } of results) {
  test(`${text} yields an apply configuration or a JSON patch`, () => {
    assert.deepEqual(toJson(evaluate(text)), json);
  });
}

test('object types whose names do not match their path are found', () => {
  const named = evaluate('Object{spec: Object.spec{template: Object.spec.template{}}}');
  const misnamed = evaluate('Object{spec: Object.status{}}');
  assert.ok(named instanceof ApplyObject && misnamed instanceof ApplyObject);
  assert.deepEqual(misnamedObjects(named), []);
  assert.deepEqual(misnamedObjects(misnamed), [
    'unexpected type name "Object.status", expected "Object.spec", which matches field name path from root Object type',
  ]);
});
