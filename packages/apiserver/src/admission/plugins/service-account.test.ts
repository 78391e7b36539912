import assert from 'node:assert/strict';
import { test } from 'node:test';
import { type Pod, pod } from '@kruise/api/core/pod';
import { serviceAccount } from '@kruise/api/core/serviceaccount';
import type { VirtualClock } from '@kruise/values/virtual-clock';
import { admit, lookupOf, writeOf } from '../../testing/admission.ts';
import { serviceAccounts } from './service-account.ts';

const account = (name: string, more: object = {}, annotations: object = {}) => ({
  metadata: { name, namespace: 'default', annotations },
  ...more,
});
const plugin = serviceAccounts(
  lookupOf({
    kind: serviceAccount,
    objects: [
      account('default'),
      account('robot', { imagePullSecrets: [{ name: 'pull' }] }),
      account('quiet', { automountServiceAccountToken: false }),
      account('strict', { secrets: [{ name: 'allowed' }] }, { 'kubernetes.io/enforce-mountable-secrets': 'true' }),
    ],
  }),
);
const podOf = (spec: object = {}, annotations?: object) => ({
  metadata: { name: 'p', ...(annotations ? { annotations } : {}) },
  spec: { containers: [{ name: 'c' }], ...spec },
});
const admitted = async (spec: object = {}, annotations?: object) => {
  const result = await admit(plugin, writeOf(pod, podOf(spec, annotations)));
  return typeof result === 'string' ? result : (result as Pod).spec!;
};
const mountPath = '/var/run/secrets/kubernetes.io/serviceaccount';

test('a Pod gets the default ServiceAccount and its token', async () => {
  const spec = (await admitted({ initContainers: [{ name: 'i' }] })) as NonNullable<Pod['spec']>;
  assert.equal(spec.serviceAccountName, 'default');
  assert.equal(spec.serviceAccount, 'default');
  const [volume] = spec.volumes ?? [];
  assert.match(volume?.name ?? '', /^kube-api-access-[a-z0-9]{5}$/);
  assert.deepEqual(volume?.projected, {
    sources: [
      { serviceAccountToken: { expirationSeconds: 3607, path: 'token' } },
      { configMap: { name: 'kube-root-ca.crt', items: [{ key: 'ca.crt', path: 'ca.crt' }] } },
      {
        downwardAPI: {
          items: [{ path: 'namespace', fieldRef: { apiVersion: 'v1', fieldPath: 'metadata.namespace' } }],
        },
      },
    ],
    defaultMode: 420,
  });
  const mounts = [{ name: volume?.name, readOnly: true, mountPath }];
  assert.deepEqual(spec.containers?.[0]?.volumeMounts, mounts);
  assert.deepEqual(spec.initContainers?.[0]?.volumeMounts, mounts);
});

test('a container with its own mount at the token path gets no token', async () => {
  const own = [{ name: 'v', mountPath }];
  const spec = (await admitted({ containers: [{ name: 'c', volumeMounts: own }] })) as NonNullable<Pod['spec']>;
  assert.deepEqual([spec.containers?.[0]?.volumeMounts, spec.volumes], [own, undefined]);
});

const mounting = [
  { name: 'a ServiceAccount may disable the token', spec: { serviceAccountName: 'quiet' }, mounted: false },
  {
    name: 'a Pod overrides its ServiceAccount',
    spec: { serviceAccountName: 'quiet', automountServiceAccountToken: true },
    mounted: true,
  },
  { name: 'a Pod may disable the token', spec: { automountServiceAccountToken: false }, mounted: false },
];
for (const { name, spec, mounted } of mounting) {
  test(`${name}: the Pod ${mounted ? 'has a' : 'has no'} token`, async () => {
    assert.equal(((await admitted(spec)) as NonNullable<Pod['spec']>).volumes !== undefined, mounted);
  });
}

test('a Pod without image pull Secrets gets those of its ServiceAccount', async () => {
  const pulls = async (spec: object) => ((await admitted(spec)) as NonNullable<Pod['spec']>).imagePullSecrets;
  assert.deepEqual(await pulls({ serviceAccountName: 'robot' }), [{ name: 'pull' }]);
  assert.deepEqual(await pulls({ serviceAccountName: 'robot', imagePullSecrets: [{ name: 'own' }] }), [
    { name: 'own' },
  ]);
});

const mirror = { 'kubernetes.io/config.mirror': 'x' };
const unmentioned = 'is not allowed because service account strict does not reference that';
const refusals = [
  {
    name: 'a missing ServiceAccount',
    spec: { serviceAccountName: 'absent' },
    why: 'error looking up service account default/absent: serviceaccount "absent" not found',
  },
  {
    name: 'a ServiceAccount for a mirror Pod',
    spec: { serviceAccountName: 'default' },
    annotations: mirror,
    why: 'a mirror pod may not reference service accounts',
  },
  {
    name: 'a Secret for a mirror Pod',
    spec: { volumes: [{ name: 'v', secret: { secretName: 's' } }] },
    annotations: mirror,
    why: 'a mirror pod may not reference secrets',
  },
  {
    name: 'a token for a mirror Pod',
    spec: { volumes: [{ name: 'v', projected: { sources: [{ serviceAccountToken: { path: 'x' } }] } }] },
    annotations: mirror,
    why: 'a mirror pod may not use ServiceAccountToken volume projections',
  },
  {
    name: 'a volume of a Secret that the ServiceAccount does not list',
    spec: { serviceAccountName: 'strict', volumes: [{ name: 'v', secret: { secretName: 'other' } }] },
    why: `volume with secret.secretName="other" ${unmentioned} secret`,
  },
  {
    name: 'an environment variable of a Secret that the ServiceAccount does not list',
    spec: {
      serviceAccountName: 'strict',
      containers: [{ name: 'c', env: [{ name: 'E', valueFrom: { secretKeyRef: { name: 'other', key: 'k' } } }] }],
    },
    why: `container c with envVar E referencing secret.secretName="other" ${unmentioned} secret`,
  },
  {
    name: 'environment variables of a Secret that the ServiceAccount does not list',
    spec: {
      serviceAccountName: 'strict',
      initContainers: [{ name: 'i', envFrom: [{ secretRef: { name: 'other' } }] }],
    },
    why: `init container i with envFrom referencing secret.secretName="other" ${unmentioned} secret`,
  },
  {
    name: 'an image pull Secret that the ServiceAccount does not list',
    spec: { serviceAccountName: 'strict', imagePullSecrets: [{ name: 'other' }] },
    why: `imagePullSecrets[0].name="other" ${unmentioned} imagePullSecret`,
  },
];
for (const { name, spec, annotations, why } of refusals) {
  test(`the plugin denies ${name}`, async () => {
    assert.equal(await admitted(spec, annotations), `pods "p" is forbidden: ${why}`);
  });
}

test('a Pod of a restricted ServiceAccount may use the listed Secrets', async () => {
  const spec = await admitted({
    serviceAccountName: 'strict',
    volumes: [{ name: 'v', secret: { secretName: 'allowed' } }],
  });
  assert.equal(typeof spec, 'object');
});

test('a mirror Pod is not changed', async () => {
  assert.deepEqual(await admitted({}, mirror), podOf().spec);
});

test('the plugin waits for the default ServiceAccount of a new namespace', async () => {
  const accounts: object[] = [];
  const write = writeOf(pod, podOf());
  const clock = write.context.clock as VirtualClock;
  const pending = admit(serviceAccounts(lookupOf({ kind: serviceAccount, objects: accounts })), write);
  await clock.advanceAsync(500);
  accounts.push(account('default'));
  await clock.advanceAsync(1000);
  assert.equal(((await pending) as Pod).spec?.serviceAccountName, 'default');
});
