import assert from 'node:assert/strict';
import { test } from 'node:test';
import { deployment } from '@kruise/api/apps/deployment';
import { namespace } from '@kruise/api/core/namespace';
import { pod } from '@kruise/api/core/pod';
import { admit, lookupOf, writeOf } from '../../testing/admission.ts';
import { detailed, violationsOf } from '../pod-security/checks.ts';
import { formatLevel, policyOf } from '../pod-security/policy.ts';
import { podSecurity } from './pod-security.ts';

const tight = {
  allowPrivilegeEscalation: false,
  runAsNonRoot: true,
  capabilities: { drop: ['ALL'] },
  seccompProfile: { type: 'RuntimeDefault' },
};
const container = (securityContext?: object, more: object = {}) => ({
  name: 'c',
  ...(securityContext ? { securityContext } : {}),
  ...more,
});
const specOf = (...containers: readonly object[]) => ({ containers });

type Row = {
  readonly name: string;
  readonly spec: object;
  readonly annotations?: { readonly [name: string]: string };
  readonly level?: 'baseline' | 'restricted';
  readonly version?: number;
  readonly expected: string;
};
const rows: Row[] = [
  { name: 'a default Pod meets baseline', spec: specOf(container()), expected: '' },
  { name: 'a hardened Pod meets restricted', level: 'restricted', spec: specOf(container(tight)), expected: '' },
  {
    name: 'a default Pod does not meet restricted',
    level: 'restricted',
    spec: specOf(container()),
    expected:
      'allowPrivilegeEscalation != false (container "c" must set securityContext.allowPrivilegeEscalation=false), unrestricted capabilities (container "c" must set securityContext.capabilities.drop=["ALL"]), runAsNonRoot != true (pod or container "c" must set securityContext.runAsNonRoot=true), seccompProfile (pod or container "c" must set securityContext.seccompProfile.type to "RuntimeDefault" or "Localhost")',
  },
  {
    name: 'before v1.19 restricted does not check seccomp or capabilities',
    level: 'restricted',
    version: 18,
    spec: specOf(container()),
    expected:
      'allowPrivilegeEscalation != false (container "c" must set securityContext.allowPrivilegeEscalation=false), runAsNonRoot != true (pod or container "c" must set securityContext.runAsNonRoot=true)',
  },
  {
    name: 'a Windows Pod skips the Linux checks',
    level: 'restricted',
    spec: { os: { name: 'windows' }, securityContext: { runAsNonRoot: true }, ...specOf(container()) },
    expected: '',
  },
  {
    name: 'a privileged container',
    spec: specOf(container({ privileged: true })),
    expected: 'privileged (container "c" must not set securityContext.privileged=true)',
  },
  {
    name: 'host namespaces',
    spec: { hostNetwork: true, hostPID: true, ...specOf(container()) },
    expected: 'host namespaces (hostNetwork=true, hostPID=true)',
  },
  {
    name: 'hostPath volumes',
    spec: {
      volumes: [
        { name: 'a', hostPath: {} },
        { name: 'b', hostPath: {} },
      ],
      ...specOf(container()),
    },
    expected: 'hostPath volumes (volumes "a", "b")',
  },
  {
    name: 'restricted volume types',
    level: 'restricted',
    spec: {
      volumes: [
        { name: 'n', nfs: {} },
        { name: 'h', hostPath: {} },
        { name: 'e', emptyDir: {} },
      ],
      ...specOf(container(tight)),
    },
    expected: 'restricted volume types (volumes "n", "h" use restricted volume types "hostPath", "nfs")',
  },
  {
    name: 'host ports',
    spec: specOf(container(undefined, { ports: [{ hostPort: 81 }, { hostPort: 80 }] })),
    expected: 'hostPort (container "c" uses hostPorts 80, 81)',
  },
  {
    name: 'additional capabilities',
    spec: specOf(container({ capabilities: { add: ['SYS_ADMIN', 'CHOWN', 'NET_RAW'] } })),
    expected:
      'non-default capabilities (container "c" must not include "NET_RAW", "SYS_ADMIN" in securityContext.capabilities.add)',
  },
  {
    name: 'any capability but NET_BIND_SERVICE',
    level: 'restricted',
    spec: specOf(container({ ...tight, capabilities: { add: ['CHOWN', 'NET_BIND_SERVICE'], drop: ['ALL'] } })),
    expected: 'unrestricted capabilities (container "c" must not include "CHOWN" in securityContext.capabilities.add)',
  },
  {
    name: 'runAsUser 0',
    level: 'restricted',
    spec: { securityContext: { runAsUser: 0 }, ...specOf(container({ ...tight, runAsUser: 0 })) },
    expected: 'runAsUser=0 (pod and container "c" must not set runAsUser=0)',
  },
  {
    name: 'runAsNonRoot false',
    level: 'restricted',
    spec: { securityContext: { runAsNonRoot: false }, ...specOf(container(tight)) },
    expected: 'runAsNonRoot != true (pod must not set securityContext.runAsNonRoot=false)',
  },
  {
    name: 'unconfined seccomp profile',
    spec: specOf(container({ seccompProfile: { type: 'Unconfined' } })),
    expected: 'seccompProfile (container "c" must not set securityContext.seccompProfile.type to "Unconfined")',
  },
  {
    name: 'unconfined seccomp annotation',
    version: 10,
    spec: specOf(container()),
    annotations: { 'seccomp.security.alpha.kubernetes.io/pod': 'unconfined' },
    expected: 'seccompProfile (forbidden annotation seccomp.security.alpha.kubernetes.io/pod="unconfined")',
  },
  {
    name: 'unconfined AppArmor profile',
    spec: { securityContext: { appArmorProfile: { type: 'Unconfined' } }, ...specOf(container()) },
    annotations: { 'container.apparmor.security.beta.kubernetes.io/c': 'unconfined' },
    expected:
      'forbidden AppArmor profiles (pod and annotation must not set AppArmor profile type to "Unconfined", "container.apparmor.security.beta.kubernetes.io/c="unconfined"")',
  },
  {
    name: 'custom SELinux options',
    spec: { securityContext: { seLinuxOptions: { type: 'spc_t', user: 'u', role: 'r' } }, ...specOf(container()) },
    expected:
      'seLinuxOptions (pod set forbidden securityContext.seLinuxOptions: type "spc_t"; user may not be set; role may not be set)',
  },
  {
    name: 'SELinux engine types since v1.31',
    spec: { securityContext: { seLinuxOptions: { type: 'container_engine_t' } }, ...specOf(container()) },
    expected: '',
  },
  {
    name: 'SELinux engine types before v1.31',
    version: 30,
    spec: { securityContext: { seLinuxOptions: { type: 'container_engine_t' } }, ...specOf(container()) },
    expected: 'seLinuxOptions (pod set forbidden securityContext.seLinuxOptions: type "container_engine_t")',
  },
  {
    name: 'unsafe sysctls',
    version: 28,
    spec: {
      securityContext: {
        sysctls: [
          { name: 'net.ipv4.ip_local_reserved_ports' },
          { name: 'net.ipv4.tcp_rmem' },
          { name: 'kernel.msgmax' },
        ],
      },
      ...specOf(container()),
    },
    expected: 'forbidden sysctls (net.ipv4.tcp_rmem, kernel.msgmax)',
  },
  {
    name: 'unmasked /proc',
    spec: specOf(container({ procMount: 'Unmasked' })),
    expected: 'procMount (container "c" must not set securityContext.procMount to "Unmasked")',
  },
  {
    name: 'Windows host processes',
    spec: { securityContext: { windowsOptions: { hostProcess: true } }, ...specOf(container()) },
    expected: 'hostProcess (pod must not set securityContext.windowsOptions.hostProcess=true)',
  },
];
for (const { name, spec, annotations = {}, level = 'baseline', version = 'latest' as const, expected } of rows) {
  test(`${level}: ${name}`, () => {
    assert.equal(detailed(violationsOf({ level, version }, { annotations }, spec as never)), expected);
  });
}

const label = (mode: string) => `pod-security.kubernetes.io/${mode}`;
const policies = [
  { name: 'no labels', labels: {}, expected: 'privileged:latest privileged:latest privileged:latest' },
  {
    name: 'the enforced level is also the warn level',
    labels: { enforce: 'baseline', 'enforce-version': 'v1.20' },
    expected: 'baseline:v1.20 privileged:latest baseline:v1.20',
  },
  {
    name: 'the warn level may differ',
    labels: { enforce: 'restricted', warn: 'baseline' },
    expected: 'restricted:latest privileged:latest baseline:latest',
  },
  {
    name: 'an unknown enforce level means restricted',
    labels: { enforce: 'loose' },
    expected: 'restricted:latest privileged:latest privileged:latest',
  },
  {
    name: 'an unknown audit or warn level means privileged',
    labels: { audit: 'loose', warn: 'loose' },
    expected: 'privileged:latest privileged:latest privileged:latest',
  },
];
for (const { name, labels, expected } of policies) {
  test(`labels: ${name}`, () => {
    const { policy } = policyOf(
      Object.fromEntries(Object.entries(labels).map(([mode, value]) => [label(mode), value])),
    );
    assert.equal([policy.enforce, policy.audit, policy.warn].map(formatLevel).join(' '), expected);
  });
}

const privileged = { metadata: { name: 'p' }, spec: specOf(container({ privileged: true })) };
const pluginWith = (labels: object, pods: readonly object[] = []) =>
  podSecurity(
    lookupOf({ kind: namespace, objects: [{ metadata: { name: 'default', labels } }] }, { kind: pod, objects: pods }),
  );

test('a Pod that violates the level of its namespace is denied', async () => {
  assert.equal(
    await admit(pluginWith({ [label('enforce')]: 'baseline' }), writeOf(pod, privileged)),
    'pods "p" is forbidden: violates PodSecurity "baseline:latest": privileged (container "c" must not set securityContext.privileged=true)',
  );
});

test('an update that changes no image is allowed', async () => {
  const write = writeOf(pod, privileged, { operation: 'UPDATE', oldObject: privileged as never });
  assert.deepEqual(await admit(pluginWith({ [label('enforce')]: 'baseline' }), write), privileged);
});

test('a workload only gets a warning about its Pod template', async () => {
  const object = { metadata: { name: 'd' }, spec: { template: { spec: privileged.spec } } };
  const write = writeOf(deployment, object);
  await admit(pluginWith({ [label('enforce')]: 'baseline' }), write);
  assert.deepEqual(
    [...write.context.warnings],
    [
      'would violate PodSecurity "baseline:latest": privileged (container "c" must not set securityContext.privileged=true)',
    ],
  );
});

test('a namespace update to a stricter level returns warnings about existing Pods', async () => {
  const running = ['a', 'b', 'c'].map((name) => ({ ...privileged, metadata: { name, namespace: 'default' } }));
  const plain = { metadata: { name: 'z', namespace: 'default' }, spec: specOf(container()) };
  const stricter = { metadata: { name: 'default', labels: { [label('enforce')]: 'baseline' } } };
  const write = writeOf(namespace, stricter, {
    operation: 'UPDATE',
    oldObject: { metadata: { name: 'default' } } as never,
  });
  await admit(pluginWith({}, [...running, plain]), write);
  assert.deepEqual(
    [...write.context.warnings],
    [
      'existing pods in namespace "default" violate the new PodSecurity enforce level "baseline:latest"',
      'a (and 2 other pods): privileged',
    ],
  );
});

test('invalid labels are denied, unless they existed before', async () => {
  const wrong = { metadata: { name: 'default', labels: { [label('enforce-version')]: 'v9' } } };
  assert.equal(
    await admit(pluginWith({}), writeOf(namespace, wrong)),
    'Namespace "default" is invalid: metadata.labels[pod-security.kubernetes.io/enforce-version]: Invalid value: "v9": must be "latest" or "v1.x"',
  );
  const update = writeOf(namespace, wrong, { operation: 'UPDATE', oldObject: wrong as never });
  assert.deepEqual(await admit(pluginWith({}), update), wrong);
});
