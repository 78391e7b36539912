/** A node's certificates: asked for with a CertificateSigningRequest, and asked for anew before they expire (kubelet.md §19). */
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

/** What a certificate is to say, and who is to sign it. */
export type CertificateWish = {
  readonly signerName: 'kubernetes.io/kube-apiserver-client-kubelet' | 'kubernetes.io/kubelet-serving';
  readonly subject: Subject;
  /** Names and addresses a server is reached by. */
  readonly hosts?: readonly string[];
};

/** The certificate a node shows to the API server. */
export function nodeClientWish(nodeName: string): CertificateWish {
  return {
    signerName: 'kubernetes.io/kube-apiserver-client-kubelet',
    subject: { commonName: `system:node:${nodeName}`, organizations: ['system:nodes'] },
  };
}

/** The certificate a node shows to those who ask it. */
export function nodeServingWish(nodeName: string, hosts: readonly string[]): CertificateWish {
  return {
    signerName: 'kubernetes.io/kubelet-serving',
    subject: { commonName: `system:node:${nodeName}`, organizations: ['system:nodes'] },
    hosts,
  };
}

/** Where a certificate is kept. */
export type CertificateStore = { read(): KeyPair | undefined; write(pair: KeyPair): void };

/** What it takes to get certificates. */
export type CertificateContext = {
  readonly clock: Clock;
  readonly random: Random;
  readonly log: Log;
};

const retryMs = 10_000;
/** Who has not signed by now will not. */
const patienceMs = 15 * 60_000;

/** Asks for a certificate and waits for it. Throws if it is refused, or does not come in time. */
export async function requestCertificate(
  client: Client,
  { clock, random }: CertificateContext,
  { signerName, subject, hosts = [] }: CertificateWish,
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
        // Keys are of elliptic curves, which nothing is enciphered with.
        usages: ['digital signature', usage],
      },
    },
    { signal },
  );
  const certificate = await signed(client, clock, random, created.metadata.name ?? '', signal);
  return { certificate, key: privatePem(key) };
}

async function signed(
  client: Client,
  clock: Clock,
  random: Random,
  name: string,
  signal: AbortSignal,
): Promise<string> {
  const done = new AbortController();
  const until = AbortSignal.any([signal, done.signal]);
  const { promise, resolve, reject } = Promise.withResolvers<string>();
  const late = () => reject(new Error(`no one has signed ${name}`));
  const cancel = clock.setTimer(patienceMs, late);
  const aborted = () => reject(signal.reason);
  signal.addEventListener('abort', aborted, { once: true });
  const selection = { fieldSelector: `metadata.name=${name}` };
  startInformer(client, clock, random, certificateSigningRequest, selection, until).handle(({ object }) => {
    const outcome = outcomeOf(object);
    if (outcome instanceof Error) reject(outcome);
    else if (outcome !== undefined) resolve(outcome);
  });
  try {
    return await promise;
  } finally {
    cancel();
    done.abort();
    signal.removeEventListener('abort', aborted);
  }
}

/** The certificate, or why there will be none; undefined while that is open. */
function outcomeOf({ metadata, status }: CertificateSigningRequest): string | Error | undefined {
  for (const { type, reason = '', message = '' } of status?.conditions ?? []) {
    if (type === 'Denied' || type === 'Failed') {
      return new Error(`certificate signing request ${metadata.name} is ${type.toLowerCase()}: ${reason}: ${message}`);
    }
  }
  return status?.certificate ? Buffer.from(status.certificate, 'base64').toString() : undefined;
}

/** When a certificate is to be replaced: after 70 to 90 hundredths of its life, so that not all nodes ask at once. */
export function renewalOf(certificate: string, random: Random): Instant {
  const { validFrom, validTo } = new X509Certificate(certificate);
  const [from, to] = [Date.parse(validFrom), Date.parse(validTo)];
  return from + (to - from) * (0.7 + 0.2 * random.next());
}

/** Whether a certificate is good for now. */
export function isValid(certificate: string, now: Instant): boolean {
  const { validFrom, validTo } = new X509Certificate(certificate);
  return Date.parse(validFrom) <= now && now < Date.parse(validTo);
}

/** How a certificate is kept fresh. */
export type Rotation = {
  /** Who asks for the next one. */
  readonly client: Client;
  readonly wish: () => CertificateWish;
  readonly store: CertificateStore;
  readonly onChange: (pair: KeyPair) => void;
};

/** Replaces a certificate whenever its time comes, until the signal is aborted. */
export async function keepCertificate(
  context: CertificateContext,
  { client, wish, store, onChange }: Rotation,
  signal: AbortSignal,
): Promise<void> {
  const { clock, random, log } = context;
  while (!signal.aborted) {
    const current = store.read();
    const due = current ? renewalOf(current.certificate, random) : clock.now();
    await after(clock, Math.max(0, due - clock.now()), signal).catch(() => {});
    if (signal.aborted) return;
    try {
      const pair = await requestCertificate(client, context, wish(), signal);
      store.write(pair);
      onChange(pair);
    } catch (error) {
      if (signal.aborted) return;
      log.warn({ error }, 'a certificate could not be renewed');
      await after(clock, retryMs, signal).catch(() => {});
    }
  }
}
