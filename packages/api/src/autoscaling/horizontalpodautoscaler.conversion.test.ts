import assert from 'node:assert/strict';
import { test } from 'node:test';
import { codecOf } from '@kruise/schema/codec';
import fc from 'fast-check';
import { objectsOf } from '../meta/kind.fixtures.ts';
import { fromVersion1, toVersion1 } from './horizontalpodautoscaler.conversion.ts';
import { defaultHorizontalPodAutoscaler } from './horizontalpodautoscaler.default.ts';
import { type HorizontalPodAutoscaler, horizontalPodAutoscaler } from './horizontalpodautoscaler.ts';

const scaleTargetRef = { kind: 'Deployment', name: 'd', apiVersion: 'apps/v1' };
const make = objectsOf<HorizontalPodAutoscaler>(
  horizontalPodAutoscaler,
  { spec: { scaleTargetRef, maxReplicas: 3 } },
  defaultHorizontalPodAutoscaler,
);
const canonical = (object: HorizontalPodAutoscaler) => codecOf(horizontalPodAutoscaler.root).canonical(object);

const amount = fc.constantFrom('1', '500m', '2Gi');
const share = fc.integer({ min: 1, max: 500 });
const metric = fc.record({ name: fc.constantFrom('a', 'b') });
const use = fc.oneof(
  share.map((averageUtilization) => ({ type: 'Utilization', averageUtilization })),
  amount.map((averageValue) => ({ type: 'AverageValue', averageValue })),
);
const anyMetric = fc.oneof(
  fc.record({ name: fc.constant('memory'), target: use }).map((resource) => ({ type: 'Resource', resource })),
  fc
    .record({ name: fc.constant('cpu'), container: fc.constant('c'), target: use })
    .map((containerResource) => ({ type: 'ContainerResource', containerResource })),
  fc.record({ metric, averageValue: amount }).map(({ metric: named, averageValue }) => ({
    type: 'Pods',
    pods: { metric: named, target: { type: 'AverageValue', averageValue } },
  })),
  fc.record({ metric, value: amount }).map(({ metric: named, value }) => ({
    type: 'External',
    external: { metric: named, target: { type: 'Value', value } },
  })),
  fc.record({ metric, value: amount }).map(({ metric: named, value }) => ({
    type: 'Object',
    object: { describedObject: scaleTargetRef, metric: named, target: { type: 'Value', value } },
  })),
);

test('an autoscaler survives the round trip through v1', () => {
  const behavior = { scaleUp: { stabilizationWindowSeconds: 5 }, scaleDown: { selectPolicy: 'Disabled' } };
  fc.assert(
    fc.property(
      fc.array(anyMetric, { minLength: 1, maxLength: 4 }),
      fc.option(share),
      fc.boolean(),
      (others, cpu, behaves) => {
        // v1 has one field for CPU utilization, which is the last metric.
        const metrics =
          cpu === null
            ? others
            : [
                ...others,
                {
                  type: 'Resource',
                  resource: { name: 'cpu', target: { type: 'Utilization', averageUtilization: cpu } },
                },
              ];
        const object = make({ spec: { scaleTargetRef, maxReplicas: 3, metrics, ...(behaves ? { behavior } : {}) } });
        assert.deepEqual(canonical(fromVersion1(toVersion1(object))), object);
      },
    ),
  );
});

test('v1 shows CPU utilization as a number', () => {
  const { spec, metadata } = toVersion1(make());
  assert.equal(spec?.targetCPUUtilizationPercentage, 80);
  assert.equal(metadata.annotations, undefined);
});

test('v1 carries other fields in annotations, under their former names', () => {
  const metrics = [
    { type: 'Pods', pods: { metric: { name: 'q' }, target: { type: 'AverageValue', averageValue: '5' } } },
  ];
  const { annotations } = toVersion1(
    make({ spec: { scaleTargetRef, maxReplicas: 3, metrics, behavior: {} } }),
  ).metadata;
  assert.equal(
    annotations?.['autoscaling.alpha.kubernetes.io/metrics'],
    '[{"type":"Pods","pods":{"metricName":"q","targetAverageValue":"5"}}]',
  );
  assert.match(
    annotations?.['autoscaling.alpha.kubernetes.io/behavior'] ?? '',
    /^{"ScaleUp":{"StabilizationWindowSeconds":0,/,
  );
});

test('an unreadable annotation is ignored', () => {
  const broken = { 'autoscaling.alpha.kubernetes.io/metrics': '[' };
  const object = fromVersion1({ ...toVersion1(make()), metadata: { name: 'one', annotations: broken } });
  assert.deepEqual(object.spec?.metrics, make().spec?.metrics);
  assert.equal(object.metadata.annotations, undefined);
});
