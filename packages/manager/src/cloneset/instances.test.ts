import assert from 'node:assert/strict';
import { test } from 'node:test';
import { cloneSetOf, now, templateOf } from './fixtures.ts';
import { newPod } from './instances.ts';

const blueprint = { template: templateOf('app:v1'), revisionLabels: {} };
const claimTemplate = {
  apiVersion: 'v1',
  kind: 'PersistentVolumeClaim',
  metadata: { name: 'data' },
  spec: { accessModes: ['ReadWriteOnce' as const] },
};

test('a Pod mounts the one PVC that its CloneSet has for it', () => {
  const { spec } = newPod(cloneSetOf({ volumeClaimTemplates: [claimTemplate] }), 'abcde', blueprint, now);
  assert.deepEqual(spec?.volumes, [{ name: 'data', persistentVolumeClaim: { claimName: 'data-web-abcde' } }]);
});

test('a PVC replaces a volume of the template with the same name', () => {
  const volumes = [
    { name: 'data', emptyDir: {} },
    { name: 'scratch', emptyDir: {} },
  ];
  const template = { ...blueprint.template, spec: { containers: [], volumes } };
  const { spec } = newPod(
    cloneSetOf({ volumeClaimTemplates: [claimTemplate] }),
    'abcde',
    { ...blueprint, template },
    now,
  );
  assert.deepEqual(
    spec?.volumes?.map(({ name, emptyDir }) => [name, emptyDir !== undefined]),
    [
      ['data', false],
      ['scratch', true],
    ],
  );
});

test('a Pod without PVCs gets no volumes besides its template’s', () => {
  assert.equal('volumes' in newPod(cloneSetOf(), 'abcde', blueprint, now).spec!, false);
});
