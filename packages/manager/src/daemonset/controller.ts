import { controllerRevision } from '@kruise/api/apps/controllerrevision';
import { node } from '@kruise/api/core/node';
import { pod } from '@kruise/api/core/pod';
import { type DaemonSet, daemonSet } from '@kruise/api/kruise/daemonset';
import { imagePullJob } from '@kruise/api/kruise/imagepulljob';
import { candidatesFor, mapToAdopters } from '@kruise/client/adoption';
import { type Backoff, createBackoff } from '@kruise/client/backoff';
import { type Controller, defineController, watch } from '@kruise/client/controller';
import type { Caches } from '@kruise/client/informer';
import { type Key, referenceOf } from '@kruise/client/object-key';
import { placementOf } from '@kruise/machinery/daemon-pods';
import { selectorOf } from '@kruise/machinery/label-selector';
import { failureEffects } from '@kruise/workload-kit/daemonset/ended-pods';
import { mapNodeToSets } from '@kruise/workload-kit/daemonset/mappers';
import { type ManagerSettings, workSettings } from '../configuration/settings.ts';
import { decide, type Observed } from './decide.ts';

/**
 * DaemonSet controller. Its only state between reconciles is the backoff of nodes where Pods failed: deleted Pods leave
 * no trace of the failure.
 */
export function daemonSetController(settings: ManagerSettings): Controller {
  const preDownloadEnabled = settings.gates.PreDownloadImageForDaemonSetUpdate;
  const backOff = createBackoff({ initialMs: 1000, maxMs: 15 * 60_000 });
  const selector = ({ spec }: DaemonSet) => selectorOf(spec.selector);
  return defineController({
    for: daemonSet,
    owns: [pod],
    watches: [
      watch(pod, mapToAdopters(daemonSet, selector)),
      watch(controllerRevision, mapToAdopters(daemonSet, selector)),
      watch(node, mapNodeToSets(daemonSet, viewOf)),
    ],
    uses: preDownloadEnabled ? [imagePullJob] : [],
    ...workSettings(settings, 'daemonset'),
    observe: (caches, key) => observe(caches, key, { backOff, preDownloadEnabled }),
    decide: (observed, now, refused) => decide(observed, settings, now, refused),
    effects: failureEffects(backOff),
  });
}

/**
 * Returns the view of a node that matters to the DaemonSet: placement, and whether the update selector matches the
 * node.
 */
function viewOf({ spec }: DaemonSet) {
  const placement = placementOf(spec.template.spec);
  const { selector } = spec.updateStrategy?.rollingUpdate ?? {};
  const chosen = selector && selectorOf(selector);
  return (seen: Parameters<typeof placement>[0]) =>
    chosen ? { ...placement(seen), isChosen: chosen.matches(seen.metadata.labels) } : placement(seen);
}

type ObserveOptions = { readonly backOff: Backoff; readonly preDownloadEnabled: boolean };

function observe(caches: Caches, key: Key, { backOff, preDownloadEnabled }: ObserveOptions): Observed | undefined {
  const set = caches.of(daemonSet).get(key);
  if (!set) return undefined;
  const { namespace = '' } = referenceOf(key);
  const revisions = caches.of(controllerRevision);
  return {
    set,
    nodes: caches.of(node).list(),
    candidates: candidatesFor(caches.of(pod), set),
    revisions: candidatesFor(revisions, set),
    findRevision: (name) => revisions.get({ namespace, name }),
    remainingBackOffMs: backOff.remainingMs,
    imagePullJobs: preDownloadEnabled ? caches.of(imagePullJob).controlledBy(set) : [],
  };
}
