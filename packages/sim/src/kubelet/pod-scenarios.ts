/** Pod scenarios: the spec of a Pod, the events during its life, and its expected final state. */
import { type Pod, pod as podKind } from '@kruise/api/core/pod';
import type { PodSpec } from '@kruise/api/core/pod-spec';
import type { Client } from '@kruise/client/client';
import { isPodReady } from '@kruise/machinery/pods';

type Reference = { readonly name: string; readonly namespace: string };

/** A Pod scenario. */
export type PodScenario = {
  readonly name: string;
  readonly annotations?: { readonly [key: string]: string };
  readonly spec: Partial<PodSpec> & Pick<PodSpec, 'containers'>;
  /** True if container `c` must run exactly once. */
  readonly runsOnce?: boolean;
  /** Action on the Pod after a while. */
  readonly action?: (client: Client, reference: Reference) => Promise<unknown>;
  /** Returns the error in the final state, if any. */
  readonly fault: (pod: Pod | undefined) => string | undefined;
};

const server = { name: 'c', image: 'nginx:1.25' };
const shell = { name: 'c', image: 'busybox:1.36' };
const probe = { httpGet: { port: 80 }, periodSeconds: 2 };
const probed = { ...server, startupProbe: probe, readinessProbe: probe, livenessProbe: probe };
const small = { cpu: '100m', memory: '64Mi' };
const large = { cpu: '200m', memory: '128Mi' };

const remove = (client: Client, reference: Reference) => client.delete(podKind, reference);
const change = (image: string) => (client: Client, reference: Reference) =>
  client.patch(podKind, reference, { spec: { containers: [{ name: 'c', image }] } }, { type: 'strategic' });
const resize = (amounts: object) => (client: Client, reference: Reference) => {
  const resources = { requests: amounts, limits: amounts };
  const patch = { spec: { containers: [{ name: 'c', resources }] } };
  return client.patch(podKind, reference, patch, { type: 'strategic', subresource: 'resize' });
};

const addEphemeralContainer = (client: Client, reference: Reference) => {
  const patch = { spec: { ephemeralContainers: [{ ...shell, name: 'eye', command: ['sleep', '4'] }] } };
  return client.patch(podKind, reference, patch, { type: 'strategic', subresource: 'ephemeralcontainers' });
};
const shared = [{ name: 'v', mountPath: '/v' }];

const ready = (pod: Pod | undefined) =>
  pod && isPodReady(pod) ? undefined : `the Pod is not ready but ${pod?.status?.phase}`;
const over = (phase: string) => (pod: Pod | undefined) =>
  pod?.status?.phase === phase ? undefined : `the Pod is not ${phase} but ${pod?.status?.phase}`;
const gone = (pod: Pod | undefined) => (pod ? 'the Pod still exists' : undefined);
const withImage = (image: string) => (pod: Pod | undefined) =>
  ready(pod) ?? (pod?.status?.containerStatuses?.[0]?.image.endsWith(image) ? undefined : 'the Pod has another image');

export const podScenarios: readonly PodScenario[] = [
  { name: 'plain', spec: { containers: [server] }, fault: ready },
  {
    name: 'slow',
    annotations: {
      'sim.kruise.io/sandbox-latency': '2s',
      'sim.kruise.io/pull-latency': '3s',
      'sim.kruise.io/start-latency': '2s',
    },
    spec: { containers: [{ name: 'c', image: 'redis:7' }] },
    fault: ready,
  },
  {
    name: 'slow-and-ended',
    annotations: { 'sim.kruise.io/sandbox-latency': '6s', 'sim.kruise.io/start-latency': '6s' },
    spec: { terminationGracePeriodSeconds: 5, containers: [server] },
    action: remove,
    fault: gone,
  },
  { name: 'probed', spec: { containers: [probed] }, fault: ready },
  {
    name: 'crashing',
    annotations: { 'sim.kruise.io/run-for': '5s', 'sim.kruise.io/exit-code': '1' },
    spec: { containers: [server] },
    fault: (pod) => over('Running')(pod),
  },
  {
    name: 'once',
    runsOnce: true,
    spec: { restartPolicy: 'Never', containers: [{ ...shell, command: ['sleep', '5'] }] },
    fault: over('Succeeded'),
  },
  {
    name: 'in-vain',
    runsOnce: true,
    spec: { restartPolicy: 'Never', containers: [{ ...shell, command: ['sh', '-c', 'sleep 3; exit 3'] }] },
    fault: over('Failed'),
  },
  {
    name: 'at-last',
    annotations: { 'sim.kruise.io/run-for': '2s', 'sim.kruise.io/exit-code': '1,1,1,0' },
    spec: { restartPolicy: 'OnFailure', containers: [server] },
    fault: over('Succeeded'),
  },
  {
    name: 'prepared',
    spec: {
      initContainers: ['one', 'two'].map((name) => ({ ...shell, name, command: ['sleep', '2'] })),
      containers: [server],
    },
    fault: ready,
  },
  {
    name: 'shared',
    runsOnce: true,
    spec: {
      restartPolicy: 'Never',
      volumes: [{ name: 'v', emptyDir: {} }],
      initContainers: [{ ...shell, name: 'i', command: ['sh', '-c', 'echo here > /v/file'], volumeMounts: shared }],
      containers: [{ ...shell, command: ['sh', '-c', 'sleep 2; cat /v/file'], volumeMounts: shared }],
    },
    fault: over('Succeeded'),
  },
  {
    name: 'too-long',
    spec: { activeDeadlineSeconds: 12, terminationGracePeriodSeconds: 3, containers: [server] },
    fault: over('Failed'),
  },
  {
    name: 'looked-at',
    spec: { containers: [server] },
    action: addEphemeralContainer,
    fault: (pod) =>
      ready(pod) ??
      (pod?.status?.ephemeralContainerStatuses?.[0]?.state?.terminated?.exitCode === 0
        ? undefined
        : 'the ephemeral container did not complete'),
  },
  {
    name: 'accompanied',
    runsOnce: true,
    spec: {
      restartPolicy: 'Never',
      initContainers: [{ ...server, name: 'side', restartPolicy: 'Always' }],
      containers: [{ ...shell, command: ['sleep', '8'] }],
    },
    fault: over('Succeeded'),
  },
  {
    name: 'ended',
    annotations: { 'sim.kruise.io/stop-latency': '3s' },
    spec: { containers: [{ ...probed, lifecycle: { preStop: { sleep: { seconds: 3 } } } }] },
    action: remove,
    fault: gone,
  },
  {
    name: 'stubborn',
    annotations: { 'sim.kruise.io/stop-latency': 'never' },
    spec: { terminationGracePeriodSeconds: 10, containers: [server] },
    action: remove,
    fault: gone,
  },
  {
    name: 'changed',
    annotations: { 'sim.kruise.io/stop-latency': '1s' },
    spec: { containers: [probed] },
    action: change('nginx:1.26'),
    fault: withImage('nginx:1.26'),
  },
  {
    name: 'changed-for-good',
    spec: { restartPolicy: 'Never', containers: [server] },
    action: change('nginx:1.26'),
    // A kubelet that dies between the stop and the restart of a container leaves a state that looks like the end of the
    // Pod.
    fault: (pod) => over('Succeeded')(pod) && over('Failed')(pod) && withImage('nginx:1.26')(pod),
  },
  {
    name: 'resized',
    spec: { containers: [{ ...server, resources: { requests: small, limits: small } }] },
    action: resize(large),
    fault: (pod) =>
      ready(pod) ??
      (pod?.status?.containerStatuses?.[0]?.resources?.limits?.cpu === '200m'
        ? undefined
        : 'the Pod has other resources'),
  },
  {
    name: 'resized-anew',
    spec: {
      containers: [
        {
          ...server,
          resources: { requests: small, limits: small },
          resizePolicy: [{ resourceName: 'memory', restartPolicy: 'RestartContainer' }],
        },
      ],
    },
    action: resize(large),
    fault: (pod) =>
      ready(pod) ??
      (pod?.status?.containerStatuses?.[0]?.resources?.limits?.memory === '128Mi'
        ? undefined
        : 'the Pod has other resources'),
  },
];
