import assert from 'node:assert/strict';
import { test } from 'node:test';
import { parsePlan } from './plan.ts';
import { simulateManifests } from './simulate-manifests.ts';
import { renderTimeline } from './timeline-chart.ts';

const template = (image: string) => ({
  metadata: { labels: { app: 'web' } },
  spec: { containers: [{ name: 'main', image }] },
});
const web = {
  apiVersion: 'apps/v1',
  kind: 'Deployment',
  metadata: { name: 'web' },
  spec: { replicas: 3, selector: { matchLabels: { app: 'web' } }, template: template('nginx:1.25') },
};

test('a timeline reports a node failure and renders as SVG', async () => {
  const lines: string[] = [];
  const text = '- {at: 1m, what: loses power, which: node-2, for: 2m}';
  const timeline = await simulateManifests({
    manifests: [web],
    plan: (names) => parsePlan(text, names),
    minutes: 4,
    seed: 'story',
    nodes: 3,
    onLine: (atMs, line) => lines.push(`${Math.floor(atMs / 60_000)} ${line}`),
  });
  for (const expected of [
    '0 a user creates Deployment web',
    '0 Deployment web: 3 of 3 available',
    '1 node-2 loses power, for 120 s',
    '1 node-2 is not ready',
    '1 Deployment web: 2 of 3 available',
    '3 node-2 recovers',
    '3 Deployment web: 3 of 3 available',
  ]) {
    assert.ok(lines.includes(expected), expected);
  }
  const chart = renderTimeline(timeline);
  assert.match(chart, /^<svg .*Deployment web.*node-2 loses power|node-2 loses power.*Deployment web/s);
  assert.doesNotMatch(chart, /NaN|undefined/);
});
