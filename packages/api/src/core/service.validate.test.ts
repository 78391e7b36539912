import assert from 'node:assert/strict';
import { describe, test } from 'node:test';
import type { Draft } from '@kruise/schema/draft';
import { type Json, objectsOf, testErrors, testUpdateErrors } from '../meta/kind.fixtures.ts';
import { defaultService } from './service.default.ts';
import { keepAllocations, mirrorClusterIPs, prepareServiceForUpdate } from './service.strategy.ts';
import { type Service, service } from './service.ts';
import { serviceWarnings, validateService, validateServiceUpdate } from './service.validate.ts';

const make = objectsOf<Service>(service, {}, defaultService);
const port = { port: 80 };
const withSpec = (spec: Json) => make({ spec: { ports: [port], ...spec } });
const local = { type: 'LoadBalancer', externalTrafficPolicy: 'Local' };

describe('a Service', () => {
  testErrors(withSpec, validateService, [
    ['with a port is sound', {}, []],
    ['without ports has to be headless', { ports: [] }, ['spec.ports: Required value']],
    ['without ports is sound if headless', { ports: [], clusterIP: 'None', clusterIPs: ['None'] }, []],
    [
      'with several ports has to name them',
      { ports: [port, { port: 81 }] },
      ['spec.ports[0].name: Required value', 'spec.ports[1].name: Required value'],
    ],
    [
      'has each name of a port once',
      {
        ports: [
          { ...port, name: 'a' },
          { port: 81, name: 'a' },
        ],
      },
      ['spec.ports[1].name: Duplicate value: "a"'],
    ],
    [
      'has no port 0',
      { ports: [{ port: 0, targetPort: 1 }] },
      ['spec.ports[0].port: Invalid value: 0: must be between 1 and 65535, inclusive'],
    ],
    [
      'is of a known type',
      { type: 'Odd' },
      [
        'spec.type: Unsupported value: "Odd": supported values: "ClusterIP", "ExternalName", "LoadBalancer", "NodePort"',
      ],
    ],
    [
      'has no node ports inside the cluster',
      { ports: [{ ...port, nodePort: 30001 }] },
      ["spec.ports[0].nodePort: Forbidden: may not be used when `type` is 'ClusterIP'"],
    ],
    ['of the type ExternalName needs a name', { type: 'ExternalName' }, ['spec.externalName: Required value']],
    [
      'of the type ExternalName may have a name with a final dot',
      { type: 'ExternalName', externalName: 'example.com.' },
      [],
    ],
    [
      'names its first address twice alike',
      { clusterIP: '10.0.0.1', clusterIPs: ['10.0.0.2'] },
      ['spec.clusterIPs: Invalid value: []string{"10.0.0.2"}: first value must match `clusterIP`'],
    ],
    [
      'has one address of a family',
      { clusterIP: '10.0.0.1', clusterIPs: ['10.0.0.1', '10.0.0.2'] },
      [
        'spec.clusterIPs: Invalid value: []string{"10.0.0.1", "10.0.0.2"}: may specify no more than one IP for each IP family',
      ],
    ],
    [
      'has an address of the family it names',
      { clusterIP: '10.0.0.1', clusterIPs: ['10.0.0.1'], ipFamilies: ['IPv6'] },
      ['spec.clusterIPs[0]: Invalid value: "10.0.0.1": expected an IPv6 value as indicated by `ipFamilies[0]`'],
    ],
    [
      'is not reached at an address of the node itself',
      { externalIPs: ['127.0.0.1'] },
      ['spec.externalIPs[0]: Invalid value: "127.0.0.1": may not be in the loopback range (127.0.0.0/8, ::1/128)'],
    ],
    ['with local traffic only needs a port for health checks', local, ['spec.healthCheckNodePort: Required value']],
    [
      'keeps clients for a day at most',
      { sessionAffinity: 'ClientIP', sessionAffinityConfig: { clientIP: { timeoutSeconds: 86401 } } },
      [
        'spec.sessionAffinityConfig.clientIP.timeoutSeconds: Invalid value: 86401: must be greater than 0 and less than 86400',
      ],
    ],
    [
      'is limited to ranges only behind a load balancer',
      { loadBalancerSourceRanges: ['10.0.0.0/8'] },
      ["spec.LoadBalancerSourceRanges: Forbidden: may only be used when `type` is 'LoadBalancer'"],
    ],
  ]);
});

describe('a change of a Service', () => {
  const addressed = {
    clusterIP: '10.0.0.1',
    clusterIPs: ['10.0.0.1'],
    ipFamilies: ['IPv4'],
    ipFamilyPolicy: 'SingleStack',
  };
  testUpdateErrors(withSpec, validateServiceUpdate, [
    [
      'may add ports',
      addressed,
      {
        ...addressed,
        ports: [
          { ...port, name: 'a' },
          { port: 81, name: 'b' },
        ],
      },
      [],
    ],
    [
      'keeps the address',
      addressed,
      { ...addressed, clusterIP: '10.0.0.2', clusterIPs: ['10.0.0.2'] },
      ['spec.clusterIPs[0]: Invalid value: []string{"10.0.0.2"}: may not change once set'],
    ],
    [
      'cannot drop the address',
      addressed,
      { ipFamilies: ['IPv4'], ipFamilyPolicy: 'SingleStack' },
      ['spec.clusterIPs[0]: Invalid value: []string(nil): primary clusterIP can not be unset'],
    ],
    ['may leave the address for a name', addressed, { type: 'ExternalName', externalName: 'example.com' }, []],
    [
      'keeps the port for health checks',
      { ...local, healthCheckNodePort: 30001 },
      { ...local, healthCheckNodePort: 30002 },
      ['spec.healthCheckNodePort: Forbidden: field is immutable'],
    ],
  ]);
});

describe('allocated fields', () => {
  const before = withSpec({
    type: 'LoadBalancer',
    clusterIP: '10.0.0.1',
    clusterIPs: ['10.0.0.1'],
    ports: [{ ...port, nodePort: 30001 }],
  });

  test('are kept if the client omits them', () => {
    const draft = structuredClone(withSpec({ type: 'LoadBalancer' })) as Draft<Service>;
    keepAllocations(draft, before);
    mirrorClusterIPs(draft, before);
    assert.deepEqual(draft.spec?.clusterIPs, ['10.0.0.1']);
    assert.equal(draft.spec?.ports?.[0]?.nodePort, 30001);
  });

  test('are cleared with the type that needed them', () => {
    const draft = structuredClone({ ...before, spec: { ...before.spec, type: 'ClusterIP' } }) as Draft<Service>;
    prepareServiceForUpdate(draft, before);
    assert.equal(draft.spec?.ports?.[0]?.nodePort, undefined);
    assert.equal(draft.spec?.externalTrafficPolicy, undefined);
    assert.equal(draft.spec?.allocateLoadBalancerNodePorts, undefined);
    assert.equal(draft.spec?.clusterIP, '10.0.0.1');
  });
});

const warnings: readonly (readonly [spec: Json, warnings: readonly string[]])[] = [
  [{}, []],
  [{ externalName: 'a.b' }, ['spec.externalName is ignored when spec.type is not "ExternalName"']],
  [
    { type: 'LoadBalancer', loadBalancerSourceRanges: ['10.0.0.1/8'] },
    [
      'spec.loadBalancerSourceRanges[0]: CIDR value "10.0.0.1/8" is ambiguous in this context (should be "10.0.0.0/8" or "10.0.0.1/32"?)',
    ],
  ],
];
for (const [spec, expected] of warnings) {
  test(`a Service with ${JSON.stringify(spec)} is warned about`, () => {
    assert.deepEqual([...serviceWarnings(withSpec(spec))], expected);
  });
}
