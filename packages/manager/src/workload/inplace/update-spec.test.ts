import assert from 'node:assert/strict';
import { test } from 'node:test';
import type { PodTemplateSpec } from '@kruise/api/core/pod-template';
import { cloneSetVolumeClaimTemplateHashAnnotation as claimHash } from '@kruise/api/kruise/well-known';
import { featureGates } from '../../configuration/feature-gates.ts';
import { fromLabel, revisionOf, templateOf } from './fixtures.ts';
import { updateSpecOf } from './update-spec.ts';

const gates = featureGates();
const vertical = featureGates({ InPlaceWorkloadVerticalScaling: true });
const specOf = (from: PodTemplateSpec, to: PodTemplateSpec, some = gates) =>
  updateSpecOf(revisionOf('old', from), revisionOf('new', to), { gates: some });
const c1 = (image: string, more = {}) => ({ name: 'c1', image, ...more });
const nothing = { revision: 'new', images: {}, resources: {}, refMetadata: {}, updatesEnv: false, graceSeconds: 0 };

test('a Pod whose current revision is gone must be recreated', () => {
  assert.equal(updateSpecOf(undefined, revisionOf('new', templateOf([])), { gates }), undefined);
});

test('a changed image is updated in place', () => {
  const spec = specOf(templateOf([c1('foo1')]), templateOf([c1('foo2')]));
  assert.deepEqual(spec, { ...nothing, images: { c1: 'foo2' } });
});

test('metadata that no container reads is changed by a patch', () => {
  const spec = specOf(
    templateOf([c1('foo1')], { labels: { k: 'v', k2: 'v2' }, finalizers: ['fz1', 'fz2'] }),
    templateOf([c1('foo2')], { labels: { k: 'v', k1: 'v1' }, finalizers: ['fz2'] }),
  );
  assert.deepEqual(spec, {
    ...nothing,
    images: { c1: 'foo2' },
    metadataPatch: {
      metadata: {
        labels: { k1: 'v1', k2: null },
        '$deleteFromPrimitiveList/finalizers': ['fz1'],
        '$setElementOrder/finalizers': ['fz2'],
      },
    },
  });
});

const given = c1('foo1', { env: [fromLabel('e', 'k')] });

test('a label that a container reads is changed together with the container', () => {
  const spec = specOf(
    templateOf([given], { labels: { k: 'v' } }),
    templateOf([given], { labels: { k: 'v2', k1: 'v1' } }),
  );
  assert.deepEqual(spec, {
    ...nothing,
    refMetadata: { c1: { labels: { k: 'v2' } } },
    updatesEnv: true,
    metadataPatch: { metadata: { labels: { k1: 'v1' } } },
  });
});

test('a removed label restarts nothing', () => {
  const spec = specOf(templateOf([given], { labels: { k: 'v', a: 'b' } }), templateOf([given], { labels: { a: 'b' } }));
  assert.deepEqual(spec, { ...nothing, metadataPatch: { metadata: { labels: { k: null } } } });
});

const without = featureGates({ InPlaceUpdateEnvFromMetadata: false });
test('without the gate a label that a container reads is changed like any other metadata', () => {
  const spec = specOf(
    templateOf([given], { labels: { k: 'v' } }),
    templateOf([given], { labels: { k: 'v2' } }),
    without,
  );
  assert.deepEqual(spec, { ...nothing, metadataPatch: { metadata: { labels: { k: 'v2' } } } });
});

const resources = (limits: object, requests: object = {}) => ({ resources: { limits, requests } });
const before = templateOf([c1('foo1', resources({ cpu: '2', memory: '2Gi' }, { cpu: '1', memory: '1Gi' }))]);

test('with the gate, CPU and memory are changed in place', () => {
  const after = templateOf([c1('foo2', resources({ cpu: '3', memory: '2Gi' }, { cpu: '1', memory: '1500Mi' }))]);
  assert.deepEqual(specOf(before, after, vertical), {
    ...nothing,
    images: { c1: 'foo2' },
    resources: { c1: { limits: { cpu: '3' }, requests: { memory: '1500Mi' } } },
  });
});

const replacing: { why: string; from?: PodTemplateSpec; to: PodTemplateSpec; all?: typeof gates }[] = [
  { why: 'another variable', to: templateOf([c1('foo1', { env: [{ name: 'A', value: '1' }] })]) },
  { why: 'another pull policy', to: templateOf([c1('foo1', { imagePullPolicy: 'Always' })]) },
  { why: 'another container', to: templateOf([c1('foo1'), { name: 'c2', image: 'foo' }]) },
  { why: 'another name', to: templateOf([{ name: 'c2', image: 'foo1' }]) },
  { why: 'another init container', to: { spec: { containers: [c1('foo1')], initContainers: [c1('i')] } } },
  { why: 'a volume', to: { spec: { containers: [c1('foo1')], volumes: [{ name: 'v', emptyDir: {} }] } } },
  {
    why: 'resources without the gate',
    from: before,
    to: templateOf([c1('foo1', resources({ cpu: '3', memory: '2Gi' }, { cpu: '1', memory: '1Gi' }))]),
  },
  {
    why: 'a resource that was not there',
    from: before,
    to: templateOf([
      c1('foo1', resources({ cpu: '2', memory: '2Gi', 'example.com/gpu': '1' }, { cpu: '1', memory: '1Gi' })),
    ]),
    all: vertical,
  },
  {
    why: 'a removed resource',
    from: before,
    to: templateOf([c1('foo1', resources({ cpu: '2' }, { cpu: '1', memory: '1Gi' }))]),
    all: vertical,
  },
  {
    why: 'another quality of service',
    from: before,
    to: templateOf([c1('foo1', resources({ cpu: '2', memory: '2Gi' }, { cpu: '2', memory: '2Gi' }))]),
    all: vertical,
  },
];
for (const { why, from = templateOf([c1('foo1')]), to, all = gates } of replacing) {
  test(`${why} requires recreation`, () => {
    assert.equal(specOf(from, to, all), undefined);
  });
}

test('a revision without a template requires recreation', () => {
  const broken = { ...revisionOf('new', templateOf([])), data: { spec: 'nonsense' } };
  assert.equal(updateSpecOf(revisionOf('old', templateOf([c1('a')])), broken, { gates }), undefined);
});

const claims: { old?: string; wanted?: string; ignores?: boolean; isInPlace: boolean }[] = [
  { old: '1', wanted: '2', isInPlace: false },
  { old: '1', wanted: '2', ignores: true, isInPlace: true },
  { old: '1', wanted: '1', isInPlace: true },
  { old: '', wanted: '', isInPlace: true },
  { wanted: '2', isInPlace: true },
  { old: '1', isInPlace: true },
];
for (const { old, wanted, ignores = false, isInPlace } of claims) {
  const title = `claims that were ${old ?? 'unknown'} and are ${wanted ?? 'unknown'}${ignores ? ', where that does not matter,' : ''}`;
  test(`${title} ${isInPlace ? 'permit an in-place update' : 'require recreation'}`, () => {
    const hashed = (hash: string | undefined) => (hash === undefined ? {} : { [claimHash]: hash });
    const spec = updateSpecOf(
      revisionOf('old', templateOf([c1('foo1')]), hashed(old)),
      revisionOf('new', templateOf([c1('foo2')]), hashed(wanted)),
      { gates: featureGates({ RecreatePodWhenChangeVCTInCloneSetGate: true }), ignoresVolumeClaims: ignores },
    );
    assert.equal(spec !== undefined, isInPlace);
  });
}
