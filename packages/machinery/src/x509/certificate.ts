import {
  createHash,
  createPublicKey,
  generateKeyPairSync,
  type KeyObject,
  randomBytes,
  sign,
  verify,
} from 'node:crypto';
import { isAddress, parseAddress } from '@kruise/values/address';
import * as der from './der.ts';

/** Who a certificate is for: a user is a common name, its groups are organizations. */
export type Subject = { readonly commonName: string; readonly organizations?: readonly string[] };

/** A certificate and its private key, as PEM text. */
export type KeyPair = { readonly certificate: string; readonly key: string };

/** What a certificate is shown for: to clients, or to servers. */
export type Usage = 'server auth' | 'client auth';

const ids = {
  ecdsaWithSha256: '1.2.840.10045.4.3.2',
  sha256WithRsa: '1.2.840.113549.1.1.11',
  commonName: '2.5.4.3',
  organization: '2.5.4.10',
  basicConstraints: '2.5.29.19',
  keyUsage: '2.5.29.15',
  extendedKeyUsage: '2.5.29.37',
  alternativeNames: '2.5.29.17',
  subjectKey: '2.5.29.14',
  authorityKey: '2.5.29.35',
  extensionRequest: '1.2.840.113549.1.9.14',
} as const;

/** How requests are signed, by the hash that is signed; Ed25519 signs what there is. */
const requestHashes: { readonly [id: string]: 'sha256' | 'sha384' | 'sha512' | null | undefined } = {
  '1.2.840.10045.4.3.2': 'sha256',
  '1.2.840.10045.4.3.3': 'sha384',
  '1.2.840.10045.4.3.4': 'sha512',
  '1.2.840.113549.1.1.11': 'sha256',
  '1.2.840.113549.1.1.12': 'sha384',
  '1.2.840.113549.1.1.13': 'sha512',
  '1.3.101.112': null,
};

/** What a key may be used for: the numbers of bits, as Kubernetes names them. */
const keyUsages: { readonly [usage: string]: number | undefined } = {
  signing: 0,
  'digital signature': 0,
  'content commitment': 1,
  'key encipherment': 2,
  'data encipherment': 3,
  'key agreement': 4,
  'cert sign': 5,
  'crl sign': 6,
  'encipher only': 7,
  'decipher only': 8,
};

/** What a certificate may be shown for. */
const extendedKeyUsages: { readonly [usage: string]: string | undefined } = {
  any: '2.5.29.37.0',
  'server auth': '1.3.6.1.5.5.7.3.1',
  'client auth': '1.3.6.1.5.5.7.3.2',
  'code signing': '1.3.6.1.5.5.7.3.3',
  'email protection': '1.3.6.1.5.5.7.3.4',
  's/mime': '1.3.6.1.5.5.7.3.4',
  'ipsec end system': '1.3.6.1.5.5.7.3.5',
  'ipsec tunnel': '1.3.6.1.5.5.7.3.6',
  'ipsec user': '1.3.6.1.5.5.7.3.7',
  timestamping: '1.3.6.1.5.5.7.3.8',
  'ocsp signing': '1.3.6.1.5.5.7.3.9',
  'microsoft sgc': '1.3.6.1.4.1.311.10.3.3',
  'netscape sgc': '2.16.840.1.113730.4.1',
};

/** A new P-256 key. */
export function generateKey(): KeyObject {
  return generateKeyPairSync('ec', { namedCurve: 'P-256' }).privateKey;
}

/** The PEM text of a private key. */
export function privatePem(key: KeyObject): string {
  return key.export({ type: 'pkcs8', format: 'pem' }).toString();
}

function pem(label: string, bytes: Buffer): string {
  const lines = bytes.toString('base64').match(/.{1,64}/g) ?? [];
  return `-----BEGIN ${label}-----\n${lines.join('\n')}\n-----END ${label}-----\n`;
}

/** The bytes of the first block of a kind in PEM text. */
export function pemBytes(label: string, text: string): Buffer {
  const match = new RegExp(`-----BEGIN ${label}-----([A-Za-z0-9+/=\\s]+)-----END ${label}-----`).exec(text);
  if (!match) throw new Error(`no ${label} in PEM text`);
  return Buffer.from(match[1]!.replace(/\s/g, ''), 'base64');
}

function name({ commonName, organizations = [] }: Subject): Buffer {
  const attribute = (id: string, text: string) => der.set(der.sequence(der.oid(id), der.utf8(text)));
  return der.sequence(
    ...organizations.map((organization) => attribute(ids.organization, organization)),
    attribute(ids.commonName, commonName),
  );
}

function publicKeyInfo(key: KeyObject): Buffer {
  const publicKey = key.type === 'private' ? createPublicKey(key) : key;
  return publicKey.export({ type: 'spki', format: 'der' });
}

/** What tells a key from another: the hash of its bits. */
function keyIdentifier(info: Buffer): Buffer {
  const [outer] = der.read(info);
  const [, keyBits] = der.read(outer!.content);
  return createHash('sha1').update(keyBits!.content.subarray(1)).digest();
}

function extension(id: string, critical: boolean, value: Buffer): Buffer {
  return der.sequence(der.oid(id), ...(critical ? [der.boolean(true)] : []), der.octets(value));
}

function alternativeName(host: string): Buffer {
  if (!isAddress(host)) return der.implicit(2, Buffer.from(host));
  const { family, bits } = parseAddress(host);
  return der.implicit(7, Buffer.from(bits.toString(16).padStart(family === 4 ? 8 : 32, '0'), 'hex'));
}

type Body = {
  readonly subjectName: Buffer;
  readonly publicKey: KeyObject;
  readonly notBeforeMs: number;
  readonly notAfterMs: number;
  readonly authority: boolean;
  readonly usages: readonly string[];
  /** The names and addresses it is good for, each as its bytes. */
  readonly alternativeNames: readonly Buffer[];
};

function issue(
  issuer: { readonly name: Buffer; readonly key: KeyObject; readonly keyInfo: Buffer },
  body: Body,
): string {
  const info = publicKeyInfo(body.publicKey);
  const algorithm = signatureAlgorithm(issuer.key);
  const shownFor = new Set(body.usages.flatMap((usage) => extendedKeyUsages[usage] ?? []));
  const extensions = [
    ...keyUsageExtension(body.usages),
    extension(ids.basicConstraints, true, body.authority ? der.sequence(der.boolean(true)) : der.sequence()),
    extension(ids.subjectKey, false, der.octets(keyIdentifier(info))),
    extension(ids.authorityKey, false, der.sequence(der.implicit(0, keyIdentifier(issuer.keyInfo)))),
    ...(shownFor.size === 0
      ? []
      : [extension(ids.extendedKeyUsage, false, der.sequence(...Array.from(shownFor, der.oid)))]),
    ...(body.alternativeNames.length === 0
      ? []
      : [extension(ids.alternativeNames, false, der.sequence(...body.alternativeNames))]),
  ];
  const serial = randomBytes(16);
  serial[0] = (serial[0]! & 0x7f) | 0x01;
  const toSign = der.sequence(
    der.explicit(0, der.integer(Buffer.from([2]))),
    der.integer(serial),
    algorithm,
    issuer.name,
    der.sequence(der.time(body.notBeforeMs), der.time(body.notAfterMs)),
    body.subjectName,
    info,
    der.explicit(3, der.sequence(...extensions)),
  );
  return pem('CERTIFICATE', der.sequence(toSign, algorithm, der.bits(sign('sha256', toSign, issuer.key))));
}

function keyUsageExtension(usages: readonly string[]): readonly Buffer[] {
  const bytes = Buffer.alloc(2);
  let last = -1;
  for (const usage of usages) {
    const bit = keyUsages[usage];
    if (bit === undefined) continue;
    bytes[bit >> 3]! |= 0x80 >> (bit & 7);
    last = Math.max(last, bit);
  }
  if (last < 0) return [];
  const size = (last >> 3) + 1;
  return [extension(ids.keyUsage, true, der.bits(bytes.subarray(0, size), size * 8 - 1 - last))];
}

function signatureAlgorithm(key: KeyObject): Buffer {
  if (key.asymmetricKeyType === 'rsa') return der.sequence(der.oid(ids.sha256WithRsa), Buffer.from([0x05, 0x00]));
  return der.sequence(der.oid(ids.ecdsaWithSha256));
}

/** Clocks differ a little; a certificate is valid a moment before it was made. */
const toleranceMs = 5 * 60_000;
const dayMs = 86_400_000;
const usualKeyUsages = ['digital signature', 'key encipherment'];

/** An authority: it signs certificates, its own among them. */
export type Authority = KeyPair & {
  /** A certificate for someone's key. */
  sign(request: SigningRequest): string;
  /** A certificate of what a request asks for, on the terms of whoever approved of it. */
  certify(request: CertificateRequest, terms: CertificateTerms): string;
  /** A new key and a certificate for it. */
  issue(request: Omit<SigningRequest, 'publicKey'>): KeyPair;
};

/** From when to when a certificate is good, and what for, as Kubernetes names it: `client auth`, `digital signature`. */
export type CertificateTerms = {
  readonly usages: readonly string[];
  readonly notBeforeMs: number;
  readonly notAfterMs: number;
};

/** What an authority is to vouch for. */
export type SigningRequest = {
  readonly subject: Subject;
  readonly publicKey: KeyObject;
  readonly usages: readonly Usage[];
  /** Names and addresses a server is reached by. */
  readonly hosts?: readonly string[];
  readonly nowMs: number;
  readonly validDays?: number;
  /** Instead of days. */
  readonly validMs?: number;
};

/** Makes a new authority. */
export function createAuthority(commonName: string, nowMs: number, validDays = 3650): Authority {
  const key = generateKey();
  const keyInfo = publicKeyInfo(key);
  const subject = { commonName };
  const certificate = issue(
    { name: name(subject), key, keyInfo },
    {
      subjectName: name(subject),
      publicKey: key,
      notBeforeMs: nowMs - toleranceMs,
      notAfterMs: nowMs + validDays * dayMs,
      authority: true,
      usages: [...usualKeyUsages, 'cert sign'],
      alternativeNames: [],
    },
  );
  return authority({ certificate, key: privatePem(key) }, key);
}

/** An authority made earlier. */
export function authority(pair: KeyPair, key: KeyObject): Authority {
  const { subjectName, keyInfo } = subjectOf(pair.certificate);
  const issuer = { name: subjectName, key, keyInfo };
  function signRequest({
    subject,
    publicKey,
    usages,
    hosts = [],
    nowMs,
    validDays = 365,
    validMs,
  }: SigningRequest): string {
    return issue(issuer, {
      subjectName: name(subject),
      publicKey,
      notBeforeMs: nowMs - toleranceMs,
      notAfterMs: nowMs + (validMs ?? validDays * dayMs),
      authority: false,
      usages: [...usualKeyUsages, ...usages],
      alternativeNames: hosts.map(alternativeName),
    });
  }
  return {
    ...pair,
    sign: signRequest,
    certify: ({ subjectName, publicKey, alternativeNames }, terms) =>
      issue(issuer, { subjectName, publicKey, alternativeNames, authority: false, ...terms }),
    issue(request) {
      const own = generateKey();
      return { certificate: signRequest({ ...request, publicKey: own }), key: privatePem(own) };
    },
  };
}

/** The subject and key of a certificate, as the bytes they are in it. */
function subjectOf(certificate: string): { subjectName: Buffer; keyInfo: Buffer } {
  const [outer] = der.read(pemBytes('CERTIFICATE', certificate));
  const [body] = der.read(outer!.content);
  const members = der.read(body!.content);
  // The version is there, under a tag of its own, in every certificate that has extensions.
  return { subjectName: members[5]!.whole, keyInfo: members[6]!.whole };
}

/** What a certificate signing request asks for, its signature checked. */
export type CertificateRequest = {
  readonly subject: Subject;
  /** The subject with all its attributes, as its bytes. */
  readonly subjectName: Buffer;
  readonly publicKey: KeyObject;
  readonly hosts: readonly string[];
  readonly emails: readonly string[];
  readonly uris: readonly string[];
  /** Hosts, e-mail addresses and URIs as they are in the request, each as its bytes. */
  readonly alternativeNames: readonly Buffer[];
};

/** A signing request for a key, as PEM text. */
export function createRequest(subject: Subject, key: KeyObject, hosts: readonly string[] = []): string {
  const attributes =
    hosts.length === 0
      ? []
      : [
          der.sequence(
            der.oid(ids.extensionRequest),
            der.set(der.sequence(extension(ids.alternativeNames, false, der.sequence(...hosts.map(alternativeName))))),
          ),
        ];
  const attributeSet = der.set(...attributes);
  attributeSet[0] = 0xa0;
  const toSign = der.sequence(der.integer(Buffer.from([0])), name(subject), publicKeyInfo(key), attributeSet);
  return pem(
    'CERTIFICATE REQUEST',
    der.sequence(toSign, signatureAlgorithm(key), der.bits(sign('sha256', toSign, key))),
  );
}

/** Reads a signing request. Throws if it is malformed or not signed by the key it is for. */
export function readRequest(text: string): CertificateRequest {
  const [outer] = der.read(pemBytes('CERTIFICATE REQUEST', text));
  const [body, algorithm, signature] = der.read(outer!.content);
  const [, subject, info, attributes] = der.read(body!.content);
  const publicKey = createPublicKey({ key: info!.whole, format: 'der', type: 'spki' });
  const hash = requestHashes[der.readOid(der.read(algorithm!.content)[0]!.content)];
  const isSigned = hash !== undefined && verify(hash, body!.whole, publicKey, signature!.content.subarray(1));
  if (!isSigned) throw new Error('the certificate request is not signed by its own key');
  const names = attributes ? requestedNames(attributes.content) : [];
  const texts = (tag: number) => names.filter((each) => each.tag === tag).map(({ content }) => content.toString());
  return {
    subject: readName(subject!.content),
    subjectName: subject!.whole,
    publicKey,
    hosts: names.flatMap(hostOf),
    emails: texts(nameTags.email),
    uris: texts(nameTags.uri),
    alternativeNames: names.map(({ whole }) => whole),
  };
}

function readName(content: Buffer): Subject {
  let commonName = '';
  const organizations: string[] = [];
  for (const relative of der.read(content)) {
    for (const attribute of der.read(relative.content)) {
      const [id, value] = der.read(attribute.content);
      const kind = der.readOid(id!.content);
      if (kind === ids.commonName) commonName = value!.content.toString();
      if (kind === ids.organization) organizations.push(value!.content.toString());
    }
  }
  return { commonName, organizations };
}

/** The kinds of names a certificate can be for. Others are not taken over. */
const nameTags = { email: 0x81, dns: 0x82, uri: 0x86, address: 0x87 } as const;

function requestedNames(attributes: Buffer): readonly der.Element[] {
  const known = new Set<number>(Object.values(nameTags));
  for (const attribute of der.read(attributes)) {
    const [id, values] = der.read(attribute.content);
    if (der.readOid(id!.content) !== ids.extensionRequest) continue;
    const [extensions] = der.read(values!.content);
    for (const requested of der.read(extensions!.content)) {
      const members = der.read(requested.content);
      if (der.readOid(members[0]!.content) !== ids.alternativeNames) continue;
      const [names] = der.read(members.at(-1)!.content);
      return der.read(names!.content).filter(({ tag }) => known.has(tag));
    }
  }
  return [];
}

function hostOf({ tag, content }: der.Element): readonly string[] {
  if (tag === nameTags.dns) return [content.toString()];
  if (tag !== nameTags.address) return [];
  return [content.length === 4 ? [...content].join('.') : ipv6Text(content)];
}

function ipv6Text(bytes: Buffer): string {
  return Array.from({ length: 8 }, (_, group) => bytes.readUInt16BE(group * 2).toString(16)).join(':');
}
