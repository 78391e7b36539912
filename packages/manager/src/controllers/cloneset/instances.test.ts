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

test('a Pod mounts the one volume that its CloneSet claims for it', () => {
  const { spec } = newPod(cloneSetOf({ volumeClaimTemplates: [claimTemplate] }), 'abcde', blueprint, now);
  assert.deepEqual(spec?.volumes, [{ name: 'data', persistentVolumeClaim: { claimName: 'data-web-abcde' } }]);
});

test('a volume of the template gives way to a claimed one of its name', () => {
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

test('a Pod without claims has no volumes of its own', () => {
  assert.equal('volumes' in newPod(cloneSetOf(), 'abcde', blueprint, now).spec!, false);
});
