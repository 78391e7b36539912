import { X509Certificate } from 'node:crypto';
import type { CertificateSigningRequest } from '@kruise/api/certificates/certificatesigningrequest';
import { remove } from '@kruise/client/actions';
import type { Decision, StatusOf } from '@kruise/client/controller';
import { findCondition } from '@kruise/machinery/conditions';
import { type Instant, parseTime } from '@kruise/values/time';

const hourMs = 3_600_000;
/** Retention of an approved, denied or failed request, so that the requester can read the result. */
const decidedRetentionMs = hourMs;
/** Retention of a pending request. */
const pendingRetentionMs = 24 * hourMs;

/** Deletes requests whose retention time has passed. */
export function decide(
  request: CertificateSigningRequest,
  now: Instant,
): Decision<StatusOf<CertificateSigningRequest>> {
  const due = dueAt(request);
  if (due === undefined) return { actions: [] };
  if (now > due) return { actions: [remove(request)] };
  // Times on the wire have second precision.
  return { actions: [], requeueAfterSeconds: Math.floor((due - now) / 1000) + 1 };
}

/** Returns when a request expires if it does not change any more. */
function dueAt({ metadata, status }: CertificateSigningRequest): Instant | undefined {
  const { conditions, certificate } = status ?? {};
  const since = (type: string) => {
    const time = findCondition(conditions, type)?.lastUpdateTime;
    return time ? parseTime(time) + decidedRetentionMs : undefined;
  };
  const dueTimes = [since('Denied'), since('Failed')];
  if (certificate && findCondition(conditions, 'Approved')) dueTimes.push(since('Approved'), expiryOf(certificate));
  if (!conditions?.length && metadata.creationTimestamp)
    dueTimes.push(parseTime(metadata.creationTimestamp) + pendingRetentionMs);
  const known = dueTimes.filter((due) => due !== undefined);
  return known.length === 0 ? undefined : Math.min(...known);
}

/** Returns the expiration time of the issued certificate; undefined if it cannot be parsed. */
function expiryOf(certificate: string): Instant | undefined {
  try {
    return new X509Certificate(Buffer.from(certificate, 'base64')).validToDate.getTime();
  } catch {
    // Third-party signers may store anything here.
    return undefined;
  }
}
