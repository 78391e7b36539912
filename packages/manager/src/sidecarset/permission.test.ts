import assert from 'node:assert/strict';
import { test } from 'node:test';
import type { Pod } from '@kruise/api/core/pod';
import type { SidecarSet } from '@kruise/api/kruise/sidecarset';
import { patch } from '@kruise/client/actions';
import { createRefusals } from '@kruise/client/refusals';
import { virtualClock } from '@kruise/values/virtual-clock';
import { permissionsBy } from './permission.ts';

const sidecarSet = {
  apiVersion: 'apps.kruise.io/v1beta1',
  kind: 'SidecarSet',
  metadata: { name: 'proxy', uid: 'a' },
  spec: {},
} as SidecarSet;
const podWith = (annotations: { readonly [name: string]: string }): Pod => ({
  apiVersion: 'v1',
  kind: 'Pod',
  metadata: { name: 'web', namespace: 'default', uid: 'b', annotations },
});
const permissions = () => permissionsBy(sidecarSet, createRefusals(virtualClock()).begin('proxy', undefined));

test('a dry run precedes the first Pod of a revision only', () => {
  const { afterDryRun } = permissions();
  const update = patch(podWith({}), {});
  assert.deepEqual([afterDryRun(update).dryRun?.writes, afterDryRun(update).dryRun], [[update], undefined]);
});

test('the answer for a Pod with a budget does not apply to others, so no dry run is sent', () => {
  const update = patch(podWith({ 'kruise.io/related-pub': 'pub' }), {});
  assert.equal(permissions().afterDryRun(update).dryRun, undefined);
});
