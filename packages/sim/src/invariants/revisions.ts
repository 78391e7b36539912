/** ControllerRevisions exist as long as an active Pod uses them. `convergence.ts` checks the number of unused ones. */
import { controllerRevision } from '@kruise/api/apps/controllerrevision';
import { pod } from '@kruise/api/core/pod';
import { podRevisionLabel } from '@kruise/machinery/controller-revision';
import { controllerOf } from '@kruise/machinery/owner-references';
import { shortHash } from '@kruise/manager/workload/revision/pod-revision';
import type { Invariant } from './invariant.ts';
import { isFromManager } from './kruise.ts';
import { activeByOwner } from './limits.ts';

export const revisionsInUseAreKept: Invariant = {
  name: 'no ControllerRevision of an active Pod is deleted',
  observe({ onRequest, view }) {
    let broken: string | undefined;
    onRequest((observed) => {
      if (observed.request.method !== 'DELETE' || !isFromManager(observed)) return undefined;
      const seen = view();
      const found = seen?.at(controllerRevision, observed.request.path);
      if (!seen || !found) return undefined;
      const { name = '' } = found.metadata;
      const pods = activeByOwner(seen.list(pod)).get(controllerOf(found)?.uid ?? '') ?? [];
      const user = pods.find(
        ({ metadata }) => shortHash(metadata.labels?.[podRevisionLabel] ?? '') === shortHash(name),
      );
      if (!user) return undefined;
      return () => (broken ??= `${name} of ${user.metadata.name}`);
    });
    return () => broken;
  },
};
