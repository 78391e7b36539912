/** Validation of webhook client configurations, for conversion and admission alike. */
import { X509Certificate } from 'node:crypto';
import { type Cause, invalid, required } from '@kruise/schema/field-error';
import { validateDns1123Subdomain } from '@kruise/values/names';
import { pemBlocks } from '@kruise/values/pem';

const form = '; desired format: https://host[/path]';

/** Validates the URL of a webhook: https, with a host, and nothing after the path. */
export function* validateWebhookUrl(field: string, text: string): Generator<Cause> {
  if (!URL.canParse(text)) {
    yield* validateOddUrl(field, text);
    return;
  }
  const url = new URL(text);
  const scheme = url.protocol.slice(0, -1);
  if (scheme !== 'https') yield invalid(field, scheme, `'https' is the only allowed URL scheme${form}`);
  if (url.host === '') yield invalid(field, url.host, `host must be specified${form}`);
  const user = url.password === '' ? url.username : `${url.username}:${url.password}`;
  if (user !== '') yield invalid(field, user, 'user information is not permitted in the URL');
  if (url.hash.length > 1) yield invalid(field, url.hash.slice(1), 'fragments are not permitted in the URL');
  if (url.search.length > 1) yield invalid(field, url.search.slice(1), 'query parameters are not permitted in the URL');
}

/** Validates a text that Go parses as a URL although it is only a path, or a scheme without a host. */
function* validateOddUrl(field: string, text: string): Generator<Cause> {
  const [, scheme = ''] = /^([A-Za-z][A-Za-z0-9+.-]*):/.exec(text) ?? [];
  if (/[\s\x7f]/.test(text)) {
    yield required(field, `url must be a valid URL: parse ${JSON.stringify(text)}: invalid character in URL${form}`);
    return;
  }
  if (scheme !== 'https') yield invalid(field, scheme, `'https' is the only allowed URL scheme${form}`);
  yield invalid(field, '', `host must be specified${form}`);
}

/** A webhook behind a Service. */
export type WebhookService = {
  readonly name: string;
  readonly namespace: string;
  readonly path?: string;
  readonly port?: number;
};

export function* validateWebhookService(
  field: string,
  { name, namespace, path, port = 443 }: WebhookService,
): Generator<Cause> {
  if (name === '') yield required(`${field}.name`, 'service name is required');
  if (namespace === '') yield required(`${field}.namespace`, 'service namespace is required');
  if (port < 1 || port > 65535) {
    yield invalid(`${field}.port`, port, 'port is not valid: must be between 1 and 65535, inclusive');
  }
  if (path !== undefined && path !== '' && path !== '/') yield* validateServicePath(`${field}.path`, path);
}

function* validateServicePath(field: string, path: string): Generator<Cause> {
  if (path === '//') {
    yield invalid(field, path, 'segment[0] may not be empty');
    return;
  }
  if (!path.startsWith('/')) yield invalid(field, path, "must start with a '/'");
  const segments = path.slice(1).replace(/\/$/, '').split('/');
  for (const [index, segment] of segments.entries()) {
    if (segment === '') yield invalid(field, path, `segment[${index}] may not be empty`);
    else
      for (const fault of validateDns1123Subdomain(segment)) yield invalid(field, path, `segment[${index}]: ${fault}`);
  }
}

/**
 * Reports whether a CA bundle in base64 contains certificates. An empty bundle is valid: then the system's roots are
 * trusted.
 */
export function isValidCaBundle(base64: string | undefined): boolean {
  if (base64 === undefined || base64 === '') return true;
  const blocks = [...pemBlocks(Buffer.from(base64, 'base64').toString('latin1'))];
  const certificates = blocks.filter(({ label }) => label === 'CERTIFICATE');
  return certificates.length > 0 && certificates.every(({ text }) => isCertificate(text));
}

function isCertificate(pem: string): boolean {
  try {
    new X509Certificate(pem);
    return true;
  } catch {
    return false;
  }
}
