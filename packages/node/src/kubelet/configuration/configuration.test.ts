import assert from 'node:assert/strict';
import { test } from 'node:test';
import fc from 'fast-check';
import {
  type ConfigurationValues,
  configurationObject,
  decodeConfiguration,
  fieldsWithEffect,
  mergeDocuments,
  withConfigurationDefaults,
} from './configuration.ts';
import { configurationFields, type Field } from './fields.ts';
import { configurationFaults } from './validate.ts';

const header = { apiVersion: 'kubelet.config.k8s.io/v1beta1', kind: 'KubeletConfiguration' };
const decode = (fields: object) => decodeConfiguration({ ...header, ...fields }, 'config.yaml');
const effective = (fields: object) => withConfigurationDefaults(decode(fields));

test('an empty configuration has the defaults of Kubernetes v1.33 and no faults', () => {
  const values = effective({});
  assert.deepEqual(configurationFaults(values), []);
  assert.deepEqual([...fieldsWithEffect(values, 'ignored'), ...fieldsWithEffect(values, 'unsupported')], []);
  assert.deepEqual(
    [values.maxPods, values.podPidsLimit, values.syncFrequency, values['authentication.webhook.cacheTTL']],
    [110, -1, '1m0s', '2m0s'],
  );
});

test('the effective configuration decodes to itself', () => {
  const values = effective({ evictionSoft: { 'memory.available': '1Gi' }, memorySwap: { swapBehavior: 'NoSwap' } });
  assert.deepEqual(withConfigurationDefaults(decode(configurationObject(values))), values);
});

const strict: readonly (readonly [fields: object, message: RegExp])[] = [
  [{ maxPod: 5 }, /^config\.yaml: unknown field "maxPod"$/],
  [{ MaxPods: 5 }, /unknown field "MaxPods"/],
  [{ authentication: { x509: { caFile: '' } } }, /unknown field "authentication\.x509\.caFile"/],
  [{ authentication: [] }, /authentication: must be an object/],
  [{ toString: 1 }, /unknown field "toString"/],
  [{ maxPods: '5' }, /maxPods: must be a whole number/],
  [{ maxPods: 1.5 }, /maxPods: must be a whole number/],
  [{ cgroupsPerQOS: 'yes' }, /cgroupsPerQOS: must be true or false/],
  [{ syncFrequency: '1 minute' }, /syncFrequency: time: /],
  [{ clusterDNS: '10.96.0.10' }, /clusterDNS: must be a list of strings/],
  [{ evictionHard: { 'memory.available': 5 } }, /evictionHard: must be a map of strings/],
  [{ featureGates: { NodeSwap: 'true' } }, /featureGates: must be a map of true and false/],
  [{ registerWithTaints: [{ key: 'a', color: 'b' }] }, /registerWithTaints: unknown field "\[0\]\.color"/],
  [{ maxPod: 5, port: 'x' }, /\[unknown field "maxPod", port: must be a whole number\]/],
];
for (const [fields, message] of strict) {
  test(`${JSON.stringify(fields)} is rejected`, () => assert.throws(() => decode(fields), { message }));
}

test('a duplicate field and another kind are rejected', () => {
  const duplicate = 'line 4: key "port" already set in map';
  assert.throws(() => decodeConfiguration(header, 'config.yaml', [duplicate]), {
    message: `config.yaml: ${duplicate}`,
  });
  assert.throws(
    () => decodeConfiguration({ ...header, kind: 'KubeProxyConfiguration' }, 'config.yaml'),
    /no kind "KubeProxyConfiguration" is registered/,
  );
  assert.throws(() => decodeConfiguration(null, 'config.yaml'), /no kind "undefined"/);
});

const derived: readonly (readonly [fields: object, expected: ConfigurationValues])[] = [
  [
    { syncFrequency: '0s', port: 0, address: '' },
    { syncFrequency: '1m0s', port: 10250, address: '0.0.0.0' },
  ],
  [
    { healthzPort: 0, registryPullQPS: 0 },
    { healthzPort: 0, registryPullQPS: 0 },
  ],
  [{ nodeStatusUpdateFrequency: '30s' }, { nodeStatusReportFrequency: '30s', nodeStatusUpdateFrequency: '30s' }],
  [{ maxParallelImagePulls: 4 }, { serializeImagePulls: false }],
  [{ podPidsLimit: -7 }, { podPidsLimit: -1 }],
  [{ resolvConf: '' }, { resolvConf: '' }],
  [{ enforceNodeAllocatable: [] }, { enforceNodeAllocatable: [] }],
  [{ evictionHard: { 'memory.available': '1Gi' } }, { evictionHard: { 'memory.available': '1Gi' } }],
  [
    { evictionHard: { 'memory.available': '1Gi' }, mergeDefaultEvictionSettings: true },
    {
      evictionHard: {
        'memory.available': '1Gi',
        'nodefs.available': '10%',
        'nodefs.inodesFree': '5%',
        'imagefs.available': '15%',
        'imagefs.inodesFree': '5%',
      },
    },
  ],
];
for (const [fields, expected] of derived) {
  test(`${JSON.stringify(fields)} has the defaults that depend on it`, () => {
    const values = effective(fields);
    assert.deepEqual(Object.fromEntries(Object.keys(expected).map((path) => [path, values[path]])), expected);
  });
}

const faulty: readonly (readonly [fields: object, message: RegExp])[] = [
  [{ port: 70_000 }, /^port 70000 must be between 1 and 65535, inclusive$/],
  [{ maxPods: -1 }, /^maxPods -1 must be greater than or equal to 0$/],
  [{ oomScoreAdj: 2000 }, /^oomScoreAdj 2000 must be between -1000 and 1000/],
  [{ containerLogMaxFiles: 1 }, /^containerLogMaxFiles 1 must be greater than or equal to 2$/],
  [{ cpuCFSQuotaPeriod: '2s' }, /^cpuCFSQuotaPeriod 2s must be between 1ms and 1sec/],
  [{ containerLogMonitorInterval: '1s' }, /^containerLogMonitorInterval must be .* 3s$/],
  [{ imageGCHighThresholdPercent: 70 }, /^imageGCLowThresholdPercent 80 must be less than .* 70$/],
  [{ cgroupDriver: 'docker' }, /^cgroupDriver "docker" must be one of: "cgroupfs", "systemd"$/],
  [{ memorySwap: { swapBehavior: 'Unlimited' } }, /^memorySwap\.swapBehavior "Unlimited" must be one of/],
  [{ address: 'localhost' }, /^address "localhost" must be an IP address$/],
  [{ clusterDNS: ['10.96.0.10', 'dns'] }, /^clusterDNS\[1\] "dns" must be an IP address$/],
  [{ containerLogMaxSize: 'big' }, /^containerLogMaxSize "big" must be a quantity/],
  [{ kubeReserved: { gpu: '1' } }, /^kubeReserved\.gpu: cannot reserve "gpu" resource$/],
  [{ systemReserved: { cpu: '-1' } }, /^systemReserved\.cpu "-1" must be a quantity$/],
  [{ podLogsDir: '/var/../log' }, /^pod logs path "\/var\/\.\.\/log" must be/],
  [{ registerWithTaints: [{ key: 'a', effect: 'Maybe' }] }, /^registerWithTaints\[0\]: invalid taint/],
  [{ enforceNodeAllocatable: ['cpu'] }, /^option "cpu" specified for enforceNodeAllocatable/],
  [{ enforceNodeAllocatable: ['kube-reserved'] }, /^kubeReservedCgroup must be specified/],
  [{ cgroupsPerQOS: false }, /^cgroupsPerQOS must be set to true when "pods"/],
  [{ evictionHard: { 'memory.free': '1Gi' } }, /^evictionHard\["memory\.free"\]: unsupported eviction signal$/],
  [{ evictionHard: { 'memory.available': '101%' } }, /^evictionHard\["memory\.available"\] "101%" must be/],
  [{ evictionSoft: { 'memory.available': '1Gi' } }, /^grace period must be specified .* memory\.available$/],
  [{ serializeImagePulls: true, maxParallelImagePulls: 3 }, /^maxParallelImagePulls cannot be larger than 1/],
  [{ tlsCertFile: '/a.crt' }, /^tlsCertFile and tlsPrivateKeyFile must be given together$/],
  [{ cpuManagerPolicy: 'static' }, /^cpuManagerPolicy "static" is not supported: remove the field, or set "none"$/],
  [{ seccompDefault: true }, /^seccompDefault true is not supported/],
];
for (const [fields, message] of faulty) {
  test(`${JSON.stringify(fields)} is a fault`, () => {
    const faults = configurationFaults(effective(fields));
    assert.equal(faults.length, 1, faults.join('\n'));
    assert.match(faults[0]!, message);
  });
}

test('all faults are reported', () => {
  assert.equal(configurationFaults(effective({ port: -1, maxPods: -1, readOnlyPort: 10255 })).length, 3);
});

const samples: { readonly [type in Field['type']]: unknown } = {
  string: 'other',
  path: '/other',
  boolean: undefined,
  integer: 7,
  number: 0.5,
  duration: '7s',
  strings: ['other'],
  'string map': { other: '1' },
  'boolean map': { Other: true },
  'list map': { other: ['1'] },
  objects: [{}],
};
for (const [path, field] of Object.entries(configurationFields)) {
  if (field.effect === 'applied') continue;
  test(`${path} with another value is ${field.effect}`, () => {
    const values = withConfigurationDefaults({ [path]: samples[field.type] ?? field.default !== true });
    assert.ok(fieldsWithEffect(values, field.effect).includes(path));
    const isFault = configurationFaults(values).some(
      (fault) => fault.startsWith(`${path} `) && /not supported/.test(fault),
    );
    assert.equal(isFault, field.effect === 'unsupported');
  });
}

test('maps are merged, lists replaced and nulls remove a value', () => {
  const base = { a: { b: 1, c: 2 }, list: [1, 2], gone: 1 };
  assert.deepEqual(mergeDocuments(base, { a: { c: 3 }, list: [3], gone: null }), { a: { b: 1, c: 3 }, list: [3] });
  assert.deepEqual(base, { a: { b: 1, c: 2 }, list: [1, 2], gone: 1 });
});

test('a document merged with itself stays the same', () => {
  const document = fc.dictionary(
    fc.string(),
    fc.jsonValue().filter((value) => !JSON.stringify(value).includes('null')),
  );
  fc.assert(
    fc.property(document, (value) => {
      assert.deepEqual(JSON.stringify(mergeDocuments(value, value)), JSON.stringify(value));
    }),
  );
});
