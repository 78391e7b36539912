import { type HorizontalPodAutoscaler, horizontalPodAutoscaler } from '@kruise/api/autoscaling/horizontalpodautoscaler';
import type { Scale } from '@kruise/api/autoscaling/scale';
import { type Pod, pod } from '@kruise/api/core/pod';
import type { Client } from '@kruise/client/client';
import { type Controller, defineController } from '@kruise/client/controller';
import type { Effect } from '@kruise/client/execute';
import { type Key, keyOf, referenceOf } from '@kruise/client/object-key';
import { createScaleTargets, type ScaleTargets } from '@kruise/client/scale-targets';
import { parseSelector, type Selector } from '@kruise/machinery/label-selector';
import { notFound } from '@kruise/machinery/status';
import { errorText } from '@kruise/values/error-text';
import { podsMatching } from '@kruise/workload-kit/pod-indexes';
import { boundsOf, decide, needsMetrics, type Observed, type Rescale, type Selection } from './decide.ts';
import { type History, noHistory, withScaling } from './limits.ts';
import { type MetricsSource, metricsApis } from './metrics-api.ts';
import { isFailure } from './replicas.ts';
import { type AutoscalerSettings, defaultAutoscalerSettings } from './settings.ts';

export type AutoscalerOptions = {
  readonly targets?: ScaleTargets;
  readonly settings?: Partial<AutoscalerSettings> | undefined;
  /** Source of metrics; defaults to the metrics APIs of the cluster. */
  readonly metrics?: MetricsSource;
};

type MetricsInput = Observed & { readonly podsOf: (selector: Selector) => readonly Pod[] };

/** HorizontalPodAutoscaler controller: scales workloads based on metrics. */
export function horizontalPodAutoscalerController({
  settings: given = {},
  targets = createScaleTargets(),
  metrics = metricsApis(targets),
}: AutoscalerOptions = {}): Controller {
  const settings = { ...defaultAutoscalerSettings, ...given };
  // Recommendations are only in memory. After a restart, the current size is the first recommendation.
  const histories = new Map<Key, History>();
  const selectors = new Map<Key, Selector>();

  async function readMetrics(input: MetricsInput, client: Client, signal: AbortSignal): Promise<MetricsInput> {
    const { autoscaler } = input;
    const target = await scaleOf(targets, client, autoscaler, signal);
    if (isFailure(target) || !needsMetrics(target.spec?.replicas ?? 0, boundsOf(autoscaler))) {
      return { ...input, target };
    }
    const podSelector = target.status?.selector ?? '';
    const selection = select(keyOf(autoscaler), podSelector, input.podsOf, selectors);
    if ('failure' in selection) return { ...input, target, selection };
    const place = { namespace: autoscaler.metadata.namespace ?? '', podSelector };
    const specs = autoscaler.spec?.metrics ?? [];
    const metricResults = await Promise.all(specs.map((spec) => metrics.answer(client, spec, place, signal)));
    return { ...input, target, selection, metricResults };
  }

  const rescale: Effect = async (input, signal, { client, record }) => {
    // `decide` sets the input.
    const { autoscaler, scale, replicas, reason, at } = input as Rescale;
    const key = keyOf(autoscaler);
    try {
      const kind = await targets.kindOf(client, targetOf(autoscaler), signal);
      const wanted = { ...scale, spec: { ...scale.spec, replicas } };
      await client.update(kind!, wanted, { subresource: 'scale', fieldManager: 'horizontal-pod-autoscaler', signal });
    } catch (error) {
      const message = `New size: ${replicas}; reason: ${reason}; error: ${errorText(error)}`;
      record({ about: autoscaler, type: 'Warning', reason: 'FailedRescale', message });
      throw error;
    }
    const message = `New size: ${replicas}; reason: ${reason}`;
    record({ about: autoscaler, type: 'Normal', reason: 'SuccessfulRescale', message });
    const history = histories.get(key) ?? noHistory;
    histories.set(key, withScaling(history, scale.spec?.replicas ?? 0, replicas, at));
  };

  return defineController({
    name: 'horizontal-pod-autoscaler',
    component: 'horizontal-pod-autoscaler',
    for: horizontalPodAutoscaler,
    predicate: ({ type, object, previous }) =>
      type !== 'updated' || object.metadata.generation !== previous?.metadata.generation,
    uses: [pod],
    // The next reconcile is always one period later, after failures too.
    rateLimiter: () => ({ delayMs: () => settings.periodSeconds * 1000, forget() {}, failures: () => 0 }),
    effects: { rescale },
    observe(caches, key): MetricsInput | undefined {
      const autoscaler = caches.of(horizontalPodAutoscaler).get(key);
      if (!autoscaler) {
        histories.delete(key);
        selectors.delete(key);
        return undefined;
      }
      return {
        autoscaler,
        history: histories.get(key) ?? noHistory,
        target: { failure: 'the scale was not fetched' },
        selection: { pods: [] },
        metricResults: [],
        podsOf: (selector) => podsMatching(caches, autoscaler.metadata.namespace ?? '', selector),
      };
    },
    fetch: readMetrics,
    decide(observed, now) {
      const { history, decision } = decide(observed, settings, now);
      histories.set(keyOf(observed.autoscaler), history);
      return decision;
    },
  });
}

function targetOf({ spec }: HorizontalPodAutoscaler) {
  const { apiVersion = '', kind = '', name = '' } = spec?.scaleTargetRef ?? {};
  return { apiVersion, kind, name };
}

async function scaleOf(
  targets: ScaleTargets,
  client: Client,
  autoscaler: HorizontalPodAutoscaler,
  signal: AbortSignal,
): Promise<Scale | { readonly failure: string }> {
  const target = targetOf(autoscaler);
  try {
    const scale = await targets.scaleOf(client, target, autoscaler.metadata.namespace ?? '', signal);
    if (scale) return scale;
    const kind = await targets.kindOf(client, target, signal);
    return { failure: errorText(kind && notFound(kind, target.name)) };
  } catch (error) {
    if (signal.aborted) throw error;
    return { failure: errorText(error) };
  }
}

/** Selects the Pods of a target, if it has a selector and no other autoscaler selects the same Pods. */
function select(
  key: Key,
  text: string,
  podsOf: (selector: Selector) => readonly Pod[],
  selectors: Map<Key, Selector>,
): Selection {
  if (text === '') {
    const message = "the HPA target's scale is missing a selector";
    return { failure: 'selector is required', event: 'SelectorRequired', reason: 'InvalidSelector', message };
  }
  let selector: Selector;
  try {
    selector = parseSelector(text);
  } catch (error) {
    const failure = `couldn't convert selector into a corresponding internal selector object: ${errorText(error)}`;
    return { failure, event: 'InvalidSelector', reason: 'InvalidSelector', message: failure };
  }
  selectors.set(key, selector);
  const pods = podsOf(selector);
  const { namespace } = referenceOf(key);
  const claimants = [...selectors]
    .filter(([other]) => referenceOf(other).namespace === namespace)
    .filter(([, { matches }]) => pods.some(({ metadata }) => matches(metadata.labels)))
    .map(([other]) => other)
    .sort();
  if (claimants.length <= 1) return { pods };
  const names = claimants.map((other) => `{${referenceOf(other).name} ${namespace}}`).join(' ');
  const failure = `pods by selector ${text} are controlled by multiple HPAs: [${names}]`;
  return { failure, event: 'AmbiguousSelector', reason: 'AmbiguousSelector', message: failure };
}
