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
import { blockBytes, pem, pemBlocks, pemBytes } from '@kruise/values/pem';
import * as der from './der.ts';
import { encodeName, encodeSubject, ia5Text, readName, type Subject, subjectOf } from './name.ts';

export type { Subject } from './name.ts';

/** A certificate and its private key in PEM. */
export type KeyPair = { readonly certificate: string; readonly key: string };

/** Extended key usage of a certificate. */
export type ExtendedKeyUsage = 'server auth' | 'client auth';

const ids = {
  ecdsaWithSha256: '1.2.840.10045.4.3.2',
  sha256WithRsa: '1.2.840.113549.1.1.11',
  basicConstraints: '2.5.29.19',
  keyUsage: '2.5.29.15',
  extendedKeyUsage: '2.5.29.37',
  alternativeNames: '2.5.29.17',
  subjectKey: '2.5.29.14',
  authorityKey: '2.5.29.35',
  extensionRequest: '1.2.840.113549.1.9.14',
} as const;

/** Signature algorithms of requests and their hash; Ed25519 has none. */
const requestHashes: { readonly [id: string]: 'sha256' | 'sha384' | 'sha512' | null | undefined } = {
  '1.2.840.10045.4.3.2': 'sha256',
  '1.2.840.10045.4.3.3': 'sha384',
  '1.2.840.10045.4.3.4': 'sha512',
  '1.2.840.113549.1.1.11': 'sha256',
  '1.2.840.113549.1.1.12': 'sha384',
  '1.2.840.113549.1.1.13': 'sha512',
  '1.3.101.112': null,
};

/** Key usage bits by their names in Kubernetes. */
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

/** Extended key usages by their names in Kubernetes. */
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

/** Generates a P-256 key. */
export function generateKey(): KeyObject {
  return generateKeyPairSync('ec', { namedCurve: 'P-256' }).privateKey;
}

/** Encodes a private key in PEM. */
export function privatePem(key: KeyObject): string {
  return key.export({ type: 'pkcs8', format: 'pem' }).toString();
}

function publicKeyInfo(key: KeyObject): Buffer {
  const publicKey = key.type === 'private' ? createPublicKey(key) : key;
  return publicKey.export({ type: 'spki', format: 'der' });
}

/** Returns the key identifier: the hash of the public key. */
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
  readonly loadCertificateAuthority: boolean;
  readonly usages: readonly string[];
  /** Encoded subject alternative names. */
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
    extension(
      ids.basicConstraints,
      true,
      body.loadCertificateAuthority ? der.sequence(der.boolean(true)) : der.sequence(),
    ),
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

/** Certificates are valid a little before they are issued, because clocks differ. */
const clockSkewMs = 5 * 60_000;
const dayMs = 86_400_000;
const usualKeyUsages = ['digital signature', 'key encipherment'];

/** A certificate authority. */
export type CertificateAuthority = KeyPair & {
  /** Signs a certificate for a public key. */
  sign(request: SigningRequest): string;
  /** Signs a certificate signing request with the approved terms. */
  certify(request: CertificateRequest, terms: CertificateTerms): string;
  /** Generates a key and a certificate for it. */
  issue(request: Omit<SigningRequest, 'publicKey'>): KeyPair;
};

/** Validity and usages of a certificate, with the names of Kubernetes: `client auth`, `digital signature`. */
export type CertificateTerms = {
  readonly usages: readonly string[];
  readonly notBeforeMs: number;
  readonly notAfterMs: number;
};

/** Subject, key and validity of a certificate to sign. */
export type SigningRequest = {
  readonly subject: Subject;
  readonly publicKey: KeyObject;
  readonly usages: readonly ExtendedKeyUsage[];
  /** DNS names and IP addresses of a server. */
  readonly hosts?: readonly string[];
  readonly nowMs: number;
  readonly validDays?: number;
  /** Validity in milliseconds instead of days. */
  readonly validMs?: number;
};

/**
 * Creates a self-signed certificate authority.
 *
 * ```ts
 * const authority = createCertificateAuthority('kubernetes-ca', clock.now());
 * ```
 */
export function createCertificateAuthority(commonName: string, nowMs: number, validDays = 3650): CertificateAuthority {
  const key = generateKey();
  const keyInfo = publicKeyInfo(key);
  const subject = { commonName };
  const certificate = issue(
    { name: encodeSubject(subject), key, keyInfo },
    {
      subjectName: encodeSubject(subject),
      publicKey: key,
      notBeforeMs: nowMs - clockSkewMs,
      notAfterMs: nowMs + validDays * dayMs,
      loadCertificateAuthority: true,
      usages: [...usualKeyUsages, 'cert sign'],
      alternativeNames: [],
    },
  );
  return loadCertificateAuthority({ certificate, key: privatePem(key) }, key);
}

/** Loads an existing certificate authority. */
export function loadCertificateAuthority(pair: KeyPair, key: KeyObject): CertificateAuthority {
  const { subject, keyInfo } = partsOf(pemBytes('CERTIFICATE', pair.certificate));
  const issuer = { name: subject.whole, key, keyInfo: keyInfo.whole };
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
      subjectName: encodeSubject(subject),
      publicKey,
      notBeforeMs: nowMs - clockSkewMs,
      notAfterMs: nowMs + (validMs ?? validDays * dayMs),
      loadCertificateAuthority: false,
      usages: [...usualKeyUsages, ...usages],
      alternativeNames: hosts.map(alternativeName),
    });
  }
  return {
    ...pair,
    sign: signRequest,
    certify: ({ subjectName, publicKey, alternativeNames }, terms) =>
      issue(issuer, { subjectName, publicKey, alternativeNames, loadCertificateAuthority: false, ...terms }),
    issue(request) {
      const own = generateKey();
      return { certificate: signRequest({ ...request, publicKey: own }), key: privatePem(own) };
    },
  };
}

/** Parses the subject of a certificate. Throws if the name has an attribute in an unknown encoding. */
export function certificateSubject(certificate: Buffer): Subject {
  return subjectOf(readName(partsOf(certificate).subject));
}

/** Returns the subject and the public key info of a certificate. */
function partsOf(certificate: Buffer): { readonly subject: der.Element; readonly keyInfo: der.Element } {
  const [body] = der.readSequence(certificate);
  const members = der.read(der.expect(body, der.tags.sequence).content);
  // Version 1 certificates omit the version field.
  const first = members[0]?.tag === 0xa0 ? 5 : 4;
  const [subject, keyInfo] = members.slice(first, first + 2);
  return { subject: der.expect(subject, der.tags.sequence), keyInfo: der.expect(keyInfo, der.tags.sequence) };
}

/** A certificate signing request with a verified signature. */
export type CertificateRequest = {
  readonly subject: Subject;
  /** Encoded subject for the certificate: the known attributes of the parsed request. */
  readonly subjectName: Buffer;
  readonly publicKey: KeyObject;
  readonly hosts: readonly string[];
  readonly emails: readonly string[];
  readonly uris: readonly string[];
  /** Encoded DNS names, IP addresses, e-mail addresses and URIs of the request. */
  readonly alternativeNames: readonly Buffer[];
};

/** Creates a certificate signing request in PEM. */
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
  const toSign = der.sequence(der.integer(Buffer.from([0])), encodeSubject(subject), publicKeyInfo(key), attributeSet);
  return pem(
    'CERTIFICATE REQUEST',
    der.sequence(toSign, signatureAlgorithm(key), der.bits(sign('sha256', toSign, key))),
  );
}

/** Parses the request of a CertificateSigningRequest: PEM in base64. */
export function readEncodedRequest(base64: string): CertificateRequest {
  // All components must find the same block, so there is only one way to decode the bytes.
  return readRequest(Buffer.from(base64, 'base64').toString('latin1'));
}

/** Parses a certificate signing request. Throws if it is malformed or its signature is invalid. */
export function readRequest(text: string): CertificateRequest {
  const block = pemBlocks(text).next().value;
  const bytes = block?.label === 'CERTIFICATE REQUEST' ? blockBytes(block) : undefined;
  if (!bytes) throw new Error('PEM block type must be CERTIFICATE REQUEST');
  const [body, algorithm, signature] = der.readSequence(bytes);
  const [, subject, info, attributes] = der.read(der.expect(body, der.tags.sequence).content);
  const publicKey = createPublicKey({ key: der.expect(info, der.tags.sequence).whole, format: 'der', type: 'spki' });
  const [algorithmId] = der.read(der.expect(algorithm, der.tags.sequence).content);
  const hash = requestHashes[der.readOid(der.expect(algorithmId, der.tags.oid).content)];
  const signed = der.expect(signature, der.tags.bitString).content.subarray(1);
  const isSigned = hash !== undefined && verify(hash, body!.whole, publicKey, signed);
  if (!isSigned) throw new Error('the certificate request is not signed by its own key');
  const name = readName(subject);
  const names = attributes ? requestedNames(attributes.content) : [];
  const texts = (tag: number) => names.filter((each) => each.tag === tag).map(nameText);
  return {
    subject: subjectOf(name),
    subjectName: encodeName(name),
    publicKey,
    hosts: names.flatMap(hostOf),
    emails: texts(nameTags.email),
    uris: texts(nameTags.uri),
    alternativeNames: names.map(({ whole }) => whole),
  };
}

/** Tags of supported subject alternative names; others are dropped. */
const nameTags = { email: 0x81, dns: 0x82, uri: 0x86, address: 0x87 } as const;

function requestedNames(attributes: Buffer): readonly der.Element[] {
  const known = new Set<number>(Object.values(nameTags));
  const found: der.Element[] = [];
  for (const attribute of der.read(attributes)) {
    const [id, values] = der.read(attribute.content);
    if (der.readOid(der.expect(id, der.tags.oid).content) !== ids.extensionRequest) continue;
    for (const requested of der.readSequence(der.expect(values, der.tags.set).content)) {
      const members = der.read(der.expect(requested, der.tags.sequence).content);
      if (der.readOid(der.expect(members[0], der.tags.oid).content) !== ids.alternativeNames) continue;
      found.push(members.at(-1)!);
    }
  }
  // With several extensions it would be ambiguous which one applies.
  if (found.length > 1) throw new Error('x509: certificate request contains duplicate requested extensions');
  return found.flatMap(({ content }) => der.readSequence(content)).filter(({ tag }) => known.has(tag));
}

function nameText({ content }: der.Element): string {
  const text = ia5Text(content);
  if (text === undefined) throw new Error('x509: invalid subject alternative name: not IA5');
  return text;
}

function hostOf(name: der.Element): readonly string[] {
  const { tag, content } = name;
  if (tag === nameTags.dns) return [nameText(name)];
  if (tag !== nameTags.address) return [];
  if (content.length === 4) return [[...content].join('.')];
  if (content.length === 16) return [ipv6Text(content)];
  throw new Error(`x509: cannot parse IP address of length ${content.length}`);
}

function ipv6Text(bytes: Buffer): string {
  return Array.from({ length: 8 }, (_, group) => bytes.readUInt16BE(group * 2).toString(16)).join(':');
}
