import { controllerRevision } from '@kruise/api/apps/controllerrevision';
import { type DaemonSet, daemonSet } from '@kruise/api/apps/daemonset';
import { type Node, node } from '@kruise/api/core/node';
import { pod } from '@kruise/api/core/pod';
import { adopters, candidatesFor } from '@kruise/client/adoption';
import { type BackOff, createBackOff } from '@kruise/client/back-off';
import { type Controller, defineController, watch } from '@kruise/client/controller';
import type { Caches, Change } from '@kruise/client/informer';
import { type Key, keyOf, referenceOf } from '@kruise/client/object-key';
import { type Placement, placementOf } from '@kruise/machinery/daemon-pods';
import { isSame } from '@kruise/machinery/json-value';
import { selectorOf } from '@kruise/machinery/label-selector';
import { decide, type Failure, type Observed } from './decide.ts';

/**
 * Keeps a Pod of each DaemonSet on every node that fits. It alone remembers something between passes: where Pods failed,
 * as they leave no trace of it once they are deleted. Started anew, it tries once more at once.
 */
export function daemonSetController(): Controller {
  const backOff = createBackOff({ firstMs: 1000, maxMs: 15 * 60_000 });
  const selector = ({ spec }: DaemonSet) => selectorOf(spec?.selector);
  return defineController({
    name: 'daemonset',
    for: daemonSet,
    owns: [pod, controllerRevision],
    watches: [
      watch(pod, adopters(daemonSet, selector)),
      watch(controllerRevision, adopters(daemonSet, selector)),
      watch(node, setsThatFitDifferently),
    ],
    observe: (caches, key) => observe(caches, key, backOff),
    decide,
    effects: {
      async noteFailure(input) {
        // It is what `decide` has put there.
        const { key, now } = input as Failure;
        backOff.begin(key, now);
      },
    },
    workers: 2,
  });
}

function observe(caches: Caches, key: Key, backOff: BackOff): Observed | undefined {
  const set = caches.of(daemonSet).get(key);
  if (!set) return undefined;
  const { namespace } = referenceOf(key);
  const revisions = caches.of(controllerRevision);
  return {
    set,
    nodes: caches.of(node).list(),
    candidates: candidatesFor(caches.of(pod), set),
    revisions: candidatesFor(revisions, set),
    find: (name) => revisions.get(namespace === undefined ? { name } : { namespace, name }),
    remainingBackOffMs: backOff.remainingMs,
  };
}

/** A node's heartbeat must not wake every DaemonSet: only those do something that fit it now, and did not, or did. */
function setsThatFitDifferently({ type, object, previous, cause }: Change<Node>, caches: Caches): readonly Key[] {
  // At the start every DaemonSet looks at all nodes.
  if (cause === 'initial') return [];
  if (
    previous &&
    isSame(previous.metadata.labels, object.metadata.labels) &&
    isSame(previous.spec?.taints, object.spec?.taints)
  ) {
    return [];
  }
  const before = type === 'deleted' ? object : previous;
  const after = type === 'deleted' ? undefined : object;
  const differs = ({ spec }: DaemonSet) => {
    const placement = placementOf(spec?.template?.spec);
    const placed = (state: Node | undefined): Placement | undefined => state && placement(state);
    return !isSame(placed(before) ?? nowhere, placed(after) ?? nowhere);
  };
  return caches.of(daemonSet).list().filter(differs).map(keyOf);
}

const nowhere: Placement = { shouldRun: false, shouldContinue: false };
