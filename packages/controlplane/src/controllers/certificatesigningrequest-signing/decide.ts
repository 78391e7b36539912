import type { CertificateSigningRequest } from '@kruise/api/certificates/certificatesigningrequest';
import type { Decision, StatusOf } from '@kruise/client/controller';
import { isConditionTrue } from '@kruise/machinery/conditions';
import { type CertificateRequest, type CertificateTerms, readEncodedRequest } from '@kruise/machinery/x509/certificate';
import { formatTime, type Instant } from '@kruise/values/time';
import { validateClientRequest, validateServingRequest } from './kubelet-requests.ts';

export type Observed = {
  readonly request: CertificateSigningRequest;
  /** Maximum lifetime of a certificate. */
  readonly longestSeconds: number;
  readonly signer: Signer;
};

export type Signer = {
  readonly notAfter: Instant;
  /** Issues the certificate for a request, as PEM. */
  certify(request: CertificateRequest, terms: CertificateTerms): string;
};

type Status = StatusOf<CertificateSigningRequest>;

/** Validation of each signer; returns the reason to reject the request. */
const signers: {
  readonly [name: string]: ((asked: CertificateRequest, usages: readonly string[]) => string | undefined) | undefined;
} = {
  'kubernetes.io/kube-apiserver-client': (_, usages) => clientUsageFault(usages),
  'kubernetes.io/kube-apiserver-client-kubelet': validateClientRequest,
  'kubernetes.io/kubelet-serving': validateServingRequest,
  'kubernetes.io/legacy-unknown': () => undefined,
};

const minuteMs = 60_000;
const minSeconds = 600;
/** Certificates are backdated to tolerate clock skew. */
const backdateMs = 5 * minuteMs;
/** Certificates with a shorter lifetime are not shortened by the backdating. */
const shortLifetimeMs = 8 * 60 * minuteMs;

/** Signs an approved request if it is for one of the built-in signers and passes the signer's validation. */
export function decide({ request, longestSeconds, signer }: Observed, now: Instant): Decision<Status> {
  const { spec, status } = request;
  const validate = signers[spec.signerName];
  if (!validate || !needsSigning(request)) return { actions: [] };
  const usages = spec.usages ?? [];
  const asked = readEncodedRequest(spec.request);
  const fault = validate(asked, usages);
  if (fault !== undefined) return { actions: [], status: failed(status, fault, now) };

  const validMs = validSeconds(spec.expirationSeconds, longestSeconds) * 1000;
  if (now >= signer.notAfter) throw new Error(`the signer has expired: NotAfter=${formatTime(signer.notAfter)}`);
  const notAfterMs = Math.min(now + validMs - (validMs < shortLifetimeMs ? 0 : backdateMs), signer.notAfter);
  const certificate = signer.certify(asked, { usages, notBeforeMs: now - backdateMs, notAfterMs });
  return { actions: [], status: { ...status, certificate: Buffer.from(certificate).toString('base64') } };
}

function needsSigning({ status }: CertificateSigningRequest): boolean {
  const { conditions, certificate } = status ?? {};
  const is = (type: string) => isConditionTrue(conditions, type);
  return is('Approved') && !is('Denied') && !is('Failed') && !certificate;
}

function validSeconds(asked: number | null | undefined, longestSeconds: number): number {
  return asked == null ? longestSeconds : Math.min(Math.max(asked, minSeconds), longestSeconds);
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
