/** Node certificates: requested with a CertificateSigningRequest and rotated before they expire. */
import { X509Certificate } from 'node:crypto';
import {
  type CertificateSigningRequest,
  certificateSigningRequest,
} from '@kruise/api/certificates/certificatesigningrequest';
import type { Client } from '@kruise/client/client';
import { startInformer } from '@kruise/client/informer';
import type { Log } from '@kruise/client/log';
import { createRequest, generateKey, type KeyPair, privatePem, type Subject } from '@kruise/machinery/x509/certificate';
import { after, type Clock } from '@kruise/values/clock';
import type { Random } from '@kruise/values/random';
import type { Instant } from '@kruise/values/time';

/** Contents and signer of a certificate to request. */
export type CertificateSpec = {
  readonly signerName: 'kubernetes.io/kube-apiserver-client-kubelet' | 'kubernetes.io/kubelet-serving';
  readonly subject: Subject;
  /** DNS names and IP addresses of the server (subject alternative names). */
  readonly hosts?: readonly string[];
};

/** Returns the request for the client certificate that the kubelet presents to the API server. */
export function nodeClientCertificateSpec(nodeName: string): CertificateSpec {
  return {
    signerName: 'kubernetes.io/kube-apiserver-client-kubelet',
    subject: { commonName: `system:node:${nodeName}`, organizations: ['system:nodes'] },
  };
}

/** Returns the request for the serving certificate of the kubelet API. */
export function nodeServingCertificateSpec(nodeName: string, hosts: readonly string[]): CertificateSpec {
  return {
    signerName: 'kubernetes.io/kubelet-serving',
    subject: { commonName: `system:node:${nodeName}`, organizations: ['system:nodes'] },
    hosts,
  };
}

/** Persistent store of one certificate and its key. */
export type CertificateStore = { read(): KeyPair | undefined; write(pair: KeyPair): void };

/** Dependencies of certificate requests. */
export type CertificateContext = {
  readonly clock: Clock;
  readonly random: Random;
  readonly log: Log;
};

const retryMs = 10_000;
/** Time after which an unsigned request fails. */
const signingTimeoutMs = 15 * 60_000;

/** Requests a certificate and waits for it. Throws if the request is denied or not signed in time. */
export async function requestCertificate(
  client: Client,
  { clock, random }: CertificateContext,
  { signerName, subject, hosts = [] }: CertificateSpec,
  signal: AbortSignal,
): Promise<KeyPair> {
  const key = generateKey();
  const usage = signerName === 'kubernetes.io/kubelet-serving' ? 'server auth' : 'client auth';
  const created = await client.create(
    certificateSigningRequest,
    {
      metadata: { generateName: 'csr-' },
      spec: {
        request: Buffer.from(createRequest(subject, key, hosts)).toString('base64'),
        signerName,
        // Keys are ECDSA keys, which do not need the "key encipherment" usage.
        usages: ['digital signature', usage],
      },
    },
    { signal },
  );
  const certificate = await waitForCertificate(client, clock, random, created.metadata.name ?? '', signal);
  return { certificate, key: privatePem(key) };
}

async function waitForCertificate(
  client: Client,
  clock: Clock,
  random: Random,
  name: string,
  signal: AbortSignal,
): Promise<string> {
  const done = new AbortController();
  const untilDone = AbortSignal.any([signal, done.signal]);
  const { promise, resolve, reject } = Promise.withResolvers<string>();
  const onTimeout = () => reject(new Error(`timed out waiting for certificate signing request ${name}`));
  const cancel = clock.setTimer(signingTimeoutMs, onTimeout);
  const onAbort = () => reject(signal.reason);
  signal.addEventListener('abort', onAbort, { once: true });
  const selection = { fieldSelector: `metadata.name=${name}` };
  startInformer(client, clock, random, certificateSigningRequest, selection, untilDone).handle(({ object }) => {
    const outcome = signingResult(object);
    if (outcome instanceof Error) reject(outcome);
    else if (outcome !== undefined) resolve(outcome);
  });
  try {
    return await promise;
  } finally {
    cancel();
    done.abort();
    signal.removeEventListener('abort', onAbort);
  }
}

/** Returns the issued certificate, or an error if the request was denied or failed; undefined while it is pending. */
function signingResult({ metadata, status }: CertificateSigningRequest): string | Error | undefined {
  for (const { type, reason = '', message = '' } of status?.conditions ?? []) {
    if (type === 'Denied' || type === 'Failed') {
      return new Error(`certificate signing request ${metadata.name} is ${type.toLowerCase()}: ${reason}: ${message}`);
    }
  }
  return status?.certificate ? Buffer.from(status.certificate, 'base64').toString() : undefined;
}

/**
 * Returns the rotation time of a certificate: after 70 to 90 percent of its lifetime, jittered so that nodes do not
 * renew all at once.
 */
export function rotationTime(certificate: string, random: Random): Instant {
  const { validFrom, validTo } = new X509Certificate(certificate);
  const [from, to] = [Date.parse(validFrom), Date.parse(validTo)];
  return from + (to - from) * (0.7 + 0.2 * random.next());
}

/** Reports whether a certificate is valid at the given time. */
export function isValid(certificate: string, now: Instant): boolean {
  const { validFrom, validTo } = new X509Certificate(certificate);
  return Date.parse(validFrom) <= now && now < Date.parse(validTo);
}

/** Rotation of one certificate. */
export type Rotation = {
  /** Client that creates the certificate signing requests. */
  readonly client: Client;
  readonly certificateSpec: () => CertificateSpec;
  readonly store: CertificateStore;
  readonly onChange: (pair: KeyPair) => void;
};

/** Rotates a certificate until the signal is aborted. */
export async function rotateCertificates(
  context: CertificateContext,
  { client, certificateSpec, store, onChange }: Rotation,
  signal: AbortSignal,
): Promise<void> {
  const { clock, random, log } = context;
  while (!signal.aborted) {
    const current = store.read();
    const due = current ? rotationTime(current.certificate, random) : clock.now();
    await after(clock, Math.max(0, due - clock.now()), signal).catch(() => {});
    if (signal.aborted) return;
    try {
      const pair = await requestCertificate(client, context, certificateSpec(), signal);
      store.write(pair);
      onChange(pair);
    } catch (error) {
      if (signal.aborted) return;
      log.warn({ error }, 'certificate rotation failed');
      await after(clock, retryMs, signal).catch(() => {});
    }
  }
}
