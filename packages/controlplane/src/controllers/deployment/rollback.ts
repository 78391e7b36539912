/** Rollback to an earlier template, requested by the annotation that replaced a removed field. */
import type { Deployment } from '@kruise/api/apps/deployment';
import type { ReplicaSet } from '@kruise/api/apps/replicaset';
import { type Action, record, update, withOutcomeEvents } from '@kruise/client/actions';
import { isSameTemplate, withoutHash } from '@kruise/workload-kit/replica-sets';
import { annotationsAsOf, atRevision, previousRevision, revisionOf, rollbackOf, withoutRollback } from './revisions.ts';

/** Rolls the Deployment back to the template of a revision. The rollback request is removed in any case. */
export function rollBack(deployment: Deployment, sets: readonly ReplicaSet[], newSet: ReplicaSet): readonly Action[] {
  const wanted = rollbackOf(deployment) || previousRevision(sets);
  const marked = atRevision(deployment, newSet);
  if (wanted === 0n) {
    return [
      rollbackEvent(deployment, 'DeploymentRollbackRevisionNotFound', 'Unable to find last revision.'),
      clearRequest(marked),
    ];
  }
  const target = sets.find((set) => revisionOf(set) === wanted);
  if (!target) {
    const message = 'Unable to find the revision to rollback to.';
    return [rollbackEvent(deployment, 'DeploymentRollbackRevisionNotFound', message), clearRequest(marked)];
  }
  const name = deployment.metadata.name ?? '';
  if (isSameTemplate(deployment.spec?.template, target.spec?.template)) {
    const message = `The rollback revision contains the same template as current deployment "${name}"`;
    return [rollbackEvent(deployment, 'DeploymentRollbackTemplateUnchanged', message), clearRequest(marked)];
  }
  const back = withoutRollback({
    ...marked,
    metadata: { ...marked.metadata, annotations: annotationsAsOf(marked, target) },
    spec: { ...marked.spec!, template: withoutHash(target.spec?.template)! },
  });
  const message = `Rolled back deployment "${name}" to revision ${wanted}`;
  return [withOutcomeEvents(update(back), { about: deployment, done: { reason: 'DeploymentRollback', message } })];
}

function clearRequest(deployment: Deployment): Action {
  return update(withoutRollback(deployment));
}

function rollbackEvent(about: Deployment, reason: string, message: string): Action {
  return record({ about, type: 'Warning', reason, message });
}
