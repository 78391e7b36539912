import assert from 'node:assert/strict';
import { test } from 'node:test';
import type { PodTemplateSpec } from '@kruise/api/core/pod-template';
import { makeEmptyStructTemplate, makeFullTemplate } from './template-hash.fixtures.ts';
import { templateHash } from './template-hash.ts';

function templateWith(container: object, spec: object = {}): unknown {
  return {
    metadata: { labels: { app: 'shop' } },
    spec: { containers: [{ name: 'web', image: 'shop:1.2', ...container }], ...spec },
  };
}

const limits = {
  a: '0',
  b: '0.5',
  c: '1e3',
  d: '+5',
  e: '8Ki',
  f: '-1.5Gi',
  g: '100Ei',
  h: '0.00000000001',
  i: '123456789012345678901234567890',
  j: '0.0000000000000000000',
};
const cpuLimit = (divisor: object) => ({
  env: [{ name: 'A', valueFrom: { resourceFieldRef: { resource: 'limits.cpu', ...divisor } } }],
});

// Computed by a Go program with k8s.io/api v0.33.4 for the same JSON.
const hashes: readonly (readonly [of: string, template: unknown, hash: string])[] = [
  ['no fields', {}, '6f75fc469d'],
  ['a container', templateWith({}), '55fb48f9f8'],
  [
    'the defaults that the API server adds',
    templateWith(
      {
        terminationMessagePath: '/dev/termination-log',
        terminationMessagePolicy: 'File',
        imagePullPolicy: 'Always',
        resources: {},
      },
      {
        restartPolicy: 'Always',
        terminationGracePeriodSeconds: 30,
        dnsPolicy: 'ClusterFirst',
        securityContext: {},
        schedulerName: 'default-scheduler',
      },
    ),
    'b756fcd6b',
  ],
  ['labels in any order', { metadata: { labels: { b: '2', a: '1' }, annotations: {} } }, '6f9c6588db'],
  ['text beyond ASCII', { metadata: { annotations: { ü: '☃', '\uE000': 'a', '\u{1F600}': 'b' } } }, '7765756c85'],
  [
    'requests and limits',
    templateWith({ resources: { requests: { cpu: '250m', memory: '64Mi' }, limits: { cpu: 2, memory: '1.5Gi' } } }),
    '78cf95b489',
  ],
  ['quantities in every form', templateWith({ resources: { limits } }), '76d5f98d7c'],
  ['a resource without divisor', templateWith(cpuLimit({})), '868fb7f564'],
  ['a resource with divisor', templateWith(cpuLimit({ divisor: '1m' })), '7f4cd88894'],
  [
    'ports by number and by name',
    templateWith({ livenessProbe: { httpGet: { port: 8080 } }, readinessProbe: { tcpSocket: { port: 'http' } } }),
    '6fc84f89d4',
  ],
  [
    'empty lists and maps',
    templateWith({ command: [], args: [] }, { tolerations: [], nodeSelector: {} }),
    '748947d8f4',
  ],
  ['nulls', { metadata: null, spec: { containers: [null], volumes: null, securityContext: null } }, '6487c8c8bf'],
  ['a creation time', { metadata: { creationTimestamp: '2024-02-29T12:00:00Z' } }, '6dc96cbd67'],
  ['every field', makeFullTemplate(), '66ffcbb4c'],
  ['every structure and nothing in it', makeEmptyStructTemplate(), '5f57594957'],
];
for (const [of, template, hash] of hashes) {
  test(`the hash of ${of} is the one of Kubernetes`, () => {
    assert.equal(templateHash(template as PodTemplateSpec), hash);
  });
}

test('the collision count is hashed after the template, and no count differs from zero', () => {
  const template = templateWith({}) as PodTemplateSpec;
  assert.deepEqual(
    [undefined, 0, 1, 2147483647].map((collisionCount) => templateHash(template, collisionCount)),
    ['55fb48f9f8', '5996d466fd', '755f8b8c75', '84b759b87d'],
  );
});

test('a template that is missing has the hash of an empty one', () => {
  assert.equal(templateHash(undefined), templateHash({}));
});
