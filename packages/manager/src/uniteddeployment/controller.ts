import { controllerRevision } from '@kruise/api/apps/controllerrevision';
import { replicaSet } from '@kruise/api/apps/replicaset';
import { type Pod, pod } from '@kruise/api/core/pod';
import { unitedDeployment } from '@kruise/api/kruise/uniteddeployment';
import { candidatesFor } from '@kruise/client/adoption';
import { type Controller, defineController, watch } from '@kruise/client/controller';
import type { Caches } from '@kruise/client/informer';
import type { Key } from '@kruise/client/object-key';
import type { ObjectReader } from '@kruise/client/object-store';
import { type ManagerSettings, workSettings } from '../configuration/settings.ts';
import { decide, type Observed } from './decide.ts';
import { deploymentOfPod } from './mappers.ts';
import { type Workload, type WorkloadType, workloadTypeOf, workloadTypes } from './workload-types.ts';

export function unitedDeploymentController(settings: ManagerSettings): Controller {
  return defineController({
    ...workSettings(settings, 'uniteddeployment'),
    for: unitedDeployment,
    owns: workloadTypes.map(({ kind }) => kind),
    watches: [watch(pod, deploymentOfPod)],
    uses: [controllerRevision],
    observe,
    decide,
  });
}

function observe(caches: Caches, key: Key): Observed | undefined {
  const owner = caches.of(unitedDeployment).get(key);
  if (!owner) return undefined;
  const { namespace = '' } = owner.metadata;
  const revisions = caches.of(controllerRevision);
  const present = workloadTypeOf(owner.spec.template);
  return {
    owner,
    revisions: candidatesFor(revisions, owner),
    findRevision: (name) => revisions.get({ namespace, name }),
    workloads: present ? candidatesFor(workloadsOf(caches, present), owner) : [],
    workloadsOfOtherTypes: workloadTypes
      .filter((workloadType) => workloadType !== present)
      .flatMap((workloadType) => workloadsOf(caches, workloadType).controlledBy(owner)),
    podsOf: (workload) => podsOf(caches, workload),
  };
}

/** Returns the workload cache of a type. All types share the fields of `Workload`. */
function workloadsOf(caches: Caches, { kind }: WorkloadType): ObjectReader<Workload> {
  return caches.of(kind) as ObjectReader<unknown> as ObjectReader<Workload>;
}

/**
 * Returns the Pods of a workload. The Pods of a Deployment belong to ReplicaSets, which are only read for Deployments.
 */
function podsOf(caches: Caches, workload: Workload): readonly Pod[] {
  const pods = caches.of(pod);
  if (workload.kind !== 'Deployment') return pods.controlledBy(workload);
  return caches
    .of(replicaSet)
    .controlledBy(workload)
    .flatMap((each) => pods.controlledBy(each));
}
