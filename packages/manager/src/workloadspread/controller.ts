import { deployment } from '@kruise/api/apps/deployment';
import { replicaSet } from '@kruise/api/apps/replicaset';
import { job } from '@kruise/api/batch/job';
import { node } from '@kruise/api/core/node';
import { pod } from '@kruise/api/core/pod';
import { cloneSet } from '@kruise/api/kruise/cloneset';
import { type WorkloadSpread, workloadSpread } from '@kruise/api/kruise/workloadspread';
import { isBeingDeleted } from '@kruise/client/actions';
import { type Controller, defineController, watch } from '@kruise/client/controller';
import type { Caches } from '@kruise/client/informer';
import type { Key } from '@kruise/client/object-key';
import { createScaleTargets } from '@kruise/client/scale-targets';
import type { Selector } from '@kruise/machinery/label-selector';
import { type ManagerSettings, workSettings } from '../configuration/settings.ts';
import { isListed, readAllowlistFrom } from '../persistentpodstate/allowlist.ts';
import { customWorkloadsIn } from './allowlist.ts';
import { type CachedPods, customTarget, type LiveReads } from './custom-target.ts';
import { decide, type Observed } from './decide.ts';
import {
  spreadOfCloneSet,
  spreadOfDeployment,
  spreadOfJob,
  spreadOfPod,
  spreadOfReplicaSet,
  watchCustomKinds,
} from './mappers.ts';
import { builtinKindOf, builtinTarget, filtered, type Target } from './target.ts';

/** Observed state, with a live read of the workload where its kind is not cached. */
type CachedState = Observed & { readonly readTarget?: (reader: LiveReads) => Promise<Target | undefined> };

export function workloadSpreadController(settings: ManagerSettings): Controller {
  const kinds = createScaleTargets();
  const customKinds = watchCustomKinds(settings.namespace);
  return defineController({
    ...workSettings(settings, 'workloadspread'),
    for: workloadSpread,
    watches: [
      watch(pod, spreadOfPod),
      watch(cloneSet, spreadOfCloneSet),
      watch(deployment, spreadOfDeployment),
      watch(replicaSet, spreadOfReplicaSet),
      watch(job, spreadOfJob),
      customKinds,
    ],
    uses: [node],
    observe: (caches, key) => observe(caches, key, settings),
    async fetch(cached: CachedState, client, signal) {
      if (!cached.readTarget) return cached;
      const kind = await kinds.kindOf(client, cached.spread.spec.targetRef, signal);
      if (kind) customKinds.watchKind(kind);
      return { ...cached, target: await cached.readTarget({ client, kinds, signal }) };
    },
    decide,
  });
}

function observe(caches: Caches, key: Key, settings: ManagerSettings): CachedState | undefined {
  const spread = caches.of(workloadSpread).get(key);
  if (!spread?.spec.targetRef || isBeingDeleted(spread)) return undefined;
  const { targetRef } = spread.spec;
  const { namespace = '' } = spread.metadata;
  const findNode = (name: string) => caches.of(node).get(name);
  const customWorkloads = customWorkloadsIn(caches, settings.namespace);
  const kind = builtinKindOf(targetRef);
  if (kind) {
    const target = builtinTarget(caches, kind, namespace, targetRef.name);
    return { spread, findNode, target: target && filtered(target, spread, customWorkloads) };
  }
  const isLikeStatefulSet = isListed(readAllowlistFrom(caches, settings.namespace), targetRef);
  const pods = podLister(caches, spread);
  const readTarget = async (reader: LiveReads) => {
    const target = await customTarget(reader, namespace, targetRef, { isLikeStatefulSet, pods });
    return target && filtered(target, spread, customWorkloads);
  };
  return { spread, findNode, target: undefined, readTarget };
}

function podLister(caches: Caches, { metadata: { namespace = '' } }: WorkloadSpread): CachedPods {
  const pods = caches.of(pod);
  const selectedBy = ({ matches }: Selector) =>
    pods.list({ namespace }).filter(({ metadata }) => matches(metadata.labels));
  return { ownedBy: pods.ownedBy, selectedBy };
}
