/** Bootstrap tokens, and the discovery of a cluster by one. All functions here are pure. */
import { createHash, createHmac, timingSafeEqual, X509Certificate } from 'node:crypto';
import type { ConfigMap } from '@kruise/api/core/configmap';
import type { Secret } from '@kruise/api/core/secret';
import { parseYaml } from '@kruise/schema/yaml-text';
import { formatTime, type Instant } from '@kruise/values/time';

export type BootstrapToken = { readonly id: string; readonly secret: string };

/** Group of the users of tokens for nodes. */
export const joinGroup = 'system:bootstrappers:kruise:default-node-token';

/** Parses `<id>.<secret>`. */
export function parseToken(text: string): BootstrapToken {
  const [, id, secret] = /^([a-z0-9]{6})\.([a-z0-9]{16})$/.exec(text) ?? [];
  if (id === undefined || secret === undefined)
    throw new Error('--token must be a bootstrap token such as abcdef.0123456789abcdef');
  return { id, secret };
}

const alphabet = 'abcdefghijklmnopqrstuvwxyz0123456789';
/** The largest multiple of the alphabet's length in a byte: larger bytes are discarded, so that all letters are equally likely. */
const fairBytes = 256 - (256 % alphabet.length);

/** Makes a token from random bytes, of which there must be enough. */
export function tokenOf(random: Uint8Array): BootstrapToken {
  const letters = [...random].filter((byte) => byte < fairBytes).map((byte) => alphabet[byte % alphabet.length]);
  if (letters.length < 22) throw new Error('there are too few random bytes for a token');
  return { id: letters.slice(0, 6).join(''), secret: letters.slice(6, 22).join('') };
}

/** Returns the Secret of a token; without an expiration the token is valid until it is deleted. */
export function tokenSecret({ id, secret }: BootstrapToken, expiration: Instant | undefined): Partial<Secret> {
  return {
    metadata: { name: `bootstrap-token-${id}`, namespace: 'kube-system' },
    type: 'bootstrap.kubernetes.io/token',
    stringData: {
      'token-id': id,
      'token-secret': secret,
      'usage-bootstrap-authentication': 'true',
      'usage-bootstrap-signing': 'true',
      'auth-extra-groups': joinGroup,
      description: 'Created by kruise token create.',
      ...(expiration === undefined ? {} : { expiration: formatTime(expiration) }),
    },
  };
}

/** Returns the hash by which a joining machine recognizes a CA: of its public key, so that the CA can be renewed. */
export function authorityHash(certificate: string): string {
  const { publicKey } = new X509Certificate(certificate);
  return `sha256:${createHash('sha256')
    .update(publicKey.export({ type: 'spki', format: 'der' }))
    .digest('hex')}`;
}

/** A cluster as its `cluster-info` describes it. */
export type DiscoveredCluster = { readonly server: string; readonly authority: string };

export type DiscoveryProof = {
  readonly token: BootstrapToken;
  /** Hashes of permitted CAs. */
  readonly hashes: readonly string[];
};

/** Verifies the `cluster-info` ConfigMap, which came over an unverified connection. */
export function verifyClusterInfo(
  { data = {} }: Pick<ConfigMap, 'data'>,
  { token, hashes }: DiscoveryProof,
): DiscoveredCluster {
  const { kubeconfig: content = '' } = data;
  const signature = data[`jws-kubeconfig-${token.id}`];
  if (signature === undefined)
    throw new Error(`the token ${token.id} is not valid for this cluster: it may have expired`);
  if (!isSignedBy(content, signature, token))
    throw new Error('cluster-info is not signed by the token: the server is not trusted');
  const parsed = parseYaml(content) as {
    readonly clusters?: readonly { readonly cluster?: { readonly [field: string]: string } }[];
  };
  const cluster = parsed.clusters?.[0]?.cluster;
  const authority = Buffer.from(cluster?.['certificate-authority-data'] ?? '', 'base64').toString();
  const server = cluster?.['server'] ?? '';
  if (!hashes.includes(authorityHash(authority))) {
    throw new Error(`the CA of the cluster does not have the expected hash, but ${authorityHash(authority)}`);
  }
  return { server, authority };
}

/** Verifies a JSON web signature with detached content (RFC 7515, appendix F). */
function isSignedBy(content: string, signature: string, { id, secret }: BootstrapToken): boolean {
  const [header = '', payload, given = ''] = signature.split('.');
  if (payload !== '') return false;
  const { alg, kid } = JSON.parse(Buffer.from(header, 'base64url').toString());
  if (alg !== 'HS256' || kid !== id) return false;
  const expected = createHmac('sha256', secret)
    .update(`${header}.${Buffer.from(content).toString('base64url')}`)
    .digest();
  const found = Buffer.from(given, 'base64url');
  return found.length === expected.length && timingSafeEqual(found, expected);
}
