import * as s from '@kruise/schema';


export const execAction = s.object('io.k8s.api.core.v1.ExecAction', '', {
  command: s.optional(1, s.atomicList(s.string()), ''),
});
export type ExecAction = s.TypeOf<typeof execAction>;

export const httpHeader = s.object('io.k8s.api.core.v1.HTTPHeader', '', {
  name: s.required(1, s.string(), ''),
  value: s.required(2, s.string(), ''),
});
export type HTTPHeader = s.TypeOf<typeof httpHeader>;

export const httpGetAction = s.object('io.k8s.api.core.v1.HTTPGetAction', '', {
  path: s.optional(1, s.string(), ''),
  port: s.required(2, s.intOrString(), ''),
  host: s.optional(3, s.string(), ''),
  scheme: s.optional(4, s.oneOf('v1.URIScheme', ['HTTP', 'HTTPS']), ''),
  httpHeaders: s.optional(5, s.atomicList(httpHeader), ''),
});
export type HTTPGetAction = s.TypeOf<typeof httpGetAction>;

export const tcpSocketAction = s.object('io.k8s.api.core.v1.TCPSocketAction', '', {
  port: s.required(1, s.intOrString(), ''),
  host: s.optional(2, s.string(), ''),
});
export type TCPSocketAction = s.TypeOf<typeof tcpSocketAction>;

export const grpcAction = s.object('io.k8s.api.core.v1.GRPCAction', '', {
  port: s.required(1, s.int32(), ''),
  service: s.pointer(2, s.string({ default: '' }), '', { omitEmpty: false }),
});
export type GRPCAction = s.TypeOf<typeof grpcAction>;

export const probeHandler = s.object('io.k8s.api.core.v1.ProbeHandler', '', {
  exec: s.pointer(1, execAction, ''),
  httpGet: s.pointer(2, httpGetAction, ''),
  tcpSocket: s.pointer(3, tcpSocketAction, ''),
  grpc: s.pointer(4, grpcAction, ''),
});
export type ProbeHandler = s.TypeOf<typeof probeHandler>;

export const probe = s.object('io.k8s.api.core.v1.Probe', '', {
  handler: s.inline(1, probeHandler),
  initialDelaySeconds: s.optional(2, s.int32(), ''),
  timeoutSeconds: s.optional(3, s.int32(), ''),
  periodSeconds: s.optional(4, s.int32(), ''),
  successThreshold: s.optional(5, s.int32(), ''),
  failureThreshold: s.optional(6, s.int32(), ''),
  terminationGracePeriodSeconds: s.pointer(7, s.int64(), ''),
});
export type Probe = s.TypeOf<typeof probe>;

export const sleepAction = s.object('io.k8s.api.core.v1.SleepAction', '', {
  seconds: s.required(1, s.int64(), ''),
});
export type SleepAction = s.TypeOf<typeof sleepAction>;

export const lifecycleHandler = s.object('io.k8s.api.core.v1.LifecycleHandler', '', {
  exec: s.pointer(1, execAction, ''),
  httpGet: s.pointer(2, httpGetAction, ''),
  tcpSocket: s.pointer(3, tcpSocketAction, ''),
  sleep: s.pointer(4, sleepAction, ''),
});
export type LifecycleHandler = s.TypeOf<typeof lifecycleHandler>;

export const lifecycle = s.object('io.k8s.api.core.v1.Lifecycle', '', {
  postStart: s.pointer(1, lifecycleHandler, ''),
  preStop: s.pointer(2, lifecycleHandler, ''),
  stopSignal: s.pointer(3, s.oneOf('v1.Signal', ['SIGABRT', 'SIGALRM', 'SIGBUS', 'SIGCHLD', 'SIGCLD', 'SIGCONT', 'SIGFPE', 'SIGHUP', 'SIGILL', 'SIGINT', 'SIGIO', 'SIGIOT', 'SIGKILL', 'SIGPIPE', 'SIGPOLL', 'SIGPROF', 'SIGPWR', 'SIGQUIT', 'SIGSEGV', 'SIGSTKFLT', 'SIGSTOP', 'SIGSYS', 'SIGTERM', 'SIGTRAP', 'SIGTSTP', 'SIGTTIN', 'SIGTTOU', 'SIGURG', 'SIGUSR1', 'SIGUSR2', 'SIGVTALRM', 'SIGWINCH', 'SIGXCPU', 'SIGXFSZ', 'SIGRTMIN', 'SIGRTMIN+1', 'SIGRTMIN+2', 'SIGRTMIN+3', 'SIGRTMIN+4', 'SIGRTMIN+5', 'SIGRTMIN+6', 'SIGRTMIN+7', 'SIGRTMIN+8', 'SIGRTMIN+9', 'SIGRTMIN+10', 'SIGRTMIN+11', 'SIGRTMIN+12', 'SIGRTMIN+13', 'SIGRTMIN+14', 'SIGRTMIN+15', 'SIGRTMAX-14', 'SIGRTMAX-13', 'SIGRTMAX-12', 'SIGRTMAX-11', 'SIGRTMAX-10', 'SIGRTMAX-9', 'SIGRTMAX-8', 'SIGRTMAX-7', 'SIGRTMAX-6', 'SIGRTMAX-5', 'SIGRTMAX-4', 'SIGRTMAX-3', 'SIGRTMAX-2', 'SIGRTMAX-1', 'SIGRTMAX']), ''),
});
export type Lifecycle = s.TypeOf<typeof lifecycle>;
