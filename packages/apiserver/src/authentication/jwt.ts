import { createHash, createPublicKey, type KeyObject, sign, verify } from 'node:crypto';

/** Claims of a token, not yet verified. */
export type Claims = { readonly [claim: string]: unknown };

export type DecodedJwt = {
  readonly header: { readonly alg?: string; readonly kid?: string };
  readonly claims: Claims;
  readonly signed: Buffer;
  readonly signature: Buffer;
};

/** Public key that verifies token signatures. */
export type VerificationKey = { readonly id: string; readonly algorithm: Algorithm; readonly key: KeyObject };

/** Returns the verification keys as soon as they are available. */
export type VerificationKeys = () => Promise<readonly VerificationKey[]>;

type Algorithm = 'RS256' | 'ES256';

const encode = (value: unknown) => Buffer.from(JSON.stringify(value)).toString('base64url');

/** Decodes a JWT without verification; undefined if the token is not a JWT. */
export function decodeJwt(token: string): DecodedJwt | undefined {
  const [header, payload, signature, ...more] = token.split('.');
  if (!header || !payload || signature === undefined || more.length > 0) return undefined;
  const [head, claims] = [decodePart(header), decodePart(payload)];
  if (!head || !claims) return undefined;
  return {
    header: head,
    claims,
    signed: Buffer.from(`${header}.${payload}`),
    signature: Buffer.from(signature, 'base64url'),
  };
}

function decodePart(part: string): Claims | undefined {
  try {
    const value: unknown = JSON.parse(Buffer.from(part, 'base64url').toString());
    return typeof value === 'object' && value !== null && !Array.isArray(value) ? (value as Claims) : undefined;
  } catch {
    // Another authenticator may accept this token.
    return undefined;
  }
}

/** Creates a verification key from a public or private key, as PEM or as an object. */
export function verificationKey(key: KeyObject | string): VerificationKey {
  const given = typeof key === 'string' || key.type === 'private' ? createPublicKey(key) : key;
  const id = createHash('sha256')
    .update(given.export({ type: 'spki', format: 'der' }))
    .digest('base64url');
  return { id, algorithm: given.asymmetricKeyType === 'ec' ? 'ES256' : 'RS256', key: given };
}

/** Reports whether one of the keys signed a token. */
export function isSignedBy({ header, signed, signature }: DecodedJwt, keys: readonly VerificationKey[]): boolean {
  const named = keys.filter(({ id }) => id === header.kid);
  return (named.length > 0 ? named : keys).some(
    ({ algorithm, key }) =>
      header.alg === algorithm && verify('sha256', signed, { key, dsaEncoding: 'ieee-p1363' }, signature),
  );
}

/** Signs claims. RSA signatures are slow, so signing runs off the main thread. */
export async function signJwt(claims: Claims, privateKey: KeyObject): Promise<string> {
  if (privateKey.asymmetricKeyType === 'ec') return signJwtSync(claims, privateKey);
  const { signed, key } = unsigned(claims, privateKey);
  return new Promise((resolve, reject) => {
    sign('sha256', Buffer.from(signed), key, (error, signature) => {
      if (error) reject(error);
      else resolve(`${signed}.${signature.toString('base64url')}`);
    });
  });
}

/** Signs claims synchronously: for rare tokens and fast keys. */
export function signJwtSync(claims: Claims, privateKey: KeyObject): string {
  const { signed, key } = unsigned(claims, privateKey);
  return `${signed}.${sign('sha256', Buffer.from(signed), key).toString('base64url')}`;
}

/** JWT headers by signing key: computing the key id takes longer than signing. */
const headers = new WeakMap<KeyObject, string>();

function headerOf(privateKey: KeyObject): string {
  let header = headers.get(privateKey);
  if (header === undefined) {
    const { id, algorithm } = verificationKey(privateKey);
    header = encode({ alg: algorithm, kid: id });
    headers.set(privateKey, header);
  }
  return header;
}

function unsigned(claims: Claims, privateKey: KeyObject) {
  const key = { key: privateKey, dsaEncoding: 'ieee-p1363' } as const;
  return { signed: `${headerOf(privateKey)}.${encode(claims)}`, key };
}

/** Returns the keys as a JSON Web Key Set, so that other parties can verify tokens (RFC 7517). */
export function jsonWebKeys(keys: readonly VerificationKey[]): object {
  return {
    keys: keys.map(({ id, algorithm, key }) => {
      const { kty, n, e, crv, x, y } = key.export({ format: 'jwk' });
      const own = kty === 'RSA' ? { n, e } : { crv, x, y };
      return { use: 'sig', kty, kid: id, alg: algorithm, ...own };
    }),
  };
}
