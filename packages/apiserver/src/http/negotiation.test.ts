import assert from 'node:assert/strict';
import { test } from 'node:test';
import { StatusError } from '@kruise/machinery/status';
import { builtinOffer, negotiate, type Offer, wantsPretty } from './negotiation.ts';

const custom: Offer = { ...builtinOffer, formats: ['json', 'yaml'] };

function formatMedia(accept: string, offer: Offer = builtinOffer): string {
  try {
    const { format, view, viewVersion } = negotiate(accept, offer, false);
    return view === 'object' ? format : `${format} ${view} ${viewVersion}`;
  } catch (error) {
    assert.ok(error instanceof StatusError);
    return String(error.code);
  }
}

const table = 'application/json;as=Table;v=v1;g=meta.k8s.io';
const cases: readonly [string, string, string, Offer?][] = [
  ['no Accept header means JSON', '', 'json'],
  ['a wildcard means JSON', '*/*', 'json'],
  ['YAML', 'application/yaml', 'yaml'],
  ['protobuf', 'application/vnd.kubernetes.protobuf', 'protobuf'],
  [
    'the Accept header of Go clients yields protobuf',
    'application/vnd.kubernetes.protobuf,application/json',
    'protobuf',
  ],
  ['custom resources have no protobuf', 'application/vnd.kubernetes.protobuf,application/json', 'json', custom],
  ['custom resources reject protobuf alone', 'application/vnd.kubernetes.protobuf', '406', custom],
  [
    'the Accept header of kubectl get yields a Table',
    `${table},application/json;as=Table;v=v1beta1;g=meta.k8s.io,application/json`,
    'json table v1',
  ],
  ['an unknown Table version is skipped', 'application/json;as=Table;v=v2;g=meta.k8s.io,application/json', 'json'],
  ['a view of another group is rejected', 'application/json;as=Table;v=v1;g=example.com', '406'],
  [
    'a Table is never protobuf',
    `application/vnd.kubernetes.protobuf;as=Table;v=v1;g=meta.k8s.io,${table}`,
    'json table v1',
  ],
  [
    'metadata may be protobuf',
    'application/vnd.kubernetes.protobuf;as=PartialObjectMetadata;v=v1;g=meta.k8s.io',
    'protobuf metadata v1',
  ],
  ['the higher quality comes first', 'application/json;q=0.5,application/yaml;q=0.9', 'yaml'],
  ['unknown types are rejected', 'text/html', '406'],
];
for (const [name, accept, expected, offer] of cases) {
  test(name, () => assert.equal(formatMedia(accept, offer), expected));
}

test('interactive clients get indented responses', () => {
  const query = (text: string) => new URLSearchParams(text);
  assert.equal(wantsPretty(query(''), 'curl/8.0'), true);
  assert.equal(wantsPretty(query(''), 'kubectl/v1.33'), false);
  assert.equal(wantsPretty(query('pretty=false'), 'curl/8.0'), false);
  assert.equal(wantsPretty(query('pretty=true'), 'kubectl/v1.33'), true);
});
