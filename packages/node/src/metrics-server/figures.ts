/** Resource usage of nodes and Pods, scraped from kubelets. */
import type { Node } from '@kruise/api/core/node';
import type { NodeConnector } from '@kruise/apiserver/connect/node-connector';
import { after, type Clock } from '@kruise/values/clock';
import { type Instant, parseTime } from '@kruise/values/time';

export type Usage = { readonly nanoCores: number; readonly memoryBytes: number };

export type PodFigures = {
  readonly at: Instant;
  readonly containers: readonly { readonly name: string; readonly usage: Usage }[];
};

export type NodeFigures = {
  readonly at: Instant;
  readonly usage: Usage;
  /** Usage of the node's Pods by UID; Pods with missing containers are omitted. */
  readonly pods: ReadonlyMap<string, PodFigures>;
};

export type Figures = {
  /** Returns the usage of a node; undefined if its kubelet does not respond. */
  of(node: Node): Promise<NodeFigures | undefined>;
};

/** Time for which a scrape is cached. */
const freshMs = 5000;
const patienceMs = 10_000;

/** Creates a scraper of kubelets that caches each scrape. */
export function createFigures(connector: NodeConnector, clock: Clock): Figures {
  const known = new Map<string, { readonly askedAt: Instant; readonly figures: Promise<NodeFigures | undefined> }>();
  return {
    of(node) {
      const { name = '' } = node.metadata;
      const now = clock.now();
      for (const [each, { askedAt }] of known) if (now - askedAt >= freshMs) known.delete(each);
      const found = known.get(name);
      if (found) return found.figures;
      const figures = ask(connector, clock, node).catch(() => undefined);
      known.set(name, { askedAt: now, figures });
      return figures;
    },
  };
}

async function ask(connector: NodeConnector, clock: Clock, node: Node): Promise<NodeFigures> {
  const over = new AbortController();
  const answered = new AbortController();
  after(clock, patienceMs, answered.signal).then(
    () => over.abort(new Error('timed out scraping the kubelet')),
    () => {},
  );
  try {
    const path = '/stats/summary?only_cpu_and_memory=true';
    const headers = { accept: 'application/json' };
    const { code, body } = await connector.kubelet(node).send({ method: 'GET', path, headers, signal: over.signal });
    const text = Buffer.concat(await body.toArray()).toString();
    if (code !== 200) throw new Error(`kubelet responded with status ${code}: ${text}`);
    return figuresOf(JSON.parse(text));
  } finally {
    answered.abort();
  }
}

type Measured = {
  readonly cpu?: { readonly time: string; readonly usageNanoCores?: number };
  readonly memory?: { readonly time: string; readonly workingSetBytes?: number };
};

/** Fields of the kubelet summary that are read. */
export type Summary = {
  readonly node: Measured;
  readonly pods?: readonly {
    readonly podRef: { readonly uid: string };
    readonly containers?: readonly (Measured & { readonly name: string })[];
  }[];
};

export function figuresOf({ node, pods = [] }: Summary): NodeFigures {
  const usage = usageOf(node);
  if (!usage) throw new Error('kubelet summary has no node usage');
  const found = new Map<string, PodFigures>();
  for (const { podRef, containers = [] } of pods) {
    const usages = containers.flatMap((each) => {
      const known = usageOf(each);
      return known ? [{ name: each.name, usage: known, at: timeOf(each) }] : [];
    });
    if (usages.length === 0 || usages.length < containers.length) continue;
    const at = Math.min(...usages.map((each) => each.at));
    found.set(podRef.uid, { at, containers: usages.map(({ name, usage: used }) => ({ name, usage: used })) });
  }
  return { at: timeOf(node), usage, pods: found };
}

function usageOf({ cpu, memory }: Measured): Usage | undefined {
  if (cpu?.usageNanoCores === undefined || memory?.workingSetBytes === undefined) return undefined;
  return { nanoCores: cpu.usageNanoCores, memoryBytes: memory.workingSetBytes };
}

function timeOf({ cpu }: Measured): Instant {
  return parseTime(cpu?.time ?? '');
}
