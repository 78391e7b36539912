import * as s from '@kruise/schema';
import { signal } from './signal.ts';

export const execAction = s.object(
  'io.k8s.api.core.v1.ExecAction',
  'Runs a command in the container; exit status 0 is success.',
  {
    command: s.optional(
      1,
      s.atomicList(s.string()),
      'The command and its arguments. No shell is involved unless it is named; it starts in the root directory.',
    ),
  },
);
export type ExecAction = s.TypeOf<typeof execAction>;

export const httpHeader = s.object('io.k8s.api.core.v1.HTTPHeader', 'A header of an HTTP request.', {
  name: s.required(1, s.string(), 'Name of the header; repeat the entry for several values.'),
  value: s.required(2, s.string(), 'Value of the header.'),
});
export type HTTPHeader = s.TypeOf<typeof httpHeader>;

export const httpGetAction = s.object(
  'io.k8s.api.core.v1.HTTPGetAction',
  'Makes an HTTP GET; a status from 200 to 399 is success.',
  {
    path: s.optional(1, s.string(), 'Path of the request; / by default.'),
    port: s.required(2, s.intOrString(), 'Port number, 1 to 65535, or the name of a port of the container.'),
    host: s.optional(
      3,
      s.string(),
      'Host to connect to; the IP address of the Pod by default. Prefer the header Host.',
    ),
    scheme: s.optional(
      4,
      s.oneOf('v1.URIScheme', ['HTTP', 'HTTPS']),
      'HTTP (the default) or HTTPS, whose certificate is not checked.',
    ),
    httpHeaders: s.optional(5, s.atomicList(httpHeader), 'Additional headers of the request.'),
  },
);
export type HTTPGetAction = s.TypeOf<typeof httpGetAction>;

export const tcpSocketAction = s.object(
  'io.k8s.api.core.v1.TCPSocketAction',
  'Opens a TCP connection; that it opens is success.',
  {
    port: s.required(1, s.intOrString(), 'Port number, 1 to 65535, or the name of a port of the container.'),
    host: s.optional(2, s.string(), 'Host to connect to; the IP address of the Pod by default.'),
  },
);
export type TCPSocketAction = s.TypeOf<typeof tcpSocketAction>;

export const grpcAction = s.object(
  'io.k8s.api.core.v1.GRPCAction',
  'Request to the gRPC health service; SERVING is success.',
  {
    port: s.required(1, s.int32(), 'Port number, 1 to 65535.'),
    service: s.pointer(
      2,
      s.string({ default: '' }),
      'Name of the service in the request; empty (the default) for the whole server.',
      { omitEmpty: false },
    ),
  },
);
export type GRPCAction = s.TypeOf<typeof grpcAction>;

export const probeHandler = s.object('io.k8s.api.core.v1.ProbeHandler', 'Action of a probe; exactly one.', {
  exec: s.pointer(1, execAction, 'Run a command in the container.'),
  httpGet: s.pointer(2, httpGetAction, 'HTTP request.'),
  tcpSocket: s.pointer(3, tcpSocketAction, 'Open a TCP connection.'),
  grpc: s.pointer(4, grpcAction, 'Request to the gRPC health service.'),
});
export type ProbeHandler = s.TypeOf<typeof probeHandler>;

export const probe = s.object('io.k8s.api.core.v1.Probe', 'A check on a container that is made again and again.', {
  handler: s.inline(1, probeHandler),
  initialDelaySeconds: s.optional(
    2,
    s.int32(),
    'Seconds from the start of the container to the first check. Default 0.',
  ),
  timeoutSeconds: s.optional(3, s.int32(), 'Timeout of a probe in seconds. Default 1.'),
  periodSeconds: s.optional(4, s.int32(), 'Seconds from one check to the next. Default 10.'),
  successThreshold: s.optional(
    5,
    s.int32(),
    'Successes in a row that make a failed container good again. Default 1, the only value for liveness and startup.',
  ),
  failureThreshold: s.optional(6, s.int32(), 'Failures in a row that make a good container fail. Default 3.'),
  terminationGracePeriodSeconds: s.pointer(
    7,
    s.int64(),
    'Grace period in seconds after a failure of this probe. Unset: the grace period of the Pod. Not permitted for readiness probes.',
  ),
});
export type Probe = s.TypeOf<typeof probe>;

export const sleepAction = s.object('io.k8s.api.core.v1.SleepAction', 'Sleep action.', {
  seconds: s.required(1, s.int64(), 'Duration in seconds.'),
});
export type SleepAction = s.TypeOf<typeof sleepAction>;

export const lifecycleHandler = s.object(
  'io.k8s.api.core.v1.LifecycleHandler',
  'Action of a lifecycle hook; exactly one.',
  {
    exec: s.pointer(1, execAction, 'Run a command in the container.'),
    httpGet: s.pointer(2, httpGetAction, 'HTTP request.'),
    tcpSocket: s.pointer(3, tcpSocketAction, 'Not supported: a hook with it fails.'),
    sleep: s.pointer(4, sleepAction, 'Sleep action.'),
  },
);
export type LifecycleHandler = s.TypeOf<typeof lifecycleHandler>;

export const lifecycle = s.object('io.k8s.api.core.v1.Lifecycle', 'Actions at the start and the stop of a container.', {
  postStart: s.pointer(
    1,
    lifecycleHandler,
    "Done right after the start, beside the container's own command. If it fails, the container is stopped.",
  ),
  preStop: s.pointer(
    2,
    lifecycleHandler,
    'Runs before the container is stopped, within its grace period. Does not run if the container exits by itself.',
  ),
  stopSignal: s.pointer(
    3,
    signal,
    'Stop signal; by default that of the image, otherwise SIGTERM. Requires os.name of the Pod.',
  ),
});
export type Lifecycle = s.TypeOf<typeof lifecycle>;
