import assert from 'node:assert/strict';
import { test } from 'node:test';
import type { ResourceQuota } from '@kruise/api/core/resourcequota';
import { quotaEvaluatorOf, quotaMatches } from './quota.ts';
import { resourceListOf } from './resource-list.ts';

const now = Date.parse('2026-01-01T00:00:00Z');
const pods = quotaEvaluatorOf({ group: '', plural: 'pods' });
const services = quotaEvaluatorOf({ group: '', plural: 'services' });
const claims = quotaEvaluatorOf({ group: '', plural: 'persistentvolumeclaims' });
const used = (evaluator: typeof pods, object: object) => resourceListOf(evaluator.usage(object, now));

const running = {
  metadata: {},
  spec: {
    containers: [
      {
        name: 'c',
        resources: {
          requests: { cpu: '1', 'hugepages-2Mi': '4Mi', 'example.com/gpu': '1' },
          limits: { memory: '1Gi' },
        },
      },
    ],
  },
};
const everything = {
  'count/pods': '1',
  pods: '1',
  cpu: '1',
  'requests.cpu': '1',
  'hugepages-2Mi': '4Mi',
  'requests.hugepages-2Mi': '4Mi',
  'requests.example.com/gpu': '1',
  'limits.memory': '1Gi',
};
const ended = { 'count/pods': '1' };
const going = (seconds: number) => ({
  ...running,
  metadata: { deletionTimestamp: new Date(now - seconds * 1000).toISOString(), deletionGracePeriodSeconds: 30 },
});

const usages = [
  ['a Pod, by all names', pods, running, everything],
  ['a Pod that has failed, only as an object', pods, { ...running, status: { phase: 'Failed' } }, ended],
  ['a Pod that is ending', pods, going(20), everything],
  ['a Pod that should have ended, only as an object', pods, going(31), ended],
  [
    'a Service',
    services,
    { metadata: {}, spec: { ports: [{}] } },
    { 'count/services': '1', services: '1', 'services.loadbalancers': '0', 'services.nodeports': '0' },
  ],
  [
    'a load balancer with its ports',
    services,
    { metadata: {}, spec: { type: 'LoadBalancer', ports: [{}, {}] } },
    { 'count/services': '1', services: '1', 'services.loadbalancers': '1', 'services.nodeports': '2' },
  ],
  [
    'a load balancer with the ports it asks for',
    services,
    {
      metadata: {},
      spec: { type: 'LoadBalancer', allocateLoadBalancerNodePorts: false, ports: [{}, { nodePort: 30000 }] },
    },
    { 'count/services': '1', services: '1', 'services.loadbalancers': '1', 'services.nodeports': '1' },
  ],
  [
    'a PVC, in whole bytes',
    claims,
    { metadata: {}, spec: { resources: { requests: { storage: '1500m' } } } },
    { persistentvolumeclaims: '1', 'count/persistentvolumeclaims': '1', 'requests.storage': '2' },
  ],
  [
    'a PVC with its allocated storage',
    claims,
    {
      metadata: {},
      spec: { resources: { requests: { storage: '1Gi' } } },
      status: { allocatedResources: { storage: '2Gi' } },
    },
    { persistentvolumeclaims: '1', 'count/persistentvolumeclaims': '1', 'requests.storage': '2Gi' },
  ],
] as const;
for (const [name, evaluator, object, expected] of usages) {
  test(`counts ${name}`, () => {
    assert.deepEqual(used(evaluator, object), expected);
  });
}

test('counts objects of any resource', () => {
  assert.deepEqual(used(quotaEvaluatorOf({ group: 'example.com', plural: 'toys' }), {}), {
    'count/toys.example.com': '1',
  });
  assert.deepEqual(used(quotaEvaluatorOf({ group: '', plural: 'secrets' }), {}), {
    'count/secrets': '1',
    secrets: '1',
  });
});

const quota = (hard: object, spec: object = {}) =>
  ({ metadata: {}, spec, status: { hard } }) as unknown as ResourceQuota;
const affinity = { podAffinity: { requiredDuringSchedulingIgnoredDuringExecution: [{ namespaces: ['other'] }] } };
const matches = [
  ['a quota on Pods', quota({ pods: '1' }), running, true],
  ['a quota on Services', quota({ services: '1' }), running, false],
  ['a quota on what finishes', quota({ pods: '1' }, { scopes: ['Terminating'] }), running, false],
  ['a quota on what does not finish', quota({ pods: '1' }, { scopes: ['NotTerminating'] }), running, true],
  ['a quota on what asks for something', quota({ pods: '1' }, { scopes: ['NotBestEffort'] }), running, true],
  [
    'a quota of two scopes of which one holds',
    quota({ pods: '1' }, { scopes: ['NotBestEffort', 'Terminating'] }),
    running,
    false,
  ],
  [
    'a quota on reaching into other namespaces',
    quota({ pods: '1' }, { scopes: ['CrossNamespacePodAffinity'] }),
    running,
    false,
  ],
  [
    'a quota on reaching into other namespaces, for one that does',
    quota({ pods: '1' }, { scopes: ['CrossNamespacePodAffinity'] }),
    { ...running, spec: { ...running.spec, affinity } },
    true,
  ],
] as const;
for (const [name, each, object, expected] of matches) {
  test(`a Pod ${expected ? 'is' : 'is not'} the business of ${name}`, () => {
    assert.equal(quotaMatches(pods, each, object), expected);
  });
}
