import assert from 'node:assert/strict';
import { test } from 'node:test';
import type { Pod } from '@kruise/api/core/pod';
import type { SidecarSetUpdateStrategy } from '@kruise/api/kruise/sidecarset';
import { type PodTraits, podOf, setOf, side } from './fixtures.ts';
import { nextPods } from './next-pods.ts';

const old = setOf({ containers: [side({ image: 'side:v1' })] });
const otherwise = setOf({ containers: [side({ env: [{ name: 'A' }] })] });
const following = (updateStrategy: SidecarSetUpdateStrategy) => setOf({ updateStrategy });
const namesOf = (pods: readonly Pod[]) => pods.map(({ metadata }) => metadata.name).join(' ');

const sizes: {
  total: number;
  updated?: number;
  ready?: number;
  labelled?: number;
  strategy: SidecarSetUpdateStrategy;
  next: number;
}[] = [
  { total: 100, updated: 30, ready: 26, strategy: { maxUnavailable: 10 }, next: 6 },
  { total: 1000, updated: 300, ready: 260, strategy: { maxUnavailable: '10%' }, next: 60 },
  { total: 1000, updated: 300, ready: 250, strategy: { maxUnavailable: '5%' }, next: 0 },
  { total: 100, updated: 30, ready: 27, strategy: { maxUnavailable: 100 }, next: 70 },
  { total: 1000, updated: 800, ready: 760, strategy: { partition: 180, maxUnavailable: 100 }, next: 20 },
  { total: 1000, updated: 800, ready: 760, strategy: { partition: 100, maxUnavailable: 100 }, next: 60 },
  { total: 1000, updated: 800, ready: 760, strategy: { partition: '18%', maxUnavailable: 100 }, next: 20 },
  { total: 1000, updated: 800, ready: 760, strategy: { partition: '10%', maxUnavailable: 100 }, next: 60 },
  {
    total: 100,
    labelled: 30,
    strategy: { selector: { matchLabels: { canary: 'yes' } }, maxUnavailable: 100 },
    next: 30,
  },
  { total: 5, strategy: { maxUnavailable: '5%' }, next: 1 },
  { total: 5, strategy: { maxUnavailable: 5, partition: '99%' }, next: 1 },
  { total: 5, strategy: { maxUnavailable: 5, partition: '1%' }, next: 4 },
  { total: 5, strategy: { maxUnavailable: 5, partition: '100%' }, next: 0 },
  { total: 5, strategy: { maxUnavailable: 0 }, next: 0 },
];
for (const { total, updated = 0, ready = updated, labelled = 0, strategy, next } of sizes) {
  test(`of ${total} Pods, ${updated} updated and ${ready} of them ready, ${JSON.stringify(strategy)} updates ${next}`, () => {
    const pods = Array.from({ length: total }, (_, index) =>
      podOf(`pod-${index}`, {
        of: index < updated ? setOf() : old,
        isReady: index < ready || index >= updated,
        labels: index >= total - labelled ? { canary: 'yes' } : {},
      }),
    );
    assert.equal(nextPods(following(strategy), pods).toUpdate.length, next);
  });
}

const all = { maxUnavailable: '100%' } as const;
const weight = (value: number, tier: string) => ({ weight: value, matchSelector: { matchLabels: { tier } } });
const orders: {
  name: string;
  pods: { readonly [name: string]: PodTraits };
  strategy?: SidecarSetUpdateStrategy;
  order: string;
}[] = [
  {
    name: 'newest first',
    pods: { a: { ageSeconds: 90 }, b: { ageSeconds: 30 }, c: { ageSeconds: 60 } },
    order: 'b c a',
  },
  { name: 'with unready Pods first', pods: { a: { ageSeconds: 1 }, b: { isReady: false } }, order: 'b a' },
  {
    name: 'beyond maxUnavailable if they are not ready',
    pods: { a: {}, b: { isReady: false } },
    strategy: { maxUnavailable: 0 },
    order: 'b',
  },
  {
    name: 'by weight',
    pods: { a: {}, b: { labels: { tier: 'low' } }, c: { labels: { tier: 'high' } } },
    strategy: { ...all, priorityStrategy: { weightPriority: [weight(50, 'high'), weight(30, 'low')] } },
    order: 'c b a',
  },
  {
    name: 'by order key',
    pods: { a: { labels: { key: '5' } }, b: { labels: { key: '20' } }, c: { labels: { key: '10' } } },
    strategy: { ...all, priorityStrategy: { orderPriority: [{ orderedKey: 'key' }] } },
    order: 'b c a',
  },
  {
    name: 'scattered by every value',
    pods: Object.fromEntries(
      ['a', 'b', 'c', 'd', 'e', 'f'].map((name, index) => [
        name,
        { ageSeconds: index + 1, labels: index < 3 ? { zone: 'x' } : {} },
      ]),
    ),
    strategy: {
      ...all,
      scatterStrategy: [
        { key: 'zone', value: '*' },
        { key: 'zone', value: 'x' },
      ],
    },
    order: 'a d e b f c',
  },
];
for (const { name, pods, strategy = all, order } of orders) {
  test(`Pods are updated ${name}`, () => {
    const made = Object.entries(pods).map(([each, traits]) => podOf(each, { of: old, ...traits }));
    assert.equal(namesOf(nextPods(following(strategy), made).toUpdate), order);
  });
}

const updating = (imageID: string) => ({
  'kruise.io/sidecarset-inplace-update-state': JSON.stringify({
    set: { lastContainerStatuses: { side: { imageID } } },
  }),
});

test('a Pod with an incomplete update is skipped', () => {
  const pods = [
    podOf('a', { of: old, annotations: updating('sha256:side:v0'), running: { side: 'side:v0' } }),
    podOf('b', { of: old, annotations: updating('sha256:side:v0'), running: { side: 'side:v0' }, isReady: false }),
  ];
  const { toUpdate, notUpgradable } = nextPods(following(all), pods);
  assert.deepEqual([namesOf(toUpdate), namesOf(notUpgradable)], ['b', '']);
});

test('a Pod that differs in more than images is not upgradable', () => {
  const pods = [podOf('a', { of: otherwise }), podOf('b', { of: old }), podOf('c')];
  const { toUpdate, notUpgradable } = nextPods(following(all), pods);
  assert.deepEqual([namesOf(toUpdate), namesOf(notUpgradable)], ['b', 'a']);
});
