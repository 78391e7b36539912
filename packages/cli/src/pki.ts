import { createPrivateKey, generateKeyPair as generateKeyPairCallback, X509Certificate } from 'node:crypto';
import { existsSync, readFileSync } from 'node:fs';
import { hostname } from 'node:os';
import { join } from 'node:path';
import { promisify } from 'node:util';
import {
  type CertificateAuthority,
  certificateSubject,
  createCertificateAuthority,
  type KeyPair,
  loadCertificateAuthority,
} from '@kruise/machinery/x509/certificate';
import { isAddress } from '@kruise/values/address';
import { writeFileAtomically } from './data-directory.ts';

/** Keys and certificates of a cluster. */
export type Pki = {
  readonly ca: CertificateAuthority;
  /** CA of the client certificates of front proxies. */
  readonly frontProxy: CertificateAuthority;
  /** Client certificate for aggregated API servers. */
  readonly frontProxyClient: KeyPair;
  readonly server: KeyPair;
  /** Client certificate for kubelets. */
  readonly kubeletClient: KeyPair;
  readonly admin: KeyPair;
  /** Key that signs service account tokens. On the first start it is generated later than everything else. */
  readonly serviceAccountKey: Promise<string>;
};

/** User of the API server's kubelet client certificate. It has only the permissions of its own binding. */
export const kubeletClientUser = 'kube-apiserver-kubelet-client';

const renewBeforeMs = 30 * 86_400_000;

/**
 * Loads the certificates of a directory. Certificates that are missing, about to expire or for other addresses are
 * issued again.
 */
export function loadPki(folder: string, addresses: readonly string[], nowMs: number): Pki {
  const file = (name: string) => join(folder, name);
  const serviceAccountKey = loadServiceAccountKey(file('service-account.key'));
  // Callers that await the key handle the error.
  serviceAccountKey.catch(() => {});
  const read = (name: string): KeyPair | undefined =>
    existsSync(file(`${name}.crt`)) && existsSync(file(`${name}.key`))
      ? { certificate: readFileSync(file(`${name}.crt`), 'utf8'), key: readFileSync(file(`${name}.key`), 'utf8') }
      : undefined;
  const keep = (name: string, pair: KeyPair): KeyPair => {
    writeFileAtomically(file(`${name}.key`), pair.key);
    writeFileAtomically(file(`${name}.crt`), pair.certificate, 0o644);
    return pair;
  };

  const authorityOf = (name: string, commonName: string): CertificateAuthority => {
    const found = read(name);
    if (found) return loadCertificateAuthority(found, createPrivateKey(found.key));
    const made = createCertificateAuthority(commonName, nowMs);
    keep(name, made);
    return made;
  };
  const ca = authorityOf('ca', 'kruise-ca');
  const frontProxy = authorityOf('front-proxy-ca', 'kruise-front-proxy-ca');

  const isValid = (pair: KeyPair | undefined, hosts: readonly string[], issuer = ca): pair is KeyPair => {
    if (!pair) return false;
    const certificate = new X509Certificate(pair.certificate);
    if (Date.parse(certificate.validTo) < nowMs + renewBeforeMs) return false;
    if (!certificate.checkIssued(new X509Certificate(issuer.certificate))) return false;
    const isFor = (host: string) =>
      (isAddress(host) ? certificate.checkIP(host) : certificate.checkHost(host)) !== undefined;
    return hosts.every(isFor);
  };

  const hosts = [
    'kubernetes',
    'kubernetes.default',
    'kubernetes.default.svc',
    'kubernetes.default.svc.cluster.local',
    'localhost',
    hostname(),
    '127.0.0.1',
    '10.96.0.1',
    ...addresses,
  ];
  const distinct = [...new Set(hosts)];
  const knownServer = read('apiserver');
  const server = isValid(knownServer, distinct)
    ? knownServer
    : keep(
        'apiserver',
        ca.issue({
          subject: { commonName: 'kube-apiserver' },
          usages: ['server auth', 'client auth'],
          hosts: distinct,
          nowMs,
        }),
      );
  const knownKubeletClient = read('apiserver-kubelet-client');
  const kubeletClient =
    isValid(knownKubeletClient, []) && !isMaster(knownKubeletClient)
      ? knownKubeletClient
      : keep(
          'apiserver-kubelet-client',
          ca.issue({
            subject: { commonName: kubeletClientUser },
            usages: ['client auth'],
            nowMs,
          }),
        );
  const knownAdmin = read('admin');
  const admin = isValid(knownAdmin, [])
    ? knownAdmin
    : keep(
        'admin',
        ca.issue({
          subject: { commonName: 'kubernetes-admin', organizations: ['system:masters'] },
          usages: ['client auth'],
          nowMs,
        }),
      );

  const knownProxy = read('front-proxy-client');
  const frontProxyClient = isValid(knownProxy, [], frontProxy)
    ? knownProxy
    : keep(
        'front-proxy-client',
        frontProxy.issue({ subject: { commonName: 'front-proxy-client' }, usages: ['client auth'], nowMs }),
      );

  return { ca, frontProxy, frontProxyClient, server, kubeletClient, admin, serviceAccountKey };
}

/** Returns whether a kubelet client certificate was issued by an earlier version, which put it in system:masters. */
function isMaster({ certificate }: KeyPair): boolean {
  const { organizations = [] } = certificateSubject(new X509Certificate(certificate).raw);
  return organizations.includes('system:masters');
}

const generateKeyPair = promisify(generateKeyPairCallback);

/** Loads or generates an RSA key, because every program can verify RSA tokens. Generating one takes up to 200 ms. */
async function loadServiceAccountKey(path: string): Promise<string> {
  if (existsSync(path)) return readFileSync(path, 'utf8');
  const { privateKey } = await generateKeyPair('rsa', { modulusLength: 2048 });
  const pem = privateKey.export({ type: 'pkcs8', format: 'pem' }).toString();
  writeFileAtomically(path, pem);
  return pem;
}
