import assert from 'node:assert/strict';
import { test } from 'node:test';
import type { ControllerRevision } from '@kruise/api/apps/controllerrevision';
import type { SubsetTemplate } from '@kruise/api/kruise/uniteddeployment';
import type { CreateAction } from '@kruise/client/actions';
import { revisionHashLabel } from '@kruise/machinery/controller-revision';
import { stringifySorted } from '@kruise/values/go-json';
import { deploymentOf, findWorkloadType, templateFor } from './fixtures.ts';
import { planRevisions } from './revisions.ts';
import { workloadTypeOf, workloadTypes } from './workload-types.ts';

/** Plans the revisions of a UnitedDeployment with a template and a history. */
function planFor(template: SubsetTemplate, revisions: readonly ControllerRevision[] = []) {
  return planRevisions(deploymentOf({ template }), workloadTypeOf(template)!, {
    revisions,
    findRevision: () => undefined,
  });
}

function madeFor(template: SubsetTemplate): ControllerRevision {
  const [creation] = planFor(template).actions;
  return (creation as CreateAction).object as ControllerRevision;
}

const resources = { requests: { cpu: '0.5', memory: '1024Mi' } };
const labels = { app: 'web' };
const podTemplate = { metadata: { labels }, spec: { containers: [{ name: 'main', image: 'a:1', resources }] } };
const podText =
  '{"metadata":{"creationTimestamp":null,"labels":{"app":"web"}},"spec":{"containers":[{"image":"a:1","name":"main","resources":{"requests":{"cpu":"500m","memory":"1Gi"}}}]}}';
const metaText = '{"creationTimestamp":null,"labels":{"app":"web"}}';
const selectorText = '{"matchLabels":{"app":"web"}}';

/** Encoded as by OpenKruise v1.9.0. */
const texts: readonly { workloadType: string; spec?: object; text: string }[] = [
  {
    workloadType: 'StatefulSet',
    spec: { ordinals: {}, persistentVolumeClaimRetentionPolicy: {}, minReadySeconds: 0, unknown: 1 },
    text: `{"ordinals":{"start":0},"persistentVolumeClaimRetentionPolicy":{},"selector":${selectorText},"serviceName":"","template":${podText},"updateStrategy":{}}`,
  },
  {
    workloadType: 'AdvancedStatefulSet',
    spec: { reserveOrdinals: [1, '3-4'] },
    text: `{"reserveOrdinals":[1,"3-4"],"selector":${selectorText},"template":${podText},"updateStrategy":{},"volumeClaimUpdateStrategy":{}}`,
  },
  {
    workloadType: 'CloneSet',
    spec: { scaleStrategy: { enablePVCReuse: false }, updateStrategy: { rollingUpdate: {} } },
    text: `{"scaleStrategy":{},"selector":${selectorText},"template":${podText},"updateStrategy":{"rollingUpdate":{}}}`,
  },
  {
    workloadType: 'Deployment',
    text: `{"selector":${selectorText},"strategy":{},"template":${podText}}`,
  },
];
for (const { workloadType, spec = {}, text } of texts) {
  test(`the revision of a template of ${workloadType}s has Go's encoding`, () => {
    const { template } = findWorkloadType(workloadType);
    const { data } = madeFor(templateFor(findWorkloadType(workloadType), { template: podTemplate, ...spec }));
    const whole = `{"spec":{"template":{"$patch":"replace","${template}":{"metadata":${metaText},"spec":${text}}}}}`;
    assert.equal(stringifySorted(data), whole);
  });
}

for (const workloadType of workloadTypes) {
  const isClone = workloadType.name === 'CloneSet';
  test(`the revision of a template of ${workloadType.name}s has ${isClone ? 'the hash for its only label' : 'its labels'}`, () => {
    const { labels = {} } = madeFor(templateFor(workloadType)).metadata;
    assert.deepEqual(Object.keys(labels).sort(), isClone ? [revisionHashLabel] : ['app', revisionHashLabel]);
  });

  test(`the second revision of a template of ${workloadType.name}s has the number ${isClone ? 1 : 2}`, () => {
    const [first, second] = [{}, { revisionHistoryLimit: 5 }].map((spec) => templateFor(workloadType, spec)) as [
      SubsetTemplate,
      SubsetTemplate,
    ];
    const former = { ...madeFor(first), revision: 1 };
    const [creation] = planFor(second, [former]).actions;
    const latter = (creation as CreateAction).object as ControllerRevision;
    assert.equal(latter.revision, isClone ? 1 : 2);
    const back = planFor(first, [former, latter]);
    assert.deepEqual([back.update, back.actions.length], [former.metadata.name, isClone ? 0 : 1]);
  });
}

test('an existing revision in another encoding is reused', () => {
  const template = templateFor(findWorkloadType('AdvancedStatefulSet'));
  const made = madeFor(template);
  const { spec } = JSON.parse(
    stringifySorted(made.data)
      .replaceAll('"creationTimestamp":null,', '')
      .replace('"volumeClaimUpdateStrategy":{}', '"minReadySeconds":0'),
  );
  const former: ControllerRevision = { ...made, metadata: { ...made.metadata, name: 'web-former' }, data: { spec } };
  const { actions, update } = planFor(template, [former]);
  assert.deepEqual([actions, update], [[], 'web-former']);
  const other = templateFor(findWorkloadType('AdvancedStatefulSet'), { minReadySeconds: 1, serviceName: 'x' });
  assert.notEqual(planFor(other, [former]).update, 'web-former');
});

test('an invalid revision is ignored', () => {
  const template = templateFor(findWorkloadType('Deployment'));
  const made = madeFor(template);
  const odd = { spec: { template: { deploymentTemplate: 'x', $patch: 'replace' } } };
  const strange = { ...made, metadata: { ...made.metadata, name: 'web-strange' }, data: odd };
  assert.equal(planFor(template, [strange]).update, made.metadata.name);
});
