import assert from 'node:assert/strict';
import { test } from 'node:test';
import type { PersistentPodState } from '@kruise/api/kruise/persistentpodstate';
import type { CreateAction, UpdateAction } from '@kruise/client/actions';
import type { KubernetesObject } from '@kruise/client/object-key';
import { summarizeActions } from '@kruise/workload-kit/testing/summarize-actions';
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

test('a PersistentPodState is generated from annotations, and owned by the workload', () => {
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

test('the whole spec is replaced, including changes of other writers', () => {
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
  { is: 'without annotations', annotations: required, does: [] },
  { is: 'without topology keys', annotations: auto, does: [] },
  { is: 'whose topology keys were removed', annotations: auto, state: byHand, does: [] },
  { is: 'with an up-to-date PersistentPodState', annotations: { ...auto, ...required }, state: byHand, does: [] },
  {
    is: 'with changed annotations',
    annotations: { ...auto, ...preferred },
    state: byHand,
    does: ['update web'],
  },
  {
    is: 'whose annotation was removed',
    annotations: required,
    state: generated({ ...auto, ...required }),
    does: ['delete web'],
  },
  {
    is: 'whose annotation was removed, with a user-created PersistentPodState,',
    annotations: required,
    state: byHand,
    does: [],
  },
  {
    is: 'that is terminating',
    annotations: { ...auto, ...required },
    metadata: { deletionTimestamp: '2026-01-01T00:00:00Z' },
    does: [],
  },
];
for (const { is, annotations, state, metadata, does } of cases) {
  test(`a workload ${is} results in: ${does.join() || 'nothing'}`, () => {
    const { actions } = decideGeneration({ workload: workload(annotations, metadata), state });
    assert.deepEqual(summarizeActions(actions), does);
  });
}
