/** Revisions are there for as long as a Pod is of them. How many others stay at rest is in `at-rest.ts`. */
import { controllerRevision } from '@kruise/api/apps/controllerrevision';
import { pod } from '@kruise/api/core/pod';
import { podRevisionLabel } from '@kruise/machinery/controller-revision';
import { controllerOf } from '@kruise/machinery/owner-references';
import { shortHash } from '@kruise/manager/revision/pod-revision';
import { activeByOwner } from './amounts.ts';
import type { Invariant } from './invariant.ts';
import { isOfManager } from './kruise.ts';

export const revisionsInUseStay: Invariant = {
  name: 'no revision is deleted that a Pod is of',
  begin({ onRequest, view }) {
    let broken: string | undefined;
    onRequest((heard) => {
      if (heard.request.method !== 'DELETE' || !isOfManager(heard)) return undefined;
      const seen = view();
      const found = seen?.at(controllerRevision, heard.request.path);
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
