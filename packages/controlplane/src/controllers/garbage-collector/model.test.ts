/** Model test: deletes random objects in random graphs, and compares the remaining objects with the model. */
import assert from 'node:assert/strict';
import { test } from 'node:test';
import { configMap } from '@kruise/api/core/configmap';
import { namespace as namespaceKind } from '@kruise/api/core/namespace';
import type { DeleteOptions } from '@kruise/client/client';
import fc from 'fast-check';
import { type Cluster, startCluster } from '../../testing/cluster.ts';

/** Owners of each object. */
type World = ReadonlyMap<string, ReadonlySet<string>>;
type Policy = NonNullable<DeleteOptions['propagationPolicy']>;
type Plan = {
  /** Owners of each object, and whether they are blocked by it. */
  readonly owners: readonly (readonly { readonly owner: number; readonly isBlocking: boolean }[])[];
  readonly deletions: readonly { readonly index: number; readonly policy: Policy }[];
};

const names = ['a', 'b', 'c', 'd', 'e', 'f'];

/** Returns the objects after a deletion: all but the object, and everything that lost all its owners. */
function expectedAfter(world: World, name: string, policy: Policy): World {
  if (!world.has(name)) return world;
  const gone = new Set([name]);
  for (let before = 0; policy !== 'Orphan' && before < gone.size; ) {
    before = gone.size;
    for (const [each, owners] of world) if (owners.size > 0 && owners.isSubsetOf(gone)) gone.add(each);
  }
  return new Map(
    [...world].filter(([each]) => !gone.has(each)).map(([each, owners]) => [each, owners.difference(gone)]),
  );
}

async function build({ client }: Cluster, namespace: string, { owners }: Plan): Promise<World> {
  await client.create(namespaceKind, { metadata: { name: namespace } });
  const made = await Promise.all(
    owners.map((_, index) => client.create(configMap, { metadata: { name: names[index]!, namespace } })),
  );
  const world = new Map<string, ReadonlySet<string>>();
  for (const [index, own] of owners.entries()) {
    const ownerReferences = own.map(({ owner, isBlocking }) => ({
      apiVersion: 'v1',
      kind: 'ConfigMap',
      name: names[owner]!,
      uid: made[owner]!.metadata.uid!,
      blockOwnerDeletion: isBlocking,
    }));
    await client.patch(
      configMap,
      { namespace, name: names[index]! },
      { metadata: { ownerReferences } },
      { type: 'merge' },
    );
    world.set(names[index]!, new Set(own.map(({ owner }) => names[owner]!)));
  }
  return world;
}

async function observe({ client }: Cluster, namespace: string): Promise<World> {
  const { items } = await client.list(configMap, { namespace });
  return new Map(
    items.map(({ metadata }) => {
      assert.equal(metadata.deletionTimestamp, undefined, `${metadata.name} is stuck`);
      return [metadata.name!, new Set(metadata.ownerReferences?.map(({ name }) => name))];
    }),
  );
}

const plan = fc.integer({ min: 2, max: names.length }).chain((size) => {
  const index = fc.nat({ max: size - 1 });
  const owner = fc.record({ owner: index, isBlocking: fc.boolean() });
  return fc.record({
    owners: fc.array(fc.uniqueArray(owner, { selector: (each) => each.owner, maxLength: 3 }), {
      minLength: size,
      maxLength: size,
    }),
    deletions: fc.array(fc.record({ index, policy: fc.constantFrom<Policy>('Background', 'Foreground', 'Orphan') }), {
      minLength: 1,
      maxLength: 3,
    }),
  });
});

test('after a deletion, exactly the objects with an owner left, or without owners at all, remain', async () => {
  await using cluster = await startCluster();
  await cluster.run(['garbage-collector-controller']);
  await cluster.advance(1);
  let spaces = 0;
  await fc.assert(
    fc.asyncProperty(plan, async (planned) => {
      const namespace = `space-${spaces++}`;
      let expected = await build(cluster, namespace, planned);
      await cluster.advance(1);
      for (const { index, policy } of planned.deletions) {
        const name = names[index]!;
        if (expected.has(name))
          await cluster.client.delete(configMap, { namespace, name }, { propagationPolicy: policy });
        expected = expectedAfter(expected, name, policy);
        await cluster.advance(5);
        assert.deepEqual(await observe(cluster, namespace), expected);
      }
    }),
    { numRuns: 50 },
  );
  assert.deepEqual(cluster.warnings, []);
});

test('with concurrent deletions, nothing is stuck, and no reference to a deleted object remains', async () => {
  await using cluster = await startCluster();
  await cluster.run(['garbage-collector-controller']);
  await cluster.advance(1);
  let spaces = 0;
  await fc.assert(
    fc.asyncProperty(plan, async (planned) => {
      const namespace = `space-${spaces++}`;
      await build(cluster, namespace, planned);
      await cluster.advance(1);
      const deletions = new Map(planned.deletions.map(({ index, policy }) => [names[index]!, policy]));
      await Promise.all(
        Array.from(deletions, ([name, propagationPolicy]) =>
          cluster.client.delete(configMap, { namespace, name }, { propagationPolicy }),
        ),
      );
      await cluster.advance(5);
      const left = await observe(cluster, namespace);
      const present = new Set(left.keys());
      for (const name of deletions.keys()) assert.ok(!present.has(name), `${name} still exists`);
      for (const [name, owners] of left) assert.ok(owners.isSubsetOf(present), `${name} refers to a deleted owner`);
    }),
    { numRuns: 50 },
  );
  assert.deepEqual(cluster.warnings, []);
});
