/** Cost of small functions on the path of every request. Run with `node bench/values.ts`. */
import { nextRun, parseSchedule } from '@kruise/machinery/cron';
import { applyJsonPatch } from '@kruise/machinery/json-patch';
import { jsonPath } from '@kruise/machinery/json-path';
import { parseSelector, selectorOf } from '@kruise/machinery/label-selector';
import { applyMergePatch } from '@kruise/machinery/merge-patch';
import { timeZone } from '@kruise/machinery/time-zone';
import { stringify, stringifySorted } from '@kruise/values/go-json';
import { validateDns1123Subdomain } from '@kruise/values/names';
import {
  addQuantities,
  canonicalQuantity,
  compareQuantities,
  formatQuantity,
  parseQuantity,
} from '@kruise/values/quantity';
import { canonicalTime } from '@kruise/values/time';

const pod = {
  apiVersion: 'v1',
  kind: 'Pod',
  metadata: {
    name: 'web-5db5795cf8-x2k4q',
    namespace: 'default',
    labels: { app: 'web', tier: 'front', 'pod-template-hash': '5db5795cf8' },
  },
  spec: {
    nodeName: 'node-1',
    containers: Array.from({ length: 4 }, (_, index) => ({
      name: `c-${index}`,
      image: `registry.example.com/app:${index}`,
      resources: { requests: { cpu: '100m', memory: '128Mi' }, limits: { cpu: '1', memory: '1Gi' } },
      env: Array.from({ length: 8 }, (_, number) => ({ name: `VARIABLE_${number}`, value: `value ${number}` })),
    })),
  },
  status: { phase: 'Running', conditions: [{ type: 'Ready', status: 'True' }] },
};

const equality = selectorOf({ matchLabels: { app: 'web' } });
const mixed = parseSelector('app in (web,api),tier!=back,!canary');
const column = jsonPath('{.status.conditions[?(@.type=="Ready")].status}', { missingKeys: 'allow' });
const nightly = parseSchedule('30 2 * * 1-5', timeZone('America/New_York'));
const [cpu, memory] = [parseQuantity('250m'), parseQuantity('1536Mi')];
let uncommon = 0;

const cases: Readonly<Record<string, () => unknown>> = {
  'quantity: canonical, seen before': () => canonicalQuantity('128Mi'),
  'quantity: canonical, never seen': () => canonicalQuantity(`${uncommon++}.5Mi`),
  'quantity: parse and print': () => formatQuantity(parseQuantity('1500m')),
  'quantity: add': () => addQuantities(cpu, cpu),
  'quantity: compare': () => compareQuantities(cpu, memory),
  'time: canonical': () => canonicalTime('2024-03-31T12:00:00Z'),
  'name: DNS subdomain': () => validateDns1123Subdomain(pod.metadata.name),
  'selector: match one label': () => equality.matches(pod.metadata.labels),
  'selector: match three requirements': () => mixed.matches(pod.metadata.labels),
  'selector: parse': () => parseSelector('app in (web,api),tier!=back,!canary'),
  'JSON patch: two operations': () =>
    applyJsonPatch(pod, [
      { op: 'test', path: '/metadata/name', value: pod.metadata.name },
      { op: 'replace', path: '/spec/containers/0/image', value: 'registry.example.com/app:next' },
    ]),
  'merge patch: one label': () => applyMergePatch(pod, { metadata: { labels: { tier: 'back' } } }),
  'JSONPath: a condition': () => column.find(pod),
  'JSON: as Go writes it': () => stringify(pod),
  'JSON: with sorted keys': () => stringifySorted(pod),
  'cron: next run': () => nextRun(nightly, Date.parse('2024-03-08T12:00:00Z')),
};

for (const [name, run] of Object.entries(cases)) {
  console.log(`${name.padEnd(36)} ${measure(run).toFixed(3).padStart(9)} µs`);
}

/** Returns the time of one run in microseconds: the best of several rounds, because other work only slows it down. */
function measure(run: () => unknown): number {
  let best = Number.POSITIVE_INFINITY;
  for (let round = 0; round < 10; round++) {
    const runs = round === 0 ? 1000 : Math.max(100, Math.min(1_000_000, Math.round(20_000 / Math.max(best, 0.02))));
    const start = process.hrtime.bigint();
    for (let index = 0; index < runs; index++) run();
    best = Math.min(best, Number(process.hrtime.bigint() - start) / runs / 1000);
  }
  return best;
}
