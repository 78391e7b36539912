/**
 * Pod Security Standards: the checks of each level in each version since v1.0. A check reports a violation as a short
 * reason and a detail.
 */
import type { Container, EphemeralContainer } from '@kruise/api/core/container';
import type { PodSpec } from '@kruise/api/core/pod-spec';
import type { ObjectMeta } from '@kruise/api/meta/object-meta';
import { quote } from '@kruise/values/go-syntax';
import type { Level, LevelVersion } from './policy.ts';

export type Violation = { readonly reason: string; readonly detail: string };

type Subject = {
  readonly annotations: { readonly [name: string]: string };
  readonly spec: PodSpec;
  readonly containers: readonly (Container | EphemeralContainer)[];
};

type Check = (pod: Subject) => Violation | undefined;

type Standard = {
  readonly id: string;
  readonly level: Exclude<Level, 'privileged'>;
  /** Versions of the check by the minor version that introduced them, oldest first. */
  readonly versions: readonly { readonly since: number; readonly check: Check }[];
  /** Baseline check that this restricted check supersedes. */
  readonly replaces?: string;
};

/** Returns the violations of a level by a Pod. */
export function violationsOf(
  { level, version }: LevelVersion,
  metadata: Pick<ObjectMeta, 'annotations'> | undefined,
  spec: PodSpec,
): readonly Violation[] {
  if (level === 'privileged') return [];
  const pod: Subject = {
    annotations: metadata?.annotations ?? {},
    spec,
    containers: [...(spec.initContainers ?? []), ...(spec.containers ?? []), ...(spec.ephemeralContainers ?? [])],
  };
  return checksOf(level, version).flatMap((check) => check(pod) ?? []);
}

/** Formats violations: `privileged (container "c" must not set securityContext.privileged=true), hostPort (…)`. */
export function detailed(violations: readonly Violation[]): string {
  return violations.map(({ reason, detail }) => (detail === '' ? reason : `${reason} (${detail})`)).join(', ');
}

/** Last minor version in which a check changed; all later versions are equal. */
const lastChange = 32;
const known = new Map<string, readonly Check[]>();

function checksOf(level: Exclude<Level, 'privileged'>, version: LevelVersion['version']): readonly Check[] {
  const minor = version === 'latest' ? lastChange : Math.min(version, lastChange);
  const key = `${level}:${minor}`;
  let checks = known.get(key);
  if (!checks) known.set(key, (checks = selectChecks(level, minor)));
  return checks;
}

function selectChecks(level: Exclude<Level, 'privileged'>, minor: number): readonly Check[] {
  const findCheck = ({ versions }: Standard) => versions.findLast(({ since }) => since <= minor)?.check;
  const strict =
    level === 'restricted' ? standards.filter((each) => each.level === 'restricted' && findCheck(each)) : [];
  const replaced = new Set(strict.map(({ replaces }) => replaces));
  const base = standards.filter(({ id, level: own }) => own === 'baseline' && !replaced.has(id));
  return [...base, ...strict].flatMap((each) => findCheck(each) ?? []);
}

const list = (values: Iterable<string>): string => [...values].map((value) => `"${value}"`).join(', ');
const plural = (count: number, singular: string, several = `${singular}s`): string =>
  count === 1 ? singular : several;
const sorted = (values: Iterable<string>): string[] => [...new Set(values)].sort();

type Names = readonly string[];

function namesOf(pod: Subject, isViolation: (container: Container | EphemeralContainer) => boolean): Names {
  return pod.containers.filter(isViolation).map(({ name }) => name);
}

function containers(names: Names): string {
  return `${plural(names.length, 'container')} ${list(names)}`;
}

/** Formats the violating parts of a Pod: `pod and containers "a", "b"`. */
function setters(pod: boolean, names: Names): string {
  return [...(pod ? ['pod'] : []), ...(names.length > 0 ? [containers(names)] : [])].join(' and ');
}

const hostNamespaces: Check = ({ spec }) => {
  const shared = (['hostNetwork', 'hostPID', 'hostIPC'] as const).filter((field) => spec[field]);
  if (shared.length === 0) return undefined;
  return { reason: 'host namespaces', detail: shared.map((field) => `${field}=true`).join(', ') };
};

const hostPathVolumes: Check = ({ spec }) => {
  const names = (spec.volumes ?? []).filter(({ hostPath }) => hostPath).map(({ name }) => name);
  if (names.length === 0) return undefined;
  return { reason: 'hostPath volumes', detail: `${plural(names.length, 'volume')} ${list(names)}` };
};

const hostPorts: Check = (pod) => {
  const names = namesOf(pod, ({ ports }) => ports?.some(({ hostPort }) => hostPort) ?? false);
  if (names.length === 0) return undefined;
  const used = sorted(
    pod.containers.flatMap(({ ports }) =>
      (ports ?? []).flatMap(({ hostPort }) => (hostPort ? [String(hostPort)] : [])),
    ),
  );
  return {
    reason: 'hostPort',
    detail: `${containers(names)} ${plural(names.length, 'uses', 'use')} ${plural(used.length, 'hostPort')} ${used.join(', ')}`,
  };
};

const privileged: Check = (pod) => {
  const names = namesOf(pod, ({ securityContext }) => securityContext?.privileged === true);
  if (names.length === 0) return undefined;
  return { reason: 'privileged', detail: `${containers(names)} must not set securityContext.privileged=true` };
};

const procMount: Check = (pod) => {
  const masks = ({ securityContext }: Container | EphemeralContainer) => securityContext?.procMount;
  const names = namesOf(pod, (container) => masks(container) != null && masks(container) !== 'Default');
  if (names.length === 0) return undefined;
  const types = sorted(pod.containers.flatMap((container) => masks(container) ?? [])).filter(
    (type) => type !== 'Default',
  );
  return {
    reason: 'procMount',
    detail: `${containers(names)} must not set securityContext.procMount to ${list(types)}`,
  };
};

const defaultCapabilities = new Set([
  'AUDIT_WRITE',
  'CHOWN',
  'DAC_OVERRIDE',
  'FOWNER',
  'FSETID',
  'KILL',
  'MKNOD',
  'NET_BIND_SERVICE',
  'SETFCAP',
  'SETGID',
  'SETPCAP',
  'SETUID',
  'SYS_CHROOT',
]);

function addedBeyond(pod: Subject, allowed: ReadonlySet<string>): { names: Names; capabilities: readonly string[] } {
  const beyond = ({ securityContext }: Container | EphemeralContainer) =>
    (securityContext?.capabilities?.add ?? []).filter((capability) => !allowed.has(capability));
  return {
    names: namesOf(pod, (container) => beyond(container).length > 0),
    capabilities: sorted(pod.containers.flatMap(beyond)),
  };
}

const capabilitiesBaseline: Check = (pod) => {
  const { names, capabilities } = addedBeyond(pod, defaultCapabilities);
  if (names.length === 0) return undefined;
  return {
    reason: 'non-default capabilities',
    detail: `${containers(names)} must not include ${list(capabilities)} in securityContext.capabilities.add`,
  };
};

const bindingPorts = new Set(['NET_BIND_SERVICE']);

const capabilitiesRestricted: Check = (pod) => {
  const keeping = namesOf(pod, ({ securityContext }) => !securityContext?.capabilities?.drop?.includes('ALL'));
  const { names, capabilities } = addedBeyond(pod, bindingPorts);
  const details = [
    ...(keeping.length > 0 ? [`${containers(keeping)} must set securityContext.capabilities.drop=["ALL"]`] : []),
    ...(names.length > 0
      ? [`${containers(names)} must not include ${list(capabilities)} in securityContext.capabilities.add`]
      : []),
  ];
  return details.length === 0 ? undefined : { reason: 'unrestricted capabilities', detail: details.join('; ') };
};

const allowPrivilegeEscalation: Check = (pod) => {
  const names = namesOf(pod, ({ securityContext }) => securityContext?.allowPrivilegeEscalation !== false);
  if (names.length === 0) return undefined;
  return {
    reason: 'allowPrivilegeEscalation != false',
    detail: `${containers(names)} must set securityContext.allowPrivilegeEscalation=false`,
  };
};

const appArmorPrefix = 'container.apparmor.security.beta.kubernetes.io/';
const confined = new Set(['RuntimeDefault', 'Localhost']);

const appArmorProfile: Check = (pod) => {
  const ofPod = pod.spec.securityContext?.appArmorProfile?.type;
  const isViolation = (type: string | undefined) => type !== undefined && !confined.has(type);
  const names = namesOf(pod, ({ securityContext }) => isViolation(securityContext?.appArmorProfile?.type));
  const types = [ofPod, ...pod.containers.map(({ securityContext }) => securityContext?.appArmorProfile?.type)];
  const annotations = sorted(
    Object.entries(pod.annotations)
      .filter(([name, value]) => name.startsWith(appArmorPrefix) && !isUsualAppArmor(value))
      .map(([name, value]) => `${name}=${quote(value)}`),
  );
  const subject = [
    ...(isViolation(ofPod) || names.length > 0 ? [setters(isViolation(ofPod), names)] : []),
    ...(annotations.length > 0 ? [plural(annotations.length, 'annotation')] : []),
  ];
  if (subject.length === 0) return undefined;
  const values = [
    ...sorted(types.flatMap((type) => (type !== undefined && isViolation(type) ? [type] : []))),
    ...annotations,
  ];
  return {
    reason: plural(values.length, 'forbidden AppArmor profile'),
    detail: `${subject.join(' and ')} must not set AppArmor profile type to ${list(values)}`,
  };
};

function isUsualAppArmor(value: string): boolean {
  return value === '' || value === 'runtime/default' || value.startsWith('localhost/');
}

const seLinuxTypes = new Set(['', 'container_t', 'container_init_t', 'container_kvm_t']);

function seLinuxOptions(allowed: ReadonlySet<string>): Check {
  return (pod) => {
    type Options = NonNullable<NonNullable<PodSpec['securityContext']>['seLinuxOptions']>;
    const isViolation = (options: Options | null | undefined) =>
      options != null && (!allowed.has(options.type ?? '') || !!options.user || !!options.role);
    const ofPod = pod.spec.securityContext?.seLinuxOptions;
    const names = namesOf(pod, ({ securityContext }) => isViolation(securityContext?.seLinuxOptions));
    if (!isViolation(ofPod) && names.length === 0) return undefined;
    const all = [ofPod, ...pod.containers.map(({ securityContext }) => securityContext?.seLinuxOptions)].filter(
      (options) => options != null,
    );
    const types = sorted(all.map(({ type = '' }) => type).filter((type) => !allowed.has(type)));
    const faults = [
      ...(types.length > 0 ? [`${plural(types.length, 'type')} ${list(types)}`] : []),
      ...(all.some(({ user }) => user) ? ['user may not be set'] : []),
      ...(all.some(({ role }) => role) ? ['role may not be set'] : []),
    ];
    return {
      reason: 'seLinuxOptions',
      detail: `${setters(isViolation(ofPod), names)} set forbidden securityContext.seLinuxOptions: ${faults.join('; ')}`,
    };
  };
}

const safeSysctls = [
  {
    since: 0,
    names: [
      'kernel.shm_rmid_forced',
      'net.ipv4.ip_local_port_range',
      'net.ipv4.tcp_syncookies',
      'net.ipv4.ping_group_range',
      'net.ipv4.ip_unprivileged_port_start',
    ],
  },
  { since: 27, names: ['net.ipv4.ip_local_reserved_ports'] },
  {
    since: 29,
    names: [
      'net.ipv4.tcp_keepalive_time',
      'net.ipv4.tcp_fin_timeout',
      'net.ipv4.tcp_keepalive_intvl',
      'net.ipv4.tcp_keepalive_probes',
    ],
  },
  { since: 32, names: ['net.ipv4.tcp_rmem', 'net.ipv4.tcp_wmem'] },
];

function sysctlsSince(version: number): Check {
  const allowed = new Set(safeSysctls.filter(({ since }) => since <= version).flatMap(({ names }) => names));
  return ({ spec }) => {
    const names = (spec.securityContext?.sysctls ?? []).map(({ name }) => name).filter((name) => !allowed.has(name));
    return names.length === 0 ? undefined : { reason: 'forbidden sysctls', detail: names.join(', ') };
  };
}

const seccompOfPod = 'seccomp.security.alpha.kubernetes.io/pod';
const seccompPrefix = 'container.seccomp.security.alpha.kubernetes.io/';

const seccompAnnotations: Check = (pod) => {
  const keys = [seccompOfPod, ...pod.containers.map(({ name }) => `${seccompPrefix}${name}`)];
  const bad = sorted(
    keys
      .filter((key) => pod.annotations[key] !== undefined && !isUsualSeccomp(pod.annotations[key]))
      .map((key) => `${key}=${quote(pod.annotations[key]!)}`),
  );
  if (bad.length === 0) return undefined;
  return { reason: 'seccompProfile', detail: `forbidden ${plural(bad.length, 'annotation')} ${bad.join(', ')}` };
};

function isUsualSeccomp(value: string): boolean {
  return value === 'runtime/default' || value === 'docker/default' || value.startsWith('localhost/');
}

const seccompBaseline: Check = (pod) => {
  const isViolation = (type: string | undefined) => type !== undefined && !confined.has(type);
  const ofPod = pod.spec.securityContext?.seccompProfile?.type;
  const types = pod.containers.map(({ securityContext }) => securityContext?.seccompProfile?.type);
  const names = namesOf(pod, ({ securityContext }) => isViolation(securityContext?.seccompProfile?.type));
  if (!isViolation(ofPod) && names.length === 0) return undefined;
  const values = sorted([ofPod, ...types].flatMap((type) => (type !== undefined && isViolation(type) ? [type] : [])));
  return {
    reason: 'seccompProfile',
    detail: `${setters(isViolation(ofPod), names)} must not set securityContext.seccompProfile.type to ${list(values)}`,
  };
};

const seccompRestricted: Check = (pod) => {
  const explicit = seccompBaseline(pod);
  if (explicit) return explicit;
  if (pod.spec.securityContext?.seccompProfile) return undefined;
  const names = namesOf(pod, ({ securityContext }) => !securityContext?.seccompProfile);
  if (names.length === 0) return undefined;
  return {
    reason: 'seccompProfile',
    detail: `pod or ${containers(names)} must set securityContext.seccompProfile.type to "RuntimeDefault" or "Localhost"`,
  };
};

const windowsHostProcess: Check = (pod) => {
  const ofPod = pod.spec.securityContext?.windowsOptions?.hostProcess === true;
  const names = namesOf(pod, ({ securityContext }) => securityContext?.windowsOptions?.hostProcess === true);
  if (!ofPod && names.length === 0) return undefined;
  return {
    reason: 'hostProcess',
    detail: `${setters(ofPod, names)} must not set securityContext.windowsOptions.hostProcess=true`,
  };
};

const usualVolumes = [
  'configMap',
  'csi',
  'downwardAPI',
  'emptyDir',
  'ephemeral',
  'image',
  'persistentVolumeClaim',
  'projected',
  'secret',
] as const;

const otherVolumes = [
  'hostPath',
  'gcePersistentDisk',
  'awsElasticBlockStore',
  'gitRepo',
  'nfs',
  'iscsi',
  'glusterfs',
  'rbd',
  'flexVolume',
  'cinder',
  'cephfs',
  'flocker',
  'fc',
  'azureFile',
  'vsphereVolume',
  'quobyte',
  'azureDisk',
  'photonPersistentDisk',
  'portworxVolume',
  'scaleIO',
  'storageos',
] as const;

const restrictedVolumes: Check = ({ spec }) => {
  const bad = (spec.volumes ?? []).filter((volume) => !usualVolumes.some((type) => volume[type]));
  if (bad.length === 0) return undefined;
  const types = sorted(bad.map((volume) => otherVolumes.find((type) => volume[type]) ?? 'unknown'));
  return {
    reason: 'restricted volume types',
    detail: `${plural(bad.length, 'volume')} ${list(bad.map(({ name }) => name))} ${plural(bad.length, 'uses', 'use')} ${plural(types.length, 'restricted volume type')} ${list(types)}`,
  };
};

const runAsNonRoot: Check = (pod) => {
  const reason = 'runAsNonRoot != true';
  const ofPod = pod.spec.securityContext?.runAsNonRoot;
  const explicit = namesOf(pod, ({ securityContext }) => securityContext?.runAsNonRoot === false);
  if (ofPod === false || explicit.length > 0) {
    return { reason, detail: `${setters(ofPod === false, explicit)} must not set securityContext.runAsNonRoot=false` };
  }
  if (ofPod) return undefined;
  const names = namesOf(pod, ({ securityContext }) => securityContext?.runAsNonRoot == null);
  if (names.length === 0) return undefined;
  return { reason, detail: `pod or ${containers(names)} must set securityContext.runAsNonRoot=true` };
};

const runAsUser: Check = (pod) => {
  const ofPod = pod.spec.securityContext?.runAsUser === 0;
  const names = namesOf(pod, ({ securityContext }) => securityContext?.runAsUser === 0);
  if (!ofPod && names.length === 0) return undefined;
  return { reason: 'runAsUser=0', detail: `${setters(ofPod, names)} must not set runAsUser=0` };
};

/**
 * Skips a check for Windows Pods: Windows lacks the feature, so a Pod with `os.name: windows` need not set the field.
 */
const exceptOnWindows =
  (check: Check): Check =>
  (pod) =>
    pod.spec.os?.name === 'windows' ? undefined : check(pod);

const always = (check: Check) => [{ since: 0, check }];

/** Checks of each level, sorted by name. */
const standards: readonly Standard[] = [
  { id: 'appArmorProfile', level: 'baseline', versions: always(appArmorProfile) },
  { id: 'capabilities_baseline', level: 'baseline', versions: always(capabilitiesBaseline) },
  { id: 'hostNamespaces', level: 'baseline', versions: always(hostNamespaces) },
  { id: 'hostPathVolumes', level: 'baseline', versions: always(hostPathVolumes) },
  { id: 'hostPorts', level: 'baseline', versions: always(hostPorts) },
  { id: 'privileged', level: 'baseline', versions: always(privileged) },
  { id: 'procMount', level: 'baseline', versions: always(procMount) },
  {
    id: 'seLinuxOptions',
    level: 'baseline',
    versions: [
      { since: 0, check: seLinuxOptions(seLinuxTypes) },
      { since: 31, check: seLinuxOptions(new Set([...seLinuxTypes, 'container_engine_t'])) },
    ],
  },
  {
    id: 'seccompProfile_baseline',
    level: 'baseline',
    versions: [
      { since: 0, check: seccompAnnotations },
      { since: 19, check: seccompBaseline },
    ],
  },
  {
    id: 'sysctls',
    level: 'baseline',
    versions: safeSysctls.map(({ since }) => ({ since, check: sysctlsSince(since) })),
  },
  { id: 'windowsHostProcess', level: 'baseline', versions: always(windowsHostProcess) },
  {
    id: 'allowPrivilegeEscalation',
    level: 'restricted',
    versions: [
      { since: 8, check: allowPrivilegeEscalation },
      { since: 25, check: exceptOnWindows(allowPrivilegeEscalation) },
    ],
  },
  {
    id: 'capabilities_restricted',
    level: 'restricted',
    replaces: 'capabilities_baseline',
    versions: [
      { since: 22, check: capabilitiesRestricted },
      { since: 25, check: exceptOnWindows(capabilitiesRestricted) },
    ],
  },
  { id: 'restrictedVolumes', level: 'restricted', replaces: 'hostPathVolumes', versions: always(restrictedVolumes) },
  { id: 'runAsNonRoot', level: 'restricted', versions: always(runAsNonRoot) },
  { id: 'runAsUser', level: 'restricted', versions: [{ since: 23, check: runAsUser }] },
  {
    id: 'seccompProfile_restricted',
    level: 'restricted',
    replaces: 'seccompProfile_baseline',
    versions: [
      { since: 19, check: seccompRestricted },
      { since: 25, check: exceptOnWindows(seccompRestricted) },
    ],
  },
];
