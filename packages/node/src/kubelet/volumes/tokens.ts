/** Service account tokens of Pods, refreshed before they expire. */
import type { Pod } from '@kruise/api/core/pod';
import type { Client } from '@kruise/client/client';
import { requestToken } from '@kruise/client/subresources';
import type { Clock } from '@kruise/values/clock';
import { jitter, type Random } from '@kruise/values/random';
import { type Instant, parseTime } from '@kruise/values/time';

/** Audience and lifetime of a token. */
export type TokenRequest = { readonly audience: string; readonly expirationSeconds: number };

/** A token with its refresh time. */
export type Token = {
  readonly text: string;
  readonly refreshAt: Instant;
  /** Time of expiry, as the API server has it. */
  readonly expiresAt: string;
};

/** Tokens of a node's Pods. */
export type Tokens = {
  /** Returns a cached token, or requests a new one if the cached token is due for refresh. */
  get(pod: Pod, request: TokenRequest): Promise<Token>;
  remove(uid: string): void;
};

const maxAgeMs = 24 * 3600_000;
const spreadMs = 10_000;

/** Creates an empty token cache. */
export function createTokens(client: Client, clock: Clock, random: Random): Tokens {
  const byPod = new Map<string, Map<string, Token>>();
  return {
    async get(pod, { audience, expirationSeconds }) {
      const { name = '', namespace = '', uid = '' } = pod.metadata;
      const cached = byPod.get(uid)?.get(`${audience}/${expirationSeconds}`);
      if (cached && clock.now() < cached.refreshAt) return cached;
      const requestedAt = clock.now();
      const { status } = await requestToken(
        client,
        { name: pod.spec?.serviceAccountName || 'default', namespace },
        {
          audiences: audience === '' ? [] : [audience],
          expirationSeconds,
          boundObjectRef: { kind: 'Pod', apiVersion: 'v1', name, uid },
        },
      );
      const expiresAt = status?.expirationTimestamp ?? '';
      const lifetimeMs = parseTime(expiresAt) - requestedAt;
      // Jitter, so that nodes do not refresh all at once.
      const ageMs = Math.min(0.8 * lifetimeMs, maxAgeMs) - jitter(random, spreadMs, 1) + spreadMs;
      const token = { text: status?.token ?? '', refreshAt: requestedAt + ageMs, expiresAt };
      const tokens = byPod.get(uid) ?? new Map<string, Token>();
      tokens.set(`${audience}/${expirationSeconds}`, token);
      byPod.set(uid, tokens);
      return token;
    },
    remove: (uid) => void byPod.delete(uid),
  };
}
