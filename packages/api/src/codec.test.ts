/** Codecs of the built-in kinds. The expected outputs were produced by Go itself. */
import assert from 'node:assert/strict';
import { test } from 'node:test';
import { codecOf, DecodeError } from '@kruise/schema/codec';
import { deepFreeze } from '@kruise/schema/draft';
import {
  decodeEnvelope,
  decodeWatchEvent,
  encodeEnvelope,
  encodeWatchFrame,
  makeFrameSplitter,
} from '@kruise/schema/protobuf-envelope';
import * as fc from 'fast-check';
import { builtinKinds } from './builtin.ts';

function codecFor(kind: string) {
  const found = builtinKinds.find((each) => each.kind === kind);
  assert.ok(found, kind);
  return codecOf<unknown>(found.root);
}

/** The input of a client, and Go's output in JSON and in base64-encoded protobuf. */
const written: readonly {
  readonly kind: string;
  readonly given: string;
  readonly json: string;
  readonly protobuf: string;
}[] = [
  {
    kind: 'Pod',
    given:
      '{"metadata":{"name":"web","labels":{"b":"2","a":"1"},"creationTimestamp":"2024-01-01T01:00:00+01:00"},"spec":{"terminationGracePeriodSeconds":0,"containers":[{"name":"c","resources":{"limits":{"memory":"1024Mi","cpu":1}},"livenessProbe":{"httpGet":{"port":"http"}},"ports":[{"containerPort":80}]}],"volumes":[{"name":"v","emptyDir":{}}]}}',
    json: '{"metadata":{"name":"web","creationTimestamp":"2024-01-01T00:00:00Z","labels":{"a":"1","b":"2"}},"spec":{"volumes":[{"name":"v","emptyDir":{}}],"containers":[{"name":"c","ports":[{"containerPort":80}],"resources":{"limits":{"cpu":"1","memory":"1Gi"}},"livenessProbe":{"httpGet":{"port":"http"}}}],"terminationGracePeriodSeconds":0},"status":{}}',
    protobuf:
      'CisKA3dlYhIAGgAiACoAMgA4AEIICICByKwGEABaBgoBYRIBMVoGCgFiEgEyEo8BCgkKAXYSBBICCgASZAoBYxIAKgAyCgoAEAAYUCIAKgBCHQoKCgNjcHUSAwoBMQoPCgZtZW1vcnkSBQoDMUdpUiAKFBISCgASCggBEAAaBGh0dHAaACIAEAAYACAAKAAwAGoAcgCAAQCIAQCQAQCiAQAaACAAMgBCAEoAUgBYAGAAaACCAQCKAQCaAQDCAQAaEwoAGgAiACoAMgBKAFoAcgCIAQA=',
  },
  {
    kind: 'Secret',
    given: '{"metadata":{"name":"s"},"data":{"a":"aGk=","b":null,"c":""},"immutable":false}',
    json: '{"metadata":{"name":"s","creationTimestamp":null},"immutable":false,"data":{"a":"aGk=","b":null,"c":""}}',
    protobuf: 'ChEKAXMSABoAIgAqADIAOABCABIHCgFhEgJoaRIDCgFiEgUKAWMSABoAKAA=',
  },
  {
    kind: 'Service',
    given: '{"metadata":{"name":"s"},"spec":{"ports":[{"port":80,"targetPort":-1}],"selector":{"10":"x","9":"y"}}}',
    json: '{"metadata":{"name":"s","creationTimestamp":null},"spec":{"ports":[{"port":80,"targetPort":-1}],"selector":{"10":"x","9":"y"}},"status":{"loadBalancer":{}}}',
    protobuf:
      'ChEKAXMSABoAIgAqADIAOABCABI8ChkKABIAGFAiDwgAEP///////////wEaACgAEgcKAjEwEgF4EgYKATkSAXkaACIAOgBCAFIAWgBgAGgAGgIKAA==',
  },
  {
    kind: 'Deployment',
    given:
      '{"metadata":{"name":"d","generation":9223372036854775807},"spec":{"replicas":0,"selector":null,"strategy":{"rollingUpdate":{"maxSurge":"25%"}},"template":{}}}',
    json: '{"metadata":{"name":"d","generation":9223372036854775807,"creationTimestamp":null},"spec":{"replicas":0,"selector":null,"template":{"metadata":{"creationTimestamp":null},"spec":{"containers":null}},"strategy":{"rollingUpdate":{"maxSurge":"25%"}}},"status":{}}',
    protobuf:
      'ChkKAWQSABoAIgAqADIAOP//////////f0IAEkkIABowChAKABIAGgAiACoAMgA4AEIAEhwaADIAQgBKAFIAWABgAGgAggEAigEAmgEAwgEAIg8KABILEgkIARAAGgMyNSUoADgAGgwIABAAGAAgACgAOAA=',
  },
  {
    kind: 'Lease',
    given: '{"metadata":{"name":"l"},"spec":{"renewTime":"2024-01-01T00:00:00.123456Z","leaseDurationSeconds":-15}}',
    json: '{"metadata":{"name":"l","creationTimestamp":null},"spec":{"leaseDurationSeconds":-15,"renewTime":"2024-01-01T00:00:00.123456Z"}}',
    protobuf: 'ChEKAWwSABoAIgAqADIAOABCABIYEPH//////////wEiCwiAgcisBhCAlO86',
  },
  {
    kind: 'TokenReview',
    given: '{"metadata":{},"spec":{},"status":{"user":{"extra":{"k":["a","b"],"e":[]}}}}',
    json: '{"metadata":{"creationTimestamp":null},"spec":{},"status":{"user":{"extra":{"e":[],"k":["a","b"]}}}}',
    protobuf: 'ChAKABIAGgAiACoAMgA4AEIAEgIKABoeCAASGAoAEgAiBQoBZRIAIgsKAWsSBgoBYQoBYhoA',
  },
  {
    kind: 'CustomResourceDefinition',
    given:
      '{"metadata":{"name":"c"},"spec":{"group":"g","names":{"plural":"p","kind":"K"},"scope":"Cluster","versions":[{"name":"v1","served":true,"storage":true,"schema":{"openAPIV3Schema":{"type":"object","maximum":1.5,"default":{"a":[1]},"items":{"type":"string"},"additionalProperties":true,"dependencies":{"d":["x"]},"not":{"items":[{"title":"t"}],"additionalItems":{"type":"null"}}}}}]}}',
    json: '{"metadata":{"name":"c","creationTimestamp":null},"spec":{"group":"g","names":{"plural":"p","kind":"K"},"scope":"Cluster","versions":[{"name":"v1","served":true,"storage":true,"schema":{"openAPIV3Schema":{"type":"object","default":{"a":[1]},"maximum":1.5,"items":{"type":"string"},"not":{"items":[{"title":"t"}],"additionalItems":{"type":"null"}},"additionalProperties":true,"dependencies":{"d":["x"]}}}}]},"status":{"conditions":null,"acceptedNames":{"plural":"","kind":""},"storedVersions":null}}',
    protobuf:
      'ChEKAWMSABoAIgAqADIAOABCABKOAgoBZxoKCgFwEgAiAUsqACIHQ2x1c3RlcjrxAQoCdjEQARgBIuQBCuEBCgASACIAKgZvYmplY3QyADoAQgsKCXsiYSI6WzFdfUkAAAAAAAD4P1AAYAB6AJABAMIBJgokCgASACIAKgZzdHJpbmcyADoAUABgAHoAkAEAqAIAuAIAwAIA4gFrCgASACIAKgAyADoAUABgAHoAkAEAwgEhEh8KABIAIgAqADIAOgF0UABgAHoAkAEAqAIAuAIAwAIAigImCAESIgoAEgAiACoEbnVsbDIAOgBQAGAAegCQAQCoAgC4AgDAAgCoAgC4AgDAAgDyAQIIAYICCAoBZBIDEgF4qAIAuAIAwAIAOABQABoKEggKABIAIgAqAA==',
  },
  {
    kind: 'ControllerRevision',
    given:
      '{"metadata":{"name":"r","managedFields":[{"fieldsV1":{"f:data":{}}}]},"data":{"spec":{"x":1}},"revision":3}',
    json: '{"metadata":{"name":"r","creationTimestamp":null,"managedFields":[{"fieldsV1":{"f:data":{}}}]},"data":{"spec":{"x":1}},"revision":3}',
    protobuf: 'Ci8KAXISABoAIgAqADIAOABCAIoBGwoAEgAaADIAOg8KDXsiZjpkYXRhIjp7fX1CABISChB7InNwZWMiOnsieCI6MX19GAM=',
  },
];

for (const { kind, given, json, protobuf } of written) {
  const codec = codecFor(kind);
  const message = Buffer.from(protobuf, 'base64');

  test(`a ${kind} is written in JSON as Go writes it`, () => {
    assert.equal(codec.toJson(codec.decode(given).object), json);
    assert.equal(
      codec.toJson(codec.fromJson(JSON.parse(given.replace('9223372036854775807', '7')))),
      json.replace('9223372036854775807', '7'),
    );
  });

  test(`a ${kind} is written in protobuf as Go writes it, and read again`, () => {
    assert.deepEqual(Buffer.from(codec.toProtobuf(codec.decode(given).object)), message);
    const read = codec.fromProtobuf(message);
    assert.deepEqual(codec.fromProtobuf(codec.toProtobuf(read)), read);
    assert.equal(codec.canonical(read), read);
  });

  test(`a ${kind} cut short or damaged is refused, or is another ${kind}`, () => {
    for (let end = 1; end < message.length; end++) refusesOrReads(codec, message.subarray(0, end));
    for (let at = 0; at < message.length; at++) {
      for (const byte of [0, 7, 0x7f, 0x80, 0xff]) {
        const damaged = Buffer.from(message);
        damaged[at] = byte;
        refusesOrReads(codec, damaged);
      }
    }
  });
}

function refusesOrReads(codec: ReturnType<typeof codecFor>, bytes: Uint8Array): void {
  try {
    codec.toJson(codec.fromProtobuf(bytes));
  } catch (error) {
    assert.match((error as Error).name, /^(ProtobufError|ParseError|JsonSyntaxError)$/, String(error));
  }
}

/** Errors of a value with its own decoder, of a value within a union, and the order of errors, as in Go. */
const refusals: readonly (readonly [kind: string, given: string, error: string])[] = [
  [
    'Pod',
    '{"spec":{"volumes":["a"]}}',
    'json: cannot unmarshal string into Go struct field PodSpec.spec.volumes of type v1.Volume',
  ],
  [
    'Pod',
    '{"spec":{"ephemeralContainers":[{"image":1}]}}',
    'json: cannot unmarshal number into Go struct field EphemeralContainer.spec.ephemeralContainers.image of type string',
  ],
  [
    'Pod',
    '{"spec":{"containers":[{"resources":{"limits":{"cpu":"x"}}}]}}',
    "quantities must match the regular expression '^([+-]?[0-9.]+)([eEinumkKMGTP]*[-+]?[0-9]*)$'",
  ],
  ['Pod', '{"kind":5}', 'json: cannot unmarshal number into Go struct field Pod.kind of type string'],
  ['Secret', '{"data":{"a":1}}', 'json: cannot unmarshal number into Go struct field Secret.data of type []uint8'],
  [
    'Service',
    '{"spec":{"ports":[{"targetPort":1.5}]}}',
    'json: cannot unmarshal number 1.5 into Go struct field ServicePort.spec.ports.targetPort of type int32',
  ],
  [
    'Deployment',
    '{"metadata":{"labels":[]},"spec":{"replicas":"1"}}',
    'json: cannot unmarshal array into Go struct field ObjectMeta.metadata.labels of type map[string]string',
  ],
  [
    'ConfigMap',
    '{"metadata":{"uid":true}}',
    'json: cannot unmarshal bool into Go struct field ObjectMeta.metadata.uid of type types.UID',
  ],
  [
    'CustomResourceDefinition',
    '{"spec":{"versions":[{"schema":{"openAPIV3Schema":{"items":{"properties":{"a":{"type":1}}}}}}]}}',
    'json: cannot unmarshal number into Go struct field JSONSchemaProps.spec.versions.schema.openAPIV3Schema.items of type string',
  ],
  [
    'CustomResourceDefinition',
    '{"spec":{"versions":[{"schema":{"openAPIV3Schema":{"additionalProperties":1}}}]}}',
    'boolean or JSON schema expected',
  ],
];
for (const [kind, given, message] of refusals) {
  test(`refuses ${given} as a ${kind}`, () => {
    assert.throws(() => codecFor(kind).decode(given), { name: 'DecodeError', message });
  });
}

test('errors that no strict decoder finds within a schema are not reported', () => {
  const schema = (inner: string) => `{"spec":{"versions":[{"schema":{"openAPIV3Schema":${inner}}}]}}`;
  const codec = codecFor('CustomResourceDefinition');
  const path = 'spec.versions[0].schema.openAPIV3Schema.properties.a.x';
  assert.deepEqual(codec.decode(schema('{"properties":{"a":{"x":1}}}')).strictErrors, [`unknown field "${path}"`]);
  assert.deepEqual(codec.decode(schema('{"items":{"x":1}}')).strictErrors, []);
});

test('every kind can be empty, in both forms', () => {
  for (const { root, kind } of builtinKinds) {
    const codec = codecOf<unknown>(root);
    const empty = deepFreeze(codec.fromJson({}));
    assert.equal(codec.canonical(empty), empty, kind);
    assert.equal(codec.toJson(codec.fromProtobuf(codec.toProtobuf(empty))), codec.toJson(empty), kind);
  }
});

test('any JSON is decoded or refused, and the decoded value is canonical', () => {
  const kinds = fc.constantFrom(...builtinKinds);
  const names = [...new Set(builtinKinds.flatMap(({ root }) => Object.keys(root.fields)))];
  const keys = fc.oneof(
    fc.constantFrom(...names, 'name', 'labels', 'containers', '__proto__', 'constructor'),
    fc.string(),
  );
  const { value } = fc.letrec<{ value: unknown }>((tie) => ({
    value: fc.oneof(
      { depthSize: 'medium' },
      fc.constantFrom(null, true, 1, -1, 1.5, 2 ** 40, '', '1Gi', 'x', '2024-01-01T00:00:00Z'),
      fc.array(tie('value'), { maxLength: 3 }),
      fc.dictionary(keys, tie('value'), { maxKeys: 4 }),
    ),
  }));
  fc.assert(
    fc.property(kinds, value, ({ root }, json) => {
      const codec = codecOf<unknown>(root);
      let object: unknown;
      try {
        object = codec.decode(JSON.stringify(json)).object;
      } catch (error) {
        assert.ok(error instanceof DecodeError, String(error));
        return;
      }
      assert.equal(codec.canonical(object), object);
      assert.equal(codec.toJson(codec.decode(codec.toJson(object)).object), codec.toJson(object));
    }),
    { seed: 3, numRuns: 1500 },
  );
  assert.deepEqual(Object.keys(Object.prototype), []);
});

test('any bytes are decoded or refused', () => {
  fc.assert(
    fc.property(fc.constantFrom(...builtinKinds), fc.uint8Array({ maxLength: 60 }), ({ root }, bytes) => {
      refusesOrReads(codecOf<unknown>(root), bytes);
    }),
    { seed: 4, numRuns: 2000 },
  );
});

test('an infinitely nested message is refused', () => {
  // Field 28 of a JSON schema is a JSON schema.
  let schema: Uint8Array = Buffer.alloc(0);
  const nest = (tag: readonly number[], inner: Uint8Array) => {
    const length: number[] = [];
    for (let rest = inner.length; ; rest >>>= 7) {
      length.push(rest < 0x80 ? rest : (rest & 0x7f) | 0x80);
      if (rest < 0x80) break;
    }
    return Buffer.concat([Buffer.from(tag), Buffer.from(length), inner]);
  };
  for (let depth = 0; depth < 5000; depth++) schema = nest([0xe2, 0x01], schema);
  const definition = nest([0x12], nest([0x3a], nest([0x22], nest([0x0a], schema))));
  assert.throws(() => codecFor('CustomResourceDefinition').fromProtobuf(definition), {
    message: 'proto: message is nested too deeply',
  });
});

test('an envelope keeps its kind and its message', () => {
  const bytes = encodeEnvelope('apps/v1', 'Deployment', Uint8Array.of(1, 2, 3));
  assert.equal(
    Buffer.from(bytes).toString('hex'),
    '6b3873000a150a07617070732f7631120a4465706c6f796d656e7412030102031a002200',
  );
  const envelope = decodeEnvelope(bytes);
  assert.deepEqual([envelope.apiVersion, envelope.kind, [...envelope.raw]], ['apps/v1', 'Deployment', [1, 2, 3]]);
});

test('bytes without an envelope are refused', () => {
  assert.throws(() => decodeEnvelope(Buffer.from('{}')), /expected prefix \[107 56 115 0\]/);
  assert.throws(() => decodeEnvelope(new Uint8Array()), { message: 'empty data' });
  assert.throws(() => decodeEnvelope(Buffer.from('6b387300', 'hex')), { message: 'empty body' });
});

test('watch events are decoded from a stream with any chunks', () => {
  const events = ['ADDED', 'MODIFIED', 'DELETED'].map((type, index) => ({ type, object: new Uint8Array(index * 200) }));
  const stream = Buffer.concat(events.map(encodeWatchFrame));
  for (const size of [1, 3, 5, 64, stream.length]) {
    const split = makeFrameSplitter();
    const frames: Uint8Array[] = [];
    for (let at = 0; at < stream.length; at += size) frames.push(...split(stream.subarray(at, at + size)));
    const read = frames.map(decodeWatchEvent).map(({ type, object }) => [type, object.length]);
    assert.deepEqual(read, [
      ['ADDED', 0],
      ['MODIFIED', 200],
      ['DELETED', 400],
    ]);
  }
});

test('an oversized frame is refused before it is buffered', () => {
  const split = makeFrameSplitter();
  assert.throws(() => split(Uint8Array.of(0x7f, 0xff, 0xff, 0xff)), /longer than maximum allowed size/);
});
