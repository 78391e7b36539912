import { createHmac } from 'node:crypto';
import type { ConfigMap } from '@kruise/api/core/configmap';
import type { Secret } from '@kruise/api/core/secret';
import { update } from '@kruise/client/actions';
import type { Decision } from '@kruise/client/controller';
import { isSame } from '@kruise/machinery/json-value';
import type { Instant } from '@kruise/values/time';
import { tokenExpiry, tokenField } from '../bootstrap-token.ts';

export type Observed = {
  /** The public `cluster-info` ConfigMap. */
  readonly info: ConfigMap;
  readonly tokens: readonly Secret[];
};

const contentKey = 'kubeconfig';
const signaturePrefix = 'jws-kubeconfig-';

/**
 * Signs `cluster-info` with every bootstrap token that may sign, so that the holder of a token can verify the content.
 */
export function decide({ info, tokens }: Observed, now: Instant): Decision<undefined> {
  const content = info.data?.[contentKey];
  if (content === undefined) return { actions: [] };
  const signing = tokens.filter((token) => isForSigning(token, now));
  const data = Object.fromEntries([
    ...Object.entries(info.data ?? {}).filter(([key]) => !key.startsWith(signaturePrefix)),
    ...signing.map((token) => [`${signaturePrefix}${tokenField(token, 'token-id')}`, signatureOf(content, token)]),
  ]);
  const expirations = signing.map(tokenExpiry).filter((expiry) => expiry !== undefined);
  return {
    actions: isSame(data, info.data) ? [] : [update({ ...info, data } as ConfigMap)],
    ...(expirations.length === 0 ? {} : { requeueAfterSeconds: (Math.min(...expirations) - now) / 1000 }),
  };
}

function isForSigning(token: Secret, now: Instant): boolean {
  const id = tokenField(token, 'token-id');
  if (id === '' || token.metadata.name !== `bootstrap-token-${id}`) return false;
  if (tokenField(token, 'token-secret') === '' || tokenField(token, 'usage-bootstrap-signing') !== 'true') return false;
  return (tokenExpiry(token) ?? Number.POSITIVE_INFINITY) > now;
}

/** Returns a JSON web signature with detached content (RFC 7515, appendix F). */
function signatureOf(content: string, token: Secret): string {
  const encode = (text: string) => Buffer.from(text).toString('base64url');
  const header = encode(JSON.stringify({ alg: 'HS256', kid: tokenField(token, 'token-id') }));
  const signature = createHmac('sha256', tokenField(token, 'token-secret'))
    .update(`${header}.${encode(content)}`)
    .digest('base64url');
  return `${header}..${signature}`;
}
