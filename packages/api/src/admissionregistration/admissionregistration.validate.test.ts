import assert from 'node:assert/strict';
import { describe, test } from 'node:test';
import { invalid } from '@kruise/schema/field-error';
import { type Json, objectsOf, testErrors, testUpdateErrors } from '../meta/kind.fixtures.ts';
import {
  defaultMutatingWebhookConfiguration,
  defaultValidatingAdmissionPolicy,
  defaultValidatingAdmissionPolicyBinding,
} from './admissionregistration.default.ts';
import type { ExpressionCheck, ExpressionPlace } from './expression-check.ts';
import { type MutatingWebhookConfiguration, mutatingWebhookConfiguration } from './mutatingwebhookconfiguration.ts';
import {
  validateValidatingAdmissionPolicy,
  validateValidatingAdmissionPolicyBinding,
  validateValidatingAdmissionPolicyUpdate,
} from './policy.validate.ts';
import { type ValidatingAdmissionPolicy, validatingAdmissionPolicy } from './validatingadmissionpolicy.ts';
import {
  type ValidatingAdmissionPolicyBinding,
  validatingAdmissionPolicyBinding,
} from './validatingadmissionpolicybinding.ts';
import { validateWebhookConfiguration, validateWebhookConfigurationUpdate } from './webhook.validate.ts';

/** Accepts every expression except `bad`. */
const check: ExpressionCheck = function* (expression, { path }) {
  if (expression === 'bad') yield invalid(path, expression, 'compilation failed: bad');
};
const rule = { operations: ['CREATE'], apiGroups: [''], apiVersions: ['v1'], resources: ['pods'] };

describe('a webhook', () => {
  const sound = {
    name: 'a.b.example.com',
    clientConfig: { url: 'https://a' },
    sideEffects: 'None',
    admissionReviewVersions: ['v1'],
  };
  const make = objectsOf<MutatingWebhookConfiguration>(
    mutatingWebhookConfiguration,
    {},
    defaultMutatingWebhookConfiguration,
  );
  const withWebhook = (webhook: Json) => make({ webhooks: [{ ...sound, ...webhook }] });
  const service = (given: Json) => ({ clientConfig: { service: { namespace: 'a', name: 'b', ...given } } });
  testErrors(withWebhook, (object) => validateWebhookConfiguration(object, check), [
    ['is somewhere', {}, []],
    [
      'has a name of three parts',
      { name: 'a.b' },
      ['webhooks[0].name: Invalid value: "a.b": should be a domain with at least three segments separated by dots'],
    ],
    [
      'is at one place',
      { clientConfig: {} },
      ['webhooks[0].clientConfig: Required value: exactly one of url or service is required'],
    ],
    [
      'is spoken to in private',
      { clientConfig: { url: 'http://a' } },
      [
        'webhooks[0].clientConfig.url: Invalid value: "http": \'https\' is the only allowed URL scheme; desired format: https://host[/path]',
      ],
    ],
    [
      'is at a path of a Service',
      service({ path: 'xy' }),
      ['webhooks[0].clientConfig.service.path: Invalid value: "xy": must start with a \'/\''],
    ],
    [
      'leaves the world as it is',
      { sideEffects: 'Some' },
      ['webhooks[0].sideEffects: Unsupported value: "Some": supported values: "None", "NoneOnDryRun"'],
    ],
    [
      'reads reviews of a known version',
      { admissionReviewVersions: ['v9'] },
      ['webhooks[0].admissionReviewVersions: Invalid value: []string{"v9"}: must include at least one of v1, v1beta1'],
    ],
    [
      'answers within half a minute',
      { timeoutSeconds: 31 },
      ['webhooks[0].timeoutSeconds: Invalid value: 31: the timeout value must be between 1 and 30 seconds'],
    ],
    [
      'has each operation once',
      { rules: [{ ...rule, resources: ['*', 'pods'] }] },
      [
        'webhooks[0].rules[0].resources: Invalid value: []string{"*", "pods"}: if \'*\' is present, must not specify other resources without subresources',
      ],
    ],
    [
      'has conditions that compile',
      { matchConditions: [{ name: 'c', expression: 'bad' }] },
      ['webhooks[0].matchConditions[0].expression: Invalid value: "bad": compilation failed: bad'],
    ],
  ]);
  testUpdateErrors(withWebhook, (object, old) => validateWebhookConfigurationUpdate(object, old, check), [
    ['may keep stored settings', { sideEffects: 'Some' }, { sideEffects: 'Some', timeoutSeconds: 5 }, []],
    [
      'keeps conditions that no longer compile',
      { matchConditions: [{ name: 'c', expression: 'bad' }] },
      { matchConditions: [{ name: 'c', expression: 'bad' }], timeoutSeconds: 5 },
      [],
    ],
  ]);
});

describe('a policy', () => {
  const sound = { matchConstraints: { resourceRules: [rule] }, validations: [{ expression: 'true' }] };
  const make = objectsOf<ValidatingAdmissionPolicy>(validatingAdmissionPolicy, {}, defaultValidatingAdmissionPolicy);
  const withSpec = (spec: Json) => make({ spec: { ...sound, ...spec } });
  const either = 'validations or auditAnnotations must contain at least one item';
  testErrors(withSpec, (policy) => validateValidatingAdmissionPolicy(policy, check), [
    ['demands something of something', {}, []],
    [
      'demands something',
      { validations: [] },
      [`spec.validations: Required value: ${either}`, `spec.auditAnnotations: Required value: ${either}`],
    ],
    ['is about something', { matchConstraints: {} }, ['spec.matchConstraints.resourceRules: Required value']],
    [
      'names the version of its parameters',
      { paramKind: { apiVersion: 'a/b/c', kind: 'K' } },
      ['spec.paramKind.apiVersion: Invalid value: "a/b/c": unexpected GroupVersion string: a/b/c'],
    ],
    [
      'has variables that can be named',
      { variables: [{ name: 'in', expression: 'true' }] },
      ['spec.variables[0].name: Invalid value: "in": name is not a valid CEL identifier'],
    ],
    [
      'has a message of one line',
      { validations: [{ expression: 'true', message: 'a\nb' }] },
      ['spec.validations[0].message: Invalid value: "a\\nb": message must not contain line breaks'],
    ],
    [
      'has expressions that compile',
      { validations: [{ expression: 'bad', messageExpression: 'bad' }] },
      [
        'spec.validations[0].expression: Invalid value: "bad": compilation failed: bad',
        'spec.validations[0].messageExpression: Invalid value: "bad": compilation failed: bad',
      ],
    ],
  ]);

  test('reports the path of each expression', () => {
    const places: Pick<ExpressionPlace, 'path' | 'params' | 'authorizer' | 'yields'>[] = [];
    const note: ExpressionCheck = (_, { path, params, authorizer, yields }) => {
      places.push({ path, params, authorizer, yields });
      return [];
    };
    const policy = withSpec({
      paramKind: { apiVersion: 'v1', kind: 'ConfigMap' },
      variables: [{ name: 'v', expression: '1' }],
      validations: [{ expression: 'true', messageExpression: '"m"' }],
      auditAnnotations: [{ key: 'k', valueExpression: '"v"' }],
    });
    assert.deepEqual([...validateValidatingAdmissionPolicy(policy, note)], []);
    const spot = (path: string, authorizer: boolean, yields: ExpressionPlace['yields']) => ({
      path: `spec.${path}`,
      params: true,
      authorizer,
      yields,
    });
    assert.deepEqual(places, [
      spot('variables[0].expression', true, 'anything'),
      spot('validations[0].expression', true, 'bool'),
      spot('validations[0].messageExpression', false, 'string'),
      spot('auditAnnotations[0].valueExpression', true, 'string or null'),
    ]);
  });

  test('treats unchanged expressions as stored', () => {
    let isStored: boolean | undefined;
    const note: ExpressionCheck = (_, place) => {
      isStored = place.isStored;
      return [];
    };
    assert.deepEqual([...validateValidatingAdmissionPolicyUpdate(withSpec({}), withSpec({}), note)], []);
    assert.equal(isStored, true);
  });
});

describe('a binding of a policy', () => {
  const make = objectsOf<ValidatingAdmissionPolicyBinding>(
    validatingAdmissionPolicyBinding,
    {},
    defaultValidatingAdmissionPolicyBinding,
  );
  const withSpec = (spec: Json) => make({ spec: { policyName: 'p', validationActions: ['Deny'], ...spec } });
  testErrors(withSpec, validateValidatingAdmissionPolicyBinding, [
    ['has validation actions', {}, []],
    [
      'needs a validation action',
      { validationActions: [] },
      ['spec.validationActions: Required value: at least one validation action is required'],
    ],
    [
      'has one parameter or those that are selected',
      { paramRef: { name: 'a', selector: {}, parameterNotFoundAction: 'Deny' } },
      [
        'spec.paramRef.name: Forbidden: name and selector are mutually exclusive',
        'spec.paramRef.selector: Forbidden: name and selector are mutually exclusive',
      ],
    ],
  ]);
});
