import assert from 'node:assert/strict';
import { test } from 'node:test';
import { limitRange } from '@kruise/api/core/limitrange';
import { persistentVolumeClaim } from '@kruise/api/core/persistentvolumeclaim';
import { type Pod, pod } from '@kruise/api/core/pod';
import { admit, lookupOf, writeOf } from '../../testing/admission.ts';
import { limitRanger } from './limit-ranger.ts';

const pluginOf = (...limits: readonly object[]) =>
  limitRanger(
    lookupOf({ kind: limitRange, objects: [{ metadata: { name: 'l', namespace: 'default' }, spec: { limits } }] }),
  );
const container = (requests: object = {}, limits: object = {}, name = 'c') => ({
  name,
  resources: { requests, limits },
});
const podOf = (...containers: readonly object[]) => ({ metadata: { name: 'p' }, spec: { containers } });
const defaults = { type: 'Container', default: { cpu: '500m', memory: '100Mi' }, defaultRequest: { cpu: '100m' } };

test('LimitRanger sets the defaults of containers and records them in an annotation', async () => {
  const object = {
    metadata: { name: 'p' },
    spec: { containers: [{ name: 'a' }, container({ cpu: '1' }, {}, 'b')], initContainers: [{ name: 'i' }] },
  };
  const { metadata, spec } = (await admit(pluginOf(defaults), writeOf(pod, object))) as Pod;
  const full = { requests: { cpu: '100m' }, limits: { cpu: '500m', memory: '100Mi' } };
  assert.deepEqual(spec?.containers?.[0]?.resources, full);
  assert.deepEqual(spec?.containers?.[1]?.resources, { ...full, requests: { cpu: '1' } });
  assert.deepEqual(spec?.initContainers?.[0]?.resources, full);
  assert.equal(
    metadata.annotations?.['kubernetes.io/limit-ranger'],
    'LimitRanger plugin set: cpu request for container a; cpu, memory limit for container a; cpu, memory limit for container b; cpu request for init container i; cpu, memory limit for init container i',
  );
});

test('LimitRanger adds no annotation if it sets no defaults', async () => {
  const object = podOf(container({ cpu: '1' }, { cpu: '1', memory: '1Gi' }));
  assert.deepEqual(await admit(pluginOf(defaults), writeOf(pod, object)), object);
});

const cases = [
  {
    name: 'at the maximum',
    limit: { type: 'Container', max: { cpu: '1' } },
    containers: [container({}, { cpu: '1' })],
    fault: undefined,
  },
  {
    name: 'above the maximum',
    limit: { type: 'Container', max: { cpu: '1' } },
    containers: [container({}, { cpu: '2' })],
    fault: 'maximum cpu usage per Container is 1, but limit is 2',
  },
  {
    name: 'without the limit that a maximum requires',
    limit: { type: 'Container', max: { cpu: '1' } },
    containers: [container()],
    fault: 'maximum cpu usage per Container is 1.  No limit is specified',
  },
  {
    name: 'below the minimum',
    limit: { type: 'Container', min: { memory: '50Mi' } },
    containers: [container({ memory: '10Mi' })],
    fault: 'minimum memory usage per Container is 50Mi, but request is 10Mi',
  },
  {
    name: 'without the request that a minimum requires',
    limit: { type: 'Container', min: { cpu: '100m' } },
    containers: [container()],
    fault: 'minimum cpu usage per Container is 100m.  No request is specified',
  },
  {
    name: 'with a limit too far above the request',
    limit: { type: 'Container', maxLimitRequestRatio: { cpu: '2' } },
    containers: [container({ cpu: '100m' }, { cpu: '300m' })],
    fault: 'cpu max limit to request ratio per Container is 2, but provided ratio is 3.000000',
  },
  {
    name: 'without the limit that a ratio requires',
    limit: { type: 'Container', maxLimitRequestRatio: { cpu: '2' } },
    containers: [container({ cpu: '100m' })],
    fault: 'cpu max limit to request ratio per Container is 2, but no limit is specified or limit is 0',
  },
  {
    name: 'too large in total',
    limit: { type: 'Pod', max: { cpu: '1' } },
    containers: [container({ cpu: '600m' }, { cpu: '600m' }, 'a'), container({ cpu: '600m' }, { cpu: '600m' }, 'b')],
    fault: 'maximum cpu usage per Pod is 1, but limit is 1200m',
  },
  {
    name: 'with several errors',
    limit: { type: 'Container', max: { cpu: '1' }, min: { memory: '50Mi' } },
    containers: [container({ memory: '10Mi' }, { cpu: '3', memory: '20Mi' })],
    fault:
      '[minimum memory usage per Container is 50Mi, but request is 10Mi, maximum cpu usage per Container is 1, but limit is 3]',
  },
];
for (const { name, limit, containers, fault } of cases) {
  test(`LimitRanger ${fault ? 'denies' : 'admits'} a Pod ${name}`, async () => {
    const object = podOf(...containers);
    assert.deepEqual(
      await admit(pluginOf(limit), writeOf(pod, object)),
      fault ? `pods "p" is forbidden: ${fault}` : object,
    );
  });
}

test('LimitRanger ignores updates other than resizes', async () => {
  const plugin = pluginOf({ type: 'Container', max: { cpu: '1' } });
  const object = podOf(container({}, { cpu: '2' }));
  const update = { operation: 'UPDATE', oldObject: object as never } as const;
  assert.deepEqual(await admit(plugin, writeOf(pod, object, update)), object);
  assert.equal(
    await admit(plugin, writeOf(pod, object, { ...update, subresource: 'resize' })),
    'pods "p" is forbidden: maximum cpu usage per Container is 1, but limit is 2',
  );
});

const claims = [
  { storage: '500Mi', fault: 'minimum storage usage per PersistentVolumeClaim is 1Gi, but request is 500Mi' },
  { storage: '1Gi', fault: undefined },
  { storage: '6Gi', fault: 'maximum storage usage per PersistentVolumeClaim is 5Gi, but request is 6Gi' },
];
for (const { storage, fault } of claims) {
  test(`LimitRanger ${fault ? 'denies' : 'admits'} a PVC of ${storage}`, async () => {
    const plugin = pluginOf({ type: 'PersistentVolumeClaim', min: { storage: '1Gi' }, max: { storage: '5Gi' } });
    const object = { metadata: { name: 'c' }, spec: { resources: { requests: { storage } } } };
    const expected = fault ? `persistentvolumeclaims "c" is forbidden: ${fault}` : object;
    assert.deepEqual(await admit(plugin, writeOf(persistentVolumeClaim, object)), expected);
  });
}
