/**
 * Cost of a custom resource of five kilobytes: pruning and defaulting, validation, and validation of an update with a
 * small change. Prints microseconds each.
 */
import { performance } from 'node:perf_hooks';
import { cloneSet } from '@kruise/api/kruise/cloneset';
import { customResourceDefinition } from '@kruise/schema/crd';
import { structuralSchema } from '@kruise/schema/structural';

const { spec } = customResourceDefinition({ kinds: [cloneSet], storage: cloneSet.version });
const schema = spec.versions[0]!.schema.openAPIV3Schema;
const metadata = { read: (found: unknown) => ({ metadata: found, unknown: [] }), validate: () => [] };

const container = (index: number) => ({
  name: `container-${index}`,
  image: `registry.example.com/team/application-${index}:v1.2.3`,
  command: ['/bin/application', '--config', '/etc/application/config.yaml'],
  env: Array.from({ length: 8 }, (_, variable) => ({ name: `VARIABLE_${variable}`, value: `value ${variable}` })),
  ports: [{ name: 'http', containerPort: 8080 + index, protocol: 'TCP' }],
  resources: { requests: { cpu: '100m', memory: '128Mi' }, limits: { cpu: '1', memory: '1Gi' } },
  readinessProbe: { httpGet: { path: '/ready', port: 8080 + index }, periodSeconds: 10 },
});
const object = {
  apiVersion: `${cloneSet.group}/${cloneSet.version}`,
  kind: cloneSet.kind,
  metadata: {
    name: 'sample',
    namespace: 'default',
    labels: { app: 'sample' },
    generation: 3,
    uid: 'u',
    resourceVersion: '7',
  },
  spec: {
    replicas: 10,
    selector: {
      matchLabels: { app: 'sample' },
      matchExpressions: [{ key: 'tier', operator: 'In', values: ['a', 'b'] }],
    },
    template: {
      metadata: { labels: { app: 'sample', tier: 'a' } },
      spec: { containers: [0, 1, 2].map(container), terminationGracePeriodSeconds: 30 },
    },
    scaleStrategy: { podsToDelete: ['sample-a', 'sample-b'], maxUnavailable: '20%' },
    updateStrategy: { type: 'RollingUpdate', rollingUpdate: { partition: '50%', maxUnavailable: 2 } },
    minReadySeconds: 5,
    revisionHistoryLimit: 10,
  },
  status: {
    observedGeneration: 3,
    replicas: 10,
    readyReplicas: 9,
    availableReplicas: 9,
    updatedReplicas: 5,
    updatedReadyReplicas: 5,
    labelSelector: 'app=sample',
    conditions: ['Progressing', 'FailedScale', 'FailedUpdate'].map((type) => ({
      type,
      status: 'True',
      reason: 'Because',
      message: 'a sentence of some length that tells people what happened',
      lastTransitionTime: '2024-01-01T00:00:00Z',
    })),
  },
};
const update = { ...object, spec: { ...object.spec, replicas: 11 } };

const made = performance.now();
const structural = structuralSchema(schema, { metadata });
const { object: read } = structural.read(object, []);
const causes = structural.validate(read);
console.log(`first object, compiling included: ${((performance.now() - made) * 1000).toFixed(0)} µs`);
console.log(`${JSON.stringify(object).length} bytes, ${causes.length} faults`);
for (const { field, message } of causes) console.log(`  ${field}: ${message}`);

function measure(name: string, run: () => unknown): void {
  for (let round = 0; round < 20_000; round++) run();
  const best = Array.from({ length: 10 }, () => {
    const start = performance.now();
    for (let round = 0; round < 5_000; round++) run();
    return (performance.now() - start) / 5;
  });
  console.log(`${name}: ${Math.min(...best).toFixed(2)} µs`);
}

const pruned: string[] = [];
measure('read (prune, nulls, defaults)', () => structural.read(read, pruned));
measure('validate', () => structural.validate(read));
measure('validateUpdate', () => structural.validateUpdate(update, read));
