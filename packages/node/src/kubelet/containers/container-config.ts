/** Builds the CRI container configuration from a container spec. */
import type { Container } from '@kruise/api/core/container';
import type { Pod } from '@kruise/api/core/pod';
import { stringify } from '@kruise/values/go-json';
import type {
  ContainerConfig,
  Image,
  LinuxContainerSecurityContext,
  Mount,
  NamespaceOption,
  SecurityProfile,
  StringMap,
  UserNamespace,
} from '../../cri/messages.ts';
import { containerHash } from './containers.ts';
import type { Environment } from './environment.ts';
import { countCharacters, expand } from './expansion.ts';
import { linuxResourcesOf } from './linux-resources.ts';
import { type NodeSettings, namespacesOf, podLabels, supplementalGroupsOf } from './sandbox-config.ts';

/** Inputs of a container configuration. */
export type ContainerInputs = {
  readonly pod: Pod;
  readonly container: Container;
  readonly restartCount: number;
  /** Reference by which the runtime identifies the image. */
  readonly imageRef: string;
  readonly image: Image | undefined;
  readonly environment: Environment;
  readonly mounts: readonly Mount[];
  readonly settings: NodeSettings;
  readonly memoryCapacity: number;
  /** Container whose process namespace an ephemeral container joins. */
  readonly targetId: string | undefined;
  /** User namespace of the Pod; absent if the Pod uses the host's. */
  readonly userNamespace?: UserNamespace | undefined;
};

const restartCountAnnotation = 'io.kubernetes.container.restartCount';
const hashAnnotation = 'io.kubernetes.container.hash';

/** Returns the CRI configuration of a container. Throws if the image would violate the Pod's runAsNonRoot policy. */
export function containerConfigOf(inputs: ContainerInputs): ContainerConfig {
  const { pod, container, restartCount, imageRef, environment, mounts } = inputs;
  const { name, image = '', command = [], args = [], workingDir, stdin, stdinOnce, tty } = container;
  checkNonRoot(inputs);
  const count = countCharacters();
  const expanded = (texts: readonly string[]) =>
    texts.map((text) => {
      const value = expand(text, (each) => environment.get(each));
      count(value);
      return value;
    });
  return {
    metadata: { name, attempt: restartCount },
    image: { image: imageRef, userSpecifiedImage: image },
    command: expanded(command),
    args: expanded(args),
    ...(workingDir ? { workingDir } : {}),
    envs: [...environment].map(([key, value]) => ({ key, value })),
    mounts,
    labels: { ...podLabels(pod), 'io.kubernetes.container.name': name },
    annotations: annotationsOf(inputs),
    logPath: `${name}/${restartCount}.log`,
    stdin: stdin ?? false,
    stdinOnce: stdinOnce ?? false,
    tty: tty ?? false,
    linux: {
      resources: linuxResourcesOf(pod, container, { ...inputs.settings, memoryCapacity: inputs.memoryCapacity }),
      securityContext: securityOf(inputs),
    },
  };
}

function annotationsOf({ pod, container, restartCount }: ContainerInputs): StringMap {
  const { deletionGracePeriodSeconds } = pod.metadata;
  const { terminationGracePeriodSeconds } = pod.spec ?? {};
  const preStop = container.lifecycle?.preStop;
  return {
    [hashAnnotation]: containerHash(container),
    [restartCountAnnotation]: String(restartCount),
    'io.kubernetes.container.terminationMessagePath': container.terminationMessagePath ?? '',
    'io.kubernetes.container.terminationMessagePolicy': container.terminationMessagePolicy ?? '',
    ...(deletionGracePeriodSeconds == null
      ? {}
      : { 'io.kubernetes.pod.deletionGracePeriod': String(deletionGracePeriodSeconds) }),
    ...(terminationGracePeriodSeconds == null
      ? {}
      : { 'io.kubernetes.pod.terminationGracePeriod': String(terminationGracePeriodSeconds) }),
    ...(preStop ? { 'io.kubernetes.container.preStopHandler': stringify(preStop) } : {}),
    ...(container.ports && container.ports.length > 0
      ? { 'io.kubernetes.container.ports': stringify(container.ports) }
      : {}),
  };
}

/** Reads the container hash and the restart count from a container's annotations. */
export function readContainerAnnotations(annotations: StringMap): {
  readonly hash: string;
  readonly restartCount: number;
} {
  return { hash: annotations[hashAnnotation] ?? '', restartCount: Number(annotations[restartCountAnnotation] ?? 0) };
}

function checkNonRoot({ pod, container, image }: ContainerInputs): void {
  const own = container.securityContext;
  const shared = pod.spec?.securityContext;
  if (!(own?.runAsNonRoot ?? shared?.runAsNonRoot)) return;
  const user = own?.runAsUser ?? shared?.runAsUser;
  const where = `(pod: ${JSON.stringify(`${pod.metadata.name}_${pod.metadata.namespace}(${pod.metadata.uid})`)}, container: ${container.name})`;
  if (user != null) {
    if (user === 0) throw new Error(`container's runAsUser breaks non-root policy ${where}`);
    return;
  }
  if (image?.uid !== undefined && image.uid !== 0) return;
  if (image?.uid === undefined && image?.username) {
    throw new Error(
      `container has runAsNonRoot and image has non-numeric user (${image.username}), cannot verify user is non-root ${where}`,
    );
  }
  throw new Error(`container has runAsNonRoot and image will run as root ${where}`);
}

const maskedPaths = [
  '/proc/asound',
  '/proc/acpi',
  '/proc/kcore',
  '/proc/keys',
  '/proc/latency_stats',
  '/proc/timer_list',
  '/proc/timer_stats',
  '/proc/sched_debug',
  '/proc/scsi',
  '/sys/firmware',
  '/sys/devices/virtual/powercap',
];
const readonlyPaths = ['/proc/bus', '/proc/fs', '/proc/irq', '/proc/sys', '/proc/sysrq-trigger'];

function securityOf(inputs: ContainerInputs): LinuxContainerSecurityContext {
  const { pod, container, image, settings } = inputs;
  const shared = pod.spec?.securityContext ?? {};
  const own = container.securityContext ?? {};
  const user = own.runAsUser ?? shared.runAsUser;
  const group = own.runAsGroup ?? shared.runAsGroup;
  const selinux = own.seLinuxOptions ?? shared.seLinuxOptions;
  const apparmor = own.appArmorProfile ?? shared.appArmorProfile;
  const isUnmasked = own.procMount === 'Unmasked';
  const { add = [], drop = [] } = own.capabilities ?? {};
  return {
    namespaceOptions: namespacesFor(inputs),
    ...(add.length + drop.length > 0 ? { capabilities: { addCapabilities: add, dropCapabilities: drop } } : {}),
    privileged: own.privileged ?? false,
    ...(user != null
      ? { runAsUser: user }
      : image?.uid !== undefined || !image?.username
        ? { runAsUser: image?.uid ?? 0 }
        : { runAsUsername: image.username }),
    ...(group == null ? {} : { runAsGroup: group }),
    readonlyRootfs: own.readOnlyRootFilesystem ?? false,
    supplementalGroups: supplementalGroupsOf(pod),
    supplementalGroupsPolicy: shared.supplementalGroupsPolicy === 'Strict' ? 'Strict' : 'Merge',
    noNewPrivs: own.allowPrivilegeEscalation === false,
    ...(isUnmasked ? {} : { maskedPaths, readonlyPaths }),
    ...(selinux ? { selinuxOptions: selinux } : {}),
    seccomp: seccompOf(own.seccompProfile ?? shared.seccompProfile, settings),
    ...(apparmor ? apparmorOf(profileOf(apparmor.type, apparmor.localhostProfile ?? '')) : {}),
  };
}

function namespacesFor({ pod, targetId, userNamespace }: ContainerInputs): NamespaceOption {
  const namespaces = namespacesOf(pod, userNamespace);
  if (targetId === undefined || namespaces.pid !== 'CONTAINER') return namespaces;
  return { ...namespaces, pid: 'TARGET', targetId };
}

type SeccompProfile = { readonly type: string; readonly localhostProfile?: string | null };

function seccompOf(profile: SeccompProfile | null | undefined, { rootDirectory }: NodeSettings): SecurityProfile {
  if (!profile) return { profileType: 'Unconfined' };
  return profileOf(profile.type, `${rootDirectory}/seccomp/${profile.localhostProfile ?? ''}`);
}

const apparmorTexts = { RuntimeDefault: 'runtime/default', Unconfined: 'unconfined', Localhost: 'localhost/' } as const;

function apparmorOf(apparmor: SecurityProfile) {
  const { profileType, localhostRef = '' } = apparmor;
  return { apparmor, apparmorProfile: `${apparmorTexts[profileType]}${localhostRef}` };
}

function profileOf(type: string, localhostRef: string): SecurityProfile {
  if (type === 'Localhost') return { profileType: 'Localhost', localhostRef };
  return { profileType: type === 'RuntimeDefault' ? 'RuntimeDefault' : 'Unconfined' };
}
