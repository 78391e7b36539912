import assert from 'node:assert/strict';
import { test } from 'node:test';
import type { JsonObject } from '@kruise/machinery/json-value';
import { apiVersionOf } from '@kruise/schema/kind';
import fc from 'fast-check';
import { conversions } from './catalogue.ts';

const labels = fc.dictionary(
  fc.constantFrom('a', 'b', 'apps.kruise.io/sidecarset-custom-version'),
  fc.constantFrom('1', 'x'),
  { maxKeys: 2 },
);
const selector = fc.constantFrom(
  { matchLabels: { app: 'web' } },
  { matchExpressions: [{ key: 'a', operator: 'Exists' }] },
);
const limit = fc.oneof(fc.nat(9), fc.constantFrom('10%', '33.3%'));
const template = fc.constant({
  metadata: { labels: { app: 'web' } },
  spec: { containers: [{ name: 'main', image: 'app' }] },
});

/** Arbitrary specs of v1alpha1 by kind, with as much variation as matters for conversion. */
const specs: { readonly [kind: string]: fc.Arbitrary<object> } = {
  CloneSet: fc.record(
    {
      replicas: fc.nat(9),
      selector,
      template,
      scaleStrategy: fc.record({ disablePVCReuse: fc.boolean(), maxUnavailable: limit }, { requiredKeys: [] }),
      updateStrategy: fc.record(
        {
          type: fc.constantFrom('ReCreate', 'InPlaceIfPossible', 'InPlaceOnly'),
          partition: limit,
          maxSurge: limit,
          paused: fc.boolean(),
        },
        { requiredKeys: ['type'] },
      ),
      progressDeadlineSeconds: fc.nat(600),
    },
    { requiredKeys: ['selector', 'template', 'scaleStrategy', 'updateStrategy'] },
  ),
  StatefulSet: fc.record(
    { replicas: fc.nat(9), selector, template, serviceName: fc.constant('s') },
    { requiredKeys: ['selector', 'template'] },
  ),
  DaemonSet: fc.record(
    {
      selector,
      template,
      burstReplicas: limit,
      updateStrategy: fc.record({
        rollingUpdate: fc.record({
          rollingUpdateType: fc.constantFrom('Standard', 'InPlaceIfPossible'),
          maxSurge: limit,
        }),
      }),
    },
    { requiredKeys: ['selector', 'template'] },
  ),
  SidecarSet: fc.record(
    { selector, namespaceSelector: selector, volumes: fc.constant([{ name: 'v', emptyDir: {} }]) },
    { requiredKeys: ['selector'] },
  ),
  UnitedDeployment: fc.record({ replicas: fc.nat(9), selector }, { requiredKeys: ['selector'] }),
  WorkloadSpread: fc.record({
    targetRef: fc.constant({ apiVersion: 'v1', kind: 'K', name: 'n' }),
    subsets: fc.array(
      fc.record(
        {
          name: fc.constant('s'),
          maxReplicas: limit,
          preferredNodeSelectorTerms: fc.constant([{ weight: 1, preference: {} }]),
        },
        { requiredKeys: ['name'] },
      ),
      { maxLength: 2 },
    ),
  }),
  PersistentPodState: fc.record(
    {
      targetRef: fc.constant({ apiVersion: 'v1', kind: 'K', name: 'n' }),
      requiredPersistentTopology: fc.record({
        nodeTopologyKeys: fc.array(fc.constantFrom('a', 'b'), { minLength: 1 }),
      }),
    },
    { requiredKeys: ['targetRef'] },
  ),
  ResourceDistribution: fc.record({
    resource: fc.constant({ apiVersion: 'v1', kind: 'Secret' }),
    targets: fc.record({ allNamespaces: fc.boolean(), namespaceLabelSelector: selector }),
  }),
  ContainerRecreateRequest: fc.record({ podName: fc.constant('p'), containers: fc.constant([{ name: 'c' }]) }),
  PodUnavailableBudget: fc.record({ selector, maxUnavailable: limit }, { requiredKeys: [] }),
};

for (const { older, stored, convert } of conversions) {
  test(`a ${stored.kind} of v1alpha1 survives the round trip through v1beta1`, () => {
    fc.assert(
      fc.property(labels, specs[stored.kind]!, (found, spec) => {
        const metadata = { name: 'web', ...(Object.keys(found).length > 0 ? { labels: found } : {}) };
        const made = { apiVersion: apiVersionOf(older), kind: older.kind, metadata, spec };
        // Generated objects have no prototype, which a comparison would report.
        const given = JSON.parse(JSON.stringify(made)) as JsonObject;
        // After one round trip the object is as Go writes it, and further round trips change nothing.
        const there = (object: JsonObject) => convert(convert(object, apiVersionOf(stored)), apiVersionOf(older));
        const first = there(given);
        assert.deepEqual(there(first), first);
        assert.deepEqual(valuesIn(given, first), given);
      }),
    );
  });
}

/** Returns the parts of an object that another one has at the same paths. */
function valuesIn(given: unknown, object: unknown): unknown {
  if (Array.isArray(given))
    return given.map((item, index) => valuesIn(item, (object as unknown[] | undefined)?.[index]));
  if (typeof given !== 'object' || given === null) return given === false ? (object ?? false) : object;
  const fields = (object ?? {}) as JsonObject;
  return Object.fromEntries(Object.entries(given).map(([name, value]) => [name, valuesIn(value, fields[name])]));
}
