import { parseUrl } from '@kruise/cel/go-url';
import { type Cause, duplicate, invalid, notSupported, required } from '@kruise/schema/field-error';
import {
  validateDns1035Label,
  validateDns1123Subdomain,
  validateFullyQualifiedName,
  validatePortNumber,
} from '@kruise/values/names';
import { ParseError } from '@kruise/values/parse-error';
import { validateLabelSelector } from '../meta/label-selector.validate.ts';
import { subdomainName } from '../meta/name-rules.ts';
import { validateObjectMeta } from '../meta/object-meta.validate.ts';
import { isSame } from '../meta/same.ts';
import { oneOf, refusals } from '../meta/value.validate.ts';
import type { ExpressionCheck } from './expression-check.ts';
import type { MutatingWebhook, MutatingWebhookConfiguration } from './mutatingwebhookconfiguration.ts';
import { failurePolicies, matchPolicies, validateMatchConditions, validateRule } from './rule.validate.ts';
import type { ValidatingWebhookConfiguration } from './validatingwebhookconfiguration.ts';
import type { ServiceReference, WebhookClientConfig } from './webhook-client.ts';

type Configuration = MutatingWebhookConfiguration | ValidatingWebhookConfiguration;
/** A validating webhook is a mutating webhook without a reinvocation policy. */
type Webhook = MutatingWebhook;

const withoutSideEffects = ['None', 'NoneOnDryRun'];
const sideEffects = [...withoutSideEffects, 'Some', 'Unknown'];
const reviewVersions = ['v1', 'v1beta1'];
const maxTimeoutSeconds = 30;

export function validateWebhookConfiguration(object: Configuration, check: ExpressionCheck): Generator<Cause> {
  return validate(object, undefined, check);
}

export function validateWebhookConfigurationUpdate(
  object: Configuration,
  old: Configuration,
  check: ExpressionCheck,
): Generator<Cause> {
  return validate(object, old, check);
}

/** Validates all webhooks. A rule that the stored webhooks break does not apply to the others either. */
function* validate(object: Configuration, old: Configuration | undefined, check: ExpressionCheck): Generator<Cause> {
  yield* validateObjectMeta(object.metadata, { namespaced: false, name: subdomainName });
  const webhooks: readonly Webhook[] = object.webhooks ?? [];
  const before: readonly Webhook[] = old?.webhooks ?? [];
  const asksSideEffects = before.every((webhook) => withoutSideEffects.includes(webhook.sideEffects ?? ''));
  const asksVersions = before.every(
    ({ admissionReviewVersions: versions = [] }) => versions.length === 0 || versions.some(isKnownVersion),
  );
  const asksNames = new Set(before.map(({ name }) => name)).size === before.length;
  const isSameConditions =
    old !== undefined &&
    before.length === webhooks.length &&
    before.every(({ matchConditions }, index) => isSame(matchConditions ?? [], webhooks[index]?.matchConditions ?? []));
  const stored = new Set(
    before.flatMap(({ matchConditions = [] }) => matchConditions.map(({ expression }) => expression)),
  );
  const names = new Set<string>();
  for (const [index, webhook] of webhooks.entries()) {
    const path = `webhooks[${index}]`;
    yield* validateWebhook(webhook, asksSideEffects ? withoutSideEffects : sideEffects.toSorted(), path);
    if (!isSameConditions) {
      const options = { check, params: false, stored };
      yield* validateMatchConditions(webhook.matchConditions ?? [], options, `${path}.matchConditions`);
    }
    yield* validateVersions(webhook.admissionReviewVersions ?? [], asksVersions, `${path}.admissionReviewVersions`);
    if (asksNames && webhook.name && names.has(webhook.name)) yield duplicate(`${path}.name`, webhook.name);
    names.add(webhook.name);
  }
}

function isKnownVersion(version: string): boolean {
  return reviewVersions.includes(version);
}

function* validateWebhook(webhook: Webhook, allowedEffects: readonly string[], path: string): Generator<Cause> {
  const { name, rules = [], failurePolicy, matchPolicy, timeoutSeconds, reinvocationPolicy } = webhook;
  if (!name) yield required(`${path}.name`);
  else yield* refusals(`${path}.name`, name, validateFullyQualifiedName(name));
  for (const [index, rule] of rules.entries()) yield* validateRule(rule, `${path}.rules[${index}]`);
  if (failurePolicy !== undefined) yield* oneOf(`${path}.failurePolicy`, failurePolicy, failurePolicies);
  if (matchPolicy !== undefined) yield* oneOf(`${path}.matchPolicy`, matchPolicy, matchPolicies);
  const effects: string | undefined = webhook.sideEffects;
  if (effects === undefined || effects === null) {
    yield required(`${path}.sideEffects`, `must specify one of ${allowedEffects.join(', ')}`);
  } else if (!allowedEffects.includes(effects)) yield notSupported(`${path}.sideEffects`, effects, allowedEffects);
  if (timeoutSeconds !== undefined && (timeoutSeconds < 1 || timeoutSeconds > maxTimeoutSeconds)) {
    yield invalid(`${path}.timeoutSeconds`, timeoutSeconds, 'the timeout value must be between 1 and 30 seconds');
  }
  yield* validateLabelSelector(webhook.namespaceSelector, `${path}.namespaceSelector`);
  yield* validateLabelSelector(webhook.objectSelector, `${path}.objectSelector`);
  if (reinvocationPolicy !== undefined) {
    yield* oneOf(`${path}.reinvocationPolicy`, reinvocationPolicy, ['IfNeeded', 'Never']);
  }
  yield* validateClientConfig(webhook.clientConfig, `${path}.clientConfig`);
}

function* validateVersions(versions: readonly string[], asksKnown: boolean, path: string): Generator<Cause> {
  if (versions.length === 0) return yield required(path, `must specify one of ${reviewVersions.join(', ')}`);
  const seen = new Set<string>();
  for (const [index, version] of versions.entries()) {
    if (seen.has(version)) yield invalid(`${path}[${index}]`, version, 'duplicate version');
    else yield* refusals(`${path}[${index}]`, version, validateDns1035Label(version));
    seen.add(version);
  }
  if (asksKnown && !versions.some(isKnownVersion)) {
    yield invalid(path, versions, `must include at least one of ${reviewVersions.join(', ')}`);
  }
}

function* validateClientConfig({ url, service }: WebhookClientConfig, path: string): Generator<Cause> {
  if ((url === undefined) === (service === undefined)) {
    yield required(path, 'exactly one of url or service is required');
  } else if (url !== undefined) yield* validateWebhookURL(url, `${path}.url`);
  else if (service) yield* validateWebhookService(service, `${path}.service`);
}

const form = '; desired format: https://host[/path]';

/** Validates the URL of a webhook outside the cluster. */
export function* validateWebhookURL(text: string, path: string): Generator<Cause> {
  try {
    const { scheme, host, user, fragment, query } = parseUrl(text);
    if (scheme !== 'https') yield invalid(path, scheme, `'https' is the only allowed URL scheme${form}`);
    if (host === '') yield invalid(path, host, `host must be specified${form}`);
    if (user !== undefined) yield invalid(path, user, 'user information is not permitted in the URL');
    if (fragment !== '') yield invalid(path, fragment, 'fragments are not permitted in the URL');
    if (query !== '') yield invalid(path, query, 'query parameters are not permitted in the URL');
  } catch (error) {
    if (!(error instanceof ParseError)) throw error;
    yield required(path, `url must be a valid URL: ${error.message}${form}`);
  }
}

/** Validates the Service of a webhook. */
export function* validateWebhookService(service: ServiceReference, path: string): Generator<Cause> {
  // Kubernetes swaps the two fields when it reports which one is missing.
  if (!service.namespace) yield required(`${path}.name`, 'service name is required');
  if (!service.name) yield required(`${path}.namespace`, 'service namespace is required');
  const { port = 0, path: url = '' } = service;
  const portFaults = validatePortNumber(port);
  if (portFaults.length > 0) yield invalid(`${path}.port`, port, `port is not valid: ${portFaults.join(', ')}`);
  if (url === '' || url === '/') return;
  const at = `${path}.path`;
  if (url === '//') return yield invalid(at, url, 'segment[0] may not be empty');
  if (!url.startsWith('/')) yield invalid(at, url, "must start with a '/'");
  const inner = url.slice(1, url.endsWith('/') ? -1 : undefined);
  for (const [index, segment] of inner.split('/').entries()) {
    if (segment === '') yield invalid(at, url, `segment[${index}] may not be empty`);
    else {
      for (const fault of validateDns1123Subdomain(segment)) yield invalid(at, url, `segment[${index}]: ${fault}`);
    }
  }
}
