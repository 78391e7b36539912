import { describe } from 'node:test';
import { type Json, objectsOf, testErrors, testUpdateErrors } from '../meta/kind.fixtures.ts';
import { defaultHorizontalPodAutoscaler } from './horizontalpodautoscaler.default.ts';
import { type HorizontalPodAutoscaler, horizontalPodAutoscaler } from './horizontalpodautoscaler.ts';
import {
  validateHorizontalPodAutoscaler,
  validateHorizontalPodAutoscalerUpdate,
} from './horizontalpodautoscaler.validate.ts';

const sound = { scaleTargetRef: { kind: 'Deployment', name: 'd' }, maxReplicas: 3 };
const make = objectsOf<HorizontalPodAutoscaler>(horizontalPodAutoscaler, {}, defaultHorizontalPodAutoscaler);
const withSpec = (spec: Json) => make({ spec: { ...sound, ...spec } });

describe('an autoscaler', () => {
  testErrors(withSpec, validateHorizontalPodAutoscaler, [
    ['scales by the use of CPU', {}, []],
    ['has the default policies if none are given', { behavior: { scaleUp: {} } }, []],
    [
      'has a policy where policies are given',
      { behavior: { scaleUp: { policies: [] } } },
      ['spec.behavior.scaleUp.policies: Required value: must specify at least one Policy'],
    ],
    [
      'keeps one Pod',
      { minReplicas: 0 },
      [
        'spec.minReplicas: Invalid value: 0: must be greater than or equal to 1',
        'spec.metrics: Forbidden: must specify at least one Object or External metric to support scaling to zero replicas',
      ],
    ],
    [
      'has no more at least than at most',
      { minReplicas: 4 },
      ['spec.maxReplicas: Invalid value: 3: must be greater than or equal to `minReplicas`'],
    ],
    [
      'has metrics with a source',
      { metrics: [{ type: 'Pods' }] },
      ['spec.metrics[0].pods: Required value: must populate information for the given metric source'],
    ],
    [
      'aims at a share or an amount',
      {
        metrics: [
          {
            type: 'Resource',
            resource: { name: 'cpu', target: { type: 'Utilization', averageUtilization: 5, averageValue: '1' } },
          },
        ],
      },
      [
        'spec.metrics[0].resource.target.averageValue: Forbidden: may not set both a target raw value and a target utilization',
      ],
    ],
    [
      'has a stabilization window of at most an hour',
      { behavior: { scaleDown: { stabilizationWindowSeconds: 3601 } } },
      ['spec.behavior.scaleDown.stabilizationWindowSeconds: Invalid value: 3601: must be less than or equal to 3600'],
    ],
  ]);
  testUpdateErrors(withSpec, validateHorizontalPodAutoscalerUpdate, [
    [
      'that scaled to nothing may go on to, given a metric that knows without Pods',
      { minReplicas: 0 },
      {
        minReplicas: 0,
        metrics: [{ type: 'External', external: { metric: { name: 'q' }, target: { type: 'Value', value: '1' } } }],
      },
      [],
    ],
  ]);
});
