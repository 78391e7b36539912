/** A SidecarSet keeps a history of its sidecars, and says which Pods have them (sidecarset.md §10.2). */
import type { Pod } from '@kruise/api/core/pod';
import type { SidecarSet, SidecarSetStatus } from '@kruise/api/kruise/sidecarset';
import type { Decision } from '@kruise/client/controller';
import type { ManagerSettings } from '../../settings.ts';
import { type History, planOf, truncateHistory, writeRevision } from './revisions.ts';
import { statusOf } from './status.ts';

export type Observed = History & {
  readonly sidecarSet: SidecarSet;
  /** The active Pods that have its sidecars. */
  readonly pods: readonly Pod[];
};

export function decide(observed: Observed, { namespace }: ManagerSettings): Decision<SidecarSetStatus> {
  const { sidecarSet, pods, revisions } = observed;
  const plan = planOf(sidecarSet, observed, namespace);
  return {
    actions: [...writeRevision(sidecarSet, plan), ...truncateHistory(sidecarSet, revisions, plan, pods)],
    status: statusOf(sidecarSet, pods, plan),
  };
}
