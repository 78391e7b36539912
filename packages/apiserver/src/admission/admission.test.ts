import assert from 'node:assert/strict';
import { test } from 'node:test';
import { type ConfigMap, configMap } from '@kruise/api/core/configmap';
import { writeOf } from '../testing/admission.ts';
import { type AdmissionPlugin, type Attributes, admissionChain, draftOf } from './admission.ts';
import { derived } from './lookup.ts';

const appending = (name: string, more: Partial<AdmissionPlugin> = {}): AdmissionPlugin => ({
  name,
  handles: () => true,
  mutate(attributes) {
    const draft = draftOf<ConfigMap>(attributes);
    draft.data = { ...draft.data, order: `${draft.data?.['order'] ?? ''}${name}` };
  },
  ...more,
});
const write = () => writeOf(configMap, { metadata: { name: 'c' } });
const orderOf = async (...plugins: readonly AdmissionPlugin[]) =>
  ((await admissionChain(plugins).mutate(write())) as ConfigMap | undefined)?.data?.['order'];

test('mutating plugins run in order', async () => {
  assert.equal(await orderOf(appending('a'), appending('b')), 'ab');
});

test('a mutating plugin that does not handle the write is not called', async () => {
  assert.equal(await orderOf(appending('a', { handles: () => false }), appending('b')), 'b');
});

test('a returned object replaces the draft', async () => {
  const replacing: AdmissionPlugin = {
    name: 'r',
    handles: () => true,
    mutate: () => ({ apiVersion: 'v1', kind: 'ConfigMap', metadata: {}, data: { order: 'r' } }),
  };
  assert.equal(await orderOf(appending('a'), replacing, appending('b')), 'rb');
});

test('all mutating plugins are reinvoked once if one requests it', async () => {
  const reinvokingPlugin = appending('b', {
    mutate(attributes: Attributes, { requestAnother, round }) {
      requestAnother();
      const draft = draftOf<ConfigMap>(attributes);
      draft.data = { ...draft.data, order: `${draft.data?.['order'] ?? ''}b${round}` };
    },
  });
  assert.equal(await orderOf(appending('a'), reinvokingPlugin), 'ab0ab1');
});

test('the first denial ends the chain', async () => {
  const asked: string[] = [];
  const validatingPlugin = (name: string, refuses: boolean): AdmissionPlugin => ({
    name,
    handles: () => true,
    validate() {
      asked.push(name);
      if (refuses) throw new Error(name);
    },
  });
  const chain = admissionChain([
    validatingPlugin('a', false),
    validatingPlugin('b', true),
    validatingPlugin('c', true),
  ]);
  await assert.rejects(chain.validate(write()), { message: 'b' });
  assert.deepEqual(asked, ['a', 'b']);
});

test('a derived value is recomputed only after objects change', () => {
  let made = 0;
  const objects = { get: () => undefined, list: () => [1, 2], changedAt: 1 };
  const count = derived(objects, (all) => `${++made}: ${all.length}`);
  assert.deepEqual([count(), count()], ['1: 2', '1: 2']);
  objects.changedAt = 2;
  assert.equal(count(), '2: 2');
});
