/** Certificates of a node in files. */
import { existsSync, readFileSync, writeFileSync } from 'node:fs';
import { createCertificateAuthority, type KeyPair } from '@kruise/machinery/x509/certificate';
import { type CertificateStore, isValid } from '@kruise/node/kubelet/node/certificates';
import { systemClock } from '@kruise/values/system';

/** Returns the stored certificate if it is still valid, otherwise stores a new one. */
export async function loadOrCreate(store: CertificateStore, make: () => Promise<KeyPair>): Promise<KeyPair> {
  const kept = store.read();
  if (kept && isValid(kept.certificate, systemClock.now())) return kept;
  const made = await make();
  store.write(made);
  return made;
}

/** Returns the stored self-signed serving certificate, or creates it. */
export function selfSignedCertificate(store: CertificateStore, nodeName: string, address: string): KeyPair {
  const kept = store.read();
  if (kept && isValid(kept.certificate, systemClock.now())) return kept;
  const nowMs = systemClock.now();
  const authority = createCertificateAuthority(`${nodeName}-ca@${Math.floor(nowMs / 1000)}`, nowMs);
  const made = authority.issue({
    subject: { commonName: nodeName },
    usages: ['server auth'],
    hosts: [nodeName, address],
    nowMs,
  });
  store.write(made);
  return made;
}

/** Stores a certificate and its key in one file or in two files. */
export function pairStore(certificateFile: string, keyFile: string): CertificateStore {
  return {
    read() {
      if (!existsSync(certificateFile) || !existsSync(keyFile)) return undefined;
      const certificate = block(readFileSync(certificateFile, 'utf8'), 'CERTIFICATE');
      const key = block(readFileSync(keyFile, 'utf8'), '[A-Z ]*PRIVATE KEY');
      return certificate && key ? { certificate, key } : undefined;
    },
    write({ certificate, key }) {
      const isOne = certificateFile === keyFile;
      writeFileSync(certificateFile, isOne ? certificate + key : certificate, { mode: 0o600 });
      if (!isOne) writeFileSync(keyFile, key, { mode: 0o600 });
    },
  };
}

function block(text: string, label: string): string | undefined {
  return new RegExp(`-----BEGIN ${label}-----[^-]+-----END ${label}-----\\n?`).exec(text)?.[0];
}
