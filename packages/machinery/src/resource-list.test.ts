import assert from 'node:assert/strict';
import { test } from 'node:test';
import fc from 'fast-check';
import { addAmounts, amountsOf, maxAmounts, type ResourceList, resourceListOf } from './resource-list.ts';

const list = fc.dictionary(fc.constantFrom('cpu', 'memory', 'example.com/gpu'), fc.nat(1000).map(String));
const sum = (a: ResourceList, b: ResourceList) => resourceListOf(addAmounts(amountsOf(a), amountsOf(b)));
const larger = (a: ResourceList, b: ResourceList) => resourceListOf(maxAmounts(amountsOf(a), amountsOf(b)));
const sorted = (each: ResourceList) => Object.entries(each).sort();

test('amounts of different forms add up', () => {
  assert.deepEqual(sum({ cpu: '500m', memory: '1Gi' }, { cpu: '1' }), { cpu: '1500m', memory: '1Gi' });
});

test('the larger amount counts, whatever its form', () => {
  assert.deepEqual(larger({ cpu: '500m', memory: '1Gi' }, { cpu: '0.4', memory: '2G' }), { cpu: '500m', memory: '2G' });
});

test('sums and maxima do not depend on order', () => {
  fc.assert(
    fc.property(list, list, (a, b) => {
      assert.deepEqual(sorted(sum(a, b)), sorted(sum(b, a)));
      assert.deepEqual(sorted(larger(a, b)), sorted(larger(b, a)));
    }),
  );
});

test('a maximum is no more than a sum', () => {
  fc.assert(
    fc.property(list, list, (a, b) => {
      assert.deepEqual(sorted(larger(larger(a, b), sum(a, b))), sorted(sum(a, b)));
    }),
  );
});
