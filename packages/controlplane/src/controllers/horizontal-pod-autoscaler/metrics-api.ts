/** Metrics sources: three aggregated APIs, none of which is part of Kubernetes itself. */
import type { CrossVersionObjectReference, MetricSpec } from '@kruise/api/autoscaling/horizontalpodautoscaler';
import type { Client } from '@kruise/client/client';
import type { ScaleTargets } from '@kruise/client/scale-targets';
import { type LabelSelector, selectorOf } from '@kruise/machinery/label-selector';
import { resourceOf } from '@kruise/schema/kind';
import { parseDuration, toMilliseconds } from '@kruise/values/duration';
import { errorText } from '@kruise/values/error-text';
import { milliValue, parseQuantity } from '@kruise/values/quantity';
import { parseTime } from '@kruise/values/time';
import type { MetricResult } from './metric-proposals.ts';
import type { PodMetric, PodMetrics } from './replicas.ts';

/** Returns the current value of a metric. Never throws: a failure is part of the result. */
export type MetricsSource = {
  answer(client: Client, spec: MetricSpec, place: Place, signal: AbortSignal): Promise<MetricResult>;
};

/** Namespace and selector of the Pods. */
export type Place = { readonly namespace: string; readonly podSelector: string };

type Item = {
  readonly metadata?: { readonly name?: string };
  readonly timestamp?: string;
  readonly window?: string;
  readonly windowSeconds?: number;
  readonly value?: string;
  readonly describedObject?: { readonly name?: string };
  readonly containers?: readonly { readonly name: string; readonly usage?: Readonly<Record<string, string>> }[];
};

const defaultWindowMs = 60_000;
const customVersions = ['v1beta2', 'v1beta1'];

/** Metrics APIs of the cluster. */
export function metricsApis(targets: ScaleTargets): MetricsSource {
  return {
    async answer(client, spec, place, signal) {
      try {
        return await ask(client, spec, place, signal);
      } catch (error) {
        if (signal.aborted) throw error;
        return { failure: errorText(error) };
      }
    },
  };

  async function ask(client: Client, spec: MetricSpec, place: Place, signal: AbortSignal): Promise<MetricResult> {
    const { namespace, podSelector } = place;
    const get = (path: string, query: Readonly<Record<string, string>>) => list(client, path, query, signal);
    switch (spec.type) {
      case 'Resource':
      case 'ContainerResource': {
        const resource = spec.resource?.name ?? spec.containerResource?.name ?? '';
        const path = `/apis/metrics.k8s.io/v1beta1/namespaces/${namespace}/pods`;
        const items = await fetched('resource', 'pods.metrics.k8s.io', () => get(path, { labelSelector: podSelector }));
        return { pods: resourceMetrics(items, resource, spec.containerResource?.container) };
      }
      case 'Pods': {
        const { name = '', selector } = spec.pods?.metric ?? {};
        const query = { labelSelector: podSelector, ...metricQuery(selector) };
        const path = `namespaces/${namespace}/pods/*/${name}`;
        return { pods: podMetrics(await custom(get, path, query)) };
      }
      case 'Object': {
        const { metric, describedObject } = spec.object ?? {};
        const path = await objectPath(client, namespace, describedObject, metric?.name ?? '', signal);
        const items = await custom(get, path, metricQuery(metric?.selector));
        if (items.length !== 1) {
          throw new Error(
            `the custom metrics API server returned ${items.length} results when we asked for exactly one`,
          );
        }
        return { value: milliOf(items[0]?.value) };
      }
      default: {
        const { name = '', selector } = spec.external?.metric ?? {};
        const path = `/apis/external.metrics.k8s.io/v1beta1/namespaces/${namespace}/${name}`;
        const query = selector ? { labelSelector: selectorOf(selector).text } : {};
        const items = await fetched('external', `${name}.external.metrics.k8s.io`, () => get(path, query));
        return { value: items.reduce((sum, { value }) => sum + milliOf(value), 0) };
      }
    }
  }

  /** Queries the newest served version of the custom metrics API. */
  async function custom(
    get: (path: string, query: Readonly<Record<string, string>>) => Promise<readonly Item[]>,
    path: string,
    query: Readonly<Record<string, string>>,
  ): Promise<readonly Item[]> {
    return fetched('custom', 'custom.metrics.k8s.io', async () => {
      let failure: unknown;
      for (const version of customVersions) {
        try {
          return await get(`/apis/custom.metrics.k8s.io/${version}/${path}`, query);
        } catch (error) {
          failure ??= error;
        }
      }
      throw failure;
    });
  }

  async function objectPath(
    client: Client,
    namespace: string,
    object: CrossVersionObjectReference | undefined,
    metric: string,
    signal: AbortSignal,
  ): Promise<string> {
    const { apiVersion = 'v1', kind = '', name = '' } = object ?? {};
    if (kind === 'Namespace') return `namespaces/${namespace}/metrics/${metric}`;
    const found = await targets.kindOf(client, { apiVersion, kind }, signal);
    if (!found) throw new Error(`no matches for kind "${kind}" in version "${apiVersion}"`);
    return `namespaces/${namespace}/${resourceOf(found)}/${name}/${metric}`;
  }
}

async function list(
  client: Client,
  path: string,
  query: Readonly<Record<string, string>>,
  signal: AbortSignal,
): Promise<readonly Item[]> {
  const { object } = await client.transport.request({ method: 'GET', path, query, signal });
  // All of these APIs return lists.
  return (object as { readonly items?: readonly Item[] | null }).items ?? [];
}

const unknownResource = 'the server could not find the requested resource';

/** Fetches a list; errors and empty results name the API. */
async function fetched(api: string, resource: string, get: () => Promise<readonly Item[]>): Promise<readonly Item[]> {
  let items: readonly Item[];
  try {
    items = await get();
  } catch (error) {
    const text = errorText(error);
    const reason = text.startsWith(unknownResource) ? `${unknownResource} (get ${resource})` : text;
    throw new Error(`unable to fetch metrics from ${api} metrics API: ${reason}`, { cause: error });
  }
  if (items.length === 0) throw new Error(`no metrics returned from ${api} metrics API`);
  return items;
}

function metricQuery(selector: LabelSelector | undefined): Readonly<Record<string, string>> {
  return selector ? { metricLabelSelector: selectorOf(selector).text } : {};
}

/** Returns the usage of a resource by Pod: all containers, or one. Pods with incomplete metrics are left out. */
function resourceMetrics(items: readonly Item[], resource: string, container: string | undefined): PodMetrics {
  const metrics = new Map<string, PodMetric>();
  for (const item of items) {
    const containers = (item.containers ?? []).filter(({ name }) => container === undefined || name === container);
    const usages = containers.map(({ usage }) => usage?.[resource]);
    if (usages.length === 0 || usages.includes(undefined)) continue;
    const value = usages.reduce((sum, usage) => sum + milliOf(usage), 0);
    const windowMs = item.window ? toMilliseconds(parseDuration(item.window)) : 0;
    metrics.set(item.metadata?.name ?? '', { value, at: timeOf(item), windowMs });
  }
  return metrics;
}

function podMetrics(items: readonly Item[]): PodMetrics {
  return new Map(
    items.map((item) => {
      const windowMs = item.windowSeconds == null ? defaultWindowMs : item.windowSeconds * 1000;
      return [item.describedObject?.name ?? '', { value: milliOf(item.value), at: timeOf(item), windowMs }];
    }),
  );
}

function timeOf({ timestamp }: Item): number {
  return timestamp ? parseTime(timestamp) : 0;
}

function milliOf(value: string | undefined): number {
  return milliValue(parseQuantity(value ?? '0'));
}
