import assert from 'node:assert/strict';
import { test } from 'node:test';
import { validatingAdmissionPolicy } from '@kruise/api/admissionregistration/validatingadmissionpolicy';
import { validatingAdmissionPolicyBinding } from '@kruise/api/admissionregistration/validatingadmissionpolicybinding';
import { configMap } from '@kruise/api/core/configmap';
import { inProcessTransport } from '../../pipeline/in-process.ts';
import { startTestServer, testAdmin } from '../../testing/test-server.ts';

const rules = [{ apiGroups: [''], apiVersions: ['v1'], operations: ['CREATE', 'UPDATE'], resources: ['configmaps'] }];

type Row = {
  readonly name: string;
  readonly policy: object;
  readonly binding?: object;
  /** Data of the created ConfigMap; its name is `c` by default. */
  readonly data?: { readonly [key: string]: string };
  /** Data of an existing ConfigMap. */
  readonly params?: { readonly [key: string]: string };
  /** `code reason message`; undefined if the write is admitted. */
  readonly refusal?: string;
  readonly warnings?: readonly string[];
};

const denied = (message: string) =>
  `configmaps "c" is forbidden: ValidatingAdmissionPolicy 'p' with binding 'b' denied request: ${message}`;
const warned = (message: string) => `Validation failed for ValidatingAdmissionPolicy 'p' with binding 'b': ${message}`;

const rows: Row[] = [
  { name: 'admits a valid object', policy: { validations: [{ expression: 'true' }] } },
  {
    name: 'denies as Invalid by default, with the expression in the message',
    policy: { validations: [{ expression: ' !has(object.data.x) ' }] },
    data: { x: '' },
    refusal: `422 Invalid ${denied('failed expression: !has(object.data.x)')}`,
  },
  {
    name: 'denies with its message and reason',
    policy: { validations: [{ expression: 'false', message: 'no', reason: 'Forbidden' }] },
    refusal: `403 Forbidden ${denied('no')}`,
  },
  {
    name: 'evaluates its messageExpression',
    policy: { validations: [{ expression: 'false', message: 'no', messageExpression: "'x is ' + object.data.x" }] },
    data: { x: '1' },
    refusal: `422 Invalid ${denied('x is 1')}`,
  },
  {
    name: 'falls back to the static message',
    policy: { validations: [{ expression: 'false', message: 'no', messageExpression: 'string(object.data.missing)' }] },
    refusal: `422 Invalid ${denied('no')}`,
  },
  {
    name: 'evaluates variables that use other variables',
    policy: {
      variables: [
        { name: 'count', expression: 'object.data.size()' },
        { name: 'many', expression: 'variables.count > 1' },
      ],
      validations: [{ expression: '!variables.many', messageExpression: "'has ' + string(variables.count)" }],
    },
    data: { a: '', b: '' },
    refusal: `422 Invalid ${denied('has 2')}`,
  },
  {
    name: 'ignores objects that do not meet its match conditions',
    policy: {
      matchConditions: [{ name: 'n', expression: "object.metadata.name == 'other'" }],
      validations: [{ expression: 'false' }],
    },
  },
  {
    name: 'denies on an evaluation error',
    policy: { validations: [{ expression: "object.data.missing == 'x'" }] },
    data: { a: '' },
    refusal: `422 Invalid ${denied("expression 'object.data.missing == 'x'' resulted in error: no such key: missing")}`,
  },
  {
    name: 'with failurePolicy Ignore admits on an evaluation error',
    policy: { failurePolicy: 'Ignore', validations: [{ expression: "object.data.missing == 'x'" }] },
    data: { a: '' },
  },
  {
    name: 'reports an error in a variable',
    policy: {
      variables: [{ name: 'v', expression: 'object.data.missing' }],
      validations: [{ expression: "variables.v == 'x'" }],
    },
    data: { a: '' },
    refusal: `422 Invalid ${denied(`expression 'variables.v == 'x'' resulted in error: composited variable "v" fails to evaluate: no such key: missing`)}`,
  },
  {
    name: 'fails when its cost budget is exhausted',
    policy: {
      variables: [{ name: 'l', expression: '[1,2,3,4,5,6,7,8,9,10]' }],
      validations: [
        {
          expression:
            'variables.l.all(a, variables.l.all(b, variables.l.all(c, variables.l.all(d, variables.l.all(e, variables.l.all(f, a+b+c+d+e+f > 0))))))',
        },
      ],
    },
    refusal: `422 Invalid ${denied("expression 'variables.l.all(a, variables.l.all(b, variables.l.all(c, variables.l.all(d, variables.l.all(e, variables.l.all(f, a+b+c+d+e+f > 0))))))' resulted in error: operation cancelled: actual cost limit exceeded")}`,
  },
  {
    name: 'only warns if its binding says so',
    policy: { validations: [{ expression: 'false', message: 'hm' }] },
    binding: { validationActions: ['Warn', 'Audit'] },
    warnings: [warned('hm')],
  },
  {
    name: 'applies only where its binding selects',
    policy: { validations: [{ expression: 'false' }] },
    binding: { matchResources: { namespaceSelector: { matchLabels: { missing: 'label' } } } },
  },
  {
    name: 'does not apply without a binding',
    policy: { validations: [{ expression: 'false' }] },
    binding: { policyName: 'other' },
  },
  {
    name: 'ignores excluded resources',
    policy: {
      matchConstraints: { resourceRules: rules, excludeResourceRules: [{ ...rules[0], resourceNames: ['c'] }] },
      validations: [{ expression: 'false' }],
    },
  },
  {
    name: 'reads its params from an object',
    policy: {
      paramKind: { apiVersion: 'v1', kind: 'ConfigMap' },
      validations: [
        { expression: 'object.data.size() <= int(params.data.max)', messageExpression: "'at most ' + params.data.max" },
      ],
    },
    binding: { paramRef: { name: 'params', namespace: 'default', parameterNotFoundAction: 'Deny' } },
    params: { max: '1' },
    data: { a: '', b: '' },
    refusal: `422 Invalid ${denied('at most 1')}`,
  },
  {
    name: 'denies if its params are missing',
    policy: { paramKind: { apiVersion: 'v1', kind: 'ConfigMap' }, validations: [{ expression: 'true' }] },
    binding: { paramRef: { name: 'absent', namespace: 'default', parameterNotFoundAction: 'Deny' } },
    refusal: `422 Invalid ${denied('failed to configure binding: no params found for policy binding with `Deny` parameterNotFoundAction')}`,
  },
  {
    name: 'does not apply without params if the binding allows that',
    policy: { paramKind: { apiVersion: 'v1', kind: 'ConfigMap' }, validations: [{ expression: 'false' }] },
    binding: { paramRef: { name: 'absent', namespace: 'default', parameterNotFoundAction: 'Allow' } },
  },
  {
    name: 'is evaluated with each selected params object',
    policy: {
      paramKind: { apiVersion: 'v1', kind: 'ConfigMap' },
      validations: [{ expression: "params.data.ok == 'yes'", messageExpression: 'string(params.metadata.name)' }],
    },
    binding: { paramRef: { selector: { matchLabels: { for: 'policy' } }, parameterNotFoundAction: 'Deny' } },
    params: { ok: 'no' },
    refusal: `422 Invalid ${denied('params')}`,
  },
  {
    name: 'reports an unknown params kind',
    policy: { paramKind: { apiVersion: 'example.com/v1', kind: 'Limit' }, validations: [{ expression: 'true' }] },
    refusal: `422 Invalid configmaps "c" is forbidden: ValidatingAdmissionPolicy 'p' denied request: failed to configure policy: failed to find resource referenced by paramKind: 'example.com/v1, Kind=Limit'`,
  },
  {
    name: 'can use the request, the user and the namespace',
    policy: {
      validations: [
        {
          expression: "request.userInfo.username == 'test-admin' && request.operation == 'CREATE' && oldObject == null",
        },
        { expression: 'namespaceObject.metadata.name == request.namespace' },
        { expression: "authorizer.group('').resource('secrets').namespace('default').check('create').allowed()" },
        { expression: "authorizer.requestResource.check('create').allowed()" },
      ],
    },
  },
];
for (const { name, policy, binding = {}, data = {}, params, refusal, warnings = [] } of rows) {
  test(`a policy ${name}`, async () => {
    await using server = await startTestServer();
    const { client } = server;
    if (params) {
      const metadata = { name: 'params', namespace: 'default', labels: { for: 'policy' } };
      await client.create(configMap, { metadata, data: params } as never);
    }
    await client.create(validatingAdmissionPolicy, {
      metadata: { name: 'p' },
      spec: { matchConstraints: { resourceRules: rules }, ...policy },
    } as never);
    await client.create(validatingAdmissionPolicyBinding, {
      metadata: { name: 'b' },
      spec: { policyName: 'p', validationActions: ['Deny'], ...binding },
    } as never);
    const transport = inProcessTransport(server.core, testAdmin);
    const body = { apiVersion: 'v1', kind: 'ConfigMap', metadata: { name: 'c' }, data };
    const answered = await transport
      .request({ method: 'POST', path: '/api/v1/namespaces/default/configmaps', body })
      .then(
        (answer) => ({ refusal: undefined, warnings: answer.warnings }),
        (error) => ({ refusal: `${error.status.code} ${error.status.reason} ${error.status.message}`, warnings: [] }),
      );
    assert.deepEqual(answered, { refusal, warnings });
  });
}
