import { type Cause, duplicate, forbidden, invalid, notSupported, required } from '@kruise/schema/field-error';
import {
  validateDns1035Label,
  validateDns1123Subdomain,
  validatePathSegment,
  validateQualifiedName,
} from '@kruise/values/names';
import { validateConditions } from '../meta/condition.validate.ts';
import { invalidBare, invalidStructure } from '../meta/go-value.ts';
import { validateLabelSelector } from '../meta/label-selector.validate.ts';
import { subdomainName } from '../meta/name-rules.ts';
import { validateObjectMeta } from '../meta/object-meta.validate.ts';
import { isSame } from '../meta/same.ts';
import { oneOf, refusals } from '../meta/value.validate.ts';
import type { ExpressionCheck } from './expression-check.ts';
import { failurePolicies, validateChoice, validateMatchConditions, validateMatchResources } from './rule.validate.ts';
import type {
  AuditAnnotation,
  ParamKind,
  ValidatingAdmissionPolicy,
  ValidatingAdmissionPolicySpec,
  Validation,
  Variable,
} from './validatingadmissionpolicy.ts';
import type { ParamRef, ValidatingAdmissionPolicyBinding } from './validatingadmissionpolicybinding.ts';

const maxAuditAnnotations = 20;
const maxValueExpressionBytes = 5 * 1024;
const reasons = ['Forbidden', 'Invalid', 'RequestEntityTooLarge'];

/** The expressions of the stored policy. */
type Stored = {
  readonly conditions: ReadonlySet<string>;
  readonly validations: ReadonlySet<string>;
  readonly messages: ReadonlySet<string>;
  readonly annotations: ReadonlySet<string>;
};

function storedOf({
  validations = [],
  matchConditions = [],
  auditAnnotations = [],
}: ValidatingAdmissionPolicySpec): Stored {
  return {
    conditions: new Set(matchConditions.map(({ expression }) => expression)),
    validations: new Set(validations.map(({ expression }) => expression)),
    messages: new Set(validations.flatMap(({ messageExpression }) => messageExpression ?? [])),
    annotations: new Set(auditAnnotations.map(({ valueExpression }) => valueExpression)),
  };
}

export function* validateValidatingAdmissionPolicy(
  policy: ValidatingAdmissionPolicy,
  check: ExpressionCheck,
): Generator<Cause> {
  yield* validate(policy, undefined, check);
}

export function* validateValidatingAdmissionPolicyUpdate(
  policy: ValidatingAdmissionPolicy,
  old: ValidatingAdmissionPolicy,
  check: ExpressionCheck,
): Generator<Cause> {
  yield* validate(policy, old, check);
}

export function* validateValidatingAdmissionPolicyStatusUpdate({
  status = {},
}: ValidatingAdmissionPolicy): Generator<Cause> {
  for (const [index, { fieldRef, warning }] of (status.typeChecking?.expressionWarnings ?? []).entries()) {
    const path = `status.typeChecking.expressionWarnings[${index}]`;
    if (!warning) yield required(`${path}.warning`);
    if (!fieldRef) yield required(`${path}.fieldRef`);
  }
  yield* validateConditions(status.conditions, 'status.conditions');
}

function* validate(
  { metadata, spec = {} }: ValidatingAdmissionPolicy,
  old: ValidatingAdmissionPolicy | undefined,
  check: ExpressionCheck,
): Generator<Cause> {
  yield* validateObjectMeta(metadata, { namespaced: false, name: subdomainName });
  const { paramKind, matchConstraints, matchConditions = [], variables = [], validations = [] } = spec;
  const { failurePolicy, auditAnnotations = [] } = spec;
  const before = old?.spec ?? {};
  const stored = storedOf(before);
  const params = paramKind !== undefined;
  yield* validateChoice('spec.failurePolicy', failurePolicy, failurePolicies);
  if (paramKind) yield* validateParamKind(paramKind, 'spec.paramKind');
  if (!matchConstraints) yield required('spec.matchConstraints');
  else {
    yield* validateMatchResources(matchConstraints, 'spec.matchConstraints');
    if (!matchConstraints.resourceRules?.length) yield required('spec.matchConstraints.resourceRules');
  }
  const isSameConditions =
    old !== undefined && isSame(paramKind, before.paramKind) && isSame(matchConditions, before.matchConditions ?? []);
  if (!isSameConditions) {
    const options = { check, params, stored: stored.conditions };
    yield* validateMatchConditions(matchConditions, options, 'spec.matchConditions');
  }
  for (const [index, variable] of variables.entries()) {
    const earlier = variables.slice(0, index);
    yield* validateVariable(variable, { check, params, variables: earlier, stored }, `spec.variables[${index}]`);
  }
  const known = { check, params, stored, ...(variables.length > 0 ? { variables } : {}) };
  if (validations.length === 0 && auditAnnotations.length === 0) {
    const detail = 'validations or auditAnnotations must contain at least one item';
    yield required('spec.validations', detail);
    return yield required('spec.auditAnnotations', detail);
  }
  for (const [index, validation] of validations.entries()) {
    yield* validateValidation(validation, known, `spec.validations[${index}]`);
  }
  yield* validateAuditAnnotations(auditAnnotations, metadata.name ?? '', known);
}

type Known = {
  readonly check: ExpressionCheck;
  readonly params: boolean;
  readonly stored: Stored;
  readonly variables?: readonly Variable[];
};

function* validateParamKind({ apiVersion = '', kind = '' }: ParamKind, path: string): Generator<Cause> {
  const at = `${path}.apiVersion`;
  const parts = apiVersion.split('/');
  if (apiVersion === '') yield required(at);
  else if (parts.length > 2) yield invalid(at, apiVersion, `unexpected GroupVersion string: ${apiVersion}`);
  else {
    const [group, version] = parts.length === 2 ? [parts[0]!, parts[1]!] : ['', apiVersion];
    const groupFaults = group === '' ? [] : validateDns1123Subdomain(group);
    if (groupFaults.length > 0) yield invalid(at, group, groupFaults.join(','));
    const versionFaults = version === '' ? [] : validateDns1035Label(version);
    if (version === '') yield invalid(at, apiVersion, 'version must be specified');
    else if (versionFaults.length > 0) yield invalid(at, version, versionFaults.join(','));
  }
  if (kind === '') return yield required(`${path}.kind`);
  const kindFaults = validateDns1035Label(kind.toLowerCase());
  if (kindFaults.length > 0) {
    yield invalid(`${path}.kind`, kind, `may have mixed case, but should otherwise match: ${kindFaults.join(',')}`);
  }
}

const identifier = /^[_a-zA-Z][_a-zA-Z0-9]*$/;
const reserved: ReadonlySet<string> = new Set([
  ...['true', 'false', 'null', 'in', 'as', 'break', 'const', 'continue', 'else', 'for', 'function', 'if'],
  ...['import', 'let', 'loop', 'package', 'namespace', 'return', 'var', 'void', 'while'],
]);

function* validateVariable({ name, expression }: Variable, known: Known, path: string): Generator<Cause> {
  if (name.trim() === '') yield required(`${path}.name`, 'name is not specified');
  else if (!identifier.test(name) || reserved.has(name)) {
    yield invalid(`${path}.name`, name, 'name is not a valid CEL identifier');
  }
  if (expression.trim() === '') return yield required(`${path}.expression`, 'expression is not specified');
  yield* known.check(expression, {
    path: `${path}.expression`,
    params: known.params,
    authorizer: true,
    variables: known.variables ?? [],
    yields: 'anything',
    isStored: known.stored.validations.has(expression),
  });
}

function* validateValidation(validation: Validation, known: Known, path: string): Generator<Cause> {
  const { expression, message = '', messageExpression = '', reason } = validation;
  const variables = known.variables ? { variables: known.variables } : {};
  if (expression.trim() === '') yield required(`${path}.expression`, 'expression is not specified');
  else {
    yield* known.check(expression, {
      path: `${path}.expression`,
      params: known.params,
      authorizer: true,
      ...variables,
      yields: 'bool',
      isStored: known.stored.validations.has(expression),
    });
  }
  if (messageExpression !== '' && messageExpression.trim() === '') {
    yield invalid(`${path}.messageExpression`, messageExpression, 'must be non-empty if specified');
  } else if (messageExpression !== '') {
    yield* known.check(messageExpression, {
      path: `${path}.messageExpression`,
      params: known.params,
      authorizer: false,
      ...variables,
      yields: 'string',
      isStored: known.stored.messages.has(messageExpression),
    });
  }
  if (message !== '' && message.trim() === '') {
    yield invalid(`${path}.message`, message, 'message must be non-empty if specified');
  } else if (/[\n\r]/.test(message.trim())) {
    yield invalid(`${path}.message`, message, 'message must not contain line breaks');
  }
  if (reason !== undefined && !reasons.includes(reason)) yield notSupported(`${path}.reason`, reason, reasons);
}

function* validateAuditAnnotations(
  annotations: readonly AuditAnnotation[],
  policyName: string,
  known: Known,
): Generator<Cause> {
  const path = 'spec.auditAnnotations';
  if (annotations.length > maxAuditAnnotations) {
    const detail = `must not have more than ${maxAuditAnnotations} auditAnnotations`;
    yield invalidStructure(path, 'admissionregistration.AuditAnnotation', annotations, detail);
  }
  const keys = new Set<string>();
  for (const [index, annotation] of annotations.entries()) {
    const at = `${path}[${index}]`;
    yield* validateAuditAnnotation(annotation, policyName, known, at);
    if (keys.has(annotation.key)) yield duplicate(`${at}.key`, annotation.key);
    keys.add(annotation.key);
  }
}

function* validateAuditAnnotation(
  { key, valueExpression }: AuditAnnotation,
  policyName: string,
  known: Known,
  path: string,
): Generator<Cause> {
  const name = `${policyName}/${key}`;
  if (policyName === '') yield invalid(`${path}.key`, key, 'requires metadata.name be non-empty');
  else yield* refusals(`${path}.key`, name, validateQualifiedName(name));
  const text = valueExpression.trim();
  const at = `${path}.valueExpression`;
  if (text === '') return yield required(at, 'valueExpression is not specified');
  if (Buffer.byteLength(text) > maxValueExpressionBytes) {
    return yield required(at, `must not exceed ${maxValueExpressionBytes} bytes in length`);
  }
  yield* known.check(text, {
    path: at,
    params: known.params,
    authorizer: true,
    ...(known.variables ? { variables: known.variables } : {}),
    yields: 'string or null',
    isStored: known.stored.annotations.has(valueExpression),
    shown: valueExpression,
  });
}

export function* validateValidatingAdmissionPolicyBinding({
  metadata,
  spec = {},
}: ValidatingAdmissionPolicyBinding): Generator<Cause> {
  yield* validateObjectMeta(metadata, { namespaced: false, name: subdomainName });
  const { policyName, paramRef, matchResources, validationActions = [] } = spec;
  if (!policyName) yield required('spec.policyName');
  else yield* refusals('spec.policyName', policyName, validateDns1123Subdomain(policyName));
  if (paramRef) yield* validateParamRef(paramRef, 'spec.paramRef');
  if (matchResources) yield* validateMatchResources(matchResources, 'spec.matchResources');
  yield* validateActions(validationActions, 'spec.validationActions');
}

function* validateParamRef(reference: ParamRef, path: string): Generator<Cause> {
  const { name, selector, parameterNotFoundAction: action } = reference;
  const exclusive = 'name and selector are mutually exclusive';
  if (name) {
    yield* refusals(`${path}.name`, name, validatePathSegment(name));
    if (selector) yield forbidden(`${path}.name`, exclusive);
  }
  if (selector) {
    yield* validateLabelSelector(selector, `${path}.selector`);
    if (name) yield forbidden(`${path}.selector`, exclusive);
  }
  if (!name && !selector) yield required(path, 'one of name or selector must be specified');
  const actions = ['Deny', 'Allow'];
  if (!action) yield required(`${path}.parameterNotFoundAction`);
  else if (!actions.includes(action)) yield notSupported(`${path}.parameterNotFoundAction`, action, actions);
}

function* validateActions(actions: readonly string[], path: string): Generator<Cause> {
  for (const [index, action] of actions.entries()) {
    yield* oneOf(`${path}[${index}]`, action, ['Audit', 'Deny', 'Warn']);
    if (actions.indexOf(action) < index) yield duplicate(`${path}[${index}]`, action);
  }
  if (actions.includes('Deny') && actions.includes('Warn')) {
    const shown = `[]admissionregistration.ValidationAction{${actions.map((action) => JSON.stringify(action)).join(', ')}}`;
    const detail =
      'must not contain both Deny and Warn (repeating the same validation failure information in the API response and headers serves no purpose)';
    yield invalidBare(path, shown, detail);
  }
  if (actions.length === 0) yield required(path, 'at least one validation action is required');
}
