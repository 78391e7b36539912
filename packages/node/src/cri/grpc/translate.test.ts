import assert from 'node:assert/strict';
import { describe, test } from 'node:test';
import { create, type DescMessage, fromBinary, toBinary } from '@bufbuild/protobuf';
import type { ContainerConfig, ContainerFilter, PodSandboxConfig } from '../messages.ts';
import {
  ContainerConfigSchema,
  ContainerFilterSchema,
  ContainerStatsSchema,
  ContainerStatusSchema,
  PodSandboxConfigSchema,
} from './generated/cri_pb.ts';
import { createTranslator } from './translate.ts';

const { toMessage, toPlain } = createTranslator();

/** Encodes and decodes a message. */
function roundTrip(description: DescMessage, plain: unknown): unknown {
  const bytes = toBinary(description, toMessage(description, plain) as never);
  return toPlain(description, fromBinary(description, bytes));
}

/** Returns only the given fields; the others have their zero values. */
function pickFields(result: unknown, given: unknown): unknown {
  if (typeof given !== 'object' || given === null || Array.isArray(given)) return result;
  return Object.fromEntries(
    Object.entries(given).map(([key, value]) => [key, pickFields((result as never)[key], value)]),
  );
}

describe('given fields survive the round trip', () => {
  const container: ContainerConfig = {
    metadata: { name: 'web', attempt: 3 },
    image: { image: 'nginx', userSpecifiedImage: 'nginx:latest', annotations: { a: 'b' }, runtimeHandler: '' },
    command: ['sh'],
    args: ['-c', 'true'],
    envs: [{ key: 'A', value: 'b' }],
    mounts: [
      {
        containerPath: '/data',
        hostPath: '/host',
        readonly: true,
        selinuxRelabel: false,
        propagation: 'PROPAGATION_BIDIRECTIONAL',
        uidMappings: [{ hostId: 65536, containerId: 0, length: 65536 }],
        gidMappings: [],
        recursiveReadOnly: false,
        imageSubPath: '',
      },
    ],
    cdiDevices: [{ name: 'vendor/class=device' }],
    labels: { app: 'web' },
    tty: true,
    stopSignal: 'SIGUSR1',
    linux: {
      resources: { cpuQuota: -1, memoryLimitInBytes: 2 ** 40, oomScoreAdj: -997, unified: { 'memory.oom.group': '1' } },
      securityContext: {
        runAsUser: 0,
        runAsGroup: 65534,
        supplementalGroups: [1, 2],
        supplementalGroupsPolicy: 'Strict',
        namespaceOptions: { network: 'NODE', pid: 'TARGET', targetId: 'abc' },
        seccomp: { profileType: 'Localhost', localhostRef: '/profile' },
        apparmor: { profileType: 'Localhost', localhostRef: 'web' },
        apparmorProfile: 'localhost/web',
        capabilities: { addCapabilities: ['NET_ADMIN'], dropCapabilities: ['ALL'] },
      },
    },
  };
  const sandbox: PodSandboxConfig = {
    metadata: { name: 'pod', namespace: 'default', uid: 'u', attempt: 0 },
    hostname: 'pod',
    dnsConfig: { servers: ['10.96.0.10'], searches: ['svc.cluster.local'], options: ['ndots:5'] },
    portMappings: [{ protocol: 'UDP', containerPort: 53, hostPort: 5353, hostIp: '127.0.0.1' }],
    linux: { cgroupParent: '/kubepods/podu', sysctls: { 'net.core.somaxconn': '1024' } },
  };
  const filter: ContainerFilter = { id: 'x', state: 'CONTAINER_RUNNING', labelSelector: { a: 'b' } };
  for (const [name, description, plain] of [
    ['a container', ContainerConfigSchema, container],
    ['a sandbox', PodSandboxConfigSchema, sandbox],
    ['a filter', ContainerFilterSchema, filter],
  ] as const) {
    test(name, () => assert.deepEqual(pickFields(roundTrip(description, plain), plain), plain));
  }
});

test('a filter for the first enum value differs from no filter', () => {
  const created = roundTrip(ContainerFilterSchema, { state: 'CONTAINER_CREATED' });
  assert.equal((created as ContainerFilter).state, 'CONTAINER_CREATED');
  assert.equal('state' in (roundTrip(ContainerFilterSchema, {}) as object), false);
});

test('omitted fields have zero values, and omitted messages are absent', () => {
  const status = toPlain(ContainerStatusSchema, create(ContainerStatusSchema)) as { [name: string]: unknown };
  assert.deepEqual(
    [status.state, status.createdAt, status.exitCode, status.labels, status.mounts, status.stopSignal],
    ['CONTAINER_CREATED', 0n, 0, {}, [], ''],
  );
  assert.equal('resources' in status, false);
});

test('times are exact, other 64-bit integers are numbers', () => {
  const plain = toPlain(
    ContainerStatsSchema,
    create(ContainerStatsSchema, {
      cpu: {
        timestamp: 1_794_734_522_123_456_789n,
        usageCoreNanoSeconds: { value: 5n },
        psi: { Full: { Avg10: 0.5 } },
      },
    }),
  ) as { readonly cpu: { readonly psi: { readonly full: { readonly avg10: number } } } };
  assert.deepEqual([plain.cpu.psi.full.avg10], [0.5]);
  const { timestamp, usageCoreNanoSeconds } = plain.cpu as unknown as { [name: string]: unknown };
  assert.deepEqual([timestamp, usageCoreNanoSeconds], [1_794_734_522_123_456_789n, 5]);
});

test('an unknown enum name is an assertion error', () => {
  assert.throws(() => toMessage(ContainerFilterSchema, { state: 'RUNNING' }), /RUNNING is not a ContainerState/);
});
