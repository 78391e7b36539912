import assert from 'node:assert/strict';
import { test } from 'node:test';
import { configMap } from '@kruise/api/core/configmap';
import { deleteOptions } from '@kruise/api/meta/options';
import { StatusError } from '@kruise/machinery/status';
import { codecOf } from '@kruise/schema/codec';
import type { RequestContext } from '../context.ts';
import { serializerOf } from '../resources/serializer.ts';
import { decodeBody, decodeOptions } from './body.ts';

const expected = { kind: configMap, serializer: serializerOf(configMap, {}) };
const bytes = (text: string, contentType = 'application/json') => ({
  type: 'bytes' as const,
  contentType,
  bytes: Buffer.from(text),
});
const typeMeta =
  'struct { APIVersion string "json:\\"apiVersion,omitempty\\""; Kind string "json:\\"kind,omitempty\\"" }';
const unrecognized = 'the object provided is unrecognized (must be of type ConfigMap)';
const unparsed = `${unrecognized}: couldn't get version/kind; json parse error`;
const scheme = 'in scheme "pkg/runtime/scheme.go:110"';

const refused: readonly (readonly [body: string, message: string, contentType?: string])[] = [
  ['', `${unparsed}: unexpected end of JSON input (<empty>)`],
  ['[]', `${unparsed}: json: cannot unmarshal array into Go value of type ${typeMeta} (5b5d)`],
  [
    '{"kind":"ConfigMap","apiVersion":"v1"',
    `${unparsed}: unexpected end of JSON input ({"kind":"ConfigMap","apiVersio ...)`,
  ],
  ['{"apiVersion":"a/b/c"}', `${unrecognized}: unexpected GroupVersion string: a/b/c ({"apiVersion":"a/b/c"})`],
  [
    '{"kind":"Odd"}',
    `Odd in version "v1" cannot be handled as a ConfigMap: no kind "Odd" is registered for version "v1" ${scheme}`,
  ],
  [
    '{"apiVersion":"other/v2"}',
    `ConfigMap in version "v2" cannot be handled as a ConfigMap: no kind "ConfigMap" is registered for version "other/v2" ${scheme}`,
  ],
  [
    '{"kind":"Pod"}',
    'Pod in version "v1" cannot be handled as a ConfigMap: converting (v1.Pod) to (core.ConfigMap): unknown conversion',
  ],
  [
    '{"data":1}',
    'ConfigMap in version "v1" cannot be handled as a ConfigMap: json: cannot unmarshal number into Go struct field ConfigMap.data of type map[string]string',
  ],
  [
    '{}',
    `${unrecognized}: provided data does not appear to be a protobuf message, expected prefix [107 56 115 0] ({})`,
    'application/vnd.kubernetes.protobuf',
  ],
];
for (const [body, message, contentType] of refused) {
  test(`${JSON.stringify(body)} is rejected with Kubernetes' message`, () => {
    assert.throws(
      () => decodeBody({} as RequestContext, expected, bytes(body, contentType), 'Ignore'),
      (error) => {
        assert.ok(error instanceof StatusError);
        assert.deepEqual([error.code, error.message], [400, message]);
        return true;
      },
    );
  });
}

test('a body may omit its kind', () => {
  const draft = decodeBody({} as RequestContext, expected, bytes('{"data":{"a":"b"}}'), 'Ignore');
  assert.deepEqual([draft.kind, draft.apiVersion, draft.data], ['ConfigMap', 'v1', { a: 'b' }]);
});

test('DELETE accepts only DeleteOptions', () => {
  const codec = codecOf(deleteOptions);
  assert.equal(decodeOptions(bytes(''), codec), undefined);
  assert.deepEqual(decodeOptions(bytes('{"gracePeriodSeconds":5}'), codec), { gracePeriodSeconds: 5 });
  assert.throws(() => decodeOptions(bytes('{"kind":"Pod","apiVersion":"v1"}'), codec), {
    message: `no kind "Pod" is registered for version "v1" ${scheme}`,
  });
});
