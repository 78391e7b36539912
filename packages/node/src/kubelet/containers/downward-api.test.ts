import assert from 'node:assert/strict';
import { test } from 'node:test';
import { makeContainer, makePod } from '../fixtures.ts';
import { fieldOf, resourceFieldOf } from './downward-api.ts';

const pod = makePod({
  metadata: {
    labels: { b: '2', a: 'say "hi"' },
    annotations: { 'example.com/note': 'two\nlines' },
  },
  serviceAccountName: 'bot',
});
const facts = {
  podIPs: ['10.0.0.1', 'fd00::1'],
  hostIPs: ['172.18.0.2', 'fd01::2'],
  allocatable: { cpu: '3500m', memory: '6Gi', 'ephemeral-storage': '80Gi' },
};

const fieldRows: readonly (readonly [field: string, value: string])[] = [
  ['metadata.name', 'web'],
  ['metadata.namespace', 'default'],
  ['metadata.uid', 'uid-1'],
  ["metadata.labels['a']", 'say "hi"'],
  ["metadata.labels['nothing']", ''],
  ["metadata.annotations['example.com/note']", 'two\nlines'],
  ['metadata.labels', 'a="say \\"hi\\""\nb="2"'],
  ['metadata.annotations', 'example.com/note="two\\nlines"'],
  ['spec.nodeName', 'node-1'],
  ['spec.serviceAccountName', 'bot'],
  ['status.hostIP', '172.18.0.2'],
  ['status.hostIPs', '172.18.0.2,fd01::2'],
  ['status.podIP', '10.0.0.1'],
  ['status.podIPs', '10.0.0.1,fd00::1'],
];
for (const [fieldPath, value] of fieldRows) {
  test(`the downward API provides ${fieldPath}`, () => assert.equal(fieldOf(pod, { fieldPath }, facts), value));
}

test('the downward API rejects other fields', () => {
  assert.throws(() => fieldOf(pod, { fieldPath: 'status.phase' }, facts), {
    message: 'unsupported fieldPath: status.phase',
  });
});

const resources = {
  requests: { cpu: '250m', memory: '100Mi', 'ephemeral-storage': '1Gi' },
  limits: { cpu: '1200m', 'hugepages-2Mi': '4Mi' },
};
const resourceRows: readonly (readonly [resource: string, divisor: string | undefined, value: string])[] = [
  ['requests.cpu', undefined, '1'],
  ['requests.cpu', '1m', '250'],
  ['requests.memory', undefined, '104857600'],
  ['requests.memory', '1Mi', '100'],
  ['requests.memory', '1Gi', '1'],
  ['requests.ephemeral-storage', '1Gi', '1'],
  ['limits.cpu', '1', '2'],
  ['limits.cpu', '0', '2'],
  ['limits.hugepages-2Mi', '1Mi', '4'],
  ['limits.memory', '1Gi', '6'],
  ['limits.ephemeral-storage', '1Gi', '80'],
];
for (const [resource, divisor, value] of resourceRows) {
  test(`${resource} by ${divisor ?? 'nothing'} is ${value}`, () => {
    const selector = { resource, ...(divisor === undefined ? {} : { divisor }) };
    assert.equal(resourceFieldOf(makeContainer('c', { resources }), selector, facts), value);
  });
}

test('the downward API rejects other resources', () => {
  assert.throws(() => resourceFieldOf(makeContainer('c'), { resource: 'limits.example.com/gpu' }, facts), {
    message: 'unsupported container resource : limits.example.com/gpu',
  });
});
