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
  { name: 'lets objects into a namespace that exists', write: writeOf(configMap, object), refusal: undefined },
  {
    name: 'knows no namespace that does not exist',
    write: writeOf(configMap, object, { namespace: 'absent' }),
    refusal: 'namespaces "absent" not found',
  },
  {
    name: 'changes nothing in a namespace that does not exist',
    write: writeOf(configMap, object, { namespace: 'absent', operation: 'UPDATE' }),
    refusal: 'namespaces "absent" not found',
  },
  {
    name: 'makes nothing in a namespace that is going',
    write: writeOf(configMap, object, { namespace: 'going' }),
    refusal: `configmaps "c" is forbidden: ${terminating}`,
  },
  {
    name: 'names what has only half a name yet',
    write: writeOf(configMap, { metadata: { generateName: 'c-' } }, { namespace: 'going' }),
    refusal: `configmaps "c-" is forbidden: ${terminating}`,
  },
  {
    name: 'changes what is in a namespace that is going',
    write: writeOf(configMap, object, { namespace: 'going', operation: 'UPDATE' }),
    refusal: undefined,
  },
  {
    name: 'deletes from a namespace that does not exist',
    write: writeOf(configMap, undefined, { namespace: 'absent', operation: 'DELETE' }),
    refusal: undefined,
  },
  {
    name: 'keeps the namespace default',
    write: writeOf(namespace, undefined, { name: 'default', namespace: 'default', operation: 'DELETE' }),
    refusal: 'namespaces "default" is forbidden: this namespace may not be deleted',
  },
  {
    name: 'lets other namespaces go',
    write: writeOf(namespace, undefined, { name: 'mine', namespace: 'mine', operation: 'DELETE' }),
    refusal: undefined,
  },
  {
    name: 'lets a namespace come',
    write: writeOf(namespace, object, { name: 'c', namespace: 'c' }),
    refusal: undefined,
  },
  { name: 'is not about what has no namespace', write: writeOf(node, object), refusal: undefined },
  {
    name: 'does not tell who asks about rights whether a namespace exists',
    write: writeOf(localSubjectAccessReview, object, { namespace: 'absent' }),
    refusal: undefined,
  },
];
for (const { name, write, refusal } of cases) {
  test(name, async () => {
    assert.deepEqual(await admit(plugin, write), refusal ?? write.object);
  });
}

test('says in a cause why a namespace takes nothing more', async () => {
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
