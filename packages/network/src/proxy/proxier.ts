/** Writers of the kernel's rules, one for each IP family. */
import type { IPFamily, ServicePort } from '../service/service-port.ts';

export type ProxyMode = 'nftables' | 'iptables';

/** Result of one sync. */
export type SyncResult = {
  /** True if all rules were compared with the kernel. */
  readonly isFull: boolean;
  /** True if rules were changed. */
  readonly hasChanges: boolean;
  /** Time after which stale chains can be deleted. */
  readonly requeueAfterMs?: number;
};

export type Proxier = {
  readonly family: IPFamily;
  readonly mode: ProxyMode;
  /** Replaces the desired rules of a Service. */
  update(service: string, ports: readonly ServicePort[]): void;
  /** Changes the kernel's rules to the desired ones. After a failure, the next sync is a full one. */
  sync(): Promise<SyncResult>;
  /** Makes the next sync a full one. */
  requestFullSync(): void;
  /** Reports whether another program has removed the rules. */
  isIntact(): Promise<boolean>;
  /** Number of desired rules. */
  readonly ruleCount: number;
};
