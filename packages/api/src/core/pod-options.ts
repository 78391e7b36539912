import * as s from '@kruise/schema';
import { typeMeta } from '../meta/type-meta.ts';

export const podExecOptions = s.object('io.k8s.api.core.v1.PodExecOptions', 'How to run a command in a container.', {
  ...typeMeta,
  stdin: s.optional(1, s.boolean(), 'Send standard input to it. Default false.'),
  stdout: s.optional(2, s.boolean(), 'Get its standard output.'),
  stderr: s.optional(3, s.boolean(), 'Get its standard error. Not together with tty.'),
  tty: s.optional(4, s.boolean(), 'Give it a terminal. Default false.'),
  container: s.optional(5, s.string(), 'Which container. Unset: the only one.'),
  command: s.required(6, s.list(s.string()), 'The command and its arguments; no shell is involved unless it is named.'),
});
export type PodExecOptions = s.TypeOf<typeof podExecOptions>;

export const podAttachOptions = s.object(
  'io.k8s.api.core.v1.PodAttachOptions',
  'How to attach to a running container.',
  {
    ...typeMeta,
    stdin: s.optional(1, s.boolean(), 'Send standard input to it. Default false.'),
    stdout: s.optional(2, s.boolean(), 'Get its standard output. Default true.'),
    stderr: s.optional(3, s.boolean(), 'Get its standard error. Default true; not together with tty.'),
    tty: s.optional(4, s.boolean(), 'Whether it has a terminal. Default false.'),
    container: s.optional(5, s.string(), 'Which container. Unset: the only one.'),
  },
);
export type PodAttachOptions = s.TypeOf<typeof podAttachOptions>;

export const podPortForwardOptions = s.object(
  'io.k8s.api.core.v1.PodPortForwardOptions',
  'Which ports of a Pod to reach.',
  {
    ...typeMeta,
    ports: s.optional(1, s.list(s.int32()), 'The port numbers. Needed with WebSockets only.'),
  },
);
export type PodPortForwardOptions = s.TypeOf<typeof podPortForwardOptions>;

export const podProxyOptions = s.object(
  'io.k8s.api.core.v1.PodProxyOptions',
  "Which part of a Pod's web server to reach.",
  {
    ...typeMeta,
    path: s.optional(1, s.string(), 'Path to ask the Pod for.'),
  },
);
export type PodProxyOptions = s.TypeOf<typeof podProxyOptions>;

export const podLogOptions = s.object('io.k8s.api.core.v1.PodLogOptions', 'Which part of a log to read, and how.', {
  ...typeMeta,
  container: s.optional(1, s.string(), 'Which container. Unset: the only one.'),
  follow: s.optional(2, s.boolean(), 'Go on as more is written. Default false.'),
  previous: s.optional(3, s.boolean(), 'Read the log of the container before its last restart. Default false.'),
  sinceSeconds: s.pointer(4, s.int64(), 'Only what was written in the last seconds. Not together with sinceTime.'),
  sinceTime: s.pointer(5, s.time(), 'Only what was written since this time. Not together with sinceSeconds.'),
  timestamps: s.optional(6, s.boolean(), 'Put the time before each line. Default false.'),
  tailLines: s.pointer(7, s.int64(), 'Only the last lines, this many. Unset: from the start, or from since.'),
  limitBytes: s.pointer(8, s.int64(), 'Stop after this many bytes, perhaps within a line.'),
  insecureSkipTLSVerifyBackend: s.optional(
    9,
    s.boolean(),
    'Do not check the certificate of the kubelet, at the risk of reading a forged log. Default false.',
  ),
  stream: s.pointer(10, s.string(), 'All (the default), Stdout or Stderr; the last two not together with tailLines.'),
});
export type PodLogOptions = s.TypeOf<typeof podLogOptions>;

export const serviceProxyOptions = s.object(
  'io.k8s.api.core.v1.ServiceProxyOptions',
  "Which part of a Service's web server to reach.",
  {
    ...typeMeta,
    path: s.optional(1, s.string(), 'Path to ask the Service for.'),
  },
);
export type ServiceProxyOptions = s.TypeOf<typeof serviceProxyOptions>;

export const nodeProxyOptions = s.object(
  'io.k8s.api.core.v1.NodeProxyOptions',
  "Which part of a kubelet's web server to reach.",
  {
    ...typeMeta,
    path: s.optional(1, s.string(), 'Path to ask the kubelet for.'),
  },
);
export type NodeProxyOptions = s.TypeOf<typeof nodeProxyOptions>;
