import { createPublicKey, type KeyObject, sign } from 'node:crypto';
import { pem } from '@kruise/values/pem';
import * as der from '../x509/der.ts';

/** Attribute of a name in an arbitrary encoding: object identifier, tag of the string type, bytes. */
export type RawAttribute = readonly [id: string, tag: number, content: Buffer];

/** Encodes a value with any tag. */
export function tagged(tag: number, content: Uint8Array): Buffer {
  const bytes = der.octets(content);
  bytes[0] = tag;
  return bytes;
}

/** Encodes a name of relative distinguished names, each with one or more attributes. */
export function rawName(relatives: readonly (readonly RawAttribute[])[]): Buffer {
  return der.sequence(
    ...relatives.map((attributes) =>
      der.set(...attributes.map(([id, tag, content]) => der.sequence(der.oid(id), tagged(tag, content)))),
    ),
  );
}

/** Creates a signing request with any bytes as its subject, in PEM. */
export function rawRequest(subject: Buffer, key: KeyObject): string {
  const info = createPublicKey(key).export({ type: 'spki', format: 'der' });
  const toSign = der.sequence(der.integer(Buffer.from([0])), subject, info, tagged(0xa0, Buffer.alloc(0)));
  const algorithm = der.sequence(der.oid('1.2.840.10045.4.3.2'));
  return pem('CERTIFICATE REQUEST', der.sequence(toSign, algorithm, der.bits(sign('sha256', toSign, key))));
}

const [commonName, organization] = ['2.5.4.3', '2.5.4.10'];

/** String types and their encodings of text. */
export const stringTypes: readonly [name: string, tag: number, encode: (text: string) => Buffer][] = [
  ['UTF8String', 12, (text) => Buffer.from(text)],
  ['PrintableString', 19, (text) => Buffer.from(text, 'latin1')],
  ['T61String', 20, (text) => Buffer.from(text, 'latin1')],
  ['IA5String', 22, (text) => Buffer.from(text, 'latin1')],
  ['BMPString', 30, (text) => Buffer.from(text, 'utf16le').swap16()],
];

/** Returns attributes for texts: `CN=…` and `O=…` in one string type. */
export function attributesOf(tag: number, encode: (text: string) => Buffer, ...texts: readonly string[]) {
  return texts.map((text): RawAttribute => {
    const value = text.slice(text.indexOf('=') + 1);
    return [text.startsWith('CN=') ? commonName : organization, tag, encode(value)];
  });
}
