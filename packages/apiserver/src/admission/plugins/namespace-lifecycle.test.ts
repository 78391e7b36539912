import assert from 'node:assert/strict';
import { test } from 'node:test';
import { localSubjectAccessReview } from '@kruise/api/authorization/localsubjectaccessreview';
import { configMap } from '@kruise/api/core/configmap';
import { namespace } from '@kruise/api/core/namespace';
import { node } from '@kruise/api/core/node';
import { StatusError } from '@kruise/machinery/status';
import { admit, lookupOf, writeOf } from '../../testing/admission.ts';
import { namespaceLifecycle } from './namespace-lifecycle.ts';

const plugin = namespaceLifecycle(
  lookupOf({
    kind: namespace,
    objects: [
      { metadata: { name: 'default' }, status: { phase: 'Active' } },
      { metadata: { name: 'going' }, status: { phase: 'Terminating' } },
    ],
  }),
);
const object = { metadata: { name: 'c' } };
const terminating = 'unable to create new content in namespace going because it is being terminated';

const cases = [
  { name: 'allows objects in an existing namespace', write: writeOf(configMap, object), refusal: undefined },
  {
    name: 'denies a create in a missing namespace',
    write: writeOf(configMap, object, { namespace: 'absent' }),
    refusal: 'namespaces "absent" not found',
  },
  {
    name: 'denies an update in a missing namespace',
    write: writeOf(configMap, object, { namespace: 'absent', operation: 'UPDATE' }),
    refusal: 'namespaces "absent" not found',
  },
  {
    name: 'denies a create in a terminating namespace',
    write: writeOf(configMap, object, { namespace: 'going' }),
    refusal: `configmaps "c" is forbidden: ${terminating}`,
  },
  {
    name: 'names an object that only has a generateName',
    write: writeOf(configMap, { metadata: { generateName: 'c-' } }, { namespace: 'going' }),
    refusal: `configmaps "c-" is forbidden: ${terminating}`,
  },
  {
    name: 'allows an update in a terminating namespace',
    write: writeOf(configMap, object, { namespace: 'going', operation: 'UPDATE' }),
    refusal: undefined,
  },
  {
    name: 'allows a delete in a missing namespace',
    write: writeOf(configMap, undefined, { namespace: 'absent', operation: 'DELETE' }),
    refusal: undefined,
  },
  {
    name: 'denies the deletion of the default namespace',
    write: writeOf(namespace, undefined, { name: 'default', namespace: 'default', operation: 'DELETE' }),
    refusal: 'namespaces "default" is forbidden: this namespace may not be deleted',
  },
  {
    name: 'allows the deletion of other namespaces',
    write: writeOf(namespace, undefined, { name: 'mine', namespace: 'mine', operation: 'DELETE' }),
    refusal: undefined,
  },
  {
    name: 'allows the creation of a namespace',
    write: writeOf(namespace, object, { name: 'c', namespace: 'c' }),
    refusal: undefined,
  },
  { name: 'ignores cluster-scoped objects', write: writeOf(node, object), refusal: undefined },
  {
    name: 'does not reveal to an access review whether a namespace exists',
    write: writeOf(localSubjectAccessReview, object, { namespace: 'absent' }),
    refusal: undefined,
  },
];
for (const { name, write, refusal } of cases) {
  test(name, async () => {
    assert.deepEqual(await admit(plugin, write), refusal ?? write.object);
  });
}

test('the denial in a terminating namespace has a cause', async () => {
  await assert.rejects(
    async () =>
      plugin.mutate?.(writeOf(configMap, object, { namespace: 'going' }), {
        round: 0,
        requestAnother() {},
        notes: new Map(),
      }),
    (error) =>
      error instanceof StatusError &&
      error.status.details?.causes?.[0]?.reason === 'NamespaceTerminating' &&
      error.status.details.causes[0].field === 'metadata.namespace',
  );
});
