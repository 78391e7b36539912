import type { CertificateSigningRequest } from '@kruise/api/certificates/certificatesigningrequest';
import type { Decision, StatusOf } from '@kruise/client/controller';
import { isConditionTrue } from '@kruise/machinery/conditions';
import { type CertificateRequest, type CertificateTerms, readEncodedRequest } from '@kruise/machinery/x509/certificate';
import { formatTime, type Instant } from '@kruise/values/time';
import { clientFault, servingFault } from './kubelet-requests.ts';

export type Observed = {
  readonly request: CertificateSigningRequest;
  /** The longest a certificate may be good. */
  readonly longestSeconds: number;
  readonly signer: Signer;
};

export type Signer = {
  readonly notAfter: Instant;
  /** The certificate of what was asked for, as PEM text. */
  certify(request: CertificateRequest, terms: CertificateTerms): string;
};

type Status = StatusOf<CertificateSigningRequest>;

/** What each signer wants of a request, as the fault it finds. */
const signers: {
  readonly [name: string]: ((asked: CertificateRequest, usages: readonly string[]) => string | undefined) | undefined;
} = {
  'kubernetes.io/kube-apiserver-client': (_, usages) => clientUsageFault(usages),
  'kubernetes.io/kube-apiserver-client-kubelet': clientFault,
  'kubernetes.io/kubelet-serving': servingFault,
  'kubernetes.io/legacy-unknown': () => undefined,
};

const minuteMs = 60_000;
const shortestSeconds = 600;
/** Clocks differ a little; a certificate is good a moment before it was made. */
const backdateMs = 5 * minuteMs;
/** A certificate that is good for less than this is given its whole time from now on. */
const shortMs = 8 * 60 * minuteMs;

/** Signs what was approved, if it is for one of our signers and as they want it. */
export function decide({ request, longestSeconds, signer }: Observed, now: Instant): Decision<Status> {
  const { spec, status } = request;
  const faultOf = signers[spec.signerName];
  if (!faultOf || !isToBeSigned(request)) return { actions: [] };
  const usages = spec.usages ?? [];
  const asked = readEncodedRequest(spec.request);
  const fault = faultOf(asked, usages);
  if (fault !== undefined) return { actions: [], status: failed(status, fault, now) };

  const validMs = validSeconds(spec.expirationSeconds, longestSeconds) * 1000;
  if (now >= signer.notAfter) throw new Error(`the signer has expired: NotAfter=${formatTime(signer.notAfter)}`);
  const notAfterMs = Math.min(now + validMs - (validMs < shortMs ? 0 : backdateMs), signer.notAfter);
  const certificate = signer.certify(asked, { usages, notBeforeMs: now - backdateMs, notAfterMs });
  return { actions: [], status: { ...status, certificate: Buffer.from(certificate).toString('base64') } };
}

function isToBeSigned({ status }: CertificateSigningRequest): boolean {
  const { conditions, certificate } = status ?? {};
  const is = (type: string) => isConditionTrue(conditions, type);
  return is('Approved') && !is('Denied') && !is('Failed') && !certificate;
}

function validSeconds(asked: number | null | undefined, longestSeconds: number): number {
  return asked == null ? longestSeconds : Math.min(Math.max(asked, shortestSeconds), longestSeconds);
}

function failed(status: Status | undefined, message: string, now: Instant): Status {
  const lastUpdateTime = formatTime(now);
  const condition = {
    type: 'Failed',
    status: 'True',
    reason: 'SignerValidationFailure',
    message,
    lastUpdateTime,
  } as const;
  return { ...status, conditions: [...(status?.conditions ?? []), condition] };
}

function clientUsageFault(usages: readonly string[]): string | undefined {
  const allowed = ['client auth', 'digital signature', 'key encipherment'];
  const other = usages.find((usage) => !allowed.includes(usage));
  if (other !== undefined) return `invalid usage for client certificate: ${other}`;
  return usages.includes('client auth') ? undefined : 'missing required usage for client certificate: client auth';
}
