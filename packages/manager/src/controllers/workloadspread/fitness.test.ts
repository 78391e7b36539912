import assert from 'node:assert/strict';
import { test } from 'node:test';
import type { Pod } from '@kruise/api/core/pod';
import type { WorkloadSpreadSubset } from '@kruise/api/kruise/workloadspread';
import { fitnessOf } from './fitness.ts';
import { nodeOf, podOf } from './fixtures.ts';

const labelled = (key: string) => ({ matchExpressions: [{ key, operator: 'In' as const, values: ['yes'] }] });
const node = nodeOf({ required: 'yes', preferred: 'yes', own: 'yes' }, ['taint']);
const subset: WorkloadSpreadSubset = {
  name: 'a',
  tolerations: [{ key: 'taint', operator: 'Exists' }],
  requiredNodeSelector: labelled('required'),
  preferredNodeSelector: [{ weight: 100, preference: labelled('preferred') }],
  patch: { metadata: { labels: { tier: 'cheap' }, annotations: { note: 'x' } } },
};
const asMade = podOf('x', { labels: { tier: 'cheap' } });
const asking = (key: string): Pod => {
  const terms = { nodeSelectorTerms: [labelled(key)] };
  const nodeAffinity = { requiredDuringSchedulingIgnoredDuringExecution: terms };
  return { ...asMade, spec: { ...asMade.spec!, affinity: { nodeAffinity } } };
};

const rows: {
  is: string;
  pod?: Pod;
  subset?: Partial<WorkloadSpreadSubset>;
  seats?: number;
  fits: number | undefined;
}[] = [
  { is: 'made like it, where it prefers to be', fits: 10_010 },
  { is: 'where seats are left', seats: 1, fits: 10_011 },
  { is: 'not made like it', pod: podOf('x'), fits: 10_000 },
  {
    is: 'where it does not prefer to be',
    subset: { preferredNodeSelector: [{ weight: 100, preference: labelled('other') }] },
    fits: 10,
  },
  { is: 'where it must not be', subset: { requiredNodeSelector: labelled('other') }, fits: undefined },
  { is: 'where nothing matches', subset: { requiredNodeSelector: {} }, fits: undefined },
  { is: 'on a node it does not tolerate', subset: { tolerations: [] }, fits: undefined },
  { is: 'where it asked to be itself', pod: asking('own'), fits: 10_010 },
  { is: 'elsewhere than it asked to be', pod: asking('other'), fits: undefined },
  { is: 'patched in no possible way', subset: { patch: { spec: { containers: [{}] } } as never }, fits: 10_000 },
];
for (const { is, pod = asMade, subset: change, seats = 0, fits } of rows) {
  test(`a Pod that is ${is} fits ${fits ?? 'not at all'}`, () => {
    assert.equal(fitnessOf(pod, node, { ...subset, ...change }, seats), fits);
  });
}
