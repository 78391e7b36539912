import type { ControllerSettings } from '@kruise/controlplane/controllers/settings';
import { secondsOf } from './component.ts';
import type { TuningFlags } from './flags.ts';

type Tuning = Pick<ControllerSettings, 'nodeMonitor' | 'nodeBlockLengths' | 'autoscaler' | 'maxEndpointsPerSlice'>;

/** Parses the flags that tune controllers. Flags that are not set are left out. */
export function tuningOf(flags: TuningFlags): Tuning {
  const given = <T extends object>(values: { readonly [K in keyof T]: T[K] | undefined }): T =>
    // Only the values that are not undefined remain.
    Object.fromEntries(Object.entries(values).filter(([, value]) => value !== undefined)) as T;
  const maskSize = whole('--node-cidr-mask-size', flags.nodeCidrMaskSize);
  return given<Tuning>({
    nodeMonitor: given<NonNullable<Tuning['nodeMonitor']>>({
      periodSeconds: seconds('--node-monitor-period', flags.nodeMonitorPeriod),
      monitorGraceSeconds: seconds('--node-monitor-grace-period', flags.nodeMonitorGracePeriod),
      startupGraceSeconds: seconds('--node-startup-grace-period', flags.nodeStartupGracePeriod),
      evictionRate: fraction('--node-eviction-rate', flags.nodeEvictionRate),
      secondaryEvictionRate: fraction('--secondary-node-eviction-rate', flags.secondaryNodeEvictionRate),
      largeClusterSize: whole('--large-cluster-size-threshold', flags.largeClusterSizeThreshold),
      unhealthyZoneThreshold: fraction('--unhealthy-zone-threshold', flags.unhealthyZoneThreshold),
    }),
    nodeBlockLengths: {
      4: whole('--node-cidr-mask-size-ipv4', flags.nodeCidrMaskSizeIpv4) ?? maskSize,
      6: whole('--node-cidr-mask-size-ipv6', flags.nodeCidrMaskSizeIpv6) ?? maskSize,
    },
    autoscaler: given<NonNullable<Tuning['autoscaler']>>({
      periodSeconds: seconds('--horizontal-pod-autoscaler-sync-period', flags.horizontalPodAutoscalerSyncPeriod),
      downWindowSeconds: seconds(
        '--horizontal-pod-autoscaler-downscale-stabilization',
        flags.horizontalPodAutoscalerDownscaleStabilization,
      ),
      tolerance: fraction('--horizontal-pod-autoscaler-tolerance', flags.horizontalPodAutoscalerTolerance),
      cpuInitializationMs: milliseconds(
        '--horizontal-pod-autoscaler-cpu-initialization-period',
        flags.horizontalPodAutoscalerCpuInitializationPeriod,
      ),
      initialReadinessDelayMs: milliseconds(
        '--horizontal-pod-autoscaler-initial-readiness-delay',
        flags.horizontalPodAutoscalerInitialReadinessDelay,
      ),
    }),
    maxEndpointsPerSlice: whole('--max-endpoints-per-slice', flags.maxEndpointsPerSlice),
  });
}

function seconds(flag: string, text: string | undefined): number | undefined {
  return text === undefined ? undefined : secondsOf(flag, text);
}

function milliseconds(flag: string, text: string | undefined): number | undefined {
  return text === undefined ? undefined : secondsOf(flag, text) * 1000;
}

function whole(flag: string, text: string | undefined): number | undefined {
  if (text === undefined) return undefined;
  if (!/^\d{1,9}$/.test(text)) throw new Error(`${flag} must be a number, not ${text}`);
  return Number(text);
}

function fraction(flag: string, text: string | undefined): number | undefined {
  if (text === undefined) return undefined;
  if (!/^\d+(\.\d+)?$/.test(text)) throw new Error(`${flag} must be a number, not ${text}`);
  return Number(text);
}
