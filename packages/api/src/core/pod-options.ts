import * as s from '@kruise/schema';
import { typeMeta } from '../meta/type-meta.ts';

export const podExecOptions = s.object(
  'io.k8s.api.core.v1.PodExecOptions',
  'Options of running a command in a container.',
  {
    ...typeMeta,
    stdin: s.optional(1, s.boolean(), 'Sends standard input to the process. Default false.'),
    stdout: s.optional(2, s.boolean(), 'Get its standard output.'),
    stderr: s.optional(3, s.boolean(), 'Get its standard error. Not together with tty.'),
    tty: s.optional(4, s.boolean(), 'Allocates a terminal. Default false.'),
    container: s.optional(5, s.string(), 'Name of the container. Unset: the only container.'),
    command: s.required(
      6,
      s.list(s.string()),
      'The command and its arguments; no shell is involved unless it is named.',
    ),
  },
);
export type PodExecOptions = s.TypeOf<typeof podExecOptions>;

export const podAttachOptions = s.object(
  'io.k8s.api.core.v1.PodAttachOptions',
  'Options of attaching to a running container.',
  {
    ...typeMeta,
    stdin: s.optional(1, s.boolean(), 'Sends standard input to the process. Default false.'),
    stdout: s.optional(2, s.boolean(), 'Get its standard output. Default true.'),
    stderr: s.optional(3, s.boolean(), 'Get its standard error. Default true; not together with tty.'),
    tty: s.optional(4, s.boolean(), 'Terminal for the process. Default false.'),
    container: s.optional(5, s.string(), 'Name of the container. Unset: the only container.'),
  },
);
export type PodAttachOptions = s.TypeOf<typeof podAttachOptions>;

export const podPortForwardOptions = s.object(
  'io.k8s.api.core.v1.PodPortForwardOptions',
  'Options of forwarding ports of a Pod.',
  {
    ...typeMeta,
    ports: s.optional(1, s.list(s.int32()), 'The port numbers. Needed with WebSockets only.'),
  },
);
export type PodPortForwardOptions = s.TypeOf<typeof podPortForwardOptions>;

export const podProxyOptions = s.object('io.k8s.api.core.v1.PodProxyOptions', 'Options of a proxy to a Pod.', {
  ...typeMeta,
  path: s.optional(1, s.string(), 'Path of the request to the Pod.'),
});
export type PodProxyOptions = s.TypeOf<typeof podProxyOptions>;

export const podLogOptions = s.object('io.k8s.api.core.v1.PodLogOptions', 'Options of reading a log.', {
  ...typeMeta,
  container: s.optional(1, s.string(), 'Name of the container. Unset: the only container.'),
  follow: s.optional(2, s.boolean(), 'Follows the log. Default false.'),
  previous: s.optional(3, s.boolean(), 'Read the log of the container before its last restart. Default false.'),
  sinceSeconds: s.pointer(4, s.int64(), 'Maximum age of lines in seconds. Excludes sinceTime.'),
  sinceTime: s.pointer(5, s.time(), 'Time of the oldest lines. Excludes sinceSeconds.'),
  timestamps: s.optional(6, s.boolean(), 'Adds a timestamp to each line. Default false.'),
  tailLines: s.pointer(7, s.int64(), 'Only the last lines, this many. Unset: from the start, or from since.'),
  limitBytes: s.pointer(8, s.int64(), 'Maximum number of bytes; the last line can be truncated.'),
  insecureSkipTLSVerifyBackend: s.optional(
    9,
    s.boolean(),
    'Do not check the certificate of the kubelet, at the risk of reading a forged log. Default false.',
  ),
  stream: s.pointer(
    10,
    s.string(),
    'Stream to read: All (the default), Stdout or Stderr; the last two exclude tailLines.',
  ),
});
export type PodLogOptions = s.TypeOf<typeof podLogOptions>;

export const serviceProxyOptions = s.object(
  'io.k8s.api.core.v1.ServiceProxyOptions',
  'Options of a proxy to a Service.',
  {
    ...typeMeta,
    path: s.optional(1, s.string(), 'Path of the request to the Service.'),
  },
);
export type ServiceProxyOptions = s.TypeOf<typeof serviceProxyOptions>;

export const nodeProxyOptions = s.object('io.k8s.api.core.v1.NodeProxyOptions', 'Options of a proxy to a node.', {
  ...typeMeta,
  path: s.optional(1, s.string(), 'Path of the request to the kubelet.'),
});
export type NodeProxyOptions = s.TypeOf<typeof nodeProxyOptions>;
