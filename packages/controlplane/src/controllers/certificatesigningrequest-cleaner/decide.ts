import { X509Certificate } from 'node:crypto';
import type { CertificateSigningRequest } from '@kruise/api/certificates/certificatesigningrequest';
import { remove } from '@kruise/client/actions';
import type { Decision, StatusOf } from '@kruise/client/controller';
import { findCondition } from '@kruise/machinery/conditions';
import { type Instant, parseTime } from '@kruise/values/time';

const hourMs = 3_600_000;
/** How long a request is kept after it was decided, for whoever asked to see what came of it. */
const decidedMs = hourMs;
/** How long a request waits for someone to decide. */
const pendingMs = 24 * hourMs;

/** Requests are kept for a while after they have served their purpose, or none. */
export function decide(
  request: CertificateSigningRequest,
  now: Instant,
): Decision<StatusOf<CertificateSigningRequest>> {
  const due = dueAt(request);
  if (due === undefined) return { actions: [] };
  if (now > due) return { actions: [remove(request)] };
  // Times on the wire have whole seconds.
  return { actions: [], requeueAfterSeconds: Math.floor((due - now) / 1000) + 1 };
}

/** When a request is to go, if nothing more happens to it. */
function dueAt({ metadata, status }: CertificateSigningRequest): Instant | undefined {
  const { conditions, certificate } = status ?? {};
  const since = (type: string) => {
    const time = findCondition(conditions, type)?.lastUpdateTime;
    return time ? parseTime(time) + decidedMs : undefined;
  };
  const dues = [since('Denied'), since('Failed')];
  if (certificate && findCondition(conditions, 'Approved')) dues.push(since('Approved'), expiryOf(certificate));
  if (!conditions?.length && metadata.creationTimestamp) dues.push(parseTime(metadata.creationTimestamp) + pendingMs);
  const known = dues.filter((due) => due !== undefined);
  return known.length === 0 ? undefined : Math.min(...known);
}

/** When the certificate of a request is no longer good; undefined if that cannot be told. */
function expiryOf(certificate: string): Instant | undefined {
  try {
    return new X509Certificate(Buffer.from(certificate, 'base64')).validToDate.getTime();
  } catch {
    // Signers of others may put anything here.
    return undefined;
  }
}
