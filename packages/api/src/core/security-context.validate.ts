import { type Cause, duplicate, forbidden, invalid, required, tooLong } from '@kruise/schema/field-error';
import { quote } from '@kruise/values/go-syntax';
import { validateDns1123Subdomain, validateGroupId, validateUserId } from '@kruise/values/names';
import { invalidStructure } from '../meta/go-value.ts';
import { oneOf, refusals } from '../meta/value.validate.ts';
import { validateDescendingPath } from './path.validate.ts';
import { containersOf } from './pod-containers.ts';
import type { PodSpec, Sysctl } from './pod-spec.ts';
import type {
  AppArmorProfile,
  SeccompProfile,
  SecurityContext,
  WindowsSecurityContextOptions,
} from './security-context.ts';

const profileTypes = ['Localhost', 'RuntimeDefault', 'Unconfined'];
const procMounts = ['Default', 'Unmasked'];
const maxAppArmorProfileLength = 4095;

/** Validates the security context of a container. */
export function* validateSecurityContext(
  context: SecurityContext,
  hasHostUsers: boolean,
  path: string,
): Generator<Cause> {
  const { runAsUser, runAsGroup, procMount } = context;
  if (runAsUser !== undefined) yield* refusals(`${path}.runAsUser`, runAsUser, validateUserId(runAsUser));
  if (runAsGroup !== undefined) yield* refusals(`${path}.runAsGroup`, runAsGroup, validateGroupId(runAsGroup));
  if (procMount !== undefined) {
    yield* oneOf(`${path}.procMount`, procMount, procMounts);
    if (hasHostUsers && procMount === 'Unmasked') {
      yield invalid(`${path}.procMount`, procMount, '`hostUsers` must be false to use `Unmasked`');
    }
  }
  const { seccompProfile, windowsOptions, appArmorProfile } = context;
  if (seccompProfile) yield* validateSeccompProfile(seccompProfile, `${path}.seccompProfile`);
  if (context.allowPrivilegeEscalation === false) yield* validateEscalation(context, path);
  if (windowsOptions) yield* validateWindowsOptions(windowsOptions, `${path}.windowsOptions`);
  if (appArmorProfile) yield* validateAppArmorProfile(appArmorProfile, `${path}.appArmorProfile`);
}

function* validateEscalation(context: SecurityContext, path: string): Generator<Cause> {
  if (context.privileged) {
    yield invalidStructure(
      path,
      'core.SecurityContext',
      context,
      'cannot set `allowPrivilegeEscalation` to false and `privileged` to true',
    );
  }
  for (const capability of context.capabilities?.add ?? []) {
    if (capability !== 'CAP_SYS_ADMIN') continue;
    const detail = 'cannot set `allowPrivilegeEscalation` to false and `capabilities.Add` CAP_SYS_ADMIN';
    yield invalidStructure(path, 'core.SecurityContext', context, detail);
  }
}

/** Validates the security context of a Pod. */
export function* validatePodSecurityContext(spec: PodSpec, path: string): Generator<Cause> {
  const { securityContext: context } = spec;
  if (context === undefined) return;
  const { fsGroup, runAsUser, runAsGroup, supplementalGroups = [] } = context;
  if (fsGroup !== undefined) yield* refusals(`${path}.fsGroup`, fsGroup, validateGroupId(fsGroup));
  if (runAsUser !== undefined) yield* refusals(`${path}.runAsUser`, runAsUser, validateUserId(runAsUser));
  if (runAsGroup !== undefined) yield* refusals(`${path}.runAsGroup`, runAsGroup, validateGroupId(runAsGroup));
  for (const [index, group] of supplementalGroups.entries()) {
    yield* refusals(`${path}.supplementalGroups[${index}]`, group, validateGroupId(group));
  }
  if (spec.shareProcessNamespace && spec.hostPID) {
    const detail = 'ShareProcessNamespace and HostPID cannot both be enabled';
    yield invalid(`${path}.shareProcessNamespace`, true, detail);
  }
  if (context.sysctls) yield* validateSysctls(spec, context.sysctls, `${path}.sysctls`);
  yield* validatePolicy(context.fsGroupChangePolicy, ['Always', 'OnRootMismatch'], `${path}.fsGroupChangePolicy`);
  const { seccompProfile, windowsOptions, appArmorProfile } = context;
  if (seccompProfile) yield* validateSeccompProfile(seccompProfile, `${path}.seccompProfile`);
  if (windowsOptions) yield* validateWindowsOptions(windowsOptions, `${path}.windowsOptions`);
  if (appArmorProfile) yield* validateAppArmorProfile(appArmorProfile, `${path}.appArmorProfile`);
  yield* validatePolicy(context.supplementalGroupsPolicy, ['Merge', 'Strict'], `${path}.supplementalGroupsPolicy`);
  yield* validatePolicy(context.seLinuxChangePolicy, ['MountOption', 'Recursive'], `${path}.seLinuxChangePolicy`);
}

function* validatePolicy(policy: string | undefined, known: readonly string[], path: string): Generator<Cause> {
  if (policy !== undefined) yield* oneOf(path, policy, known);
}

const sysctlSegment = '[a-z0-9]([-_a-z0-9]*[a-z0-9])?';
const sysctlText = `^(${sysctlSegment}[\\./])*${sysctlSegment}$`;
const sysctlName = new RegExp(sysctlText);
const maxSysctlLength = 253;
// Namespaced sysctls: those of the network and IPC namespaces.
const networkSysctl = /^net\./;
const ipcSysctl = /^(?:fs\.mqueue\.|kernel\.(?:sem|shm(?:all|max|mni|_rmid_forced)?|msg(?:max|mnb|mni)?)$)/;

function* validateSysctls(spec: PodSpec, sysctls: readonly Sysctl[], path: string): Generator<Cause> {
  const names = new Set<string>();
  for (const [index, { name }] of sysctls.entries()) {
    const at = `${path}[${index}].name`;
    if (!name) yield required(at);
    else if (name.length > maxSysctlLength || !sysctlName.test(name)) {
      yield invalid(at, name, `must have at most ${maxSysctlLength} characters and match regex ${sysctlText}`);
    } else if (names.has(name)) yield duplicate(at, name);
    const dotted = withDots(name).split('*', 1)[0]!;
    if (spec.hostNetwork && networkSysctl.test(dotted)) {
      yield invalid(at, name, "may not be specified when 'hostNetwork' is true");
    } else if (spec.hostIPC && ipcSysctl.test(dotted)) {
      yield invalid(at, name, "may not be specified when 'hostIPC' is true");
    }
    names.add(name);
  }
}

/** Normalizes a sysctl, which may be written with slashes and dots swapped. */
function withDots(name: string): string {
  if (/[./]/.exec(name)?.[0] !== '/') return name;
  return name.replace(/[./]/g, (separator) => (separator === '.' ? '/' : '.'));
}

function* validateSeccompProfile(profile: SeccompProfile, path: string): Generator<Cause> {
  const { type, localhostProfile } = profile;
  if (type) yield* oneOf(`${path}.type`, type, profileTypes);
  else yield required(`${path}.type`, 'type is required when seccompProfile is set');
  if (type !== 'Localhost') {
    if (localhostProfile === undefined) return;
    yield invalidStructure(
      `${path}.localhostProfile`,
      'core.SeccompProfile',
      profile,
      'can only be set when seccomp type is Localhost',
    );
  } else if (localhostProfile === undefined) {
    yield required(`${path}.localhostProfile`, 'must be set when seccomp type is Localhost');
  } else yield* refusals(`${path}.localhostProfile`, localhostProfile, validateDescendingPath(localhostProfile));
}

export function* validateAppArmorProfile(profile: AppArmorProfile, path: string): Generator<Cause> {
  const { type, localhostProfile } = profile;
  const field = `${path}.localhostProfile`;
  if (!type) yield required(`${path}.type`, 'type is required when appArmorProfile is set');
  else if (type !== 'Localhost') {
    yield* oneOf(`${path}.type`, type, profileTypes);
    if (profileTypes.includes(type) && localhostProfile !== undefined) {
      yield invalid(field, localhostProfile, 'can only be set when AppArmor type is Localhost');
    }
  } else if (localhostProfile === undefined) {
    yield required(field, 'must be set when AppArmor type is Localhost');
  } else {
    const trimmed = localhostProfile.trim();
    if (trimmed !== localhostProfile) yield invalid(field, localhostProfile, 'must not be padded with whitespace');
    else if (trimmed === '') yield required(field, 'must be set when AppArmor type is Localhost');
    if (Buffer.byteLength(localhostProfile) > maxAppArmorProfileLength) yield tooLong(field, maxAppArmorProfileLength);
  }
}

const maxCredentialSpecKiB = 64;
const maxDomainLength = 256;
const maxUserLength = 104;
const netBiosDomain = /^[^\\/:*?"<>|.][^\\/:*?"<>|]{0,14}$/;
const dnsDomain = /^[a-zA-Z0-9](?:[a-zA-Z0-9-]{0,61}[a-zA-Z0-9])?(?:\.[a-zA-Z0-9](?:[a-zA-Z0-9-]{0,61}[a-zA-Z0-9])?)*$/;

function* validateWindowsOptions(options: WindowsSecurityContextOptions, path: string): Generator<Cause> {
  const { gmsaCredentialSpecName, gmsaCredentialSpec, runAsUserName } = options;
  if (gmsaCredentialSpecName !== undefined) {
    const faults = validateDns1123Subdomain(gmsaCredentialSpecName);
    yield* refusals(`${path}.gmsaCredentialSpecName`, gmsaCredentialSpecName, faults);
  }
  if (gmsaCredentialSpec === '') {
    yield invalid(`${path}.gmsaCredentialSpec`, '', 'gmsaCredentialSpec cannot be an empty string');
  } else if (Buffer.byteLength(gmsaCredentialSpec ?? '') > maxCredentialSpecKiB * 1024) {
    const detail = `gmsaCredentialSpec size must be under ${maxCredentialSpecKiB} KiB`;
    yield invalid(`${path}.gmsaCredentialSpec`, gmsaCredentialSpec, detail);
  }
  if (runAsUserName !== undefined) {
    for (const fault of userNameFaults(runAsUserName)) yield invalid(`${path}.runAsUserName`, runAsUserName, fault);
  }
}

/** Returns the errors of a Windows user name such as `DOMAIN\user`. */
function* userNameFaults(name: string): Generator<string> {
  if (name === '') return yield 'runAsUserName cannot be an empty string';
  if (/[\x00-\x1f\x7f]/.test(name)) return yield 'runAsUserName cannot contain control characters';
  const parts = name.split('\\');
  if (parts.length > 2) return yield 'runAsUserName cannot contain more than one backslash';
  const user = parts.pop()!;
  const [domain] = parts;
  if (domain !== undefined && Buffer.byteLength(domain) >= maxDomainLength) {
    yield `runAsUserName's Domain length must be under ${maxDomainLength} characters`;
  }
  if (domain !== undefined && !netBiosDomain.test(domain) && !dnsDomain.test(domain)) {
    yield "runAsUserName's Domain doesn't match the NetBios nor the DNS format";
  }
  if (user === '') yield "runAsUserName's User cannot be empty";
  else if (Buffer.byteLength(user) > maxUserLength) {
    yield `runAsUserName's User length must not be longer than ${maxUserLength} characters`;
  }
  if (/^[. ]+$/.test(user)) yield "runAsUserName's User cannot contain only periods or spaces";
  if (/["/\\:;|=,+*?<>@[\]]/.test(user)) {
    yield `runAsUserName's User cannot contain the following characters: "/\\:;|=,+*?<>@[]`;
  }
}

type StringMap = { readonly [key: string]: string };

export const seccompPodAnnotation = 'seccomp.security.alpha.kubernetes.io/pod';
export const seccompContainerPrefix = 'container.seccomp.security.alpha.kubernetes.io/';
export const appArmorAnnotationPrefix = 'container.apparmor.security.beta.kubernetes.io/';
const localhost = 'localhost/';

/** Validates profiles in the deprecated annotations. */
export function* validateProfileAnnotations(annotations: StringMap, spec: PodSpec, path: string): Generator<Cause> {
  const podProfile = annotations[seccompPodAnnotation];
  if (podProfile !== undefined) yield* validateSeccompName(podProfile, `${path}.${seccompPodAnnotation}`);
  for (const key in annotations) {
    if (key.startsWith(seccompContainerPrefix)) yield* validateSeccompName(annotations[key]!, `${path}.${key}`);
  }
  for (const key in annotations) {
    if (!key.startsWith(appArmorAnnotationPrefix)) continue;
    const container = key.slice(appArmorAnnotationPrefix.length);
    const profile = annotations[key]!;
    if (!namesOf(spec).includes(container)) yield invalid(`${path}[${key}]`, container, 'container not found');
    const isKnown = ['', 'runtime/default', 'unconfined'].includes(profile) || profile.startsWith(localhost);
    if (!isKnown) yield invalid(`${path}[${key}]`, profile, `invalid AppArmor profile name: ${quote(profile)}`);
  }
}

function* validateSeccompName(profile: string, path: string): Generator<Cause> {
  if (['runtime/default', 'docker/default', 'unconfined'].includes(profile)) return;
  if (profile.startsWith(localhost))
    yield* refusals(path, profile.slice(localhost.length), validateDescendingPath(profile.slice(localhost.length)));
  else yield invalid(path, profile, 'must be a valid seccomp profile');
}

function namesOf({ initContainers = [], containers, ephemeralContainers = [] }: PodSpec): readonly string[] {
  return [...initContainers, ...(containers ?? []), ...ephemeralContainers].map(({ name }) => name);
}

/** A profile that is given as annotation and field must be the same. */
export function* validateProfilesMatch(
  annotations: StringMap | undefined,
  spec: PodSpec,
  path: string,
): Generator<Cause> {
  if (annotations === undefined || !hasProfile(annotations)) return;
  const { securityContext: shared } = spec;
  yield* validateProfileMatch(
    'seccomp',
    annotations[seccompPodAnnotation],
    shared?.seccompProfile,
    `${path}.securityContext`,
  );
  for (const [{ name, securityContext }, at] of containersOf(spec, path)) {
    const annotation = annotations[seccompContainerPrefix + name];
    yield* validateProfileMatch('seccomp', annotation, securityContext?.seccompProfile, `${at}.securityContext`);
  }
  if (spec.os?.name === 'windows') return;
  for (const [{ name, securityContext }, at] of containersOf(spec, path)) {
    const annotation = annotations[appArmorAnnotationPrefix + name];
    const profile = securityContext?.appArmorProfile ?? shared?.appArmorProfile;
    yield* validateProfileMatch('apparmor', annotation, profile, `${at}.securityContext`);
  }
}

function hasProfile(annotations: StringMap): boolean {
  for (const key in annotations) {
    if (key === seccompPodAnnotation || key.startsWith('container.')) return true;
  }
  return false;
}

function* validateProfileMatch(
  system: 'seccomp' | 'apparmor',
  annotation: string | undefined,
  profile: SeccompProfile | AppArmorProfile | undefined,
  path: string,
): Generator<Cause> {
  if (annotation === undefined || profile === undefined) return;
  const field = system === 'seccomp' ? `${path}.seccompProfile` : `${path}.appArmorProfile`;
  const known: Readonly<Record<string, readonly string[]>> = {
    Unconfined: ['unconfined'],
    RuntimeDefault: system === 'seccomp' ? ['runtime/default', 'docker/default'] : ['runtime/default'],
  };
  const isTypeSame =
    profile.type === 'Localhost'
      ? annotation.startsWith(localhost)
      : (known[profile.type]?.includes(annotation) ?? true);
  if (!isTypeSame) yield forbidden(`${field}.type`, `${system} type in annotation and field must match`);
  else if (profile.type === 'Localhost' && annotation.slice(localhost.length) !== profile.localhostProfile) {
    yield forbidden(`${field}.localhostProfile`, `${system} profile in annotation and field must match`);
  }
}
