import * as s from '@kruise/schema';


export const capabilities = s.object('io.k8s.api.core.v1.Capabilities', '', {
  add: s.optional(1, s.atomicList(s.string({ goType: 'v1.Capability' })), ''),
  drop: s.optional(2, s.atomicList(s.string({ goType: 'v1.Capability' })), ''),
});
export type Capabilities = s.TypeOf<typeof capabilities>;

export const seLinuxOptions = s.object('io.k8s.api.core.v1.SELinuxOptions', '', {
  user: s.optional(1, s.string(), ''),
  role: s.optional(2, s.string(), ''),
  type: s.optional(3, s.string(), ''),
  level: s.optional(4, s.string(), ''),
});
export type SELinuxOptions = s.TypeOf<typeof seLinuxOptions>;

export const windowsSecurityContextOptions = s.object('io.k8s.api.core.v1.WindowsSecurityContextOptions', '', {
  gmsaCredentialSpecName: s.pointer(1, s.string(), ''),
  gmsaCredentialSpec: s.pointer(2, s.string(), ''),
  runAsUserName: s.pointer(3, s.string(), ''),
  hostProcess: s.pointer(4, s.boolean(), ''),
});
export type WindowsSecurityContextOptions = s.TypeOf<typeof windowsSecurityContextOptions>;

export const seccompProfile = s.object('io.k8s.api.core.v1.SeccompProfile', '', {
  type: s.required(1, s.oneOf('v1.SeccompProfileType', ['Unconfined', 'RuntimeDefault', 'Localhost']), ''),
  localhostProfile: s.pointer(2, s.string(), ''),
});
export type SeccompProfile = s.TypeOf<typeof seccompProfile>;

export const appArmorProfile = s.object('io.k8s.api.core.v1.AppArmorProfile', '', {
  type: s.required(1, s.oneOf('v1.AppArmorProfileType', ['Unconfined', 'RuntimeDefault', 'Localhost']), ''),
  localhostProfile: s.pointer(2, s.string(), ''),
});
export type AppArmorProfile = s.TypeOf<typeof appArmorProfile>;

export const securityContext = s.object('io.k8s.api.core.v1.SecurityContext', '', {
  capabilities: s.pointer(1, capabilities, ''),
  privileged: s.pointer(2, s.boolean(), ''),
  seLinuxOptions: s.pointer(3, seLinuxOptions, ''),
  windowsOptions: s.pointer(10, windowsSecurityContextOptions, ''),
  runAsUser: s.pointer(4, s.int64(), ''),
  runAsGroup: s.pointer(8, s.int64(), ''),
  runAsNonRoot: s.pointer(5, s.boolean(), ''),
  readOnlyRootFilesystem: s.pointer(6, s.boolean(), ''),
  allowPrivilegeEscalation: s.pointer(7, s.boolean(), ''),
  procMount: s.pointer(9, s.oneOf('v1.ProcMountType', ['Default', 'Unmasked']), ''),
  seccompProfile: s.pointer(11, seccompProfile, ''),
  appArmorProfile: s.pointer(12, appArmorProfile, ''),
});
export type SecurityContext = s.TypeOf<typeof securityContext>;
