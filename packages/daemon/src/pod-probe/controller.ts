import { type NodePodProbe, nodePodProbe } from '@kruise/api/kruise/nodepodprobe';
import { effect } from '@kruise/client/actions';
import { type Controller, defineController, type Watch } from '@kruise/client/controller';
import { exponentialBackoff } from '@kruise/client/rate-limiter';
import type { Selection } from '@kruise/client/reflector';
import { isSame } from '@kruise/machinery/json-value';
import type { DaemonNodes } from '../node.ts';
import type { Prober } from './prober.ts';
import { type ResultLookup, statusOf } from './status.ts';

export type PodProbeOptions = {
  readonly nodes: DaemonNodes;
  readonly selection: Selection | undefined;
  readonly prober: Prober;
};

type Observed = {
  readonly name: string;
  readonly desired: NodePodProbe | undefined;
  readonly findings: ResultLookup;
};

/** Enqueues a node when one of its probes has a new result. */
function watchResults(prober: Prober, selection: Selection | undefined): Watch {
  return {
    kind: nodePodProbe,
    selection,
    start(_caches, enqueue) {
      prober.onResult = (nodeName) => enqueue(nodeName, 'change');
    },
  };
}

export function podProbeController({ nodes, selection, prober }: PodProbeOptions): Controller {
  return defineController({
    name: 'podprobe',
    component: 'kruise-daemon-podprobe',
    fieldManager: 'kruise-daemon',
    for: nodePodProbe,
    ...(selection ? { selection } : {}),
    predicate: ({ type, object, previous }) => type !== 'updated' || !isSame(object.spec, previous?.spec),
    watches: [watchResults(prober, selection)],
    workers: 5,
    // The status of a NodePodProbe is not urgent.
    isBackground: true,
    rateLimiter: () => exponentialBackoff({ initialMs: 500, maxMs: 50_000 }),
    observe(caches, name): Observed | undefined {
      if (!nodes.has(name)) return undefined;
      const desired = caches.of(nodePodProbe, selection).get(name);
      return { name, desired, findings: prober.resultsOf(name) };
    },
    decide: ({ name, desired, findings }) => ({
      actions: [effect('follow', { name, desired })],
      ...(desired ? { status: statusOf(desired, findings) } : {}),
    }),
    effects: {
      async follow(input) {
        // The input of the effect comes from `decide`.
        const { name, desired } = input as Omit<Observed, 'findings'>;
        prober.syncProbes(name, desired);
      },
    },
  });
}
