/** Tests of the plugins for volumes and PVCs, and for the default classes of PVCs and Ingresses. */
import assert from 'node:assert/strict';
import { test } from 'node:test';
import { persistentVolume } from '@kruise/api/core/persistentvolume';
import { type PersistentVolumeClaim, persistentVolumeClaim } from '@kruise/api/core/persistentvolumeclaim';
import { type Ingress, ingress } from '@kruise/api/networking/ingress';
import { ingressClass } from '@kruise/api/networking/ingressclass';
import { storageClass } from '@kruise/api/storage/storageclass';
import type { KubernetesObject } from '@kruise/schema/kind';
import { admit, lookupOf, writeOf } from '../../testing/admission.ts';
import { defaultIngressClass } from './default-ingress-class.ts';
import { defaultStorageClass } from './default-storage-class.ts';
import { persistentVolumeClaimResize } from './persistent-volume-claim-resize.ts';
import { storageObjectInUseProtection } from './storage-object-in-use-protection.ts';

const classOf = (name: string, creationTimestamp: string, isDefault = true, more: object = {}) => ({
  metadata: {
    name,
    creationTimestamp,
    annotations: { 'storageclass.kubernetes.io/is-default-class': String(isDefault) },
  },
  ...more,
});
const claimOf = (spec: object = {}, more: object = {}) => ({ metadata: { name: 'c' }, spec, ...more });

const defaults = [
  { name: 'no class if there is no default', classes: [classOf('a', '1', false)], spec: {}, expected: undefined },
  { name: 'the default class', classes: [classOf('a', '1', false), classOf('b', '1')], spec: {}, expected: 'b' },
  {
    name: 'the newest of two default classes',
    classes: [classOf('a', '1'), classOf('b', '2')],
    spec: {},
    expected: 'b',
  },
  {
    name: 'the first by name of two equally old default classes',
    classes: [classOf('a', '1'), classOf('b', '1')],
    spec: {},
    expected: 'a',
  },
  { name: 'its own class', classes: [classOf('a', '1')], spec: { storageClassName: 'own' }, expected: 'own' },
  {
    name: 'no class if its class name is empty',
    classes: [classOf('a', '1')],
    spec: { storageClassName: '' },
    expected: '',
  },
];
for (const { name, classes, spec, expected } of defaults) {
  test(`a PVC gets ${name}`, async () => {
    const plugin = defaultStorageClass(lookupOf({ kind: storageClass, objects: classes }));
    const admitted = (await admit(plugin, writeOf(persistentVolumeClaim, claimOf(spec)))) as PersistentVolumeClaim;
    assert.equal(admitted.spec?.storageClassName, expected);
  });
}

const usual = {
  metadata: { name: 'usual', annotations: { 'ingressclass.kubernetes.io/is-default-class': 'true' } },
};
const ingresses = [
  { name: 'without a class gets the default class', object: { metadata: { name: 'i' }, spec: {} }, expected: 'usual' },
  { name: 'keeps its class', object: { metadata: { name: 'i' }, spec: { ingressClassName: 'own' } }, expected: 'own' },
  {
    name: 'with the class annotation gets no other class',
    object: { metadata: { name: 'i', annotations: { 'kubernetes.io/ingress.class': 'old' } }, spec: {} },
    expected: undefined,
  },
];
for (const { name, object, expected } of ingresses) {
  test(`an Ingress ${name}`, async () => {
    const plugin = defaultIngressClass(lookupOf({ kind: ingressClass, objects: [usual] }));
    assert.equal(((await admit(plugin, writeOf(ingress, object))) as Ingress).spec?.ingressClassName, expected);
  });
}

test('PersistentVolumes and PVCs get protection finalizers', async () => {
  const finalizersOf = async (kind: typeof persistentVolume | typeof persistentVolumeClaim, metadata: object) => {
    const admitted = await admit(storageObjectInUseProtection, writeOf<KubernetesObject>(kind, { metadata }));
    return (admitted as PersistentVolumeClaim).metadata.finalizers;
  };
  assert.deepEqual(await finalizersOf(persistentVolume, {}), ['kubernetes.io/pv-protection']);
  assert.deepEqual(await finalizersOf(persistentVolumeClaim, { finalizers: ['own'] }), [
    'own',
    'kubernetes.io/pvc-protection',
  ]);
  const already = { finalizers: ['kubernetes.io/pvc-protection'] };
  assert.deepEqual(await finalizersOf(persistentVolumeClaim, already), already.finalizers);
});

const sized = (storage: string, phase = 'Bound', storageClassName = 'grows') =>
  claimOf({ storageClassName, resources: { requests: { storage } } }, { status: { phase } });
const fixed =
  'only dynamically provisioned pvc can be resized and the storageclass that provisions the pvc must support resize';
const resizes = [
  { name: 'may grow if its class allows expansion', from: sized('1Gi'), to: sized('2Gi'), why: undefined },
  {
    name: 'may keep its size with any class',
    from: sized('1Gi', 'Pending', 'fixed'),
    to: sized('1Gi', 'Pending', 'fixed'),
    why: undefined,
  },
  {
    name: 'may grow only once it is bound',
    from: sized('1Gi', 'Pending'),
    to: sized('2Gi', 'Pending'),
    why: 'Only bound persistent volume claims can be expanded',
  },
  {
    name: 'may not grow if its class does not allow expansion',
    from: sized('1Gi', 'Bound', 'fixed'),
    to: sized('2Gi', 'Bound', 'fixed'),
    why: fixed,
  },
  { name: 'may not grow without a class', from: sized('1Gi', 'Bound', ''), to: sized('2Gi', 'Bound', ''), why: fixed },
];
for (const { name, from, to, why } of resizes) {
  test(`a PVC ${name}`, async () => {
    const classes = [classOf('grows', '1', false, { allowVolumeExpansion: true }), classOf('fixed', '1', false)];
    const plugin = persistentVolumeClaimResize(lookupOf({ kind: storageClass, objects: classes }));
    const write = writeOf(persistentVolumeClaim, to, { operation: 'UPDATE', oldObject: from as never });
    assert.deepEqual(await admit(plugin, write), why ? `persistentvolumeclaims "c" is forbidden: ${why}` : to);
  });
}
