import { createPrivateKey, type KeyObject, X509Certificate } from 'node:crypto';
import { pemBlocks } from '@kruise/values/pem';
import type { Secret } from './secret.ts';

/** Warns about a certificate and a key that do not match, with the messages of Go. */
export function* secretWarnings({ type, data = {} }: Secret): Generator<string> {
  if (type !== 'kubernetes.io/tls') return;
  const text = (key: string) => Buffer.from(data[key] ?? '', 'base64').toString();
  const fault = keyPairFault(text('tls.crt'), text('tls.key'));
  if (fault !== undefined) yield fault;
}

function blocksOf(text: string): readonly { readonly type: string; readonly pem: string }[] {
  return Array.from(pemBlocks(text), ({ label, text: pem }) => ({ type: label, pem }));
}

function keyPairFault(certificates: string, keys: string): string | undefined {
  const certificateBlocks = blocksOf(certificates);
  const certificate = certificateBlocks.find(({ type }) => type === 'CERTIFICATE');
  if (!certificate) return missing('certificate', certificateBlocks, '"CERTIFICATE"');
  const keyBlocks = blocksOf(keys);
  const key = keyBlocks.find(({ type }) => type === 'PRIVATE KEY' || type.endsWith(' PRIVATE KEY'));
  if (!key) {
    if (keyBlocks.some(({ type }) => type === 'CERTIFICATE')) {
      return 'tls: found a certificate rather than a key in the PEM for the private key';
    }
    return missing('key', keyBlocks, '"PRIVATE KEY" or ending in " PRIVATE KEY"');
  }
  let parsed: X509Certificate;
  try {
    parsed = new X509Certificate(certificate.pem);
  } catch {
    return 'x509: malformed certificate';
  }
  let privateKey: KeyObject;
  try {
    privateKey = createPrivateKey(key.pem);
  } catch {
    return 'tls: failed to parse private key';
  }
  return parsed.checkPrivateKey(privateKey) ? undefined : 'tls: private key does not match public key';
}

function missing(what: string, blocks: ReturnType<typeof blocksOf>, expected: string): string {
  if (blocks.length === 0) return `tls: failed to find any PEM data in ${what} input`;
  const types = blocks.map(({ type }) => type).join(' ');
  return `tls: failed to find ${expected} PEM block in ${what} input after skipping PEM blocks of the following types: [${types}]`;
}
