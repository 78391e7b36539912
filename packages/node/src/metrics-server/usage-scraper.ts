/** Resource usage of nodes and Pods, scraped from kubelets. */
import type { Node } from '@kruise/api/core/node';
import type { NodeConnector } from '@kruise/apiserver/connect/node-connector';
import { after, type Clock } from '@kruise/values/clock';
import { type Instant, parseTime } from '@kruise/values/time';

export type Usage = { readonly nanoCores: number; readonly memoryBytes: number };

export type PodUsage = {
  readonly at: Instant;
  readonly containers: readonly { readonly name: string; readonly usage: Usage }[];
};

export type NodeUsage = {
  readonly at: Instant;
  readonly usage: Usage;
  /** Usage of the node's Pods by UID; Pods with missing containers are omitted. */
  readonly pods: ReadonlyMap<string, PodUsage>;
};

export type UsageScraper = {
  /** Returns the usage of a node; undefined if its kubelet does not respond. */
  of(node: Node): Promise<NodeUsage | undefined>;
};

/** Time for which a scrape is cached. */
const freshMs = 5000;
const scrapeTimeoutMs = 10_000;

/** Creates a scraper of kubelets that caches each scrape. */
export function createUsageScraper(connector: NodeConnector, clock: Clock): UsageScraper {
  const cache = new Map<string, { readonly askedAt: Instant; readonly figures: Promise<NodeUsage | undefined> }>();
  return {
    of(node) {
      const { name = '' } = node.metadata;
      const now = clock.now();
      for (const [each, { askedAt }] of cache) if (now - askedAt >= freshMs) cache.delete(each);
      const found = cache.get(name);
      if (found) return found.figures;
      const figures = scrape(connector, clock, node).catch(() => undefined);
      cache.set(name, { askedAt: now, figures });
      return figures;
    },
  };
}

async function scrape(connector: NodeConnector, clock: Clock, node: Node): Promise<NodeUsage> {
  const timeout = new AbortController();
  const done = new AbortController();
  after(clock, scrapeTimeoutMs, done.signal).then(
    () => timeout.abort(new Error('timed out scraping the kubelet')),
    () => {},
  );
  try {
    const path = '/stats/summary?only_cpu_and_memory=true';
    const headers = { accept: 'application/json' };
    const { code, body } = await connector.kubelet(node).send({ method: 'GET', path, headers, signal: timeout.signal });
    const text = Buffer.concat(await body.toArray()).toString();
    if (code !== 200) throw new Error(`kubelet responded with status ${code}: ${text}`);
    return parseSummary(JSON.parse(text));
  } finally {
    done.abort();
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

export function parseSummary({ node, pods = [] }: Summary): NodeUsage {
  const usage = usageOf(node);
  if (!usage) throw new Error('kubelet summary has no node usage');
  const found = new Map<string, PodUsage>();
  for (const { podRef, containers = [] } of pods) {
    const usages = containers.flatMap((each) => {
      const cache = usageOf(each);
      return cache ? [{ name: each.name, usage: cache, at: timeOf(each) }] : [];
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
