import assert from 'node:assert/strict';
import { test } from 'node:test';
import { featureGates } from '@kruise/manager/configuration/feature-gates';
import { envFromMetadataHash } from '@kruise/manager/workload/inplace/container-hash';
import { labelled, type PodParts, plain, podOf } from './fixtures.ts';
import { isRelevantPodChange } from './predicate.ts';

const gates = featureGates();
const hashOf = (conf: string) => envFromMetadataHash(labelled, { labels: { conf } });
const reported = (containerID: string, conf?: string) => [
  {
    name: 'main',
    containerID,
    hashes: {
      plainHash: 1,
      extractedEnvFromMetadataHash: conf === undefined ? envFromMetadataHash(plain, {}) : hashOf(conf),
    },
  },
];
const known: PodParts = { reported: reported('sim://1') };

const cases: { name: string; now: PodParts; before?: PodParts | null; is: boolean }[] = [
  { name: 'a container without reported metadata', now: {}, is: true },
  { name: 'a Pod of the initial list without reported metadata', now: {}, before: null, is: false },
  {
    name: 'a Pod of the initial list with invalid metadata',
    now: { reported: reported('sim://0') },
    before: null,
    is: true,
  },
  { name: 'a container with reported metadata', now: known, is: false },
  { name: 'another container', now: { reported: reported('sim://0') }, is: true },
  { name: 'a container that has not been created', now: { ids: [undefined] }, is: false },
  { name: 'a Pod without a status', now: { ids: [] }, is: false },
  { name: 'a terminating Pod', now: { isTerminating: true }, is: false },
  { name: 'a Pod of another owner', now: { group: 'apps' }, is: false },
  {
    name: 'a Pod of another owner with one of our sidecars',
    now: { group: 'apps', annotations: { 'kruise.io/sidecarset-hash': 'x' } },
    is: true,
  },
  {
    name: 'a container more',
    now: { ...known, containers: [plain, { ...plain, name: 'other' }] },
    before: known,
    is: true,
  },
  {
    name: 'a label that a container reads, unchanged since its start',
    now: { containers: [labelled], labels: { conf: 'a' }, reported: reported('sim://1', 'a') },
    is: false,
  },
  {
    name: 'a label that differs from the value of the running container',
    now: { containers: [labelled], labels: { conf: 'b' }, reported: reported('sim://1', 'a') },
    is: true,
  },
  {
    name: 'a label that is set back to the value of the running container',
    now: { containers: [labelled], labels: { conf: 'a' }, reported: reported('sim://1', 'a') },
    before: { containers: [labelled], labels: { conf: 'b' }, reported: reported('sim://1', 'a') },
    is: true,
  },
];
for (const { name, now, before, is } of cases) {
  test(`${name} is ${is ? 'reconciled' : 'ignored'}`, () => {
    const object = podOf(now);
    const previous = before === null ? undefined : podOf(before ?? now);
    const change = previous
      ? ({ type: 'updated', object, previous, cause: 'event' } as const)
      : ({ type: 'added', object, cause: 'initial' } as const);
    assert.equal(isRelevantPodChange(change, gates), is);
  });
}

test('without its gate the environment is ignored', () => {
  const object = podOf({ containers: [labelled], labels: { conf: 'b' }, reported: reported('sim://1', 'a') });
  const change = { type: 'updated', object, previous: object, cause: 'event' } as const;
  assert.equal(isRelevantPodChange(change, featureGates({ InPlaceUpdateEnvFromMetadata: false })), false);
});

test('a deleted Pod is ignored', () => {
  assert.equal(isRelevantPodChange({ type: 'deleted', object: podOf(), cause: 'event' }, gates), false);
});
