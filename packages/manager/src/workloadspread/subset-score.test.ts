import assert from 'node:assert/strict';
import { test } from 'node:test';
import type { Pod } from '@kruise/api/core/pod';
import type { WorkloadSpreadSubset } from '@kruise/api/kruise/workloadspread';
import { nodeOf, podOf } from './fixtures.ts';
import { subsetScore } from './subset-score.ts';

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
  { is: 'matches the patch, on a preferred node', fits: 10_010 },
  { is: 'has capacity left', seats: 1, fits: 10_011 },
  { is: 'does not match the patch', pod: podOf('x'), fits: 10_000 },
  {
    is: 'is on a node without preference',
    subset: { preferredNodeSelector: [{ weight: 100, preference: labelled('other') }] },
    fits: 10,
  },
  { is: 'is on an excluded node', subset: { requiredNodeSelector: labelled('other') }, fits: undefined },
  { is: 'is on a node without matching labels', subset: { requiredNodeSelector: {} }, fits: undefined },
  { is: 'is on a node it does not tolerate', subset: { tolerations: [] }, fits: undefined },
  { is: 'is on a node of its own affinity', pod: asking('own'), fits: 10_010 },
  { is: 'is outside of its own affinity', pod: asking('other'), fits: undefined },
  { is: 'has an invalid patch', subset: { patch: { spec: { containers: [{}] } } as never }, fits: 10_000 },
];
for (const { is, pod = asMade, subset: change, seats = 0, fits } of rows) {
  test(`a Pod that ${is} scores ${fits ?? 'not at all'}`, () => {
    assert.equal(subsetScore(pod, node, { ...subset, ...change }, seats), fits);
  });
}
