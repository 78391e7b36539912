import { type NodePodProbe, nodePodProbe } from '@kruise/api/kruise/nodepodprobe';
import { effect } from '@kruise/client/actions';
import { type Controller, defineController, type Watch } from '@kruise/client/controller';
import { exponentialBackOff } from '@kruise/client/rate-limiter';
import type { Selection } from '@kruise/client/reflector';
import { isSame } from '@kruise/machinery/json-value';
import type { DaemonNodes } from '../node.ts';
import type { Prober } from './prober.ts';
import { type FindingsOf, statusOf } from './status.ts';

export type PodProbeOptions = {
  readonly nodes: DaemonNodes;
  readonly selection: Selection | undefined;
  readonly prober: Prober;
};

type Observed = {
  readonly name: string;
  readonly told: NodePodProbe | undefined;
  readonly findings: FindingsOf;
};

/** Enqueues a node when one of its probes has a new result. */
function newsOf(prober: Prober, selection: Selection | undefined): Watch {
  return {
    kind: nodePodProbe,
    selection,
    follow(_caches, wake) {
      prober.onNews = (nodeName) => wake(nodeName, 'change');
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
    watches: [newsOf(prober, selection)],
    workers: 5,
    // The status of a NodePodProbe is not urgent.
    isBackground: true,
    rateLimiter: () => exponentialBackOff({ firstMs: 500, maxMs: 50_000 }),
    observe(caches, name): Observed | undefined {
      if (!nodes.has(name)) return undefined;
      const told = caches.of(nodePodProbe, selection).get(name);
      return { name, told, findings: prober.findingsOf(name) };
    },
    decide: ({ name, told, findings }) => ({
      actions: [effect('follow', { name, told })],
      ...(told ? { status: statusOf(told, findings) } : {}),
    }),
    effects: {
      async follow(input) {
        // The input of the effect comes from `decide`.
        const { name, told } = input as Omit<Observed, 'findings'>;
        prober.follow(name, told);
      },
    },
  });
}
