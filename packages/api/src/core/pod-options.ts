import * as s from '@kruise/schema';
import { typeMeta } from '../meta/type-meta.ts';

export const podExecOptions = s.object('io.k8s.api.core.v1.PodExecOptions', '', {
  ...typeMeta,
  stdin: s.optional(1, s.boolean(), ''),
  stdout: s.optional(2, s.boolean(), ''),
  stderr: s.optional(3, s.boolean(), ''),
  tty: s.optional(4, s.boolean(), ''),
  container: s.optional(5, s.string(), ''),
  command: s.required(6, s.list(s.string()), ''),
});
export type PodExecOptions = s.TypeOf<typeof podExecOptions>;

export const podAttachOptions = s.object('io.k8s.api.core.v1.PodAttachOptions', '', {
  ...typeMeta,
  stdin: s.optional(1, s.boolean(), ''),
  stdout: s.optional(2, s.boolean(), ''),
  stderr: s.optional(3, s.boolean(), ''),
  tty: s.optional(4, s.boolean(), ''),
  container: s.optional(5, s.string(), ''),
});
export type PodAttachOptions = s.TypeOf<typeof podAttachOptions>;

export const podPortForwardOptions = s.object('io.k8s.api.core.v1.PodPortForwardOptions', '', {
  ...typeMeta,
  ports: s.optional(1, s.list(s.int32()), ''),
});
export type PodPortForwardOptions = s.TypeOf<typeof podPortForwardOptions>;

export const podProxyOptions = s.object('io.k8s.api.core.v1.PodProxyOptions', '', {
  ...typeMeta,
  path: s.optional(1, s.string(), ''),
});
export type PodProxyOptions = s.TypeOf<typeof podProxyOptions>;

export const podLogOptions = s.object('io.k8s.api.core.v1.PodLogOptions', '', {
  ...typeMeta,
  container: s.optional(1, s.string(), ''),
  follow: s.optional(2, s.boolean(), ''),
  previous: s.optional(3, s.boolean(), ''),
  sinceSeconds: s.pointer(4, s.int64(), ''),
  sinceTime: s.pointer(5, s.time(), ''),
  timestamps: s.optional(6, s.boolean(), ''),
  tailLines: s.pointer(7, s.int64(), ''),
  limitBytes: s.pointer(8, s.int64(), ''),
  insecureSkipTLSVerifyBackend: s.optional(9, s.boolean(), ''),
  stream: s.pointer(10, s.string(), ''),
});
export type PodLogOptions = s.TypeOf<typeof podLogOptions>;

export const serviceProxyOptions = s.object('io.k8s.api.core.v1.ServiceProxyOptions', '', {
  ...typeMeta,
  path: s.optional(1, s.string(), ''),
});
export type ServiceProxyOptions = s.TypeOf<typeof serviceProxyOptions>;

export const nodeProxyOptions = s.object('io.k8s.api.core.v1.NodeProxyOptions', '', {
  ...typeMeta,
  path: s.optional(1, s.string(), ''),
});
export type NodeProxyOptions = s.TypeOf<typeof nodeProxyOptions>;
