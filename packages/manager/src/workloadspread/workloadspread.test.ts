import assert from 'node:assert/strict';
import { test } from 'node:test';
import type { Deployment } from '@kruise/api/apps/deployment';
import type { ReplicaSet } from '@kruise/api/apps/replicaset';
import type { Pod } from '@kruise/api/core/pod';
import { ParseError } from '@kruise/values/parse-error';
import { readCustomWorkloads } from './allowlist.ts';
import { integerAt } from './field-path.ts';
import { placementAnnotation, placementOf } from './placement.ts';
import { versionOf, versionOfDeployment, versionOfReplicaSet } from './versions.ts';

type Labels = { readonly [key: string]: string };

const podOf = (metadata: Pod['metadata']): Pod => ({ apiVersion: 'v1', kind: 'Pod', metadata });
const annotated = (text: string) => podOf({ annotations: { 'apps.kruise.io/matched-workloadspread': text } });

const placements: { text: string; is: ReturnType<typeof placementOf> }[] = [
  { text: '{"name":"ws","subset":"a","uid":"1"}', is: { name: 'ws', subset: 'a', uid: '1' } },
  { text: '{"Name":"ws","Subset":"a"}', is: { name: 'ws', subset: 'a', uid: '' } },
  { text: '{"name":"ws","subset":null}', is: { name: 'ws', subset: '', uid: '' } },
  { text: '{"name":7}', is: undefined },
  { text: '["ws"]', is: undefined },
  { text: '{', is: undefined },
  { text: '', is: undefined },
];
for (const { text, is } of placements) {
  test(`the annotation ${text || 'unset'} assigns ${is ? `subset ${is.subset} of ${is.name}` : 'no subset'}`, () => {
    assert.deepEqual(placementOf(annotated(text)), is);
  });
}

test('the annotation of an assignment omits empty fields', () => {
  const [text] = Object.values(placementAnnotation({ name: 'ws', subset: 'a', uid: '' }));
  assert.equal(text, '{"name":"ws","subset":"a"}');
  const [whole] = Object.values(placementAnnotation({ name: 'ws', subset: 'a', uid: '1' }));
  assert.equal(whole, '{"name":"ws","subset":"a","uid":"1"}');
});

const versions: { is: string; kind: string; labels: Labels; version: string }[] = [
  { is: 'a ReplicaSet', kind: 'ReplicaSet', labels: { 'pod-template-hash': '7d' }, version: '7d' },
  { is: 'a ReplicaSet without an owner', kind: 'ReplicaSet', labels: {}, version: 'versionIgnored' },
  {
    is: 'a ReplicaSet of revisions',
    kind: 'ReplicaSet',
    labels: { 'controller-revision-hash': 'web-5f' },
    version: '5f',
  },
  { is: 'a CloneSet', kind: 'CloneSet', labels: { 'controller-revision-hash': '5f' }, version: 'versionIgnored' },
  { is: 'a Job', kind: 'Job', labels: { 'pod-template-hash': '7d' }, version: 'versionIgnored' },
];
for (const { is, kind, labels, version } of versions) {
  test(`Pods of ${is} are of version ${version}`, () => {
    const owner = { apiVersion: 'x/v1', kind, name: 'web', uid: 'u', controller: true };
    assert.equal(versionOf(podOf({ labels, ownerReferences: [owner] })), version);
  });
}

const setOf = (image: string, labels: Labels): ReplicaSet => ({
  apiVersion: 'apps/v1',
  kind: 'ReplicaSet',
  metadata: { name: `web-${image}`, labels },
  spec: {
    selector: {},
    template: { metadata: { labels: { app: 'web', ...labels } }, spec: { containers: [{ name: 'main', image }] } },
  },
});
const deploymentOf = (image: string): Deployment => ({
  apiVersion: 'apps/v1',
  kind: 'Deployment',
  metadata: { name: 'web' },
  spec: {
    selector: {},
    template: { metadata: { labels: { app: 'web' } }, spec: { containers: [{ name: 'main', image }] } },
  },
});

test('the latest version of a Deployment is that of the ReplicaSet with its template', () => {
  const sets = [setOf('v1', { 'pod-template-hash': '1' }), setOf('v2', { 'pod-template-hash': '2' })];
  assert.equal(versionOfDeployment(deploymentOf('v2'), sets), '2');
  assert.equal(versionOfDeployment(deploymentOf('v3'), sets), undefined);
});

test('the latest version of a standalone ReplicaSet is that of its Pods', () => {
  assert.equal(versionOfReplicaSet(setOf('v1', {})), 'versionIgnored');
});

const object = { spec: { replicas: 3, name: 'x', half: 0.5, subsets: [{ replicas: 1 }, { replicas: 2 }] } };
const found: { path: string; is: number }[] = [
  { path: 'spec.replicas', is: 3 },
  { path: 'spec.subsets.1.replicas', is: 2 },
  { path: '', is: 0 },
];
for (const { path, is } of found) {
  test(`${is} is the integer at "${path}"`, () => {
    assert.equal(integerAt(object, path), is);
  });
}
const faults: { path: string; message: string }[] = [
  { path: 'spec.size', message: 'path "size" not exists' },
  { path: 'spec.constructor', message: 'path "constructor" not exists' },
  { path: 'spec.name', message: 'object type error' },
  { path: 'spec.half', message: 'object type error' },
  { path: 'spec', message: 'object type error' },
  { path: 'spec.replicas.more', message: 'object is not deep enough' },
  { path: 'spec.subsets.x.replicas', message: 'strconv.Atoi: parsing "x": invalid syntax' },
  { path: 'spec.subsets.-1.replicas', message: 'index -1 out of range' },
  { path: 'spec.subsets.2.replicas', message: 'index 2 out of range' },
];
for (const { path, message } of faults) {
  test(`the path "${path}" is an error: ${message}`, () => {
    assert.throws(
      () => integerAt(object, path),
      (error: Error) => error instanceof ParseError && error.message === message,
    );
  });
}

test('administrators list workloads with keys in any case', () => {
  const between = { group: 'b', version: 'v1', kind: 'Between' };
  const entry = { Group: 'a', version: 'v1', KIND: 'Above', SubResources: [between], ReplicasPath: 'spec.size' };
  assert.deepEqual(readCustomWorkloads({ Workloads: [entry] }), [
    { group: 'a', version: 'v1', kind: 'Above', intermediates: [between], replicasPath: 'spec.size' },
  ]);
});
