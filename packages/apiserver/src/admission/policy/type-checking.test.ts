import assert from 'node:assert/strict';
import { test } from 'node:test';
import type { ValidatingAdmissionPolicy } from '@kruise/api/admissionregistration/validatingadmissionpolicy';
import { deployment } from '@kruise/api/apps/deployment';
import { configMap } from '@kruise/api/core/configmap';
import type { Kind } from '@kruise/schema/kind';
import { describeDefined, describeKind, type Kinds, typeCheck } from './type-checking.ts';

const all: readonly Kind[] = [deployment, configMap];
const described = (kind: Kind | undefined) => kind && describeKind(kind);
const box = describeDefined(
  { group: 'example.com', version: 'v1', kind: 'Box' },
  { type: 'object', properties: { spec: { type: 'object', properties: { size: { type: 'integer' } } } } },
);
const kinds: Kinds = {
  ofResource: (group, version, plural) =>
    plural === 'boxes'
      ? box
      : described(all.find((kind) => kind.group === group && kind.version === version && kind.plural === plural)),
  ofKind: (apiVersion, name) => described(all.find(({ kind, version }) => kind === name && version === apiVersion)),
};
const deployments = { apiGroups: ['apps'], apiVersions: ['v1'], operations: ['*'], resources: ['deployments'] };
const configMaps = {
  apiGroups: [''],
  apiVersions: ['v1'],
  operations: ['*'],
  resources: ['configmaps', 'configmaps/*'],
};

const warningsOf = (spec: object, ...resourceRules: readonly object[]) =>
  typeCheck(
    { metadata: {}, spec: { matchConstraints: { resourceRules }, ...spec } } as unknown as ValidatingAdmissionPolicy,
    kinds,
  );
const expression = (text: string) => ({ validations: [{ expression: text }] });

test('existing fields yield no warnings', () => {
  assert.deepEqual(warningsOf(expression('object.spec.replicas > 1 && has(object.metadata.labels)'), deployments), []);
});

test('a missing field yields a warning', () => {
  assert.deepEqual(warningsOf(expression('object.spec.replica > 1'), deployments), [
    {
      fieldRef: 'spec.validations[0].expression',
      warning:
        "apps/v1, Kind=Deployment: ERROR: <input>:1:12: undefined field 'replica'\n | object.spec.replica > 1\n | ...........^\n",
    },
  ]);
});

test('custom kinds are checked against their schemas', () => {
  const boxes = { apiGroups: ['example.com'], apiVersions: ['v1'], operations: ['*'], resources: ['boxes'] };
  assert.deepEqual(warningsOf(expression('object.spec.size > 1 && object.metadata.name != ""'), boxes), []);
  const [warning] = warningsOf(expression('object.spec.sice > 1'), boxes);
  assert.match(warning?.warning ?? '', /^example.com\/v1, Kind=Box: ERROR: .*undefined field 'sice'/);
});

test('each kind of the rules is checked', () => {
  const [warning] = warningsOf(expression('object.spec.replicas > 1'), deployments, configMaps);
  assert.match(warning?.warning ?? '', /^\/v1, Kind=ConfigMap: ERROR: .*undefined field 'spec'/);
});

test('messages, variables and params are checked too', () => {
  const warnings = warningsOf(
    {
      paramKind: { apiVersion: 'v1', kind: 'ConfigMap' },
      variables: [{ name: 'replicas', expression: 'object.spec.replicas' }],
      validations: [{ expression: 'variables.replicas == "x"', messageExpression: 'params.data.a + params.nothing' }],
    },
    deployments,
  );
  assert.deepEqual(
    warnings.map(({ fieldRef, warning }) => [fieldRef, warning.split('\n')[0]?.replace(/.*?:\d+:\d+: /, '')]),
    [
      ['spec.validations[0].expression', "found no matching overload for '_==_' applied to '(int, string)'"],
      ['spec.validations[0].messageExpression', "undefined field 'nothing'"],
    ],
  );
});

test('rules with wildcards are not checked', () => {
  assert.deepEqual(warningsOf(expression('object.anything'), { ...deployments, apiGroups: ['*'] }), []);
});
