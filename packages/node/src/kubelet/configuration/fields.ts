/**
 * Fields of `KubeletConfiguration` (`kubelet.config.k8s.io/v1beta1`) of Kubernetes v1.33: type, default, and the effect
 * on this kubelet. A field of this table is either applied, or a value other than the default is reported.
 */
import { defaultThresholds } from '../eviction/eviction.ts';

export type FieldType =
  | 'string'
  | 'path'
  | 'boolean'
  | 'integer'
  | 'number'
  | 'duration'
  | 'strings'
  | 'string map'
  | 'boolean map'
  | 'list map'
  | 'objects';

/**
 * Effect of a field. `ignored`: without it the node works the same or is only slower, so a value other than the default
 * is a warning at the start. `unsupported`: the node would not do what is asked for, so such a value is rejected.
 */
export type FieldEffect = 'applied' | 'ignored' | 'unsupported';

export type Field = {
  readonly type: FieldType;
  readonly default: unknown;
  readonly effect: FieldEffect;
  /** The zero of the type means the default: false for fields that are pointers in Kubernetes. */
  readonly isZeroUnset: boolean;
  /** Values that have the effect of the default. */
  readonly equivalents: readonly unknown[];
};

type Given = readonly [type: FieldType, fallback: unknown, effect: FieldEffect, ...equivalents: unknown[]];

const field =
  (isZeroUnset: boolean) =>
  (...[type, fallback, effect, ...equivalents]: Given): Field => ({
    type,
    default: fallback,
    effect,
    isZeroUnset,
    equivalents,
  });
const plain = field(true);
const pointer = field(false);

/** Hard eviction thresholds by signal, unless the configuration has its own. */
export const defaultEvictionHard: { readonly [signal: string]: string } = Object.fromEntries(
  defaultThresholds.map(({ signal, value }) => [signal, value]),
);

/** Fields by their path. */
export const configurationFields: { readonly [path: string]: Field } = {
  enableServer: pointer('boolean', true, 'unsupported'),
  staticPodPath: plain('path', '', 'applied'),
  podLogsDir: plain('path', '/var/log/pods', 'applied'),
  syncFrequency: plain('duration', '1m0s', 'ignored'),
  fileCheckFrequency: plain('duration', '20s', 'ignored'),
  httpCheckFrequency: plain('duration', '20s', 'ignored'),
  staticPodURL: plain('string', '', 'unsupported'),
  staticPodURLHeader: plain('list map', {}, 'unsupported'),
  address: plain('string', '0.0.0.0', 'applied'),
  port: plain('integer', 10250, 'applied'),
  readOnlyPort: plain('integer', 0, 'unsupported'),
  tlsCertFile: plain('path', '', 'applied'),
  tlsPrivateKeyFile: plain('path', '', 'applied'),
  tlsCipherSuites: plain('strings', [], 'unsupported'),
  // TLS 1.2 is the minimum of Node.js.
  tlsMinVersion: plain('string', '', 'unsupported', 'VersionTLS12'),
  rotateCertificates: plain('boolean', false, 'applied'),
  serverTLSBootstrap: plain('boolean', false, 'applied'),
  'authentication.x509.clientCAFile': plain('path', '', 'applied'),
  'authentication.webhook.enabled': pointer('boolean', true, 'unsupported'),
  'authentication.webhook.cacheTTL': plain('duration', '2m0s', 'ignored'),
  'authentication.anonymous.enabled': pointer('boolean', false, 'unsupported'),
  'authorization.mode': plain('string', 'Webhook', 'unsupported'),
  'authorization.webhook.cacheAuthorizedTTL': plain('duration', '5m0s', 'ignored'),
  'authorization.webhook.cacheUnauthorizedTTL': plain('duration', '30s', 'ignored'),
  registryPullQPS: pointer('integer', 5, 'applied'),
  registryBurst: plain('integer', 10, 'applied'),
  imagePullCredentialsVerificationPolicy: plain('string', '', 'unsupported'),
  preloadedImagesVerificationAllowlist: plain('strings', [], 'unsupported'),
  eventRecordQPS: pointer('integer', 50, 'ignored'),
  eventBurst: plain('integer', 100, 'ignored'),
  enableDebuggingHandlers: pointer('boolean', true, 'unsupported'),
  enableContentionProfiling: plain('boolean', false, 'ignored'),
  healthzPort: pointer('integer', 10248, 'applied'),
  healthzBindAddress: plain('string', '127.0.0.1', 'applied'),
  oomScoreAdj: pointer('integer', -999, 'applied'),
  clusterDomain: plain('string', '', 'applied'),
  clusterDNS: plain('strings', [], 'applied'),
  streamingConnectionIdleTimeout: plain('duration', '4h0m0s', 'ignored'),
  nodeStatusUpdateFrequency: plain('duration', '10s', 'ignored'),
  nodeStatusReportFrequency: plain('duration', '5m0s', 'ignored'),
  nodeLeaseDurationSeconds: plain('integer', 40, 'ignored'),
  imageMinimumGCAge: plain('duration', '2m0s', 'applied'),
  imageMaximumGCAge: plain('duration', '0s', 'ignored'),
  imageGCHighThresholdPercent: pointer('integer', 85, 'applied'),
  imageGCLowThresholdPercent: pointer('integer', 80, 'applied'),
  volumeStatsAggPeriod: plain('duration', '1m0s', 'ignored'),
  kubeletCgroups: plain('string', '', 'ignored'),
  systemCgroups: plain('string', '', 'unsupported'),
  cgroupRoot: plain('string', '', 'applied'),
  cgroupsPerQOS: pointer('boolean', true, 'applied'),
  cgroupDriver: plain('string', 'cgroupfs', 'applied'),
  cpuManagerPolicy: plain('string', 'none', 'unsupported'),
  singleProcessOOMKill: pointer('boolean', undefined, 'unsupported'),
  cpuManagerPolicyOptions: plain('string map', {}, 'unsupported'),
  cpuManagerReconcilePeriod: plain('duration', '10s', 'ignored'),
  memoryManagerPolicy: plain('string', 'None', 'unsupported'),
  topologyManagerPolicy: plain('string', 'none', 'unsupported'),
  topologyManagerScope: plain('string', 'container', 'ignored'),
  topologyManagerPolicyOptions: plain('string map', {}, 'unsupported'),
  qosReserved: plain('string map', {}, 'unsupported'),
  runtimeRequestTimeout: plain('duration', '2m0s', 'ignored'),
  hairpinMode: plain('string', 'promiscuous-bridge', 'ignored'),
  maxPods: plain('integer', 110, 'applied'),
  podCIDR: plain('string', '', 'ignored'),
  podPidsLimit: pointer('integer', -1, 'applied'),
  resolvConf: pointer('path', '/etc/resolv.conf', 'applied'),
  runOnce: plain('boolean', false, 'unsupported'),
  cpuCFSQuota: pointer('boolean', true, 'applied'),
  cpuCFSQuotaPeriod: pointer('duration', '100ms', 'applied'),
  nodeStatusMaxImages: pointer('integer', 50, 'ignored'),
  maxOpenFiles: plain('integer', 1_000_000, 'ignored'),
  contentType: plain('string', 'application/vnd.kubernetes.protobuf', 'ignored'),
  kubeAPIQPS: pointer('integer', 50, 'ignored'),
  kubeAPIBurst: plain('integer', 100, 'ignored'),
  serializeImagePulls: pointer('boolean', true, 'ignored'),
  maxParallelImagePulls: pointer('integer', undefined, 'ignored', 1),
  evictionHard: pointer('string map', defaultEvictionHard, 'applied'),
  evictionSoft: plain('string map', {}, 'applied'),
  evictionSoftGracePeriod: plain('string map', {}, 'applied'),
  evictionPressureTransitionPeriod: plain('duration', '5m0s', 'ignored'),
  evictionMaxPodGracePeriod: plain('integer', 0, 'applied'),
  evictionMinimumReclaim: plain('string map', {}, 'ignored'),
  mergeDefaultEvictionSettings: pointer('boolean', false, 'applied'),
  podsPerCore: plain('integer', 0, 'applied'),
  enableControllerAttachDetach: pointer('boolean', true, 'unsupported'),
  protectKernelDefaults: plain('boolean', false, 'unsupported'),
  makeIPTablesUtilChains: pointer('boolean', true, 'ignored'),
  iptablesMasqueradeBit: pointer('integer', 14, 'ignored'),
  iptablesDropBit: pointer('integer', 15, 'ignored'),
  featureGates: plain('boolean map', {}, 'applied'),
  // This kubelet starts with swap in any case; a value of false is what it does.
  failSwapOn: pointer('boolean', true, 'applied'),
  'memorySwap.swapBehavior': plain('string', '', 'applied'),
  containerLogMaxSize: plain('string', '10Mi', 'applied'),
  containerLogMaxFiles: pointer('integer', 5, 'applied'),
  containerLogMaxWorkers: pointer('integer', 1, 'ignored'),
  containerLogMonitorInterval: pointer('duration', '10s', 'applied'),
  configMapAndSecretChangeDetectionStrategy: plain('string', 'Watch', 'ignored'),
  systemReserved: plain('string map', {}, 'applied'),
  kubeReserved: plain('string map', {}, 'applied'),
  reservedSystemCPUs: plain('string', '', 'unsupported'),
  showHiddenMetricsForVersion: plain('string', '', 'ignored'),
  systemReservedCgroup: plain('string', '', 'applied'),
  kubeReservedCgroup: plain('string', '', 'applied'),
  enforceNodeAllocatable: pointer('strings', ['pods'], 'applied'),
  allowedUnsafeSysctls: plain('strings', [], 'unsupported'),
  volumePluginDir: plain('path', '/usr/libexec/kubernetes/kubelet-plugins/volume/exec/', 'ignored'),
  providerID: plain('string', '', 'applied'),
  kernelMemcgNotification: plain('boolean', false, 'ignored'),
  // Logs are JSON in either format.
  'logging.format': plain('string', 'text', 'ignored', 'json'),
  'logging.flushFrequency': plain('duration', '5s', 'ignored'),
  'logging.verbosity': plain('integer', 0, 'ignored'),
  'logging.vmodule': plain('objects', [], 'ignored'),
  'logging.options.text.splitStream': plain('boolean', false, 'ignored'),
  'logging.options.text.infoBufferSize': plain('string', '0', 'ignored'),
  'logging.options.json.splitStream': plain('boolean', false, 'ignored'),
  'logging.options.json.infoBufferSize': plain('string', '0', 'ignored'),
  enableSystemLogHandler: pointer('boolean', true, 'unsupported'),
  enableSystemLogQuery: pointer('boolean', false, 'unsupported'),
  shutdownGracePeriod: plain('duration', '0s', 'unsupported'),
  shutdownGracePeriodCriticalPods: plain('duration', '0s', 'unsupported'),
  shutdownGracePeriodByPodPriority: plain('objects', [], 'unsupported'),
  'crashLoopBackOff.maxContainerRestartPeriod': pointer('duration', undefined, 'unsupported'),
  reservedMemory: plain('objects', [], 'unsupported'),
  enableProfilingHandler: pointer('boolean', true, 'ignored'),
  enableDebugFlagsHandler: pointer('boolean', true, 'ignored'),
  seccompDefault: pointer('boolean', false, 'unsupported'),
  memoryThrottlingFactor: pointer('number', 0.9, 'ignored'),
  registerWithTaints: plain('objects', [], 'applied'),
  registerNode: pointer('boolean', true, 'unsupported'),
  'tracing.endpoint': pointer('string', undefined, 'ignored'),
  'tracing.samplingRatePerMillion': pointer('integer', undefined, 'ignored'),
  localStorageCapacityIsolation: pointer('boolean', true, 'unsupported'),
  containerRuntimeEndpoint: plain('string', 'unix:///run/containerd/containerd.sock', 'applied'),
  imageServiceEndpoint: plain('string', '', 'unsupported'),
  failCgroupV1: pointer('boolean', false, 'applied'),
  'userNamespaces.idsPerPod': pointer('integer', 65_536, 'unsupported'),
};
