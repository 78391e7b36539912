/** Samples in the Prometheus text format, with timestamps. */

/** Type and help text of a metric. */
export type MetricInfo = { readonly type: 'counter' | 'gauge'; readonly help: string };

/** Collected samples. */
export type Samples<M extends string> = {
  add(name: M, labels: { readonly [label: string]: string }, value: number, atMs?: number): void;
  /** Returns all samples, ordered by metric name. */
  text(): string;
};

/** Creates an empty collection of samples. */
export function createSamples<M extends string>(measures: { readonly [name in M]: MetricInfo }): Samples<M> {
  const lines = new Map<M, string[]>();
  return {
    add(name, labels, value, atMs) {
      const labelTexts = Object.entries(labels).map(([label, each]) => `${label}=${JSON.stringify(each)}`);
      const at = atMs === undefined ? '' : ` ${Math.floor(atMs)}`;
      const line = `${name}${labelTexts.length === 0 ? '' : `{${labelTexts.join(',')}}`} ${value}${at}`;
      const known = lines.get(name);
      if (known) known.push(line);
      else lines.set(name, [line]);
    },
    text: () =>
      [...lines]
        .sort(([a], [b]) => (a < b ? -1 : 1))
        .map(([name, all]) => {
          const { type, help } = measures[name];
          return `# HELP ${name} ${help}\n# TYPE ${name} ${type}\n${all.join('\n')}\n`;
        })
        .join(''),
  };
}
