import assert from 'node:assert/strict';
import { test } from 'node:test';
import { codecOf } from '@kruise/schema/codec';
import type { Draft } from '@kruise/schema/draft';
import { defaultPod } from './pod.default.ts';
import { type Pod, pod as podKind } from './pod.ts';

type Json = { readonly [key: string]: unknown };

function defaulted(spec: Json, rest: Json = {}): Pod {
  const draft = codecOf(podKind.root).fromJson({ apiVersion: 'v1', kind: 'Pod', spec, ...rest }) as Draft<Pod>;
  defaultPod(draft);
  return draft;
}

function withContainer(container: Json, spec: Json = {}): Json {
  return { containers: [{ name: 'main', image: 'nginx:1.29', ...container }], ...spec };
}

test('a Pod gets default policies', () => {
  const { containers, ...spec } = defaulted(withContainer({})).spec!;
  assert.deepEqual(spec, {
    dnsPolicy: 'ClusterFirst',
    enableServiceLinks: true,
    restartPolicy: 'Always',
    schedulerName: 'default-scheduler',
    securityContext: {},
    terminationGracePeriodSeconds: 30,
  });
  assert.deepEqual(containers, [
    {
      image: 'nginx:1.29',
      imagePullPolicy: 'IfNotPresent',
      name: 'main',
      resources: {},
      terminationMessagePath: '/dev/termination-log',
      terminationMessagePolicy: 'File',
    },
  ]);
});

const sha = `sha256:${'a'.repeat(64)}`;
const pullPolicies = [
  { image: 'nginx', policy: 'Always' },
  { image: 'nginx:latest', policy: 'Always' },
  { image: 'nginx:1', policy: 'IfNotPresent' },
  { image: `nginx@${sha}`, policy: 'IfNotPresent' },
  { image: `nginx:latest@${sha}`, policy: 'Always' },
  { image: 'localhost:5000/team/app', policy: 'Always' },
  { image: 'Not A Name', policy: 'IfNotPresent' },
];
for (const { image, policy } of pullPolicies) {
  test(`the image ${image} is pulled by the policy ${policy}`, () => {
    assert.equal(defaulted(withContainer({ image })).spec!.containers[0]!.imagePullPolicy, policy);
  });
}

const containers = [
  {
    name: 'gets requests from its limits, unless it has requests',
    given: { resources: { limits: { cpu: '1', memory: '1Gi' }, requests: { cpu: '100m' } } },
    part: { resources: { limits: { cpu: '1', memory: '1Gi' }, requests: { cpu: '100m', memory: '1Gi' } } },
  },
  {
    name: 'rounds quantities to thousandths',
    given: { resources: { requests: { cpu: '100u' } } },
    part: { resources: { requests: { cpu: '1m' } } },
  },
  {
    name: 'gets default probe periods',
    given: { livenessProbe: { httpGet: { port: 80 } } },
    part: {
      livenessProbe: {
        failureThreshold: 3,
        httpGet: { path: '/', port: 80, scheme: 'HTTP' },
        periodSeconds: 10,
        successThreshold: 1,
        timeoutSeconds: 1,
      },
    },
  },
  {
    name: 'defaults ports to TCP',
    given: { ports: [{ containerPort: 80 }] },
    part: { ports: [{ containerPort: 80, protocol: 'TCP' }] },
  },
  {
    name: 'defaults field references to v1',
    given: { env: [{ name: 'A', valueFrom: { fieldRef: { fieldPath: 'metadata.name' } } }] },
    part: { env: [{ name: 'A', valueFrom: { fieldRef: { apiVersion: 'v1', fieldPath: 'metadata.name' } } }] },
  },
];
for (const { name, given, part } of containers) {
  test(`a container ${name}`, () => {
    assert.partialDeepStrictEqual(defaulted(withContainer(given)).spec!.containers[0], part);
  });
}

const volumes = [
  { name: 'without a source is an empty folder', given: {}, source: { emptyDir: {} } },
  {
    name: 'from a Secret is readable by all',
    given: { secret: { secretName: 'a' } },
    source: { secret: { defaultMode: 420, secretName: 'a' } },
  },
  {
    name: 'of the host has no type',
    given: { hostPath: { path: '/a' } },
    source: { hostPath: { path: '/a', type: '' } },
  },
  {
    name: 'with a token has one for an hour',
    given: { projected: { sources: [{ serviceAccountToken: { path: 'token' } }] } },
    source: {
      projected: { defaultMode: 420, sources: [{ serviceAccountToken: { expirationSeconds: 3600, path: 'token' } }] },
    },
  },
];
for (const { name, given, source } of volumes) {
  test(`a volume ${name}`, () => {
    const pod = defaulted(withContainer({}, { volumes: [{ name: 'v', ...given }] }));
    assert.deepEqual(pod.spec!.volumes, [{ name: 'v', ...source }]);
  });
}

test("with hostNetwork a container's ports become host ports", () => {
  const pod = defaulted(withContainer({ ports: [{ containerPort: 80 }] }, { hostNetwork: true }));
  assert.equal(pod.spec!.containers[0]!.ports![0]!.hostPort, 80);
});

test('serviceAccount and serviceAccountName are equal, and the latter wins', () => {
  assert.equal(defaulted(withContainer({}, { serviceAccount: 'a' })).spec!.serviceAccountName, 'a');
  assert.equal(
    defaulted(withContainer({}, { serviceAccount: 'a', serviceAccountName: 'b' })).spec!.serviceAccount,
    'b',
  );
});

test('a negative grace period becomes one second', () => {
  assert.equal(
    defaulted(withContainer({}, { terminationGracePeriodSeconds: -5 })).spec!.terminationGracePeriodSeconds,
    1,
  );
});

test('podIP and podIPs are consistent, and the former wins', () => {
  const status = { podIP: '10.0.0.1', podIPs: [{ ip: '10.0.0.2' }] };
  assert.deepEqual(defaulted(withContainer({}), { status }).status, {
    podIP: '10.0.0.1',
    podIPs: [{ ip: '10.0.0.1' }],
  });
  assert.equal(defaulted(withContainer({}), { status: { podIPs: [{ ip: '10.0.0.2' }] } }).status!.podIP, '10.0.0.2');
});
