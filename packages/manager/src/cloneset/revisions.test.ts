import assert from 'node:assert/strict';
import { test } from 'node:test';
import type { PersistentVolumeClaim } from '@kruise/api/core/persistentvolumeclaim';
import { hashOfData, podTemplateData } from '@kruise/machinery/controller-revision';
import { featureGates } from '../configuration/feature-gates.ts';
import { withTemplateDefaults } from '../webhooks/pod-template.default.ts';
import { volumeClaimTemplatesHash } from './revisions.ts';

const claim = (name: string, limit: string, request: string, labels = {}): PersistentVolumeClaim => ({
  apiVersion: 'v1',
  kind: 'PersistentVolumeClaim',
  metadata: { name, labels },
  spec: { accessModes: ['ReadWriteOnce'], resources: { limits: { storage: limit }, requests: { storage: request } } },
});
const [first, second] = [claim('pvc-1', '2Gi', '1Gi'), claim('pvc-2', '4Gi', '2Gi')];

const hashes: { of: string; templates: readonly PersistentVolumeClaim[]; hash: string }[] = [
  { of: 'no PVC templates', templates: [], hash: '' },
  { of: 'one PVC template', templates: [first], hash: '1129974074' },
  {
    of: 'one PVC template, whatever its labels',
    templates: [claim('pvc-1', '2Gi', '1Gi', { a: 'b' })],
    hash: '1129974074',
  },
  { of: 'two PVC templates', templates: [first, second], hash: '510584408' },
  { of: 'two PVC templates in another order', templates: [second, first], hash: '510584408' },
];
for (const { of, templates, hash } of hashes) {
  test(`the hash of ${of} equals OpenKruise's`, () => {
    assert.equal(volumeClaimTemplatesHash(templates), hash);
  });
}

test("the hash of a defaulted template equals OpenKruise's", () => {
  const template = {
    metadata: { labels: { app: 'sample' } },
    spec: { containers: [{ name: 'nginx', image: 'nginx:alpine' }] },
  };
  const data = podTemplateData(withTemplateDefaults(template, featureGates()));
  assert.deepEqual([hashOfData(data), hashOfData(data, 1)], ['d4d4fb5bd', 'd4d4fb5bf']);
});
