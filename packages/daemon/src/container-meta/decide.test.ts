import assert from 'node:assert/strict';
import { test } from 'node:test';
import type { Pod } from '@kruise/api/core/pod';
import { featureGates } from '@kruise/manager/configuration/feature-gates';
import { envFromMetadataHash, plainHash } from '@kruise/manager/workload/inplace/container-hash';
import type { Container } from '@kruise/node/cri/runtime';
import { decide, type Environment, type Restart } from './decide.ts';
import { labelled, type PodParts, plain, podOf, running } from './fixtures.ts';

const gates = featureGates();
const nothing = envFromMetadataHash(plain, {});
const hashOf = (conf: string) => envFromMetadataHash(labelled, { labels: { conf } });
const look = (
  pod: PodParts,
  containers: readonly Container[],
  environments: readonly (readonly [string, Environment])[] = [],
  open = gates,
) => decide({ pod: podOf(pod), runtimeName: 'sim', containers, environments: new Map(environments) }, open);

/** Summarizes a decision: the reported metadata, the restarts, and the requeue. */
function summarize({ actions, requeueAfterSeconds }: ReturnType<typeof decide>) {
  const text = actions.map((action) => {
    if (action.type === 'effect') return `restart ${(action.input as Restart).containerId}`;
    assert.ok(action.type === 'patch' && action.subresource === 'status' && action.patchType === 'strategic');
    return JSON.parse((action.patch as Pod).metadata.annotations!['apps.kruise.io/runtime-containers-meta']!)
      .containers;
  });
  return requeueAfterSeconds === undefined ? text : [...text, `wait ${requeueAfterSeconds}`];
}
const meta = (containerID: string, extractedEnvFromMetadataHash?: number, restartCount = 2) => ({
  name: 'main',
  containerID,
  restartCount,
  hashes: {
    plainHash: plainHash(plain),
    ...(extractedEnvFromMetadataHash === undefined ? {} : { extractedEnvFromMetadataHash }),
  },
});
const asked = (id: string, conf?: string) => [[id, new Map(conf === undefined ? [] : [['CONF', conf]])]] as const;

test('metadata of a running container has its ID, restart count and hash', () => {
  assert.deepEqual(summarize(look({}, [running('1')], asked('1'))), [[meta('sim://1', nothing)]]);
});

test('the annotation is written as OpenKruise writes it', () => {
  const [action] = look({}, [running('1')], asked('1')).actions;
  assert.ok(action?.type === 'patch');
  assert.equal(
    (action.patch as Pod).metadata.annotations!['apps.kruise.io/runtime-containers-meta'],
    `{"containers":[{"name":"main","containerID":"sim://1","restartCount":2,"hashes":{"plainHash":${plainHash(plain)},"extractedEnvFromMetadataHash":86995377}}]}`,
  );
});

test('a container is reported once the Pod status has it', () => {
  const both = [running('2'), running('1')];
  const reported = [meta('sim://1', nothing)];
  assert.deepEqual(summarize(look({ reported }, both)), []);
  assert.deepEqual(summarize(look({ reported, ids: ['sim://2'] }, both, asked('2'))), [[meta('sim://2', nothing)]]);
});

test('reported metadata of a container is kept', () => {
  const reported = [meta('sim://1', nothing, 0)];
  assert.deepEqual(summarize(look({ reported }, [running('1')])), []);
});

test('a container that the runtime does not know is not reported', () => {
  assert.deepEqual(summarize(look({ reported: [meta('sim://1')] }, [])), [[]]);
});

test('a container without annotations has no hash', () => {
  const [containers] = summarize(look({}, [running('1', plain, { annotations: {} })], asked('1')));
  assert.deepEqual(containers, [
    { ...meta('sim://1', nothing, 0), hashes: { plainHash: 0, extractedEnvFromMetadataHash: nothing } },
  ]);
});

test('the environment hash has the values of the running container', () => {
  const pod = { containers: [labelled], labels: { conf: 'b' } };
  assert.deepEqual(summarize(look(pod, [running('1', labelled)], asked('1', 'a'))), [[meta('sim://1', hashOf('a'))]]);
});

test('an unreadable environment is read again', () => {
  const pod = { containers: [labelled] };
  assert.deepEqual(summarize(look(pod, [running('1', labelled)], [['1', undefined]])), [[meta('sim://1')], 'wait 3']);
});

test('without its gate no environment is read', () => {
  const closed = featureGates({ InPlaceUpdateEnvFromMetadata: false });
  assert.deepEqual(summarize(look({ containers: [labelled] }, [running('1', labelled)], [], closed)), [
    [meta('sim://1')],
  ]);
});

const outdated = { containers: [labelled], labels: { conf: 'b' }, reported: [meta('sim://1', hashOf('a'))] };

test('a container with outdated labels is restarted while its Pod is being updated', () => {
  assert.deepEqual(summarize(look({ ...outdated, isUpdating: true }, [running('1', labelled)])), ['restart 1']);
});

test('a container with outdated labels is left alone at any other time', () => {
  assert.deepEqual(summarize(look(outdated, [running('1', labelled)])), []);
});

test('a container with current labels is not restarted', () => {
  const pod = { ...outdated, labels: { conf: 'a' }, isUpdating: true };
  assert.deepEqual(summarize(look(pod, [running('1', labelled)])), []);
});

test('a container with an unknown environment is not restarted', () => {
  const pod = { ...outdated, reported: [meta('sim://1')], isUpdating: true };
  assert.deepEqual(summarize(look(pod, [running('1', labelled, { state: 'CONTAINER_EXITED' })])), []);
});
