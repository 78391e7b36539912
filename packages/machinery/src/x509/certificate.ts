import {
  createHash,
  createPublicKey,
  generateKeyPairSync,
  type KeyObject,
  randomBytes,
  sign,
  verify,
} from 'node:crypto';
import { isIP } from 'node:net';
import * as der from './der.ts';

/** Who a certificate is for: a user is a common name, its groups are organizations. */
export type Subject = { readonly commonName: string; readonly organizations?: readonly string[] };

/** A certificate and its private key, as PEM text. */
export type KeyPair = { readonly certificate: string; readonly key: string };

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
  'server auth': '1.3.6.1.5.5.7.3.1',
  'client auth': '1.3.6.1.5.5.7.3.2',
  extensionRequest: '1.2.840.113549.1.9.14',
} as const;

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
  switch (isIP(host)) {
    case 4:
      return der.implicit(7, Buffer.from(host.split('.').map(Number)));
    case 6:
      return der.implicit(7, ipv6Bytes(host));
    default:
      return der.implicit(2, Buffer.from(host));
  }
}

function ipv6Bytes(address: string): Buffer {
  const [head = '', tail] = address.split('::');
  const groups = (text: string) => (text === '' ? [] : text.split(':'));
  const left = groups(head);
  const right = tail === undefined ? [] : groups(tail);
  const zeros = Array.from({ length: 8 - left.length - right.length }, () => '0');
  return Buffer.from([...left, ...zeros, ...right].map((group) => group.padStart(4, '0')).join(''), 'hex');
}

type Body = {
  readonly subject: Subject;
  readonly publicKey: KeyObject;
  readonly notBeforeMs: number;
  readonly notAfterMs: number;
  readonly authority: boolean;
  readonly usages: readonly Usage[];
  readonly hosts: readonly string[];
};

function issue(
  issuer: { readonly name: Buffer; readonly key: KeyObject; readonly keyInfo: Buffer },
  body: Body,
): string {
  const info = publicKeyInfo(body.publicKey);
  const algorithm = signatureAlgorithm(issuer.key);
  // Digital signature and key encipherment; of an authority also the signing of certificates.
  const usageBits = body.authority ? Buffer.from([0xa4]) : Buffer.from([0xa0]);
  const extensions = [
    extension(ids.keyUsage, true, der.bits(usageBits, body.authority ? 2 : 5)),
    extension(ids.basicConstraints, true, body.authority ? der.sequence(der.boolean(true)) : der.sequence()),
    extension(ids.subjectKey, false, der.octets(keyIdentifier(info))),
    extension(ids.authorityKey, false, der.sequence(der.implicit(0, keyIdentifier(issuer.keyInfo)))),
    ...(body.usages.length === 0
      ? []
      : [extension(ids.extendedKeyUsage, false, der.sequence(...body.usages.map((usage) => der.oid(ids[usage]))))]),
    ...(body.hosts.length === 0
      ? []
      : [extension(ids.alternativeNames, false, der.sequence(...body.hosts.map(alternativeName)))]),
  ];
  const serial = randomBytes(16);
  serial[0] = (serial[0]! & 0x7f) | 0x01;
  const toSign = der.sequence(
    der.explicit(0, der.integer(Buffer.from([2]))),
    der.integer(serial),
    algorithm,
    issuer.name,
    der.sequence(der.time(body.notBeforeMs), der.time(body.notAfterMs)),
    name(body.subject),
    info,
    der.explicit(3, der.sequence(...extensions)),
  );
  return pem('CERTIFICATE', der.sequence(toSign, algorithm, der.bits(sign('sha256', toSign, issuer.key))));
}

function signatureAlgorithm(key: KeyObject): Buffer {
  if (key.asymmetricKeyType === 'rsa') return der.sequence(der.oid(ids.sha256WithRsa), Buffer.from([0x05, 0x00]));
  return der.sequence(der.oid(ids.ecdsaWithSha256));
}

/** Clocks differ a little; a certificate is valid a moment before it was made. */
const toleranceMs = 5 * 60_000;
const dayMs = 86_400_000;

/** An authority: it signs certificates, its own among them. */
export type Authority = KeyPair & {
  /** A certificate for someone's key. */
  sign(request: SigningRequest): string;
  /** A new key and a certificate for it. */
  issue(request: Omit<SigningRequest, 'publicKey'>): KeyPair;
};

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
      subject,
      publicKey: key,
      notBeforeMs: nowMs - toleranceMs,
      notAfterMs: nowMs + validDays * dayMs,
      authority: true,
      usages: [],
      hosts: [],
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
      subject,
      publicKey,
      notBeforeMs: nowMs - toleranceMs,
      notAfterMs: nowMs + (validMs ?? validDays * dayMs),
      authority: false,
      usages,
      hosts,
    });
  }
  return {
    ...pair,
    sign: signRequest,
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
  readonly publicKey: KeyObject;
  readonly hosts: readonly string[];
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
  const [body, , signature] = der.read(outer!.content);
  const [, subject, info, attributes] = der.read(body!.content);
  const publicKey = createPublicKey({ key: info!.whole, format: 'der', type: 'spki' });
  if (!verify('sha256', body!.whole, publicKey, signature!.content.subarray(1))) {
    throw new Error('the certificate request is not signed by its own key');
  }
  return {
    subject: readName(subject!.content),
    publicKey,
    hosts: attributes ? requestedHosts(attributes.content) : [],
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

function requestedHosts(attributes: Buffer): string[] {
  for (const attribute of der.read(attributes)) {
    const [id, values] = der.read(attribute.content);
    if (der.readOid(id!.content) !== ids.extensionRequest) continue;
    const [extensions] = der.read(values!.content);
    for (const requested of der.read(extensions!.content)) {
      const members = der.read(requested.content);
      if (der.readOid(members[0]!.content) !== ids.alternativeNames) continue;
      const [names] = der.read(members.at(-1)!.content);
      return der.read(names!.content).flatMap(({ tag, content }) => {
        if (tag === 0x82) return [content.toString()];
        if (tag !== 0x87) return [];
        return [content.length === 4 ? [...content].join('.') : ipv6Text(content)];
      });
    }
  }
  return [];
}

function ipv6Text(bytes: Buffer): string {
  return Array.from({ length: 8 }, (_, group) => bytes.readUInt16BE(group * 2).toString(16)).join(':');
}
