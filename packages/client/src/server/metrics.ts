/**
 * Metrics in the text formats of Prometheus and OpenMetrics. Metrics are registered once, at startup. Hot paths keep
 * the series of their labels, so that an increment is a single addition.
 */

/**
 * Metric registry of a process.
 *
 * ```ts
 * const metrics = createMetrics();
 * const requests = metrics.counter('requests_total', 'Total number of requests.', ['code']);
 * requests.of('200').increase();
 * ```
 */
export type MetricRegistry = {
  counter(name: string, help: string, labels?: readonly string[]): Metric<Counter>;
  gauge(name: string, help: string, labels?: readonly string[]): Metric<Gauge>;
  histogram(name: string, help: string, labels: readonly string[], buckets: readonly number[]): Metric<Histogram>;
  /** Calls back before each collection, for values that are cheaper to compute than to maintain. */
  onCollect(update: () => void): void;
  /** Returns all metrics as text. */
  text(format?: MetricFormat): string;
  /** Returns the same text in chunks of bounded length, for streamed responses. */
  chunks(format?: MetricFormat): Generator<string>;
};

/** Exposition formats. */
export type MetricFormat = 'prometheus' | 'openmetrics';

/** A metric: one series per combination of label values. */
export type Metric<S> = {
  /** Returns the series of some label values, in the order of the declared labels. */
  of(...values: readonly string[]): S;
  /**
   * Adds a series for an object with a limited lifetime, until `detach` is called with the same array. Its label text
   * is formatted only when metrics are collected.
   */
  attach(values: readonly string[]): S;
  detach(values: readonly string[]): void;
  /** Removes all series. */
  clear(): void;
};

/** A counter only increases. */
export type Counter = { increase(by?: number): void };
/** A gauge increases and decreases. */
export type Gauge = { set(value: number): void; increase(by?: number): void; decrease(by?: number): void };
/** A histogram counts observations in buckets. */
export type Histogram = { observe(value: number): void };

/** Returns `count` bounds of a histogram, each a multiple of the one before: `exponentialBounds(0.001, 2, 15)`. */
export function exponentialBounds(first: number, factor: number, count: number): readonly number[] {
  return Array.from({ length: count }, (_, index) => first * factor ** index);
}

type Series = { write(lines: string[], name: string, labels: string): void };
type Family = {
  readonly name: string;
  readonly help: string;
  readonly type: 'counter' | 'gauge' | 'histogram';
  readonly labels: readonly string[];
  /** Series by label text, or by the label values of attached series. */
  readonly series: ReadonlyMap<string | readonly string[], Series>;
};

/** Creates an empty registry. */
export function createMetrics(): MetricRegistry {
  const families = new Map<string, Family>();
  const updates: (() => void)[] = [];

  function add<S extends Series>(
    type: Family['type'],
    name: string,
    help: string,
    labels: readonly string[],
    make: () => S,
  ): Metric<S> {
    if (families.has(name)) throw new Error(`metric ${name} is already registered`);
    const series = new Map<string | readonly string[], S>();
    families.set(name, { name, help, type, labels, series });
    return {
      of(...values) {
        const written = labels.length === 0 ? '' : labelText(labels, values);
        let found = series.get(written);
        if (!found) series.set(written, (found = make()));
        return found;
      },
      attach(values) {
        const made = make();
        series.set(values, made);
        return made;
      },
      detach: (values) => void series.delete(values),
      clear: () => series.clear(),
    };
  }

  return {
    counter: (name, help, labels = []) => add('counter', name, help, labels, () => new NumberSeries()),
    gauge: (name, help, labels = []) => add('gauge', name, help, labels, () => new NumberSeries()),
    histogram: (name, help, labels, buckets) =>
      add('histogram', name, help, labels, () => new HistogramSeries(buckets)),
    onCollect: (update) => void updates.push(update),
    text: (format) => [...chunks(format)].join(''),
    chunks,
  };

  function* chunks(format: MetricFormat = 'prometheus'): Generator<string> {
    for (const update of updates) update();
    let lines: string[] = [];
    for (const family of [...families.values()].sort((a, b) => (a.name < b.name ? -1 : 1))) {
      for (const _series of writeFamily(() => lines, family, format)) {
        if (lines.length < chunkLines) continue;
        yield `${lines.join('\n')}\n`;
        lines = [];
      }
    }
    if (format === 'openmetrics') lines.push('# EOF');
    lines.push('');
    yield lines.join('\n');
  }
}

/** Minimum number of lines in a chunk, except the last. */
const chunkLines = 512;

/** Writes a family to the current lines, one series at a time. */
function* writeFamily(
  currentLines: () => string[],
  { name, help, type, labels, series }: Family,
  format: MetricFormat,
): Generator<void> {
  if (series.size === 0) return;
  // OpenMetrics omits the suffix `_total` in the family name of a counter.
  const familyName = format === 'openmetrics' && type === 'counter' ? name.replace(/_total$/, '') : name;
  currentLines().push(`# HELP ${familyName} ${escaped(help)}`, `# TYPE ${familyName} ${type}`);
  const sampleName = format === 'openmetrics' && type === 'counter' ? `${familyName}_total` : name;
  const writtenLabels = new Set<string>();
  for (const [key, each] of series) {
    const labelsText = typeof key === 'string' ? key : labelText(labels, key);
    // Two series with the same labels may exist, one of them of a terminating object.
    if (!writtenLabels.has(labelsText)) each.write(currentLines(), sampleName, labelsText);
    writtenLabels.add(labelsText);
    yield;
  }
}

/**
 * Classes, here and below: there is one series per probe of each container, and closures would take most of the memory.
 */
class NumberSeries implements Counter, Gauge, Series {
  #value = 0;

  increase(by = 1): void {
    this.#value += by;
  }
  decrease(by = 1): void {
    this.#value -= by;
  }
  set(to: number): void {
    this.#value = to;
  }
  write(lines: string[], name: string, labels: string): void {
    lines.push(`${name}${braced(labels)} ${numberText(this.#value)}`);
  }
}

class HistogramSeries implements Histogram, Series {
  readonly #buckets: readonly number[];
  readonly #counts: number[];
  #sum = 0;

  constructor(buckets: readonly number[]) {
    this.#buckets = buckets;
    this.#counts = new Array<number>(buckets.length + 1).fill(0);
  }

  observe(value: number): void {
    let index = 0;
    while (index < this.#buckets.length && value > this.#buckets[index]!) index++;
    this.#counts[index]!++;
    this.#sum += value;
  }
  write(lines: string[], name: string, labels: string): void {
    const before = labels === '' ? '' : `${labels},`;
    let total = 0;
    for (const [index, count] of this.#counts.entries()) {
      total += count;
      const limit = index < this.#buckets.length ? numberText(this.#buckets[index]!) : '+Inf';
      lines.push(`${name}_bucket{${before}le="${limit}"} ${total}`);
    }
    lines.push(`${name}_sum${braced(labels)} ${numberText(this.#sum)}`, `${name}_count${braced(labels)} ${total}`);
  }
}

function labelText(labels: readonly string[], values: readonly string[]): string {
  let text = '';
  for (let index = 0; index < labels.length; index++) {
    const value = values[index] ?? '';
    const quoted = /["\\\n]/.test(value) ? escaped(value).replaceAll('"', '\\"') : value;
    text += `${index === 0 ? '' : ','}${labels[index]}="${quoted}"`;
  }
  return text;
}

const braced = (labels: string): string => (labels === '' ? '' : `{${labels}}`);
const escaped = (text: string): string => text.replaceAll('\\', '\\\\').replaceAll('\n', '\\n');

function numberText(value: number): string {
  if (Number.isFinite(value)) return String(value);
  return Number.isNaN(value) ? 'NaN' : value > 0 ? '+Inf' : '-Inf';
}

const openMetricsType = 'application/openmetrics-text; version=1.0.0; charset=utf-8';
const prometheusType = 'text/plain; version=0.0.4; charset=utf-8';

/** Returns all metrics in the format of the scraper's Accept header, and the Content-Type. */
export function scrape(metrics: MetricRegistry, accept?: string): { readonly type: string; readonly text: string } {
  const { type, chunks } = scrapeChunks(metrics, accept);
  return { type, text: [...chunks].join('') };
}

/** Returns the same text in chunks, for streamed responses. */
export function scrapeChunks(
  metrics: MetricRegistry,
  accept = '',
): { readonly type: string; readonly chunks: Generator<string> } {
  const isOpenMetrics = accept.includes('application/openmetrics-text');
  return {
    type: isOpenMetrics ? openMetricsType : prometheusType,
    chunks: metrics.chunks(isOpenMetrics ? 'openmetrics' : 'prometheus'),
  };
}

/** Registers the metrics of the process: start time, memory and CPU time. */
export function addProcessMetrics(metrics: MetricRegistry, process: NodeJS.Process, startedAtMs: number): void {
  const cpu = metrics.counter('process_cpu_seconds_total', 'Total user and system CPU time in seconds.').of();
  const resident = metrics.gauge('process_resident_memory_bytes', 'Resident memory size in bytes.').of();
  const started = metrics
    .gauge('process_start_time_seconds', 'Start time of the process since the Unix epoch in seconds.')
    .of();
  const heapUsed = metrics.gauge('nodejs_heap_size_used_bytes', 'Used size of the V8 heap in bytes.').of();
  const heapTotal = metrics.gauge('nodejs_heap_size_total_bytes', 'Total size of the V8 heap in bytes.').of();
  const external = metrics
    .gauge('nodejs_external_memory_bytes', 'Memory of objects outside of the V8 heap in bytes.')
    .of();
  metrics.gauge('nodejs_version_info', 'Version of Node.js.', ['version']).of(process.version).set(1);
  started.set(startedAtMs / 1000);
  let cpuBefore = 0;
  metrics.onCollect(() => {
    const { user, system } = process.cpuUsage();
    cpu.increase((user + system) / 1e6 - cpuBefore);
    cpuBefore = (user + system) / 1e6;
    const memory = process.memoryUsage();
    resident.set(memory.rss);
    heapUsed.set(memory.heapUsed);
    heapTotal.set(memory.heapTotal);
    external.set(memory.external);
  });
}
