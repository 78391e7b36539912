import { type Cause, forbidden, invalid, notSupported, required } from '@kruise/schema/field-error';
import { validateDns1035Label } from '@kruise/values/names';
import { isValidCaBundle, validateWebhookService, validateWebhookUrl } from '../meta/webhook.validate.ts';
import type { CustomResourceConversion, CustomResourceDefinition } from './customresourcedefinition.ts';
import { isEstablished } from './established.ts';

const reviewVersions = ['v1', 'v1beta1'];

/** Validates the conversion strategy: none, or a webhook that can be called. */
export function* validateConversion(
  conversion: CustomResourceConversion | undefined,
  old: CustomResourceDefinition | undefined,
): Generator<Cause> {
  if (!conversion) return;
  const { strategy, webhook } = conversion;
  const known = ['None', 'Webhook'];
  if (strategy === '') yield required('spec.conversion.strategy');
  else if (!known.includes(strategy)) yield notSupported('spec.conversion.strategy', strategy, known);
  const at = 'spec.conversion.webhookClientConfig';
  const versions = webhook?.conversionReviewVersions ?? [];
  if (strategy !== 'Webhook') {
    const detail = 'should not be set when strategy is not set to Webhook';
    if (webhook?.clientConfig) yield forbidden(at, detail);
    if (versions.length > 0) yield forbidden('spec.conversion.conversionReviewVersions', detail);
    return;
  }
  const config = webhook?.clientConfig;
  if (!config) yield required(at, 'required when strategy is set to Webhook');
  else {
    const { url, service, caBundle } = config;
    if ((url === undefined) === (service === undefined)) {
      yield required(at, 'exactly one of url or service is required');
    } else if (url !== undefined) yield* validateWebhookUrl(`${at}.url`, url);
    // Exactly one of the two is set.
    else yield* validateWebhookService(`${at}.service`, service!);
    if (!isValidCaBundle(caBundle) && !mayHaveInvalidBundle(old)) {
      yield unreadableBundle(`${at}.caBundle`, caBundle ?? '');
    }
  }
  yield* validateReviewVersions(versions, old);
}

function unreadableBundle(field: string, base64: string): Cause {
  const bytes = Array.from(Buffer.from(base64, 'base64'), (byte) => `0x${byte.toString(16)}`);
  const detail = 'unable to load root certificates: unable to parse bytes as PEM block';
  return { reason: 'FieldValueInvalid', message: `Invalid value: []byte{${bytes.join(', ')}}: ${detail}`, field };
}

/** Reports whether an invalid CA bundle is tolerated: until the CRD is established, and while it was invalid before. */
function mayHaveInvalidBundle(old: CustomResourceDefinition | undefined): boolean {
  if (!old || !isEstablished(old)) return true;
  return !isValidCaBundle(old.spec.conversion?.webhook?.clientConfig?.caBundle);
}

function* validateReviewVersions(
  versions: readonly string[],
  old: CustomResourceDefinition | undefined,
): Generator<Cause> {
  const at = 'spec.conversion.conversionReviewVersions';
  if (versions.length === 0) {
    yield required(at);
    return;
  }
  for (const [index, version] of versions.entries()) {
    if (versions.indexOf(version) < index) yield invalid(`${at}[${index}]`, version, 'duplicate version');
    else for (const fault of validateDns1035Label(version)) yield invalid(`${at}[${index}]`, version, fault);
  }
  const before = old?.spec.conversion?.webhook?.conversionReviewVersions ?? [];
  const hadNone = before.length > 0 && !before.some((version) => reviewVersions.includes(version));
  if (!hadNone && !versions.some((version) => reviewVersions.includes(version))) {
    yield invalid(at, versions, `must include at least one of ${reviewVersions.join(', ')}`);
  }
}
