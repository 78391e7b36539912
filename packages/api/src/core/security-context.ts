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
      'Capabilities to drop, without CAP_; ALL for all.',
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
  'Security options for Windows.',
  {
    gmsaCredentialSpecName: s.pointer(
      1,
      s.string(),
      'Name of a GMSA credential spec, which a webhook replaces by its content.',
    ),
    gmsaCredentialSpec: s.pointer(2, s.string(), 'The GMSA credential spec itself.'),
    runAsUserName: s.pointer(3, s.string(), 'User of the process; by default that of the image.'),
    hostProcess: s.pointer(
      4,
      s.boolean(),
      'Run on the host itself. All containers of a Pod must agree, and the Pod needs hostNetwork.',
    ),
  },
);
export type WindowsSecurityContextOptions = s.TypeOf<typeof windowsSecurityContextOptions>;

export const seccompProfile = s.object(
  'io.k8s.api.core.v1.SeccompProfile',
  'Seccomp profile: the permitted system calls of a process.',
  {
    type: s.required(
      1,
      s.oneOf('v1.SeccompProfileType', ['Unconfined', 'RuntimeDefault', 'Localhost']),
      'RuntimeDefault, Localhost for a profile of the node, or Unconfined.',
    ),
    localhostProfile: s.pointer(
      2,
      s.string(),
      'Path of the profile below the seccomp directory of the kubelet, for type Localhost.',
    ),
  },
);
export type SeccompProfile = s.TypeOf<typeof seccompProfile>;

export const appArmorProfile = s.object('io.k8s.api.core.v1.AppArmorProfile', 'The AppArmor profile of a process.', {
  type: s.required(
    1,
    s.oneOf('v1.AppArmorProfileType', ['Unconfined', 'RuntimeDefault', 'Localhost']),
    'RuntimeDefault, Localhost for a profile of the node, or Unconfined.',
  ),
  localhostProfile: s.pointer(2, s.string(), 'Name of a profile that is loaded on the node, for type Localhost.'),
});
export type AppArmorProfile = s.TypeOf<typeof appArmorProfile>;

export const securityContext = s.object(
  'io.k8s.api.core.v1.SecurityContext',
  'Security options of a container. They override those of the Pod.',
  {
    capabilities: s.pointer(1, capabilities, 'Capabilities to add and to drop.'),
    privileged: s.pointer(
      2,
      s.boolean(),
      'Privileged mode: the process has the rights of root on the node. Default false.',
    ),
    seLinuxOptions: s.pointer(3, seLinuxOptions, 'SELinux label. Unset: chosen by the runtime.'),
    windowsOptions: s.pointer(10, windowsSecurityContextOptions, 'Options for Windows. Not permitted on Linux.'),
    runAsUser: s.pointer(4, s.int64(), 'User ID of the process; by default that of the image.'),
    runAsGroup: s.pointer(8, s.int64(), 'Primary group ID of the process; by default that of the runtime.'),
    runAsNonRoot: s.pointer(
      5,
      s.boolean(),
      'Requires a user other than 0: otherwise the container is not started. Default false.',
    ),
    readOnlyRootFilesystem: s.pointer(6, s.boolean(), 'Read-only root file system. Default false.'),
    allowPrivilegeEscalation: s.pointer(
      7,
      s.boolean(),
      'Privilege escalation: a process can gain more privileges than its parent, for example by setuid. Default true; always true for privileged containers and with CAP_SYS_ADMIN.',
    ),
    procMount: s.pointer(
      9,
      s.oneOf('v1.ProcMountType', ['Default', 'Unmasked']),
      'Default hides parts of /proc, Unmasked does not; the latter needs hostUsers false.',
    ),
    seccompProfile: s.pointer(11, seccompProfile, 'Seccomp profile: the permitted system calls.'),
    appArmorProfile: s.pointer(12, appArmorProfile, 'AppArmor profile.'),
  },
);
export type SecurityContext = s.TypeOf<typeof securityContext>;
