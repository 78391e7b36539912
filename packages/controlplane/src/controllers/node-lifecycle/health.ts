/**
 * Node health. The clock of a node may be wrong, so a heartbeat counts at the time it was observed here, not at its
 * timestamp: a new heartbeat, a changed Ready condition, or a renewed lease.
 */
import type { Lease } from '@kruise/api/coordination/lease';
import type { Node, NodeCondition } from '@kruise/api/core/node';
import { findCondition } from '@kruise/machinery/conditions';
import { formatTime, type Instant, parseMicroTime, parseTime } from '@kruise/values/time';

/** Health of a node that is kept between monitor periods. */
export type Health = {
  /** Time of the last observed heartbeat. */
  readonly lastHeartbeatAt: Instant;
  /** The Ready condition and the lease as last observed. */
  readonly ready: NodeCondition | undefined;
  readonly renewedAt: Instant | undefined;
};

/** Grace periods without heartbeats. */
export type GracePeriods = {
  readonly monitorGraceSeconds: number;
  /** Grace period of a node that never reported its status. */
  readonly startupGraceSeconds: number;
};

/** Updates the health of a node with the observed node and lease. */
export function observeHealth(
  known: Health | undefined,
  { metadata, status }: Node,
  lease: Lease | undefined,
  now: Instant,
): Health {
  const ready = findCondition(status?.conditions, 'Ready');
  const renewedAt = lease?.spec?.renewTime ? parseMicroTime(lease.spec.renewTime) : undefined;
  const isRenewed = renewedAt !== undefined && (known?.renewedAt === undefined || known.renewedAt < renewedAt);
  if (known === undefined && ready === undefined && !isRenewed) {
    const lastHeartbeatAt = metadata.creationTimestamp ? parseTime(metadata.creationTimestamp) : now;
    return { lastHeartbeatAt, ready, renewedAt };
  }
  const hasHeartbeat = known === undefined || isRenewed || isHeartbeat(known.ready, ready);
  return {
    lastHeartbeatAt: hasHeartbeat ? now : known.lastHeartbeatAt,
    ready,
    renewedAt: isRenewed ? renewedAt : known?.renewedAt,
  };
}

/** The status Unknown is set by this controller, never by the node itself, so it is not a heartbeat. */
function isHeartbeat(previous: NodeCondition | undefined, current: NodeCondition | undefined): boolean {
  if (previous === undefined || current === undefined) return previous !== current;
  if (previous.lastHeartbeatTime !== current.lastHeartbeatTime) return true;
  return previous.status !== current.status && current.status !== 'Unknown';
}

/** Conditions that the kubelet reports, and that become Unknown without heartbeats. */
const reportedConditions = ['Ready', 'MemoryPressure', 'DiskPressure', 'PIDPressure'];

/**
 * Returns the conditions of a node whose grace period has passed; undefined if it has not, or if the conditions are
 * already set.
 */
export function unknownConditionsOf(
  { metadata, status }: Node,
  { lastHeartbeatAt, ready }: Health,
  { monitorGraceSeconds, startupGraceSeconds }: GracePeriods,
  now: Instant,
): readonly NodeCondition[] | undefined {
  const graceSeconds = ready ? monitorGraceSeconds : startupGraceSeconds;
  if (now <= lastHeartbeatAt + graceSeconds * 1000 || ready?.status === 'Unknown') return undefined;
  const lastTransitionTime = formatTime(now);
  const present = status?.conditions ?? [];
  const unknownStatus = present.map((condition) =>
    reportedConditions.includes(condition.type) && condition.status !== 'Unknown'
      ? {
          ...condition,
          status: 'Unknown',
          reason: 'NodeStatusUnknown',
          message: 'Kubelet stopped posting node status.',
          lastTransitionTime,
        }
      : condition,
  );
  const missing = reportedConditions.filter((type) => !findCondition(present, type));
  return [
    ...unknownStatus,
    ...missing.map((type) => ({
      type,
      status: 'Unknown',
      reason: 'NodeStatusNeverUpdated',
      message: 'Kubelet never posted node status.',
      lastHeartbeatTime: metadata.creationTimestamp ?? null,
      lastTransitionTime,
    })),
  ];
}
