import assert from 'node:assert/strict';
import { test } from 'node:test';
import type { Pod } from '@kruise/api/core/pod';
import fc from 'fast-check';
import { byPriority } from './priority.ts';
import { scattered } from './scatter.ts';

const podWith = (index: number, labels: { readonly [key: string]: string }): Pod => ({
  apiVersion: 'v1',
  kind: 'Pod',
  metadata: { name: String(index), labels },
});
/** Returns a Pod for each letter, which is the key of its label. A dot is a Pod without a label. */
const podsOf = (letters: string) =>
  [...letters].map((letter, index) => podWith(index, letter === '.' ? {} : { [letter]: 'x' }));
const names = (pods: readonly Pod[]) => pods.map(({ metadata }) => metadata.name).join(',');
const term = (key: string) => ({ key, value: 'x' });

const scatters: { all: string; candidates?: number; terms?: string; order: string }[] = [
  { all: '....AA', order: '4,0,1,2,3,5' },
  { all: '...AAA', order: '3,0,1,4,2,5' },
  { all: '......AAA', order: '6,0,1,2,7,3,4,5,8' },
  { all: '..AAAA', order: '2,3,0,4,1,5' },
  { all: '...A', order: '0,1,2,3' },
  { all: 'AAA.', order: '0,1,2,3' },
  { all: '....AAA', candidates: 6, order: '0,1,4,2,3,5' },
  { all: 'BB..AA', terms: 'AB', order: '0,4,2,3,5,1' },
];
for (const { all, candidates = all.length, terms = 'A', order } of scatters) {
  test(`${terms} of ${all.slice(0, candidates)}, out of ${all}, is spread as ${order}`, () => {
    const pods = podsOf(all);
    assert.equal(names(scattered(pods.slice(0, candidates), [...terms].map(term), pods)), order);
  });
}

test('updated Pods count in the distribution of the others', () => {
  const pods = podsOf('AA.......A');
  assert.equal(names(scattered(pods.slice(0, 7), [term('A')], pods)), '2,0,3,4,5,6,1');
});

test('scattering neither loses nor adds Pods', () => {
  const letters = fc.array(fc.constantFrom('A', 'B', '.'), { maxLength: 30 }).map((each) => each.join(''));
  fc.assert(
    fc.property(letters, fc.nat(30), (all, count) => {
      const pods = podsOf(all);
      const given = pods.slice(0, count);
      assert.deepEqual(new Set(scattered(given, [term('A'), term('B')], pods)), new Set(given));
    }),
  );
});

test('Pods of a greater weight come first, and equals keep their order', () => {
  const selector = (key: string) => ({ matchExpressions: [{ key, operator: 'Exists' as const }] });
  const weightPriority = [
    { weight: 100, matchSelector: selector('A') },
    { weight: 90, matchSelector: selector('B') },
  ];
  assert.equal(names(byPriority(podsOf('.B.A.AB'), { weightPriority })), '3,5,1,6,0,2,4');
});

test('Pods with a greater number at the end of the label come first, and Pods without the label before all', () => {
  const pods = ['web-2', 'web-10', 'none', 'web-99999999999999999999'].map((value, index) =>
    podWith(index, { order: value }),
  );
  pods.push(podWith(4, {}), podWith(5, { other: '3' }));
  const orderPriority = [{ orderedKey: 'order' }, { orderedKey: 'other' }];
  assert.equal(names(byPriority(pods, { orderPriority })), '4,1,0,2,3,5');
});
