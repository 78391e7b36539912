import assert from 'node:assert/strict';
import { test } from 'node:test';
import type { Pod } from '@kruise/api/core/pod';
import type { ContainerRecreateRequest } from '@kruise/api/kruise/containerrecreaterequest';
import type { CreateAction, PatchAction } from '@kruise/client/actions';
import { instantOf } from '@kruise/values/time';
import { summarizeActions } from '@kruise/workload-kit/testing/summarize-actions';
import { decide } from './decide.ts';

const now = instantOf(2026, 1, 1);
const variables = {
  stopped: [{ name: 'KRUISE_TERMINATE_SIDECAR_WHEN_JOB_EXIT', value: 'True' }],
  ignored: [
    { name: 'KRUISE_TERMINATE_SIDECAR_WHEN_JOB_EXIT', value: 'true' },
    { name: 'KRUISE_TERMINATE_SIDECAR_IGNORE_EXIT_CODE', value: 'true' },
  ],
  swapped: [{ name: 'KRUISE_TERMINATE_SIDECAR_WHEN_JOB_EXIT_WITH_IMAGE', value: 'exit:0' }],
};

/** Builds containers from `name[:kind]=code`, without a code while they run. */
function podOf(text: string, restartPolicy: 'Never' | 'OnFailure' | 'Always' = 'Never', phase = 'Running'): Pod {
  const parts = text.split(' ').map((part) => /^(\w+)(?::(\w+))?(?:=(\d+))?$/.exec(part)!);
  return {
    apiVersion: 'v1',
    kind: 'Pod',
    metadata: { name: 'p', namespace: 'default', uid: 'u' },
    spec: {
      restartPolicy,
      containers: parts.map(([, name = '', kind]) => ({
        name,
        image: 'app',
        ...(kind ? { env: variables[kind as keyof typeof variables] } : {}),
      })),
    },
    status: {
      phase: phase as 'Running',
      containerStatuses: parts.map(([, name = '', , code]) => ({
        name,
        image: '',
        imageID: '',
        ready: false,
        restartCount: 0,
        lastState: {},
        state: code === undefined ? { running: {} } : { terminated: { exitCode: Number(code) } },
      })),
    },
  };
}

function decided(pod: Pod, { isVirtual = false, isRequested = false } = {}) {
  const { actions } = decide({ pod, isVirtual, isRequested }, now);
  const request = (actions.find(({ type }) => type === 'create') as CreateAction | undefined)?.object;
  const patch = (actions.find(({ type }) => type === 'patch') as PatchAction | undefined)?.patch;
  const containers = (request as ContainerRecreateRequest | undefined)?.spec.containers.map(({ name }) => name);
  return { does: summarizeActions(actions), containers, patch, actions };
}

const cases: readonly (readonly [is: string, pod: Pod, containers: readonly string[] | undefined])[] = [
  ['whose main container has failed', podOf('main=1 side:stopped'), ['side']],
  ['whose main container still runs', podOf('main side:stopped'), undefined],
  ['whose main container is restarted', podOf('main=1 side:stopped', 'OnFailure'), undefined],
  ['whose main container has succeeded', podOf('main=0 side:stopped', 'OnFailure'), ['side']],
  ['with the restart policy Always', podOf('main=0 side:stopped', 'Always'), undefined],
  ['with one terminated sidecar', podOf('main=0 a:stopped=0 b:stopped'), ['b']],
  ['whose sidecars have terminated', podOf('main=0 a:stopped=0'), undefined],
  ['without sidecars', podOf('main=0 other'), undefined],
  ['that is pending', podOf('main=0 side:stopped', 'Never', 'Pending'), undefined],
  ['with both kinds of sidecars', podOf('a=0 b=0 s:stopped t:stopped u:ignored'), ['s', 't']],
  ['whose sidecars only a virtual node can terminate', podOf('main=0 side:swapped'), undefined],
];
for (const [is, pod, containers] of cases) {
  test(`of a Pod ${is} ${containers ? `${containers} ${containers.length > 1 ? 'are' : 'is'} terminated` : 'nothing is terminated'}`, () =>
    assert.deepEqual(decided(pod).containers, containers));
}

test('the termination of sidecars is requested once', () => {
  assert.deepEqual(decided(podOf('main=0 side:stopped')).does, [
    'create sidecar-termination-u',
    'record SidecarTerminator',
  ]);
  assert.deepEqual(decided(podOf('main=0 side:stopped'), { isRequested: true }).does, []);
});

test('a Pod gets its phase before a sidecar with an ignored exit code is terminated', () => {
  const phaseOf = (pod: Pod) => (decided(pod).patch as { status: { phase: string } } | undefined)?.status.phase;
  assert.equal(phaseOf(podOf('main=0 s:stopped=1 t:ignored')), 'Succeeded');
  assert.equal(phaseOf(podOf('main=1 t:ignored')), 'Failed');
  const { does, containers } = decided(podOf('main=0 t:ignored'));
  assert.deepEqual([does[0], containers], ['patch p', ['t']]);
  assert.deepEqual(decided(podOf('main=0 t:ignored', 'Never', 'Succeeded')).does, [
    'create sidecar-termination-u',
    'record SidecarTerminator',
  ]);
});

test('on a virtual node sidecars get an image that exits', () => {
  const { does, patch } = decided(podOf('main=0 a:swapped b:swapped=0 c:stopped'), { isVirtual: true });
  assert.deepEqual(does, ['patch p', 'record SidecarTerminator']);
  assert.deepEqual(patch, { spec: { containers: [{ name: 'a', image: 'exit:0' }] } });
});
