/** Lease of a node: the heartbeat of its kubelet. */
import { type Lease, lease as leaseKind } from '@kruise/api/coordination/lease';
import type { Node } from '@kruise/api/core/node';
import type { Client } from '@kruise/client/client';
import type { Log } from '@kruise/client/log';
import { isAlreadyExists, isConflict, isNotFound } from '@kruise/machinery/status';
import type { Clock } from '@kruise/values/clock';
import { jitter, type Random } from '@kruise/values/random';
import { formatMicroTime } from '@kruise/values/time';

/** Lease of a node. */
export type NodeLease = {
  /** Renews the lease, or creates it. Does nothing while the Node does not exist. */
  renew(): Promise<void>;
  /** Renews the lease every ten seconds from now on. */
  startRenewing(): void;
};

/** Dependencies of a lease. */
export type LeaseContext = {
  readonly client: Client;
  readonly clock: Clock;
  readonly random: Random;
  readonly log: Log;
  readonly nodeName: string;
  readonly node: () => Node | undefined;
};

const leaseNamespace = 'kube-node-lease';
const leaseSeconds = 40;
const renewMs = 10_000;
const maxAttempts = 5;

/** Creates the lease of a node; nothing is renewed after the signal is aborted. */
export function createNodeLease(context: LeaseContext, signal: AbortSignal): NodeLease {
  const { client, clock, random, log, nodeName: name, node } = context;
  let lease: Lease | undefined;

  async function renew(): Promise<void> {
    const renewTime = formatMicroTime(clock.now());
    const spec = { holderIdentity: name, leaseDurationSeconds: leaseSeconds, renewTime };
    for (let attempt = 1; ; attempt++) {
      try {
        if (!node()) return;
        if (lease) lease = await client.update(leaseKind, { ...lease, spec: { ...lease.spec, ...spec } }, { signal });
        else lease = await create(spec);
        return;
      } catch (error) {
        if (signal.aborted) return;
        lease = undefined;
        if (isConflict(error) || isNotFound(error) || isAlreadyExists(error)) {
          lease = await client.get(leaseKind, { name, namespace: leaseNamespace }, { signal }).catch(() => undefined);
        }
        if (attempt === maxAttempts) {
          log.warn({ node: name, error }, 'failed to renew node lease');
          return;
        }
      }
    }
  }

  function create(spec: Lease['spec']): Promise<Lease> {
    const ownerReferences = [{ apiVersion: 'v1', kind: 'Node', name, uid: node()?.metadata.uid ?? '' }];
    const metadata = { name, namespace: leaseNamespace, ownerReferences };
    return client.create(leaseKind, { metadata, spec: spec ?? {} }, { signal });
  }

  function startRenewing(): void {
    // Jitter spreads the lease renewals of nodes that started at the same time.
    clock.setTimer(jitter(random, renewMs, 0.04), () => void renew().then(startRenewing), signal);
  }

  return { renew, startRenewing };
}
