import type { MetricRegistry } from '@kruise/client/metrics';
import type { Store } from '../store/store.ts';
import { storeTimer } from './server-metrics.ts';

/** Wraps a store with latency metrics. */
export function timedStore(store: Store, metrics: MetricRegistry, nowMs: () => number): Store {
  const timer = storeTimer(metrics);
  const [current, get, list, write] = [timer('currentRevision'), timer('get'), timer('list'), timer('write')];

  function timed<T>(series: typeof get, operation: () => Promise<T>): Promise<T> {
    const startedAt = nowMs();
    const done = operation();
    const observe = () => series.observe((nowMs() - startedAt) / 1000);
    done.then(observe, observe);
    return done;
  }

  return {
    currentRevision: () => timed(current, () => store.currentRevision()),
    get: (key, at) => timed(get, () => store.get(key, at)),
    range: (request) => timed(list, () => store.range(request)),
    write: (request) => timed(write, () => store.write(request)),
    watch: (request) => store.watch(request),
    compact: (revision) => store.compact(revision),
    close: () => store.close(),
  };
}
