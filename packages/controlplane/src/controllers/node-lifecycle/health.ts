/**
 * Whether a node is alive. Its clock may be wrong, so what counts is when a sign of life was noticed here, not the time
 * that it bears: a new heartbeat, another Ready condition than before, a renewed lease.
 */
import type { Lease } from '@kruise/api/coordination/lease';
import type { Node, NodeCondition } from '@kruise/api/core/node';
import { findCondition } from '@kruise/machinery/conditions';
import { formatTime, type Instant, parseMicroTime, parseTime } from '@kruise/values/time';

/** What is remembered of a node from one look to the next. */
export type Health = {
  /** When it last gave a sign of life. */
  readonly heardAt: Instant;
  /** The Ready condition and the lease as last seen. */
  readonly ready: NodeCondition | undefined;
  readonly renewedAt: Instant | undefined;
};

/** How long a node may be silent. */
export type Patience = {
  readonly monitorGraceSeconds: number;
  /** A node that never said how it is. */
  readonly startupGraceSeconds: number;
};

/** What is known of a node now, given what was known and what there is to see. */
export function noticed(
  known: Health | undefined,
  { metadata, status }: Node,
  lease: Lease | undefined,
  now: Instant,
): Health {
  const ready = findCondition(status?.conditions, 'Ready');
  const renewedAt = lease?.spec?.renewTime ? parseMicroTime(lease.spec.renewTime) : undefined;
  const isRenewed = renewedAt !== undefined && (known?.renewedAt === undefined || known.renewedAt < renewedAt);
  if (known === undefined && ready === undefined && !isRenewed) {
    const heardAt = metadata.creationTimestamp ? parseTime(metadata.creationTimestamp) : now;
    return { heardAt, ready, renewedAt };
  }
  const isAlive = known === undefined || isRenewed || isSignOfLife(known.ready, ready);
  return { heardAt: isAlive ? now : known.heardAt, ready, renewedAt: isRenewed ? renewedAt : known?.renewedAt };
}

/** That nothing is known of a node is what others say of it, never the node itself. */
function isSignOfLife(previous: NodeCondition | undefined, current: NodeCondition | undefined): boolean {
  if (previous === undefined || current === undefined) return previous !== current;
  if (previous.lastHeartbeatTime !== current.lastHeartbeatTime) return true;
  return previous.status !== current.status && current.status !== 'Unknown';
}

/** What the kubelet tells of a node, and what is unknown while it is silent. */
const reportedConditions = ['Ready', 'MemoryPressure', 'DiskPressure', 'PIDPressure'];

/** The conditions of a node that has been silent for too long; undefined where it has not, or they say so already. */
export function conditionsOfSilent(
  { metadata, status }: Node,
  { heardAt, ready }: Health,
  { monitorGraceSeconds, startupGraceSeconds }: Patience,
  now: Instant,
): readonly NodeCondition[] | undefined {
  const graceSeconds = ready ? monitorGraceSeconds : startupGraceSeconds;
  if (now <= heardAt + graceSeconds * 1000 || ready?.status === 'Unknown') return undefined;
  const lastTransitionTime = formatTime(now);
  const present = status?.conditions ?? [];
  const silent = present.map((condition) =>
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
    ...silent,
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
