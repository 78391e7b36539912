import assert from 'node:assert/strict';
import { test } from 'node:test';
import { formatErrors, type Json, somePod, withContainer, withVolume } from './pod.fixtures.ts';
import { validatePod } from './pod.validate.ts';

const containers: readonly (readonly [given: Json, faults: readonly string[]])[] = [
  [{ name: '' }, ['name: Required value']],
  [{ image: '' }, ['image: Required value']],
  [{ image: ' nginx' }, ['image: Invalid value: " nginx": must not have leading or trailing whitespace']],
  [
    { imagePullPolicy: 'Often' },
    ['imagePullPolicy: Unsupported value: "Often": supported values: "Always", "IfNotPresent", "Never"'],
  ],
  [
    { terminationMessagePolicy: 'x' },
    ['terminationMessagePolicy: Unsupported value: "x": supported values: "File", "FallbackToLogsOnError"'],
  ],
  [{ restartPolicy: 'Always' }, ['restartPolicy: Forbidden: may not be set for non-init containers']],
  [{ ports: [{ containerPort: 0 }] }, ['ports[0].containerPort: Required value']],
  [
    { ports: [{ containerPort: 70000 }] },
    ['ports[0].containerPort: Invalid value: 70000: must be between 1 and 65535, inclusive'],
  ],
  [
    { ports: [{ containerPort: 1, protocol: 'ICMP' }] },
    ['ports[0].protocol: Unsupported value: "ICMP": supported values: "SCTP", "TCP", "UDP"'],
  ],
  [
    {
      ports: [
        { name: 'a', containerPort: 1 },
        { name: 'a', containerPort: 2 },
      ],
    },
    ['ports[1].name: Duplicate value: "a"'],
  ],
  [
    {
      ports: [
        { containerPort: 1, hostPort: 80 },
        { containerPort: 2, hostPort: 80 },
      ],
    },
    ['ports[1].hostPort: Duplicate value: "TCP//80"'],
  ],
  [{ env: [{ name: '' }] }, ['env[0].name: Required value']],
  [
    { env: [{ name: 'a=b' }] },
    [
      'env[0].name: Invalid value: "a=b": a valid environment variable name must consist only of printable ASCII characters other than \'=\'',
    ],
  ],
  [
    { env: [{ name: 'a', valueFrom: {} }] },
    [
      'env[0].valueFrom: Invalid value: "": must specify one of: `fieldRef`, `resourceFieldRef`, `configMapKeyRef` or `secretKeyRef`',
    ],
  ],
  [
    { env: [{ name: 'a', valueFrom: { fieldRef: { fieldPath: 'spec.nowhere' } } }] },
    [
      'env[0].valueFrom.fieldRef.fieldPath: Invalid value: "spec.nowhere": error converting fieldPath: field label not supported: spec.nowhere',
    ],
  ],
  [
    { env: [{ name: 'a', valueFrom: { resourceFieldRef: { resource: 'limits.cpu', divisor: '2' } } }] },
    [
      'env[0].valueFrom.resourceFieldRef.divisor: Invalid value: "limits.cpu": only divisor\'s values 1m and 1 are supported with the cpu resource',
    ],
  ],
  [{ envFrom: [{}] }, ['envFrom: Invalid value: "": must specify one of: `configMapRef` or `secretRef`']],
  [{ volumeMounts: [{ name: 'gone', mountPath: '/a' }] }, ['volumeMounts[0].name: Not found: "gone"']],
  [{ volumeDevices: [{ name: 'gone', devicePath: '/dev/a' }] }, ['volumeDevices[0].name: Not found: "gone"']],
  [{ livenessProbe: {} }, ['livenessProbe: Required value: must specify a handler type']],
  [
    { livenessProbe: { exec: { command: ['a'] }, tcpSocket: { port: 1 } } },
    ['livenessProbe.tcpSocket: Forbidden: may not specify more than 1 handler type'],
  ],
  [
    { livenessProbe: { tcpSocket: { port: 1 }, successThreshold: 2 } },
    ['livenessProbe.successThreshold: Invalid value: 2: must be 1'],
  ],
  [
    { readinessProbe: { tcpSocket: { port: 'no port' } } },
    [
      'readinessProbe.tcpSocket.port: Invalid value: "no port": must contain only alpha-numeric characters (a-z, 0-9), and hyphens (-)',
    ],
  ],
  [
    { lifecycle: { preStop: { sleep: { seconds: 31 } } } },
    [
      'lifecycle.preStop.sleep: Invalid value: 31: must be non-negative and less than terminationGracePeriodSeconds (30)',
    ],
  ],
  [
    { resources: { limits: { gpu: '1' } } },
    [
      'resources.limits[gpu]: Invalid value: gpu: must be a standard resource type or fully qualified',
      'resources.limits[gpu]: Invalid value: gpu: must be a standard resource for containers',
      'resources.requests[gpu]: Invalid value: gpu: must be a standard resource type or fully qualified',
      'resources.requests[gpu]: Invalid value: gpu: must be a standard resource for containers',
    ],
  ],
  [
    { resources: { requests: { cpu: '-1' } } },
    ['resources.requests[cpu]: Invalid value: "-1": must be greater than or equal to 0'],
  ],
  [
    { resources: { requests: { cpu: '2' }, limits: { cpu: '1' } } },
    ['resources.requests: Invalid value: "2": must be less than or equal to cpu limit of 1'],
  ],
  [
    { resources: { requests: { 'example.com/gpu': '1' } } },
    ['resources.limits: Required value: Limit must be set for non overcommitable resources'],
  ],
  [
    { resources: { limits: { 'hugepages-2Mi': '3Mi', cpu: '1' } } },
    [
      'resources.limits[hugepages-2Mi]: Invalid value: "3Mi": 3Mi is not positive integer multiple of hugepages-2Mi',
      'resources.requests[hugepages-2Mi]: Invalid value: "3Mi": 3Mi is not positive integer multiple of hugepages-2Mi',
    ],
  ],
  [{ resources: { limits: { 'hugepages-2Mi': '2Mi' } } }, ['resources: Forbidden: HugePages require cpu or memory']],
  [
    { resizePolicy: [{ resourceName: 'disk', restartPolicy: 'NotRequired' }] },
    ['resizePolicy: Unsupported value: disk: supported values: "cpu", "memory"'],
  ],
  [
    { securityContext: { runAsUser: -1 } },
    ['securityContext.runAsUser: Invalid value: -1: must be between 0 and 2147483647, inclusive'],
  ],
  [
    { securityContext: { procMount: 'Unmasked' } },
    ['securityContext.procMount: Invalid value: "Unmasked": `hostUsers` must be false to use `Unmasked`'],
  ],
  [
    { securityContext: { seccompProfile: { type: 'Localhost' } } },
    ['securityContext.seccompProfile.localhostProfile: Required value: must be set when seccomp type is Localhost'],
  ],
  [
    { securityContext: { windowsOptions: { runAsUserName: 'a\\b\\c' } } },
    [
      'securityContext.windowsOptions.runAsUserName: Invalid value: "a\\\\b\\\\c": runAsUserName cannot contain more than one backslash',
    ],
  ],
];
for (const [given, faults] of containers) {
  test(`a container with ${JSON.stringify(given)} is refused`, () => {
    assert.deepEqual(
      formatErrors(validatePod(withContainer(given))),
      faults.map((fault) => `spec.containers[0].${fault}`),
    );
  });
}

const soundContainers: readonly Json[] = [
  {},
  {
    ports: [
      { name: 'http', containerPort: 80 },
      { containerPort: 80, protocol: 'UDP' },
    ],
  },
  {
    env: [
      { name: 'a.b-c d', value: 'x' },
      { name: 'b', valueFrom: { fieldRef: { fieldPath: "metadata.labels['a']" } } },
    ],
  },
  { livenessProbe: { grpc: { port: 1 } }, readinessProbe: { exec: { command: ['true'] } } },
  { resources: { limits: { 'example.com/gpu': '1', 'hugepages-2Mi': '4Mi', memory: '1Gi' } } },
  { lifecycle: { preStop: { sleep: { seconds: 0 } } } },
  {
    securityContext: {
      seccompProfile: { type: 'Localhost', localhostProfile: 'a/b.json' },
      capabilities: { add: ['ALL'] },
    },
  },
];
for (const given of soundContainers) {
  test(`a container with ${JSON.stringify(given)} is accepted`, () => {
    assert.deepEqual(formatErrors(validatePod(withContainer(given))), []);
  });
}

const specs: readonly (readonly [given: Json, faults: readonly string[]])[] = [
  [{ containers: [] }, ['containers: Required value']],
  [
    { restartPolicy: 'Sometimes' },
    ['restartPolicy: Unsupported value: "Sometimes": supported values: "Always", "OnFailure", "Never"'],
  ],
  [{ dnsPolicy: 'None' }, ['dnsConfig: Required value: must provide `dnsConfig` when `dnsPolicy` is None']],
  [
    { dnsConfig: { nameservers: ['nowhere'] } },
    [
      'dnsConfig.nameservers[0]: Invalid value: "nowhere": must be a valid IP address, (e.g. 10.9.8.7 or 2001:db8::ffff)',
    ],
  ],
  [
    { activeDeadlineSeconds: 0 },
    ['activeDeadlineSeconds: Invalid value: 0: must be between 1 and 2147483647, inclusive'],
  ],
  [
    { hostAliases: [{ ip: 'x' }] },
    ['hostAliases[0].ip: Invalid value: "x": must be a valid IP address, (e.g. 10.9.8.7 or 2001:db8::ffff)'],
  ],
  [
    { tolerations: [{ value: 'a' }] },
    [
      'tolerations[0].operator: Invalid value: "": operator must be Exists when `key` is empty, which means "match all values and all keys"',
    ],
  ],
  [
    { tolerations: [{ key: 'a', tolerationSeconds: 1 }] },
    ['tolerations[0].effect: Invalid value: "": effect must be \'NoExecute\' when `tolerationSeconds` is set'],
  ],
  [{ schedulingGates: [{ name: 'a' }, { name: 'a' }] }, ['schedulingGates[1]: Duplicate value: "a"']],
  [
    { nodeName: 'n', schedulingGates: [{ name: 'a' }] },
    ['nodeName: Forbidden: cannot be set until all schedulingGates have been cleared'],
  ],
  [{ ephemeralContainers: [{ name: 'e', image: 'i' }] }, ['ephemeralContainers: Forbidden: cannot be set on create']],
  [{ initContainers: [{ name: 'main', image: 'i' }] }, ['initContainers[0].name: Duplicate value: "main"']],
  [
    { initContainers: [{ name: 'i', image: 'i', readinessProbe: { tcpSocket: { port: 1 } } }] },
    ['initContainers[0].readinessProbe: Forbidden: may not be set for init containers without restartPolicy=Always'],
  ],
  [
    { securityContext: { sysctls: [{ name: 'net.a', value: '1' }] }, hostNetwork: true },
    ['securityContext.sysctls[0].name: Invalid value: "net.a": may not be specified when \'hostNetwork\' is true'],
  ],
  [
    { shareProcessNamespace: true, hostPID: true },
    [
      'securityContext.shareProcessNamespace: Invalid value: true: ShareProcessNamespace and HostPID cannot both be enabled',
    ],
  ],
  [{ hostUsers: false, hostIPC: true }, ['HostIPC: Forbidden: when `pod.Spec.HostUsers` is false']],
  [{ os: { name: 'plan9' } }, ['os: Unsupported value: "plan9": supported values: "linux", "windows"']],
  [
    { os: { name: 'windows' }, securityContext: { runAsUser: 1 } },
    ['securityContext.runAsUser: Forbidden: cannot be set for a windows pod'],
  ],
  [
    { os: { name: 'linux' }, securityContext: { windowsOptions: {} } },
    ['securityContext.windowsOptions: Forbidden: windows options cannot be set for a linux pod'],
  ],
  [
    { securityContext: { windowsOptions: { hostProcess: true } } },
    ['hostNetwork: Invalid value: false: hostNetwork must be true if pod contains any hostProcess containers'],
  ],
  [
    { topologySpreadConstraints: [{ maxSkew: 0, topologyKey: '', whenUnsatisfiable: 'x' }] },
    [
      'topologySpreadConstraints[0].maxSkew: Invalid value: 0: must be greater than zero',
      'topologySpreadConstraints[0].topologyKey: Required value: can not be empty',
      'topologySpreadConstraints[0].whenUnsatisfiable: Unsupported value: "x": supported values: "DoNotSchedule", "ScheduleAnyway"',
    ],
  ],
  [
    { affinity: { nodeAffinity: { requiredDuringSchedulingIgnoredDuringExecution: { nodeSelectorTerms: [] } } } },
    [
      'affinity.nodeAffinity.requiredDuringSchedulingIgnoredDuringExecution.nodeSelectorTerms: Required value: must have at least one node selector term',
    ],
  ],
  [
    {
      affinity: {
        podAffinity: { requiredDuringSchedulingIgnoredDuringExecution: [{ topologyKey: 'a', matchLabelKeys: ['b'] }] },
      },
    },
    [
      'affinity.podAffinity.requiredDuringSchedulingIgnoredDuringExecution[0].matchLabelKeys: Forbidden: must not be specified when labelSelector is not set',
    ],
  ],
  [
    {
      affinity: {
        podAntiAffinity: {
          preferredDuringSchedulingIgnoredDuringExecution: [{ weight: 0, podAffinityTerm: { topologyKey: 'a' } }],
        },
      },
    },
    [
      'affinity.podAntiAffinity.preferredDuringSchedulingIgnoredDuringExecution[0].weight: Invalid value: 0: must be in the range 1-100',
    ],
  ],
  [{ overhead: { cpu: '-1' } }, ['overhead.limits[cpu]: Invalid value: "-1": must be greater than or equal to 0']],
  [
    { preemptionPolicy: 'x' },
    ['preemptionPolicy: Unsupported value: "x": supported values: "PreemptLowerPriority", "Never"'],
  ],
];
for (const [given, faults] of specs) {
  test(`a Pod with ${JSON.stringify(given)} is refused`, () => {
    assert.deepEqual(
      formatErrors(validatePod(somePod(given))),
      faults.map((fault) => `spec.${fault}`),
    );
  });
}

const soundSpecs: readonly Json[] = [
  {
    initContainers: [{ name: 'side', image: 'i', restartPolicy: 'Always', livenessProbe: { tcpSocket: { port: 1 } } }],
  },
  {
    dnsPolicy: 'None',
    dnsConfig: { nameservers: ['1.1.1.1'], searches: ['.', 'a_b.c.'], options: [{ name: 'ndots', value: '2' }] },
  },
  { tolerations: [{ operator: 'Exists' }, { key: 'a', effect: 'NoExecute', tolerationSeconds: 1 }] },
  { schedulingGates: [{ name: 'a.example/b' }] },
  {
    os: { name: 'linux' },
    securityContext: { runAsUser: 1, sysctls: [{ name: 'kernel.shm_rmid_forced', value: '1' }] },
  },
  {
    topologySpreadConstraints: [
      { maxSkew: 1, topologyKey: 'zone', whenUnsatisfiable: 'DoNotSchedule', labelSelector: {}, minDomains: 2 },
    ],
  },
];
for (const given of soundSpecs) {
  test(`a Pod with ${JSON.stringify(given)} is accepted`, () => {
    assert.deepEqual(formatErrors(validatePod(somePod(given))), []);
  });
}

const volumes: readonly (readonly [given: Json, faults: readonly string[]])[] = [
  [
    { emptyDir: { sizeLimit: '-1' } },
    ['emptyDir.sizeLimit: Forbidden: SizeLimit field must be a valid resource quantity'],
  ],
  [{ hostPath: { path: '/a/../b' } }, ['hostPath.path: Invalid value: "/a/../b": must not contain \'..\'']],
  [{ emptyDir: {}, hostPath: { path: '/a' } }, ['hostPath: Forbidden: may not specify more than 1 volume type']],
  [{ secret: {} }, ['secret.secretName: Required value']],
  [
    { configMap: { name: 'a', defaultMode: 0o1000 } },
    ['configMap.defaultMode: Invalid value: 512: must be a number between 0 and 0777 (octal), both inclusive'],
  ],
  [
    { configMap: { name: 'a', items: [{ key: 'k', path: '/b' }] } },
    ['configMap.items[0].path: Invalid value: "/b": must be a relative path'],
  ],
  [{ nfs: { server: 's', path: 'a' } }, ['nfs.path: Invalid value: "a": must be an absolute path']],
  [{ gcePersistentDisk: { pdName: '' } }, ['persistentDisk.pdName: Required value']],
  [{ persistentVolumeClaim: { claimName: '' } }, ['persistentVolumeClaim.claimName: Required value']],
  [
    { iscsi: { targetPortal: 'a', iqn: 'x', lun: 300 } },
    [
      'iscsi.iqn: Invalid value: "x": must be valid format starting with iqn, eui, or naa',
      'iscsi.lun: Invalid value: 300: must be between 0 and 255, inclusive',
    ],
  ],
  [
    { csi: { driver: '' } },
    [
      'csi.driver: Required value',
      "csi.driver: Invalid value: \"\": a lowercase RFC 1123 subdomain must consist of lower case alphanumeric characters, '-' or '.', and must start and end with an alphanumeric character (e.g. 'example.com', regex used for validation is '[a-z0-9]([-a-z0-9]*[a-z0-9])?(\\.[a-z0-9]([-a-z0-9]*[a-z0-9])?)*')",
    ],
  ],
  [{ ephemeral: {} }, ['ephemeral.volumeClaimTemplate: Required value']],
  [
    { azureDisk: { diskName: 'a', diskURI: 'b' } },
    [
      'azureDisk.diskURI: Unsupported value: "b": supported values: "https://{account-name}.blob.core.windows.net/{container-name}/{disk-name}.vhd"',
    ],
  ],
  [
    { downwardAPI: { items: [{ path: 'a' }] } },
    ['downwardAPI: Required value: one of fieldRef and resourceFieldRef is required'],
  ],
  [
    { projected: { sources: [{ secret: { name: 'a' }, configMap: { name: 'b' } }] } },
    ['projected.sources[0]: Forbidden: may not specify more than 1 volume type per source'],
  ],
];
for (const [given, faults] of volumes) {
  test(`a volume with ${JSON.stringify(given)} is refused, and cannot be mounted`, () => {
    const expected = faults.map((fault) => `spec.volumes[0].${fault}`);
    const unmounted = 'spec.containers[0].volumeMounts[0].name: Not found: "data"';
    assert.deepEqual(formatErrors(validatePod(withVolume(given))), [...expected, unmounted]);
  });
}

const soundVolumes: readonly Json[] = [
  { emptyDir: { medium: 'Memory', sizeLimit: '1Gi' } },
  { hostPath: { path: '/a', type: 'Directory' } },
  { secret: { secretName: 'a', items: [{ key: 'k', path: 'a/b', mode: 256 }] } },
  { nfs: { server: 's', path: '/a' } },
  { csi: { driver: 'Example.com', nodePublishSecretRef: { name: 'a' } } },
  {
    ephemeral: {
      volumeClaimTemplate: { spec: { accessModes: ['ReadWriteOnce'], resources: { requests: { storage: '1Gi' } } } },
    },
  },
  { downwardAPI: { items: [{ path: 'labels', fieldRef: { fieldPath: 'metadata.labels' } }] } },
];
for (const given of soundVolumes) {
  test(`a volume with ${JSON.stringify(given)} is accepted`, () => {
    assert.deepEqual(formatErrors(validatePod(withVolume(given))), []);
  });
}

test("all errors are reported at once, in Kubernetes' order", () => {
  const pod = somePod({ containers: [{ name: '', image: '' }], restartPolicy: 'x', hostname: 'A' });
  assert.deepEqual(
    formatErrors(validatePod(pod)).map((fault) => fault.split(':')[0]),
    ['spec.containers[0].name', 'spec.containers[0].image', 'spec.restartPolicy', 'spec.hostname'],
  );
});

const annotations: readonly (readonly [given: Json, fault: string])[] = [
  [
    { 'kubernetes.io/config.mirror': 'x' },
    '[kubernetes.io/config.mirror]: Invalid value: "x": must set spec.nodeName if mirror pod annotation is set',
  ],
  [
    { 'controller.kubernetes.io/pod-deletion-cost': '+1' },
    '[controller.kubernetes.io/pod-deletion-cost]: Invalid value: "+1": must be a 32bit integer',
  ],
  [
    { 'seccomp.security.alpha.kubernetes.io/pod': 'x' },
    '.seccomp.security.alpha.kubernetes.io/pod: Invalid value: "x": must be a valid seccomp profile',
  ],
  [
    { 'container.apparmor.security.beta.kubernetes.io/other': 'unconfined' },
    '[container.apparmor.security.beta.kubernetes.io/other]: Invalid value: "other": container not found',
  ],
];
for (const [given, fault] of annotations) {
  test(`a Pod with the annotation ${JSON.stringify(given)} is refused`, () => {
    const pod = somePod({}, { metadata: { annotations: given } });
    assert.deepEqual(formatErrors(validatePod(pod)), [`metadata.annotations${fault}`]);
  });
}
