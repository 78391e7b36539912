import { createHash } from 'node:crypto';
import { uuid } from '@kruise/machinery/uuid';
import { type Clock, every } from '@kruise/values/clock';
import type { Random } from '@kruise/values/random';
import type { KubeObject } from '../object.ts';
import type { Writer } from './writer.ts';

const durationSeconds = 3600;
const renewMs = 10_000;

/** Maintains the identity Lease of this server while the server runs. */
export async function maintainIdentityLease(
  writer: Writer,
  clock: Clock,
  random: Random,
  options: { readonly hostname: string; readonly signal: AbortSignal; readonly onError: (error: unknown) => void },
): Promise<void> {
  const name = serverIdentity(options.hostname);
  const holderIdentity = `${name}_${uuid(random)}`;
  const lease = (): KubeObject => ({
    apiVersion: 'coordination.k8s.io/v1',
    kind: 'Lease',
    metadata: {
      name,
      namespace: 'kube-system',
      labels: { 'apiserver.kubernetes.io/identity': 'kube-apiserver', 'kubernetes.io/hostname': options.hostname },
    },
    spec: { holderIdentity, leaseDurationSeconds: durationSeconds, renewTime: microTime(clock.now()) },
  });
  const renew = async () => {
    const wanted = lease();
    const existing = writer.current(wanted);
    if (existing)
      await writer.update({ ...existing, spec: { ...(existing.spec as object), ...(wanted.spec as object) } });
    else await writer.create(wanted);
  };
  const tryToRenew = () => renew().catch(options.onError);
  await tryToRenew();
  every(clock, renewMs, () => void tryToRenew(), options.signal);
}

/** Returns the identity of a server: stable for a host, and unique. */
export function serverIdentity(hostname: string): string {
  const digest = createHash('sha256').update(hostname).digest().subarray(0, 16);
  return `apiserver-${base32(digest)}`;
}

const digits = 'abcdefghijklmnopqrstuvwxyz234567';

function base32(bytes: Buffer): string {
  let text = '';
  let bits = 0;
  let value = 0;
  for (const byte of bytes) {
    value = (value << 8) | byte;
    bits += 8;
    while (bits >= 5) {
      bits -= 5;
      text += digits[(value >>> bits) & 31];
    }
    value &= (1 << bits) - 1;
  }
  return bits > 0 ? text + digits[(value << (5 - bits)) & 31] : text;
}

function microTime(nowMs: number): string {
  return new Date(nowMs).toISOString().replace('Z', '000Z');
}
