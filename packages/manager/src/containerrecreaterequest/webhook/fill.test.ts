import assert from 'node:assert/strict';
import { test } from 'node:test';
import type { Node } from '@kruise/api/core/node';
import type { Pod } from '@kruise/api/core/pod';
import type {
  ContainerRecreateRequest,
  ContainerRecreateRequestSpec,
} from '@kruise/api/kruise/containerrecreaterequest';
import { faultOfContainers, faultOfPod, faultOfRequest, filledIn } from './fill.ts';

const requestOf = (spec: Partial<ContainerRecreateRequestSpec> = {}): ContainerRecreateRequest => ({
  apiVersion: 'apps.kruise.io/v1beta1',
  kind: 'ContainerRecreateRequest',
  metadata: { name: 'restart', namespace: 'default', labels: { mine: '1' } },
  spec: { podName: 'app', containers: [{ name: 'main' }], ...spec },
});

const httpGet = { path: '/stop', port: 80 };
const pod: Pod = {
  apiVersion: 'v1',
  kind: 'Pod',
  metadata: { name: 'app', namespace: 'default', uid: 'pod-uid' },
  spec: {
    nodeName: 'a',
    terminationGracePeriodSeconds: 7,
    initContainers: [{ name: 'init', image: 'app' }],
    containers: [
      {
        name: 'main',
        image: 'app',
        ports: [{ containerPort: 80 }],
        lifecycle: { preStop: { httpGet, sleep: { seconds: 1 } } },
      },
      { name: 'second', image: 'app', ports: [{ containerPort: 81 }] },
      { name: 'third', image: 'app' },
    ],
  },
  status: {
    phase: 'Running',
    containerStatuses: ['main', 'second', 'third'].map((name, index) => ({
      name,
      image: '',
      imageID: '',
      ready: true,
      restartCount: index,
      ...(name === 'third' ? {} : { containerID: `containerd://${name}` }),
      state: {},
      lastState: {},
    })),
  },
};
const node: Node = { apiVersion: 'v1', kind: 'Node', metadata: { name: 'a' } };

const requests: readonly (readonly [Partial<ContainerRecreateRequestSpec>, string | undefined])[] = [
  [{}, undefined],
  [{ podName: '' }, 'podName can not be empty'],
  [{ containers: [] }, 'containers list can not be null'],
  [{ activeDeadlineSeconds: 2 }, 'activeDeadlineSeconds can not be less than 3s'],
  [{ strategy: { terminationGracePeriodSeconds: -1 } }, 'terminationGracePeriodSeconds must be non-negative integer'],
  [{ strategy: { unreadyGracePeriodSeconds: -1 } }, 'unreadyGracePeriodSeconds must be non-negative integer'],
  [{ strategy: { failurePolicy: 'Retry' as 'Fail' } }, 'unknown failurePolicy Retry'],
];
for (const [spec, fault] of requests) {
  test(`a request for ${JSON.stringify(spec)} is ${fault ? 'invalid' : 'valid'}`, () =>
    assert.equal(faultOfRequest(requestOf(spec)), fault));
}

const containers: readonly (readonly [ContainerRecreateRequestSpec['containers'], string | undefined])[] = [
  [[{ name: 'main' }, { name: 'second' }], undefined],
  [[{ name: 'main' }, { name: 'main' }], 'can not recreate main multi times'],
  [
    [{ name: 'main', ports: [{ containerPort: 1 }] }],
    'preStop, ports, statusContext in container are ready-only fields',
  ],
  [[{ name: 'other' }], 'container other not found in Pod'],
  [[{ name: 'init' }], 'not found init containerStatus in Pod Status'],
  [[{ name: 'third' }], 'no containerID in third containerStatus, maybe the container has not been initialized'],
];
for (const [asked, fault] of containers) {
  test(`a request for ${asked.map(({ name }) => name).join(' and ')} reports ${fault ?? 'no error'}`, () =>
    assert.equal(faultOfContainers(requestOf({ containers: asked }), pod), fault));
}

test('only a running Pod, or one whose sidecars are being terminated, is accepted', () => {
  assert.equal(faultOfPod(pod), undefined);
  const ended: Pod = { ...pod, status: { phase: 'Succeeded' } };
  assert.equal(faultOfPod(ended), 'not allowed to recreate containers in an inactive Pod');
  assert.equal(
    faultOfPod({ ...pod, status: { ...ended.status, conditions: [{ type: 'SidecarTerminated', status: 'True' }] } }),
    undefined,
  );
  const waiting: Pod = { ...pod, spec: { containers: [] } };
  assert.equal(faultOfPod(waiting), 'not allowed to recreate containers in a pending Pod');
});

test('a request is filled in with the required facts about the Pod', () => {
  const { metadata, spec } = filledIn(requestOf({ containers: [{ name: 'main' }, { name: 'second' }] }), pod, node);
  assert.deepEqual(metadata.labels, {
    mine: '1',
    'crr.apps.kruise.io/active': 'true',
    'crr.apps.kruise.io/node-name': 'a',
    'crr.apps.kruise.io/pod-uid': 'pod-uid',
  });
  assert.deepEqual(spec.strategy, { failurePolicy: 'Fail', terminationGracePeriodSeconds: 7 });
  assert.deepEqual(spec.containers, [
    {
      name: 'main',
      preStop: { httpGet },
      ports: [{ containerPort: 80 }],
      statusContext: { containerID: 'containerd://main', restartCount: 0 },
    },
    { name: 'second', statusContext: { containerID: 'containerd://second', restartCount: 1 } },
  ]);
});

test('a request for a virtual node is labelled', () => {
  const virtual: Node = { ...node, metadata: { name: 'a', labels: { type: 'virtual-kubelet' } } };
  assert.equal(filledIn(requestOf(), pod, virtual).metadata.labels?.['type'], 'virtual-kubelet');
});
