/** Tokens of service accounts for Pods, asked for anew before they expire (kubelet.md §13). */
import type { Pod } from '@kruise/api/core/pod';
import type { Client } from '@kruise/client/client';
import { requestToken } from '@kruise/client/subresources';
import type { Clock } from '@kruise/values/clock';
import { jitter, type Random } from '@kruise/values/random';
import { type Instant, parseTime } from '@kruise/values/time';

/** What a token is for, and for how long. */
export type TokenWish = { readonly audience: string; readonly expirationSeconds: number };

/** A token, and when to ask for another. */
export type Token = { readonly text: string; readonly refreshAt: Instant };

/** The tokens of a node's Pods. */
export type Tokens = {
  /** A token that is good for a while yet. */
  get(pod: Pod, wish: TokenWish): Promise<Token>;
  forget(uid: string): void;
};

const maxAgeMs = 24 * 3600_000;
const spreadMs = 10_000;

/** No tokens yet. */
export function createTokens(client: Client, clock: Clock, random: Random): Tokens {
  const byPod = new Map<string, Map<string, Token>>();
  return {
    async get(pod, { audience, expirationSeconds }) {
      const { name = '', namespace = '', uid = '' } = pod.metadata;
      const known = byPod.get(uid)?.get(`${audience}/${expirationSeconds}`);
      if (known && clock.now() < known.refreshAt) return known;
      const askedAt = clock.now();
      const { status } = await requestToken(
        client,
        { name: pod.spec?.serviceAccountName || 'default', namespace },
        {
          audiences: audience === '' ? [] : [audience],
          expirationSeconds,
          boundObjectRef: { kind: 'Pod', apiVersion: 'v1', name, uid },
        },
      );
      const lifetimeMs = parseTime(status?.expirationTimestamp ?? '') - askedAt;
      // Not all nodes are to ask at once.
      const ageMs = Math.min(0.8 * lifetimeMs, maxAgeMs) - jitter(random, spreadMs, 1) + spreadMs;
      const token = { text: status?.token ?? '', refreshAt: askedAt + ageMs };
      const tokens = byPod.get(uid) ?? new Map<string, Token>();
      tokens.set(`${audience}/${expirationSeconds}`, token);
      byPod.set(uid, tokens);
      return token;
    },
    forget: (uid) => void byPod.delete(uid),
  };
}
