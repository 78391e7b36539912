import assert from 'node:assert/strict';
import { test } from 'node:test';
import type { PersistentPodState } from '@kruise/api/kruise/persistentpodstate';
import type { CreateAction, UpdateAction } from '@kruise/client/actions';
import type { KubernetesObject } from '@kruise/client/object-key';
import { inWords } from '@kruise/controlplane/testing/in-words';
import { decideGeneration } from './generate.ts';

type Annotations = { readonly [key: string]: string };

const auto = { 'kruise.io/auto-generate-persistent-pod-state': 'true' };
const required = { 'kruise.io/required-persistent-topology': 'zone,rack' };
const preferred = { 'kruise.io/preferred-persistent-topology': 'host, row' };
const annotated = { 'kruise.io/persistent-pod-annotations': 'name,tag' };

const workload = (annotations: Annotations, metadata: KubernetesObject['metadata'] = {}): KubernetesObject => ({
  apiVersion: 'apps/v1',
  kind: 'StatefulSet',
  metadata: { name: 'web', namespace: 'default', uid: 'u', annotations, ...metadata },
});
const owner = { apiVersion: 'apps/v1', kind: 'StatefulSet', name: 'web', uid: 'u', controller: true };
const targetRef = { apiVersion: 'apps/v1', kind: 'StatefulSet', name: 'web' };

const made = ({ annotations, state }: { annotations: Annotations; state?: PersistentPodState }) => {
  const [action] = decideGeneration({ workload: workload(annotations), state }).actions;
  return (action as CreateAction | UpdateAction | undefined)?.object as PersistentPodState | undefined;
};
const generated = (annotations: Annotations) => made({ annotations })!;
const byHand: PersistentPodState = {
  ...generated({ ...auto, ...required }),
  metadata: { name: 'web', namespace: 'default', uid: 'x' },
};

test('a PersistentPodState is made of annotations, and goes with the workload', () => {
  assert.deepEqual(made({ annotations: { ...auto, ...required, ...preferred, ...annotated } }), {
    apiVersion: 'apps.kruise.io/v1beta1',
    kind: 'PersistentPodState',
    metadata: { name: 'web', namespace: 'default', ownerReferences: [owner] },
    spec: {
      targetRef,
      persistentPodAnnotations: [{ key: 'name' }, { key: 'tag' }],
      requiredPersistentTopology: { keys: ['zone', 'rack'] },
      preferredPersistentTopology: [{ weight: 100, preference: { keys: ['host', ' row'] } }],
    },
  });
});

test('all of it is written anew, what others put there as well', () => {
  const state = generated({ ...auto, ...required });
  const kept: PersistentPodState = {
    ...state,
    spec: { ...state.spec, persistentPodStateRetentionPolicy: 'WhenDeleted' },
  };
  assert.deepEqual(made({ annotations: { ...auto, ...preferred }, state: kept })?.spec, {
    targetRef,
    preferredPersistentTopology: [{ weight: 100, preference: { keys: ['host', ' row'] } }],
  });
});

const cases: readonly {
  readonly is: string;
  readonly annotations: Annotations;
  readonly state?: PersistentPodState;
  readonly metadata?: KubernetesObject['metadata'];
  readonly does: readonly string[];
}[] = [
  { is: 'that asks for nothing', annotations: required, does: [] },
  { is: 'that does not say by what', annotations: auto, does: [] },
  { is: 'that does not say by what any more', annotations: auto, state: byHand, does: [] },
  { is: 'that asks for what there is', annotations: { ...auto, ...required }, state: byHand, does: [] },
  {
    is: 'that asks for something else',
    annotations: { ...auto, ...preferred },
    state: byHand,
    does: ['update web'],
  },
  { is: 'that asks no more', annotations: required, state: generated({ ...auto, ...required }), does: ['delete web'] },
  { is: 'that asks no more, of what was made by hand,', annotations: required, state: byHand, does: [] },
  {
    is: 'that is going',
    annotations: { ...auto, ...required },
    metadata: { deletionTimestamp: '2026-01-01T00:00:00Z' },
    does: [],
  },
];
for (const { is, annotations, state, metadata, does } of cases) {
  test(`a workload ${is} has this done: ${does.join() || 'nothing'}`, () => {
    const { actions } = decideGeneration({ workload: workload(annotations, metadata), state });
    assert.deepEqual(inWords(actions), does);
  });
}
