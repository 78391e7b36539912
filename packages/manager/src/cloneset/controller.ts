import { type ControllerRevision, controllerRevision } from '@kruise/api/apps/controllerrevision';
import { node } from '@kruise/api/core/node';
import { persistentVolumeClaim } from '@kruise/api/core/persistentvolumeclaim';
import { type Pod, pod } from '@kruise/api/core/pod';
import { type CloneSet, cloneSet } from '@kruise/api/kruise/cloneset';
import { imagePullJob } from '@kruise/api/kruise/imagepulljob';
import { podUnavailableBudget } from '@kruise/api/kruise/podunavailablebudget';
import { type Controller, defineController, ownersOf, watch } from '@kruise/client/controller';
import type { Caches, Change } from '@kruise/client/informer';
import type { Key } from '@kruise/client/object-key';
import { compareRevisions } from '@kruise/machinery/controller-revision';
import { selectorOf } from '@kruise/machinery/label-selector';
import { controllerOf } from '@kruise/machinery/owner-references';
import { type ManagerSettings, workSettings } from '../configuration/settings.ts';
import { decide, type Observed } from './decide.ts';
import { isIgnorablePodUpdate } from './pod-predicate.ts';

export function cloneSetController(settings: ManagerSettings): Controller {
  const { PreDownloadImageForInPlaceUpdate: preDownloadEnabled, PodUnavailableBudgetUpdateGate: budgetsEnabled } =
    settings.gates;
  return defineController({
    ...workSettings(settings, 'cloneset'),
    for: cloneSet,
    owns: [persistentVolumeClaim],
    watches: [
      watch(pod, settings.gates.CloneSetEventHandlerOptimization ? ownersOfRelevantPod(settings) : ownersOfPod),
    ],
    uses: [
      controllerRevision,
      node,
      ...(preDownloadEnabled ? [imagePullJob] : []),
      ...(budgetsEnabled ? [podUnavailableBudget] : []),
    ],
    observe(caches, key) {
      const found = caches.of(cloneSet).get(key);
      return found && observeCloneSet(caches, found, settings);
    },
    decide: (observed, now, refused) => decide(observed, settings, now, refused),
  });
}

function ownersOfPod(change: Change<Pod>): readonly Key[] {
  return ownersOf(cloneSet, change);
}

/** Maps a Pod change to its owner, without changes that cannot affect the CloneSet, such as a container heartbeat. */
function ownersOfRelevantPod({ gates }: ManagerSettings) {
  return (change: Change<Pod>, caches: Caches): readonly Key[] => {
    const owners = ownersOfPod(change);
    const { previous, object } = change;
    const isIgnored = (key: Key) =>
      previous && isIgnorablePodUpdate({ previous, object }, caches.of(cloneSet).get(key), gates);
    return owners.filter((key) => !isIgnored(key));
  };
}

/** Collects the input of `decide` for a CloneSet, which may be stored in the cluster or only planned. */
export function observeCloneSet(caches: Caches, found: CloneSet, { gates }: ManagerSettings): Observed {
  const { namespace = '' } = found.metadata;
  const revisions = caches.of(controllerRevision);
  const selector = selectorOf(found.spec.selector);
  const history = [...revisions.controlledBy(found), ...revisions.byIndex(orphanNamespace, namespace)];
  return {
    cloneSet: found,
    pods: caches.of(pod).controlledBy(found),
    claims: caches.of(persistentVolumeClaim).controlledBy(found),
    revisions: history.filter(({ metadata }) => selector.matches(metadata.labels)).sort(compareRevisions),
    findRevision: (name) => revisions.get({ namespace, name }),
    imagePullJobs: gates.PreDownloadImageForInPlaceUpdate ? caches.of(imagePullJob).controlledBy(found) : [],
    findBudget: (name) => caches.of(podUnavailableBudget).get({ namespace, name }),
    nodeLabels: (name) => caches.of(node).get(name)?.metadata.labels,
  };
}

/**
 * Index function: the namespace of an orphaned revision, in which a CloneSet with a matching selector could adopt it.
 */
function orphanNamespace(revision: ControllerRevision): readonly string[] {
  return controllerOf(revision) ? [] : [revision.metadata.namespace ?? ''];
}
