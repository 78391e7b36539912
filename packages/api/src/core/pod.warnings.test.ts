import assert from 'node:assert/strict';
import { test } from 'node:test';
import { type Json, somePod, withContainer } from './pod.fixtures.ts';
import { podTemplateWarnings, podWarnings } from './pod.warnings.ts';

const specs: readonly (readonly [given: Json, warnings: readonly string[]])[] = [
  [{}, []],
  [
    { nodeSelector: { 'beta.kubernetes.io/os': 'linux' } },
    ['spec.nodeSelector[beta.kubernetes.io/os]: deprecated since v1.14; use "kubernetes.io/os" instead'],
  ],
  [
    { topologySpreadConstraints: [{ maxSkew: 1, topologyKey: 'a', whenUnsatisfiable: 'DoNotSchedule' }] },
    ['spec.topologySpreadConstraints[0].labelSelector: a null labelSelector results in matching no pod'],
  ],
  [
    { volumes: [{ name: 'v', gitRepo: { repository: 'r' } }] },
    ['spec.volumes[0].gitRepo: deprecated in v1.11, and disabled by default in v1.33+'],
  ],
  [
    {
      volumes: [
        {
          name: 'v',
          configMap: {
            name: 'c',
            items: [
              { key: 'a', path: 'a' },
              { key: 'b', path: 'a/b' },
            ],
          },
        },
      ],
    },
    ['volume "v" (ConfigMap "c"): overlapping paths: "a/b" with "a"'],
  ],
  [{ imagePullSecrets: [{ name: 'a' }, { name: 'a' }] }, ['spec.imagePullSecrets[1].name: duplicate name "a"']],
  [
    { hostAliases: [{ ip: '010.0.0.1' }] },
    [
      'spec.hostAliases[0].ip: non-standard IP address "010.0.0.1" will be considered invalid in a future Kubernetes release: use "10.0.0.1"',
    ],
  ],
];
for (const [given, warnings] of specs) {
  test(`a Pod with ${JSON.stringify(given)} has ${warnings.length} warnings`, () => {
    assert.deepEqual([...podWarnings(somePod(given))], warnings);
  });
}

const containers: readonly (readonly [given: Json, warning: string])[] = [
  [
    { resources: { requests: { memory: '100m' } } },
    'resources.requests[memory]: fractional byte value "100m" is invalid, must be an integer',
  ],
  [
    {
      env: [
        { name: 'A', value: '1' },
        { name: 'A', value: '2' },
      ],
    },
    'env[1]: hides previous definition of "A", which may be dropped when using apply',
  ],
  [
    { ports: [{ containerPort: 1 }, { containerPort: 1 }] },
    'ports[1]: duplicate port definition with spec.containers[0].ports[0]',
  ],
];
for (const [given, warning] of containers) {
  test(`a container with ${JSON.stringify(given)} is warned about`, () => {
    assert.deepEqual([...podWarnings(withContainer(given))], [`spec.containers[0].${warning}`]);
  });
}

test('a name that is not a DNS label is warned about', () => {
  const [warning] = podWarnings(somePod({}, { metadata: { name: 'a.b' } }));
  assert.equal(
    warning,
    "metadata.name: this is used in the Pod's hostname, which can result in surprising behavior; a DNS label is recommended: [must not contain dots]",
  );
});

test('warnings about a template start with its path', () => {
  const spec = somePod({ terminationGracePeriodSeconds: 5 }).spec!;
  const template = { spec: { ...spec, terminationGracePeriodSeconds: -1 } };
  assert.deepEqual(
    [...podTemplateWarnings(template, 'spec.template')],
    [
      'spec.template.spec.terminationGracePeriodSeconds: must be >= 0; negative values are invalid and will be treated as 1',
    ],
  );
});
