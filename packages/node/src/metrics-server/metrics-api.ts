import { type Node, node as nodeKind } from '@kruise/api/core/node';
import { type Pod, pod as podKind } from '@kruise/api/core/pod';
import type { InProcessRequest, InProcessServer } from '@kruise/apiserver/aggregation/in-process-servers';
import type { Caches } from '@kruise/client/informer';
import { matchesFields, parseFieldSelector } from '@kruise/machinery/field-selector';
import { parseSelector } from '@kruise/machinery/label-selector';
import { notFound } from '@kruise/machinery/status';
import type { Clock } from '@kruise/values/clock';
import { formatQuantity, NANO, quantityOf } from '@kruise/values/quantity';
import { formatTime, type Instant } from '@kruise/values/time';
import { asTable, wantsTable } from './tables.ts';
import type { Usage, UsageScraper } from './usage-scraper.ts';

const group = 'metrics.k8s.io';
const apiVersion = `${group}/v1beta1`;
const root = `/apis/${apiVersion}`;
/** Window over which the usage is averaged. */
const window = '15s';

type ResourceUsage = { readonly cpu: string; readonly memory: string };
type Metadata = {
  readonly name: string;
  readonly namespace?: string;
  readonly creationTimestamp: string;
  readonly labels?: { readonly [name: string]: string };
};

/** NodeMetrics or PodMetrics; `usage` is set for a node, `containers` for a Pod. */
export type Metrics = {
  readonly kind: 'NodeMetrics' | 'PodMetrics';
  readonly apiVersion: string;
  readonly metadata: Metadata;
  readonly timestamp: string;
  readonly window: string;
  readonly usage?: ResourceUsage;
  readonly containers?: readonly { readonly name: string; readonly usage: ResourceUsage }[];
};

export type MetricsApiOptions = {
  readonly caches: Caches;
  readonly figures: UsageScraper;
  readonly clock: Clock;
};

/** Creates the in-process server of `metrics.k8s.io/v1beta1`. */
export function metricsApi({ caches, figures, clock }: MetricsApiOptions): InProcessServer {
  const nodes = caches.informer(nodeKind);
  const pods = caches.informer(podKind);

  async function nodeMetrics(node: Node): Promise<readonly Metrics[]> {
    const found = await figures.of(node);
    if (!found) return [];
    return [{ ...metricsHead('NodeMetrics', node, found.at), usage: resourcesOf(found.usage) }];
  }

  async function podMetrics(pod: Pod): Promise<readonly Metrics[]> {
    const node = nodes.get(pod.spec?.nodeName ?? '');
    const found = (node && (await figures.of(node)))?.pods.get(pod.metadata.uid ?? '');
    if (!found || pod.status?.phase !== 'Running') return [];
    const containers = found.containers.map(({ name, usage }) => ({ name, usage: resourcesOf(usage) }));
    return [{ ...metricsHead('PodMetrics', pod, found.at), containers }];
  }

  const metricsHead = (kind: Metrics['kind'], { metadata }: Node | Pod, at: Instant) => {
    const { name = '', namespace, labels } = metadata;
    const creationTimestamp = formatTime(clock.now());
    return {
      kind,
      apiVersion,
      metadata: { name, ...(namespace ? { namespace } : {}), creationTimestamp, ...(labels ? { labels } : {}) },
      timestamp: formatTime(at),
      window,
    };
  };

  async function listMetrics<T extends Node | Pod>(
    kind: Metrics['kind'],
    objects: readonly T[],
    request: InProcessRequest,
    metricsOf: (object: T) => Promise<readonly Metrics[]>,
  ): Promise<unknown> {
    const labels = parseSelector(request.query.get('labelSelector') ?? '');
    const fields = parseFieldSelector(request.query.get('fieldSelector') ?? '');
    const chosen = objects.filter(({ metadata }) => {
      const known = new Map([
        ['metadata.name', metadata.name],
        ['metadata.namespace', metadata.namespace],
      ]);
      return labels.matches(metadata.labels) && matchesFields(fields, (field) => known.get(field));
    });
    const items = (await Promise.all(chosen.map(metricsOf))).flat();
    if (wantsTable(request.accept)) return asTable(items);
    return { kind: `${kind}List`, apiVersion, metadata: {}, items };
  }

  async function getMetrics(
    metrics: Promise<readonly Metrics[]> | undefined,
    plural: string,
    name: string,
    accept: string,
  ) {
    const [found] = (await metrics) ?? [];
    if (!found) throw notFound({ group, plural }, name);
    return wantsTable(accept) ? asTable([found]) : found;
  }

  return {
    async get(request) {
      await Promise.all([nodes.synced, pods.synced]);
      const { path, accept } = request;
      if (path === root) return resources;
      const [first, second, third, fourth, ...more] = path.slice(root.length + 1).split('/');
      if (path.startsWith(`${root}/`) && more.length === 0) {
        if (first === 'nodes' && second === undefined) {
          return listMetrics('NodeMetrics', nodes.list(), request, nodeMetrics);
        }
        if (first === 'nodes' && second !== undefined && third === undefined) {
          const node = nodes.get(second);
          return getMetrics(node && nodeMetrics(node), 'nodemetrics', second, accept);
        }
        if (first === 'pods' && second === undefined)
          return listMetrics('PodMetrics', pods.list(), request, podMetrics);
        if (first === 'namespaces' && second !== undefined && third === 'pods') {
          if (fourth === undefined) {
            return listMetrics('PodMetrics', pods.list({ namespace: second }), request, podMetrics);
          }
          const pod = pods.get({ namespace: second, name: fourth });
          return getMetrics(pod && podMetrics(pod), 'podmetrics', `${second}/${fourth}`, accept);
        }
      }
      throw notFound({ group: '', plural: 'paths' }, path);
    },
  };
}

function resourcesOf({ nanoCores, memoryBytes }: Usage): ResourceUsage {
  return {
    cpu: formatQuantity(quantityOf(Math.round(nanoCores), 'DecimalSI', NANO)),
    memory: formatQuantity(quantityOf(Math.round(memoryBytes), 'BinarySI')),
  };
}

const resources = {
  kind: 'APIResourceList',
  apiVersion: 'v1',
  groupVersion: apiVersion,
  resources: [
    { name: 'nodes', singularName: '', namespaced: false, kind: 'NodeMetrics', verbs: ['get', 'list'] },
    { name: 'pods', singularName: '', namespaced: true, kind: 'PodMetrics', verbs: ['get', 'list'] },
  ],
};
