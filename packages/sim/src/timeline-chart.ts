/** Renders a timeline as a chart: the available Pods of each workload over time, with the faults above. */
import type { Timeline } from './simulate-manifests.ts';
import type { Sample } from './timeline.ts';

const width = 900;
const margin = { left: 180, right: 20, top: 30 };
const laneHeight = 60;
const faultHeight = 18;

/** Renders a timeline as an SVG document. */
export function renderTimeline({ plan, lengthMs, samples }: Timeline): string {
  const x = (atMs: number) =>
    margin.left + ((width - margin.left - margin.right) * Math.min(Math.max(atMs, 0), lengthMs)) / lengthMs;
  const faultsTop = margin.top + 20;
  const lanesTop = faultsTop + plan.faults.length * faultHeight + 10;
  const height = lanesTop + samples.size * laneHeight + 20;
  const parts = [
    ...ticks(lengthMs).map((atMs) => tick(x(atMs), atMs, height)),
    ...plan.faults.map(({ kind, target, atMs, lastsMs }, index) => {
      const top = faultsTop + index * faultHeight;
      const wide = Math.max(2, x(atMs + lastsMs) - x(atMs));
      return [
        label(top + 12, `${target} ${kind}`),
        `<rect x="${x(atMs)}" y="${top + 2}" width="${wide}" height="${faultHeight - 4}" rx="3" fill="#d9534f"/>`,
      ].join('');
    }),
    ...plan.userActions.map(({ type, target, atMs }) => {
      const what = escaped(`${type} ${target.kind} ${target.name}`);
      return `<line x1="${x(atMs)}" x2="${x(atMs)}" y1="${margin.top}" y2="${height - 10}" stroke="#3b6ea5" stroke-dasharray="3 3"/><text x="${x(atMs) + 3}" y="${margin.top + 10}" fill="#3b6ea5">${what}</text>`;
    }),
    ...[...samples].map(([name, own], index) => lane(name, own, lanesTop + index * laneHeight, x, lengthMs)),
  ];
  return `<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 ${width} ${height}" font-family="sans-serif" font-size="11"><rect width="${width}" height="${height}" fill="white"/>${parts.join('\n')}</svg>\n`;
}

function lane(
  name: string,
  samples: readonly Sample[],
  top: number,
  x: (atMs: number) => number,
  lengthMs: number,
): string {
  const most = Math.max(1, ...samples.map(({ available, wanted }) => Math.max(available, wanted)));
  const y = (count: number) => top + laneHeight - 12 - ((laneHeight - 20) * count) / most;
  /** Returns a step line: a value holds until the next sample. */
  const stairs = (of: (sample: Sample) => number): string =>
    samples
      .map((sample, index) => {
        const until = samples[index + 1]?.atMs ?? lengthMs;
        return `${x(sample.atMs)},${y(of(sample))} ${x(until)},${y(of(sample))}`;
      })
      .join(' ');
  const last = samples.at(-1);
  return [
    label(top + laneHeight / 2, name),
    `<text x="${margin.left - 8}" y="${top + laneHeight / 2 + 14}" text-anchor="end" fill="#777">${last?.available} of ${last?.wanted} available at the end</text>`,
    `<polyline points="${stairs(({ wanted }) => wanted)}" fill="none" stroke="#999" stroke-dasharray="4 2"/>`,
    `<polyline points="${stairs(({ available }) => available)}" fill="none" stroke="#2a8a4a" stroke-width="2"/>`,
  ].join('');
}

function label(y: number, text: string): string {
  return `<text x="${margin.left - 8}" y="${y}" text-anchor="end">${escaped(text)}</text>`;
}

function tick(x: number, atMs: number, height: number): string {
  return `<line x1="${x}" x2="${x}" y1="${margin.top - 6}" y2="${height - 10}" stroke="#eee"/><text x="${x}" y="${margin.top - 12}" text-anchor="middle" fill="#777">${atMs / 60_000} min</text>`;
}

/** Returns about ten ticks, at whole minutes. */
function ticks(lengthMs: number): readonly number[] {
  const step = Math.max(1, Math.ceil(lengthMs / 60_000 / 10)) * 60_000;
  return Array.from({ length: Math.floor(lengthMs / step) + 1 }, (_, index) => index * step);
}

function escaped(text: string): string {
  return text.replaceAll('&', '&amp;').replaceAll('<', '&lt;').replaceAll('"', '&quot;');
}
