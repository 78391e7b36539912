/**
 * Distinguished names. Admission, approval, signing and authentication all parse subjects with this module, and issued
 * certificates contain the parsed subject, encoded again. Otherwise an unusual encoding could pass a check as one name
 * and authenticate as another.
 */
import * as der from './der.ts';

/** Subject of a certificate: the common name is the user, the organizations are its groups. */
export type Subject = { readonly commonName: string; readonly organizations?: readonly string[] };

/** Attribute of a name: type and text. */
export type NameAttribute = { readonly id: string; readonly text: string };

const commonName = '2.5.4.3';
const organization = '2.5.4.10';
const serialNumber = '2.5.4.5';
/** Country, organization, unit, locality, province, street, postal code; a certificate may have several of each. */
const repeated = ['2.5.4.6', organization, '2.5.4.11', '2.5.4.7', '2.5.4.8', '2.5.4.9', '2.5.4.17'];
/** Types with at most one attribute: the last one of the request. */
const single = [commonName, serialNumber];

/** Encodes the name of a user and its groups. */
export function encodeSubject({ commonName: user, organizations = [] }: Subject): Buffer {
  return encode([...organizations.map((text) => ({ id: organization, text })), { id: commonName, text: user }]);
}

/** Encodes the attributes of issued certificates as UTF-8; other attributes are dropped. */
export function encodeName(attributes: readonly NameAttribute[]): Buffer {
  const all = (id: string) => attributes.filter((attribute) => attribute.id === id);
  return encode([...repeated.flatMap(all), ...single.flatMap((id) => all(id).slice(-1))]);
}

function encode(attributes: readonly NameAttribute[]): Buffer {
  return der.sequence(...attributes.map(({ id, text }) => der.set(der.sequence(der.oid(id), der.utf8(text)))));
}

/** Decodes a name; throws if an attribute is not text in a known encoding. */
export function readName(element: der.Element | undefined): readonly NameAttribute[] {
  const attributes: NameAttribute[] = [];
  for (const relative of der.read(der.expect(element, der.tags.sequence).content)) {
    for (const attribute of der.read(der.expect(relative, der.tags.set).content)) {
      const [id, value, ...rest] = der.read(der.expect(attribute, der.tags.sequence).content);
      if (!value || rest.length > 0) throw new Error('x509: invalid RDNSequence: invalid attribute');
      attributes.push({ id: der.readOid(der.expect(id, der.tags.oid).content), text: textOf(value) });
    }
  }
  return attributes;
}

/** Returns the user and groups of a name. The last common name is used, as in Kubernetes. */
export function subjectOf(attributes: readonly NameAttribute[]): Subject {
  const texts = (id: string) => attributes.filter((attribute) => attribute.id === id).map(({ text }) => text);
  return { commonName: texts(commonName).at(-1) ?? '', organizations: texts(organization) };
}

type Decoder = (content: Buffer) => string | undefined;

const strictUtf8 = new TextDecoder('utf-8', { fatal: true, ignoreBOM: true });

/** Decoders by tag; they return undefined for characters outside of their character set. */
const decoders: { readonly [tag: number]: readonly [name: string, decode: Decoder] | undefined } = {
  12: ['UTF-8 string', decodeUtf8],
  18: ['NumericString', (content) => matching(content, /^[0-9 ]*$/)],
  // Go permits * and &, which old authorities use.
  19: ['PrintableString', (content) => matching(content, /^[A-Za-z0-9 '()+,\-./:=?*&]*$/)],
  20: ['T61String', (content) => content.toString('latin1')],
  22: ['IA5String', ia5Text],
  30: ['BMPString', decodeBmp],
};

function textOf({ tag, content }: der.Element): string {
  const decoder = decoders[tag];
  if (!decoder) throw new Error(`x509: invalid RDNSequence: invalid attribute value: unsupported string type: ${tag}`);
  const [name, decode] = decoder;
  const text = decode(content);
  if (text === undefined) throw new Error(`x509: invalid RDNSequence: invalid attribute value: invalid ${name}`);
  return text;
}

function matching(content: Buffer, pattern: RegExp): string | undefined {
  const text = content.toString('latin1');
  return pattern.test(text) ? text : undefined;
}

/** Decodes ASCII; undefined if a byte is outside of ASCII. */
export function ia5Text(content: Buffer): string | undefined {
  return content.every((byte) => byte < 0x80) ? content.toString('latin1') : undefined;
}

function decodeUtf8(content: Buffer): string | undefined {
  try {
    return strictUtf8.decode(content);
  } catch {
    return undefined;
  }
}

/** Decodes two bytes per character, without surrogates; a terminating NUL is not part of the text. */
function decodeBmp(content: Buffer): string | undefined {
  if (content.length % 2 !== 0) return undefined;
  const units = Array.from({ length: content.length / 2 }, (_, index) => content.readUInt16BE(index * 2));
  if (units.at(-1) === 0) units.pop();
  if (units.some((unit) => unit >= 0xd800 && unit <= 0xdfff)) return undefined;
  return units.map((unit) => String.fromCharCode(unit)).join('');
}
