import { type Node, node } from '@kruise/api/core/node';
import { isBeingDeleted, record, remove, withOutcomeEvents } from '@kruise/client/actions';
import { type Controller, type Decision, defineController } from '@kruise/client/controller';
import { isConditionTrue } from '@kruise/machinery/conditions';
import type { Instant } from '@kruise/values/time';
import { changedTaints, patchTaints, type TaintId } from '../../controllers/node-taints.ts';
import type { Instances } from '../provider.ts';

export type Observed = { readonly node: Node; readonly instance: 'unasked' | 'gone' | 'shut down' | 'there' };

const shutdownTaint: TaintId = { key: 'node.cloudprovider.kubernetes.io/shutdown', effect: 'NoSchedule' };

/** Interval at which the cloud is queried about a node that is not ready. */
const periodSeconds = 5;

/**
 * Node lifecycle controller of the cloud: deletes nodes whose instance no longer exists, and taints nodes whose
 * instance is shut down.
 */
export function cloudNodeLifecycleController(instances: Instances): Controller {
  return defineController({
    name: 'cloud-node-lifecycle',
    for: node,
    predicate: ({ type, object, previous }) => type === 'added' || isReady(object) !== (previous && isReady(previous)),
    observe(caches, key): Observed | undefined {
      const found = caches.of(node).get(key);
      return found && !isBeingDeleted(found) ? { node: found, instance: 'unasked' } : undefined;
    },
    async fetch(observed, _client, signal): Promise<Observed> {
      if (isReady(observed.node)) return observed;
      if (!(await instances.exists(observed.node, signal))) return { ...observed, instance: 'gone' };
      const isShutDown = await instances.isShutDown(observed.node, signal);
      return { ...observed, instance: isShutDown ? 'shut down' : 'there' };
    },
    decide,
  });
}

export function decide({ node: found, instance }: Observed, now: Instant): Decision<Node['status']> {
  if (isReady(found)) {
    const taints = changedTaints(found, { drop: [shutdownTaint] }, now);
    return { actions: taints ? [patchTaints(found, taints)] : [] };
  }
  if (instance === 'gone') {
    const { name } = found.metadata;
    const message = `Deleting node ${name} because it does not exist in the cloud provider`;
    const failed = { reason: 'DeletingNodeFailed', message: `Failed deleting node ${name}: {error}` };
    return {
      actions: [
        record({ about: found, type: 'Normal', reason: 'DeletingNode', message }),
        withOutcomeEvents(remove(found), { about: found, failed }),
      ],
    };
  }
  const taints = instance === 'shut down' ? changedTaints(found, { add: [shutdownTaint] }, now) : undefined;
  return { actions: taints ? [patchTaints(found, taints)] : [], requeueAfterSeconds: periodSeconds };
}

function isReady({ status }: Node): boolean {
  return isConditionTrue(status?.conditions, 'Ready');
}
