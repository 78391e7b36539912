import assert from 'node:assert/strict';
import { test } from 'node:test';
import type { PodContainerProbe, PodProbeMarker } from '@kruise/api/kruise/podprobemarker';
import { validatePodProbeMarker } from './validate.ts';

const probe = { exec: { command: ['true'] } };
const idle: PodContainerProbe = { name: 'idle', containerName: 'main', probe, podConditionType: 'example.com/idle' };
const labels = { a: 'b' };

const markerOf = (
  probes: readonly PodContainerProbe[],
  matchLabels: { [key: string]: string } = { app: 'web' },
): PodProbeMarker => ({
  apiVersion: 'apps.kruise.io/v1alpha1',
  kind: 'PodProbeMarker',
  metadata: { name: 'marker', namespace: 'default' },
  spec: { selector: { matchLabels }, probes },
});
const faultsOf = (marker: PodProbeMarker, old?: PodProbeMarker) =>
  [...validatePodProbeMarker(marker, old)].map(({ field, message }) => `${field}: ${message}`);

const cases: readonly (readonly [is: string, change: Partial<PodContainerProbe>, faults: readonly RegExp[]])[] = [
  ['is sound', {}, []],
  ['has a name with #', { name: 'a#b' }, [/^spec.probes: Invalid value: "a#b": probe name can't contains '#'\.$/]],
  ['has no name', { name: '' }, [/^spec.probes: Invalid value: "": probe name can't be empty/]],
  [
    'has the name of a condition of Kubernetes',
    { name: 'Ready' },
    [/^spec.probes: Invalid value: "Ready": probe name can't be Ready$/],
  ],
  ['has no container', { containerName: '' }, [/^spec.probes: Invalid value: "": probe containerName can't be empty/]],
  ['does nothing', { probe: {} }, [/^spec.probe: Required value: must specify a handler type$/]],
  ['uses gRPC', { probe: { grpc: { port: 80 } } }, [/^spec.probe: Required value: must specify a handler type$/]],
  [
    'does two things',
    { probe: { ...probe, tcpSocket: { port: 80 } } },
    [/^spec.probe.tcpSocket: Forbidden: may not specify more than 1 handler type$/],
  ],
  ['runs nothing', { probe: { exec: { command: [] } } }, [/^spec.probe.exec.command: Required value$/]],
  [
    'has no path, another host, and no scheme',
    { probe: { httpGet: { path: '', port: 80, host: 'x' } } },
    [
      /^spec.probe.httpGet.path: Required value$/,
      /^spec.probe.httpGet.host: Invalid value: "x": host field in probes is not allowed$/,
      /^spec.probe.httpGet.scheme: Unsupported value: ""/,
    ],
  ],
  [
    'connects to no port',
    { probe: { tcpSocket: { port: 70000 } } },
    [/^spec.probe.tcpSocket.port: Invalid value: 70000/],
  ],
  [
    'has a period below zero',
    { probe: { ...probe, periodSeconds: -1 } },
    [/^spec.probe.periodSeconds: Invalid value: -1/],
  ],
  ['shows nothing', { podConditionType: '' }, [/^spec.probes: .*podConditionType and markerPolicy cannot be empty/]],
  [
    'shows a condition of no name',
    { podConditionType: 'not ok!' },
    [/^spec: Invalid value: "not ok!": name part must/],
  ],
  [
    'marks one state twice',
    {
      markerPolicy: [
        { state: 'Failed', labels },
        { state: 'Failed', labels },
      ],
    },
    [/^spec.markerPolicy: Invalid value: "Failed": marker policy state must be unique\.$/],
  ],
  [
    'marks nothing, in no state',
    { markerPolicy: [{ state: 'Unknown' }] },
    [/^spec.markerPolicy.state: Required value/, /^spec.markerPolicy: Required value: .*can't be both empty$/],
  ],
  [
    'sets an invalid label',
    { markerPolicy: [{ state: 'Failed', labels: { 'a-/$b': 'c' } }] },
    [/^spec.markerPolicy.labels: Invalid value/, /^spec.markerPolicy.labels: Invalid value/],
  ],
];
for (const [is, change, faults] of cases) {
  test(`a probe that ${is} has ${faults.length} errors`, () => {
    const found = faultsOf(markerOf([{ ...idle, ...change }]));
    assert.equal(found.length, faults.length, found.join('\n'));
    for (const [index, fault] of faults.entries()) assert.match(found[index]!, fault);
  });
}

test('names and conditions of probes are unique', () => {
  assert.match(faultsOf(markerOf([idle, idle]))[0]!, /probe name must be unique/);
  assert.match(
    faultsOf(markerOf([idle, { ...idle, name: 'other' }]))[0]!,
    /podConditionType example.com\/idle must be unique/,
  );
});

test('a marker needs probes and a selector', () => {
  assert.match(faultsOf(markerOf([]))[0]!, /empty probes is not valid for PodProbeMarker/);
  assert.match(faultsOf(markerOf([idle], {}))[0]!, /empty selector is not valid for podProbeMarker/);
});

test('the selector of a marker is immutable', () => {
  assert.match(
    faultsOf(markerOf([idle]), markerOf([idle], { app: 'other' }))[0]!,
    /^selector: .*selector must be immutable$/,
  );
  assert.deepEqual(faultsOf(markerOf([{ ...idle, name: 'new' }]), markerOf([idle])), []);
});
