import { controllerRevision } from '@kruise/api/apps/controllerrevision';
import { namespace } from '@kruise/api/core/namespace';
import { pod } from '@kruise/api/core/pod';
import { type SidecarSet, sidecarSet } from '@kruise/api/kruise/sidecarset';
import { type Controller, defineController, watch } from '@kruise/client/controller';
import type { Caches, Change } from '@kruise/client/informer';
import type { Key } from '@kruise/client/object-key';
import { selectorOf } from '@kruise/machinery/label-selector';
import { controllerOf } from '@kruise/machinery/owner-references';
import { isPodActive } from '@kruise/machinery/pods';
import { type ManagerSettings, workSettings } from '../configuration/settings.ts';
import { decide, type Observed } from './decide.ts';
import { setOfRevision } from './history.ts';
import { setsOfPod } from './mappers.ts';
import { injectedSets } from './marks.ts';
import { hasSidecars } from './pod-state.ts';

export function sidecarSetController(settings: ManagerSettings): Controller {
  return defineController({
    ...workSettings(settings, 'sidecarset'),
    for: sidecarSet,
    predicate: isSpecChange,
    watches: [watch(pod, setsOfPod)],
    uses: [controllerRevision, namespace],
    observe: (caches, key) => observe(caches, key, settings),
    decide: (observed, now, refused) => decide(observed, settings, now, refused),
  });
}

/** Predicate: only a change of the spec enqueues a SidecarSet. */
function isSpecChange({ object, previous }: Change<SidecarSet>): boolean {
  return previous?.metadata.generation !== object.metadata.generation;
}

function observe(caches: Caches, key: Key, { namespace: own }: ManagerSettings): Observed | undefined {
  const found = caches.of(sidecarSet).get(key);
  if (!found) return undefined;
  const { name = '', uid } = found.metadata;
  const { selector, namespaceSelector } = found.spec;
  const [selected, chosen] = [selectorOf(selector), namespaceSelector && selectorOf(namespaceSelector)];
  const isChosen = (place = '') => !chosen || chosen.matches(caches.of(namespace).get(place)?.metadata.labels);
  const revisions = caches.of(controllerRevision);
  return {
    sidecarSet: found,
    pods: caches
      .of(pod)
      .byIndex(injectedSets, name)
      .filter(({ metadata }) => selected.matches(metadata.labels) && isChosen(metadata.namespace))
      .filter((each) => isPodActive(each) && hasSidecars(each, found)),
    revisions: revisions
      .byIndex(setOfRevision, name)
      .filter((each) => each.metadata.namespace === own && (controllerOf(each)?.uid ?? uid) === uid),
    findRevision: (revision) => revisions.get({ namespace: own, name: revision }),
  };
}
