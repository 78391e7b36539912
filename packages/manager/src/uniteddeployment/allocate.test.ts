import assert from 'node:assert/strict';
import { test } from 'node:test';
import type { Subset, UnitedDeploymentScheduleStrategy } from '@kruise/api/kruise/uniteddeployment';
import type { IntOrString } from '@kruise/values/int-or-string';
import fc from 'fast-check';
import { allocate, type Occupancy } from './allocate.ts';
import { replicasOfShare } from './shares.ts';

const adaptive: UnitedDeploymentScheduleStrategy = { type: 'Adaptive' };
const reserving: UnitedDeploymentScheduleStrategy = { type: 'Adaptive', adaptive: { reserveUnschedulablePods: true } };
const empty: Occupancy = {
  replicas: 0,
  readyReplicas: 0,
  isUnschedulable: false,
  wasUnschedulable: false,
  reservedPods: 0,
  missingPods: 0,
};

type Share = IntOrString | undefined;

/** Builds subsets `t1`, `t2`, … with these values. */
function shares(field: 'replicas' | 'minReplicas' | 'maxReplicas', values: readonly Share[]): readonly Subset[] {
  return values.map((value, index) => ({ name: `t${index + 1}`, ...(value === undefined ? {} : { [field]: value }) }));
}

function bounds(least: readonly Share[], most: readonly Share[]): readonly Subset[] {
  const maxima = shares('maxReplicas', most);
  return shares('minReplicas', least).map((subset, index) => ({ ...subset, ...maxima[index] }));
}

function divided(
  replicas: number | undefined,
  subsets: readonly Subset[],
  occupancies: readonly (Occupancy | undefined)[] = [],
  scheduleStrategy: UnitedDeploymentScheduleStrategy = {},
) {
  const known = new Map(
    occupancies.flatMap((each, index) => (each ? ([[`t${index + 1}`, each]] as const) : ([] as const))),
  );
  const selector = { matchLabels: { app: 'web' } };
  const spec = { ...(replicas === undefined ? {} : { replicas }), selector, topology: { subsets, scheduleStrategy } };
  const allocation = allocate(spec, known);
  return 'fault' in allocation ? allocation.fault : subsets.map(({ name }) => allocation.replicas.get(name));
}

const none = undefined;
const sized = (...sizes: readonly number[]) => sizes.map((replicas) => ({ ...empty, replicas }));

const specific: readonly {
  readonly is: string;
  readonly total: number | undefined;
  readonly shares: readonly Share[];
  readonly sizes?: readonly number[];
  readonly result: string | readonly number[];
}[] = [
  { is: 'equal parts', total: 4, shares: [none, none], result: [2, 2] },
  {
    is: 'a remainder for the largest',
    total: 5,
    shares: [none, none, none, none],
    sizes: [1, 4, 2, 2],
    result: [1, 2, 1, 1],
  },
  {
    is: 'a remainder for the last of the largest',
    total: 6,
    shares: [none, none, none, none],
    sizes: [2, 2, 2, 2],
    result: [1, 1, 2, 2],
  },
  { is: 'more for each', total: 17, shares: [none, none, none, none], sizes: [1, 4, 2, 2], result: [4, 5, 4, 4] },
  { is: 'the rest of the others', total: 27, shares: [4, none, 4, none], sizes: [1, 4, 2, 2], result: [4, 10, 4, 9] },
  { is: 'quarters of three', total: 3, shares: ['25%', '25%', none], result: [1, 1, 1] },
  { is: 'quarters of four', total: 4, shares: ['25%', '25%', none], result: [1, 1, 2] },
  { is: 'quarters of one', total: 1, shares: ['25%', '25%', none], result: [0, 0, 1] },
  { is: 'a fifth of ten, and equal parts of the rest', total: 10, shares: ['20%', none, none], result: [2, 4, 4] },
  { is: 'fixed numbers only', total: none, shares: [2, 3], result: [2, 3] },
  { is: 'no invalid value', total: 4, shares: ['x', none], result: [2, 2] },
  {
    is: 'not more than the total',
    total: 3,
    shares: [2, 2, none],
    result: "specified subsets' replica (4) is greater than UnitedDeployment replica (3)",
  },
  {
    is: 'not less than the total',
    total: 9,
    shares: [2, 2],
    result: "specified subsets' replica (4) is less than UnitedDeployment replica (9)",
  },
  {
    is: 'no rest of an unknown total',
    total: none,
    shares: [2, none],
    result: 'all subsets must be specified when UnitedDeployment replica is unspecified',
  },
];
for (const { is, total, shares: values, sizes = [], result } of specific) {
  test(`subsets with fixed replicas get ${is}`, () => {
    assert.deepEqual(divided(total, shares('replicas', values), sized(...sizes)), result);
  });
}

const elastic = [
  { total: 10, least: [2, 2, 2, 2, 2], most: [5, 5, 5, 5, none], result: [2, 2, 2, 2, 2] },
  { total: 14, least: [2, 2, 2, 2, 2], most: [5, 5, 5, 5, none], result: [5, 3, 2, 2, 2] },
  { total: 5, least: [2, 2, 2, 2, 2], most: [5, 5, 5, 5, none], result: [2, 2, 1, 0, 0] },
  { total: 3, least: [1, 1, 1], most: [2, 2, none], result: [1, 1, 1] },
  { total: 7, least: [1, 1, 1], most: [2, 2, none], result: [2, 2, 3] },
  { total: 1, least: [1, 1, 1], most: [2, 2, none], result: [1, 0, 0] },
  { total: 0, least: [1, 1], most: [2, none], result: [0, 0] },
  { total: 10, least: ['20%', none], most: ['50%', none], result: [5, 5] },
  { total: 4, least: [3], most: [2], result: 'subset[0].maxReplicas(2) must be more than or equal to minReplicas(3)' },
];
for (const { total, least, most, result } of elastic) {
  test(`of ${total} replicas subsets with at least ${least} and at most ${most} get ${result}`, () => {
    assert.deepEqual(divided(total, bounds(least, most)), result);
  });
}

/** Builds subsets with numbers of Pods and of unschedulable Pods. */
const pending = (pods: readonly number[], waiting: readonly number[]) =>
  pods.map((replicas, index) => ({
    ...empty,
    replicas,
    readyReplicas: replicas - waiting[index]!,
    isUnschedulable: waiting[index]! > 0,
  }));
const full = (readyReplicas: number) => ({ ...empty, replicas: readyReplicas, readyReplicas, isUnschedulable: true });
const running = (readyReplicas: number) => ({ ...empty, replicas: readyReplicas, readyReplicas });

const adapting = [
  {
    is: 'keeps its minimum',
    total: 10,
    pods: pending([5, 5], [5, 0]),
    least: [3, none],
    most: [5, none],
    result: [3, 7],
  },
  {
    is: 'passes its unschedulable Pods to others',
    total: 3,
    pods: pending([1, 3], [1, 0]),
    least: [0, none],
    most: [2, none],
    result: [0, 3],
  },
  {
    is: 'passes them to the next subset',
    total: 4,
    pods: pending([2, 2, 0, 0], [0, 2, 0, 0]),
    least: [0],
    most: [2, none, none, none],
    result: [2, 0, 2, 0],
  },
  {
    is: 'is skipped',
    total: 4,
    pods: [running(2), full(0), full(0), running(0)],
    least: [0],
    most: [2, none, none, none],
    result: [2, 0, 0, 2],
  },
  {
    is: 'grows where there is capacity',
    total: 8,
    pods: [running(2), full(0), full(0), running(2)],
    least: [0],
    most: [2, none, none, none],
    result: [2, 0, 0, 6],
  },
  {
    is: 'keeps its running Pods',
    total: 8,
    pods: [running(2), running(0), running(0), running(2)],
    least: [0],
    most: [2, none, none, none],
    result: [2, 4, 0, 2],
  },
  {
    is: 'shrinks',
    total: 4,
    pods: [running(2), running(0), running(0), running(6)],
    least: [0],
    most: [2, none, none, none],
    result: [2, 0, 0, 2],
  },
];
for (const { is, total, pods, least, most, result } of adapting) {
  test(`an unschedulable subset ${is}`, () => {
    const filled = most.map((_, index) => least[index]);
    assert.deepEqual(divided(total, bounds(filled, most), pods, adaptive), result);
  });
}

/** Builds subsets with numbers of Pods and of reserved Pods; -1: recovered from reserved Pods. */
const reserved = (sizes: readonly number[], waiting: readonly number[]) =>
  sizes.map((replicas, index) => ({
    ...empty,
    replicas,
    isUnschedulable: waiting[index]! > 0,
    wasUnschedulable: waiting[index] !== 0,
    reservedPods: Math.max(0, waiting[index]!),
  }));

const reservations: readonly {
  readonly least: readonly Share[];
  readonly most: readonly Share[];
  /** total, Pods, reserved, result */
  readonly steps: readonly (readonly [number, readonly number[], readonly number[], readonly number[]])[];
}[] = [
  {
    least: [1, 1, 1, 1],
    most: [2, 2, 2, none],
    steps: [
      [8, [0, 0, 0, 0], [0, 0, 0, 0], [2, 2, 2, 2]],
      [8, [2, 2, 2, 2], [0, 2, 2, 0], [2, 2, 2, 6]],
      [8, [2, 2, 2, 6], [0, 1, 1, 0], [2, 2, 2, 4]],
      [8, [2, 2, 2, 4], [0, -1, 1, 0], [2, 2, 2, 3]],
      [8, [2, 2, 2, 3], [0, 0, -1, 0], [2, 2, 2, 2]],
    ],
  },
  {
    least: [2, 2, 2, 2],
    most: [4, 4, 4, none],
    steps: [
      [16, [2, 2, 2, 6], [0, 1, 1, 0], [4, 2, 2, 10]],
      [16, [4, 2, 2, 10], [0, -1, -1, 0], [4, 4, 4, 8]],
      [16, [4, 4, 4, 8], [0, 2, 2, 0], [4, 4, 4, 8]],
      [16, [4, 4, 4, 8], [0, -1, -1, 0], [4, 4, 4, 4]],
    ],
  },
  {
    least: [none, none, none],
    most: [none, none, none],
    steps: [
      [2, [2, 0, 0], [2, 0, 0], [2, 2, 0]],
      [2, [2, 2, 0], [2, 2, 0], [2, 2, 2]],
      [4, [2, 2, 2], [2, 2, 0], [2, 2, 4]],
      [4, [2, 2, 4], [4, -1, 0], [2, 4, 2]],
      [4, [2, 4, 2], [4, -1, 0], [2, 4, 0]],
      [2, [2, 2, 1], [0, 1, 0], [2, 0, 0]],
    ],
  },
  {
    least: [1, 1, 0],
    most: [none, none, none],
    steps: [
      [2, [1, 1, 0], [1, 1, 0], [1, 1, 2]],
      [2, [1, 1, 2], [-1, 1, 0], [2, 1, 1]],
      [2, [2, 1, 1], [0, 1, 0], [2, 1, 0]],
      [2, [2, 1, 0], [0, -1, 0], [1, 1, 0]],
    ],
  },
];
for (const { least, most, steps } of reservations) {
  for (const [total, sizes, waiting, result] of steps) {
    test(`of ${total} with at least ${least} and at most ${most}, ${sizes} with ${waiting} reserved becomes ${result}`, () => {
      assert.deepEqual(divided(total, bounds(least, most), reserved(sizes, waiting), reserving), result);
    });
  }
}

test('missing Pods of an unschedulable subset get replacements as well', () => {
  const [first, second] = reserved([2, 2], [1, 0]) as [Occupancy, Occupancy];
  const remade = { ...first, reservedPods: 0, missingPods: 2 };
  assert.deepEqual(divided(2, bounds([none, none], [none, none]), [remade, second], reserving), [2, 2]);
});

test('a raised minimum is kept where Pods are reserved', () => {
  assert.deepEqual(divided(4, bounds([3, 0], [none, none]), reserved([2, 0], [2, 0]), reserving), [3, 4]);
});

const percentages: readonly (readonly [Share, number | undefined, number | string])[] = [
  [3, none, 3],
  ['50%', 3, 2],
  ['49%', 3, 1],
  ['0%', 9, 0],
  ['100%', 9, 9],
  [-1, 9, 'subset replicas (-1) should not be less than 0'],
  ['50%', none, 'subsetReplicas (50%) should not be string when unitedDeployment replicas is empty'],
  ['5', 9, "subset replicas (5) only support integer value or percentage value with a suffix '%'"],
  ['a%', 9, 'subset replicas (a%) should be correct percentage integer: strconv.ParseInt: parsing "a": invalid syntax'],
  [
    '9999999999%',
    9,
    'subset replicas (9999999999%) should be correct percentage integer: strconv.ParseInt: parsing "9999999999": value out of range',
  ],
  ['101%', 9, 'subset replicas (101%) should be in range [0, 100]'],
  ['-1%', 9, 'subset replicas (-1%) should be in range [0, 100]'],
];
for (const [share, total, result] of percentages) {
  test(`${share} of ${total} is ${result}`, () => {
    const found = () => replicasOfShare(share!, total);
    if (typeof result === 'string') assert.throws(found, { message: result });
    else assert.equal(found(), result);
  });
}

const anyBounds = fc.array(fc.tuple(fc.nat(5), fc.option(fc.nat(5), { nil: none })), { minLength: 1, maxLength: 5 });
const openLast = (pairs: readonly (readonly [number, number | undefined])[]) => {
  const raised = pairs.map(([least, extra]) => [least, extra === undefined ? none : least + extra] as const);
  return bounds(
    raised.map(([least]) => least),
    raised.map(([, most], index) => (index === raised.length - 1 ? none : most)),
  );
};

test('with bounds, all replicas are allocated, and a subset gets at most its maximum', () => {
  fc.assert(
    fc.property(anyBounds, fc.nat(40), (pairs, total) => {
      const subsets = openLast(pairs);
      const result = divided(total, subsets) as readonly number[];
      assert.equal(
        result.reduce((sum, each) => sum + each, 0),
        total,
      );
      for (const [index, each] of result.entries()) {
        assert.ok(each <= Number(subsets[index]!.maxReplicas ?? total));
      }
    }),
  );
});

test('with reservation, the Pods that count equal the desired replicas', () => {
  const world = fc.array(fc.tuple(fc.nat(6), fc.nat(6)), { minLength: 1, maxLength: 5 });
  fc.assert(
    fc.property(world, fc.integer({ min: 1, max: 30 }), (domains, total) => {
      // The last subset has capacity, so that replacement Pods can be scheduled.
      const sizes = [...domains.map(([size]) => size), 0];
      const waiting = [...domains.map(([size, some]) => Math.min(size, some)), 0];
      const free = sizes.map(() => none);
      const result = divided(total, bounds(free, free), reserved(sizes, waiting), reserving) as readonly number[];
      const counted = result.map((each, index) =>
        waiting[index]! > 0 ? Math.min(each, sizes[index]! - waiting[index]!) : each,
      );
      assert.equal(
        counted.reduce((sum, each) => sum + each, 0),
        total,
      );
    }),
  );
});
