import * as s from '@kruise/schema';

export const capabilities = s.object(
  'io.k8s.api.core.v1.Capabilities',
  'POSIX capabilities a container has more or fewer of than the runtime grants.',
  {
    add: s.optional(
      1,
      s.atomicList(s.string({ goType: 'v1.Capability' })),
      'Capabilities to add, without CAP_; ALL for all.',
    ),
    drop: s.optional(
      2,
      s.atomicList(s.string({ goType: 'v1.Capability' })),
      'Capabilities to take away, without CAP_; ALL for all.',
    ),
  },
);
export type Capabilities = s.TypeOf<typeof capabilities>;

export const seLinuxOptions = s.object('io.k8s.api.core.v1.SELinuxOptions', 'The SELinux label of a process.', {
  user: s.optional(1, s.string(), 'The SELinux user.'),
  role: s.optional(2, s.string(), 'The SELinux role.'),
  type: s.optional(3, s.string(), 'The SELinux type.'),
  level: s.optional(4, s.string(), 'The SELinux level.'),
});
export type SELinuxOptions = s.TypeOf<typeof seLinuxOptions>;

export const windowsSecurityContextOptions = s.object(
  'io.k8s.api.core.v1.WindowsSecurityContextOptions',
  'How a container runs on Windows.',
  {
    gmsaCredentialSpecName: s.pointer(
      1,
      s.string(),
      'Name of a GMSA credential spec, which a webhook replaces by its content.',
    ),
    gmsaCredentialSpec: s.pointer(2, s.string(), 'The GMSA credential spec itself.'),
    runAsUserName: s.pointer(3, s.string(), 'User the process runs as; that of the image by default.'),
    hostProcess: s.pointer(
      4,
      s.boolean(),
      'Run on the host itself. All containers of a Pod must agree, and the Pod needs hostNetwork.',
    ),
  },
);
export type WindowsSecurityContextOptions = s.TypeOf<typeof windowsSecurityContextOptions>;

export const seccompProfile = s.object('io.k8s.api.core.v1.SeccompProfile', 'Which system calls a process may make.', {
  type: s.required(
    1,
    s.oneOf('v1.SeccompProfileType', ['Unconfined', 'RuntimeDefault', 'Localhost']),
    'RuntimeDefault, Localhost for a profile of the node, or Unconfined.',
  ),
  localhostProfile: s.pointer(
    2,
    s.string(),
    'With Localhost: path of the profile below the seccomp directory of the kubelet.',
  ),
});
export type SeccompProfile = s.TypeOf<typeof seccompProfile>;

export const appArmorProfile = s.object('io.k8s.api.core.v1.AppArmorProfile', 'The AppArmor profile of a process.', {
  type: s.required(
    1,
    s.oneOf('v1.AppArmorProfileType', ['Unconfined', 'RuntimeDefault', 'Localhost']),
    'RuntimeDefault, Localhost for a profile of the node, or Unconfined.',
  ),
  localhostProfile: s.pointer(2, s.string(), 'With Localhost: name of a profile loaded on the node.'),
});
export type AppArmorProfile = s.TypeOf<typeof appArmorProfile>;

export const securityContext = s.object(
  'io.k8s.api.core.v1.SecurityContext',
  'What a container may do. Wins over what the Pod says.',
  {
    capabilities: s.pointer(1, capabilities, 'Capabilities to add and to drop.'),
    privileged: s.pointer(2, s.boolean(), 'Let it do all that root of the node can. Default false.'),
    seLinuxOptions: s.pointer(3, seLinuxOptions, 'Its SELinux label. Unset: one chosen by the runtime.'),
    windowsOptions: s.pointer(10, windowsSecurityContextOptions, 'How it runs on Windows. Not on Linux.'),
    runAsUser: s.pointer(4, s.int64(), 'The user ID its process has; that of the image by default.'),
    runAsGroup: s.pointer(8, s.int64(), 'The primary group ID its process has; that of the runtime by default.'),
    runAsNonRoot: s.pointer(5, s.boolean(), 'Refuse to start it as user 0. Default false.'),
    readOnlyRootFilesystem: s.pointer(6, s.boolean(), 'Let it write to volumes only. Default false.'),
    allowPrivilegeEscalation: s.pointer(
      7,
      s.boolean(),
      'Whether a process may gain more rights than its parent, as by setuid. Default true, and always with privileged or CAP_SYS_ADMIN.',
    ),
    procMount: s.pointer(
      9,
      s.oneOf('v1.ProcMountType', ['Default', 'Unmasked']),
      'Default hides parts of /proc, Unmasked does not; the latter needs hostUsers false.',
    ),
    seccompProfile: s.pointer(11, seccompProfile, 'Which system calls it may make.'),
    appArmorProfile: s.pointer(12, appArmorProfile, 'Its AppArmor profile.'),
  },
);
export type SecurityContext = s.TypeOf<typeof securityContext>;
