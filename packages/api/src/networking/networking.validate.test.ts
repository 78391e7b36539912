import assert from 'node:assert/strict';
import { describe, test } from 'node:test';
import { type EndpointSlice, endpointSlice } from '../discovery/endpointslice.ts';
import {
  defaultEndpointSlice,
  isEndpointSliceChanged,
  validateEndpointSlice,
  validateEndpointSliceUpdate,
} from '../discovery/endpointslice.validate.ts';
import { type Json, objectsOf, testErrors, testUpdateErrors } from '../meta/kind.fixtures.ts';
import { type Ingress, ingress } from './ingress.ts';
import { ingressWarnings, validateIngress, validateIngressUpdate } from './ingress.validate.ts';
import { type IngressClass, ingressClass } from './ingressclass.ts';
import { defaultIngressClass, validateIngressClass, validateIngressClassUpdate } from './ingressclass.validate.ts';
import { type IPAddress, ipAddress } from './ipaddress.ts';
import { validateIPAddress, validateIPAddressUpdate } from './ipaddress.validate.ts';
import { defaultNetworkPolicy } from './networkpolicy.default.ts';
import { type NetworkPolicy, networkPolicy } from './networkpolicy.ts';
import { validateNetworkPolicy } from './networkpolicy.validate.ts';
import { type ServiceCIDR, serviceCIDR } from './servicecidr.ts';
import { validateServiceCIDR, validateServiceCIDRUpdate } from './servicecidr.validate.ts';

describe('an Ingress', () => {
  const make = objectsOf<Ingress>(ingress, {});
  const backend = { service: { name: 'web', port: { number: 80 } } };
  const withPath = (path: Json) =>
    make({
      spec: {
        rules: [{ host: 'a.example.com', http: { paths: [{ path: '/', pathType: 'Prefix', backend, ...path }] } }],
      },
    });
  const at = 'spec.rules[0].http.paths[0]';
  testErrors(withPath, validateIngress, [
    ['leads a path to a Service', {}, []],
    ['needs a path type', { pathType: null }, [`${at}.pathType: Required value: pathType must be specified`]],
    ['has paths from the root', { path: 'a' }, [`${at}.path: Invalid value: "a": must be an absolute path`]],
    ['has paths without dots', { path: '/a/../b' }, [`${at}.path: Invalid value: "/a/../b": must not contain '/../'`]],
    ['leads somewhere', { backend: {} }, [`${at}.backend: Invalid value: "": resource or service backend is required`]],
    [
      'leads to a port of the Service',
      { backend: { service: { name: 'web' } } },
      [`${at}.backend: Required value: port name or number is required`],
    ],
  ]);
  testErrors((spec) => make({ spec }), validateIngress, [
    [
      'has rules or a backend for all',
      {},
      ['spec: Invalid value: []networking.IngressRule(nil): either `defaultBackend` or `rules` must be specified'],
    ],
    [
      'has names for hosts',
      { defaultBackend: backend, rules: [{ host: '10.0.0.1' }] },
      ['spec.rules[0].host: Invalid value: "10.0.0.1": must be a DNS name, not an IP address'],
    ],
  ]);
  testUpdateErrors((spec) => make({ spec }), validateIngressUpdate, [
    [
      'may change',
      { defaultBackend: backend },
      { defaultBackend: { service: { name: 'b', port: { name: 'c' } } } },
      [],
    ],
  ]);
  test('is warned about a deprecated annotation', () => {
    const old = make({ metadata: { annotations: { 'kubernetes.io/ingress.class': 'a' } } });
    assert.equal([...ingressWarnings(old, undefined)].length, 1);
    assert.deepEqual([...ingressWarnings(old, old)], []);
  });
});

describe('an IngressClass', () => {
  const make = objectsOf<IngressClass>(ingressClass, {}, defaultIngressClass);
  const parameters = { kind: 'K', name: 'n' };
  testErrors((spec) => make({ spec: { controller: 'example.com/c', ...spec } }), validateIngressClass, [
    ['names a controller', {}, []],
    [
      'names a controller with its domain',
      { controller: 'c' },
      ['spec.controller: Invalid value: "c": must be a domain-prefixed path (such as "acme.io/foo")'],
    ],
    [
      'has parameters in a namespace only if they are there',
      { parameters: { ...parameters, scope: 'Namespace' } },
      ["spec.parameters.namespace: Required value: `parameters.scope` is set to 'Namespace'"],
    ],
    [
      'has parameters without namespace by default',
      { parameters: { ...parameters, namespace: 'a' } },
      ["spec.parameters.namespace: Forbidden: `parameters.scope` is set to 'Cluster'"],
    ],
  ]);
  testUpdateErrors((controller) => make({ spec: controller }), validateIngressClassUpdate, [
    [
      'keeps its controller',
      { controller: 'example.com/a' },
      { controller: 'example.com/b' },
      ['spec.controller: Invalid value: "example.com/b": field is immutable'],
    ],
  ]);
});

describe('a NetworkPolicy', () => {
  const make = objectsOf<NetworkPolicy>(networkPolicy, {}, defaultNetworkPolicy);
  const withRule = (rule: Json) => make({ spec: { podSelector: {}, ingress: [rule] } });
  testErrors(withRule, validateNetworkPolicy, [
    ['lets everything in', {}, []],
    ['lets someone in', { from: [{}] }, ['spec.ingress[0].from[0]: Required value: must specify a peer']],
    [
      'excepts a part of a block',
      { from: [{ ipBlock: { cidr: '10.0.0.0/8', except: ['11.0.0.0/16'] } }] },
      ['spec.ingress[0].from[0].ipBlock.except[0]: Invalid value: "11.0.0.0/16": must be a strict subset of `cidr`'],
    ],
    [
      'has ranges of ports that end after they begin',
      { ports: [{ port: 80, endPort: 79 }] },
      ['spec.ingress[0].ports[0].endPort: Invalid value: 80: must be greater than or equal to `port`'],
    ],
  ]);
  test('applies to ingress, and to egress if it has egress rules', () => {
    assert.deepEqual(make({ spec: { podSelector: {} } }).spec?.policyTypes, ['Ingress']);
    assert.deepEqual(make({ spec: { podSelector: {}, egress: [{}] } }).spec?.policyTypes, ['Ingress', 'Egress']);
  });
});

describe('an IPAddress', () => {
  const parentRef = { resource: 'services', name: 'a', namespace: 'b' };
  const make = objectsOf<IPAddress>(ipAddress, { metadata: { name: '10.0.0.1' }, spec: { parentRef } });
  testErrors(make, validateIPAddress, [
    ['is named by the address', {}, []],
    [
      'is named as the address is written',
      { metadata: { name: '2001:DB8::1' } },
      ['metadata.name: Invalid value: "2001:DB8::1": must be in canonical form ("2001:db8::1")'],
    ],
    ['belongs to someone', { spec: {} }, ['spec.parentRef: Required value']],
  ]);
  test('has an immutable parent', () => {
    const faults = [...validateIPAddressUpdate(make({ spec: { parentRef: { ...parentRef, name: 'c' } } }), make())];
    assert.deepEqual(
      faults.map(({ field }) => field),
      ['spec.parentRef'],
    );
  });
});

describe('a ServiceCIDR', () => {
  const make = objectsOf<ServiceCIDR>(serviceCIDR, {});
  const withRanges = (spec: Json) => make({ spec });
  testErrors(withRanges, validateServiceCIDR, [
    ['has a range', { cidrs: ['10.0.0.0/24'] }, []],
    ['has a range of each family', { cidrs: ['10.0.0.0/24', 'fd00::/112'] }, []],
    ['has at least one', {}, ['spec.cidrs: Required value: at least one CIDR required']],
    [
      'has no two of a family',
      { cidrs: ['10.0.0.0/24', '10.0.1.0/24'] },
      [
        'spec.cidrs: Invalid value: []string{"10.0.0.0/24", "10.0.1.0/24"}: may specify no more than one IP for each IP family, i.e 192.168.0.0/24 and 2001:db8::/64',
      ],
    ],
  ]);
  testUpdateErrors(withRanges, validateServiceCIDRUpdate, [
    ['may be given the other family', { cidrs: ['10.0.0.0/24'] }, { cidrs: ['10.0.0.0/24', 'fd00::/112'] }, []],
    [
      'keeps its range',
      { cidrs: ['10.0.0.0/24'] },
      { cidrs: ['10.0.1.0/24'] },
      ['spec.cidrs[0]: Invalid value: "10.0.1.0/24": field is immutable'],
    ],
  ]);
});

describe('an EndpointSlice', () => {
  const make = objectsOf<EndpointSlice>(endpointSlice, { addressType: 'IPv4', endpoints: [] }, defaultEndpointSlice);
  const withEndpoint = (endpoint: Json) => make({ endpoints: [{ addresses: ['10.0.0.1'], ...endpoint }] });
  testErrors(withEndpoint, validateEndpointSlice, [
    ['has addresses of its family', {}, []],
    ['has addresses', { addresses: [] }, ['endpoints[0].addresses: Required value: must contain at least 1 address']],
    [
      'has no addresses of the other family',
      { addresses: ['2001:db8::1'] },
      ['endpoints[0].addresses: Invalid value: "2001:db8::1": must be an IPv4 address'],
    ],
    [
      'hints at each zone once',
      { hints: { forZones: [{ name: 'a' }, { name: 'a' }] } },
      ['endpoints[0].hints.forZones[1].name: Duplicate value: "a"'],
    ],
  ]);
  testErrors(make, validateEndpointSlice, [
    ['has each port once', { ports: [{ port: 1 }, { port: 2 }] }, ['ports[1].name: Duplicate value: ""']],
    [
      'has a thousand endpoints at most',
      { endpoints: Array.from({ length: 1001 }, () => ({ addresses: ['10.0.0.1'] })) },
      ['endpoints: Too many: 1001: must have at most 1000 items'],
    ],
  ]);
  testUpdateErrors(make, validateEndpointSliceUpdate, [
    ['keeps its family', {}, { addressType: 'IPv6' }, ['addressType: Invalid value: "IPv6": field is immutable']],
  ]);
  test('counts changes of labels', () => {
    assert.ok(isEndpointSliceChanged(make({ metadata: { labels: { a: 'b' } } }), make()));
    assert.ok(!isEndpointSliceChanged(make({ metadata: { annotations: { a: 'b' } } }), make()));
  });
});
