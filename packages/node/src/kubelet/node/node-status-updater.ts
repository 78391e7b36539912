/** Updates of the Node status: when it changes, and every five minutes. Changes of conditions are recorded as events. */
import { type Node, node as nodeKind, nodeStatus } from '@kruise/api/core/node';
import type { Client } from '@kruise/client/client';
import type { Log } from '@kruise/client/log';
import { findCondition } from '@kruise/machinery/conditions';
import type { JsonObject } from '@kruise/machinery/json-value';
import { isNotFound } from '@kruise/machinery/status';
import { createTwoWayMergePatch } from '@kruise/machinery/strategic-merge-diff';
import { mergeTypeOf } from '@kruise/schema/merge-type';
import type { Clock } from '@kruise/values/clock';
import type { Instant } from '@kruise/values/time';
import type { CurrentNode } from './current-node.ts';
import { eventReasonFor, isSameNodeStatus } from './node-status.ts';

type NodeStatus = NonNullable<Node['status']>;

/** Updater of a Node status. */
export type NodeStatusUpdater = {
  /** Updates the status if it changed or the last report is old. */
  update(): Promise<void>;
  /** Marks the status as changed and updates it; a failed update is repeated. */
  markChanged(): void;
  /** Records that a status was reported with the creation of the Node. */
  recordCreation(status: NodeStatus): void;
  /** Reports whether the last report is so old that the status must be reported even if it is the same. */
  isReportOld(): boolean;
};

/** Dependencies of an updater. */
export type UpdaterContext = {
  readonly client: Client;
  readonly clock: Clock;
  readonly log: Log;
  readonly nodeName: string;
  readonly node: CurrentNode;
  /** Returns the status to report. */
  readonly statusFrom: (current: Node) => NodeStatus;
  readonly record: (type: 'Normal' | 'Warning', reason: string, message: string) => void;
};

const statusReportMs = 300_000;
const maxAttempts = 5;
const mergeType = mergeTypeOf(nodeStatus);

/** Creates the updater of a Node that was never reported. */
export function createNodeStatusUpdater(context: UpdaterContext, signal: AbortSignal): NodeStatusUpdater {
  const { client, clock, log, nodeName: name, node, statusFrom, record } = context;
  let reportedAt: Instant = 0;
  let isSyncing = false;
  let isDirty = false;

  const isReportOld = () => clock.now() - reportedAt >= statusReportMs;

  async function update(): Promise<void> {
    const current = node.get();
    if (!current) return;
    const status = statusFrom(current);
    if (!isReportOld() && isSameNodeStatus(current.status ?? {}, status)) return;
    const patch = createTwoWayMergePatch(
      // The cast is safe: a status is JSON like every API object.
      { original: (current.status ?? {}) as JsonObject, modified: status as JsonObject },
      mergeType,
    );
    const written = await client.patch(
      nodeKind,
      { name },
      { status: patch },
      { type: 'strategic', subresource: 'status', signal },
    );
    recordReport(current.status ?? {}, status);
    node.set(written);
  }

  function recordReport(before: NodeStatus, status: NodeStatus): void {
    reportedAt = clock.now();
    const bootId = status.nodeInfo?.bootID ?? '';
    if (before.nodeInfo?.bootID && before.nodeInfo.bootID !== bootId) {
      record('Warning', 'Rebooted', `Node ${name} has been rebooted, boot id: ${bootId}`);
    }
    for (const condition of status.conditions ?? []) {
      const event = eventReasonFor(condition);
      if (!event || findCondition(before.conditions, condition.type)?.status === condition.status) continue;
      record('Normal', event, `Node ${name} status is now: ${event}`);
    }
  }

  async function sync(): Promise<void> {
    if (isSyncing) return;
    isSyncing = true;
    while (isDirty && !signal.aborted) {
      isDirty = false;
      for (let attempt = 1; !signal.aborted; attempt++) {
        try {
          await update();
          break;
        } catch (error) {
          if (signal.aborted) break;
          // The Node was deleted on purpose; the kubelet registers it again only after a restart.
          if (isNotFound(error)) {
            node.set(undefined);
            break;
          }
          if (attempt < maxAttempts) continue;
          log.warn({ node: name, error }, 'failed to update node status');
          break;
        }
      }
    }
    isSyncing = false;
  }

  return {
    update,
    markChanged() {
      isDirty = true;
      if (node.get()) void sync();
    },
    recordCreation: (status) => recordReport({}, status),
    isReportOld,
  };
}
